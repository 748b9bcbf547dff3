"""Connects keys, clicks and forms of people at this window with the slots that they play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject

from gym_gui.controllers.human.human_input import KEYBOARD
from gym_gui.core.errors import UsageError
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.input.people import People
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.side_panel import SidePanel
from gym_gui.ui.play.stage_card import StageCard

if TYPE_CHECKING:
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.ui.context import AppContext


class InputBinding(QObject):
    """Keeps the panel of keys, the people at the keyboard and the requests for actions consistent.

    Args:
        context: The window's services.
        game: The game.
        people_input: Answers the requests to people.
        people: People who play, with their keys.
        side: Content of the inspector.
        card: Card with the stage, which receives keys and clicks.
        parent: Qt parent.
    """

    def __init__(
        self,
        context: AppContext,
        game: PlayGame,
        people_input: HumanInput,
        people: People,
        side: SidePanel,
        card: StageCard,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._context, self._game, self._input = context, game, people_input
        self._people, self._side, self._card = people, side, card
        self._env_info: EnvironmentInfo | None = None
        self._previous_operator: object = None
        self._accepts_early_keys = False
        game.viewed.connect(self._on_viewed)
        people.changed.connect(self._on_people_changed)
        people_input.questions_changed.connect(self._on_questions_changed)
        people_input.held_changed.connect(self._on_held_changed)
        side.keys.acted.connect(self._on_acted)
        side.keys.pushed.connect(self._on_pushed)
        side.keys.scheme_changed.connect(self._on_scheme_changed)
        side.keys.reset_wanted.connect(self._on_keys_reset)
        side.keys.editing_changed.connect(self._on_editing_changed)
        card.stage.move_chosen.connect(self._on_move_chosen)
        context.settings.changed.connect(self._on_setting_changed)

    def set_env_info(self, known: EnvironmentInfo | None) -> None:
        """Set the description of the environment; ``None`` while it is being read."""
        self._env_info, self._previous_operator, self._accepts_early_keys = known, self._game.operator, False
        self._people.set_env_info(known)

    def _on_viewed(self, _view: object) -> None:
        """Accept keys before the environment's key scheme is read, because a frame is visible already."""
        new = self._game.operator is not self._previous_operator
        if self._env_info is None and new and not self._accepts_early_keys:
            self._accepts_early_keys = True
            self._input.attach_early(self._card)

    def seat(self) -> None:
        """Connect each person with the keys of their slot, and show the open requests."""
        if self._env_info is None:
            return
        slots = [slot for slot in self._game.people if slot in self._env_info.slots]
        self._people.seat(slots, self._card, realtime=self._game.clock.realtime)
        self._game.ask_again()

    # -- keys ------------------------------------------------------------------------

    def _on_people_changed(self) -> None:
        keys, devices = self._people.keys, self._people.devices
        names = {} if self._env_info is None else self._env_info.page.seats
        self._side.keys.set_people(keys, names)
        self._side.set_keyboards_shown(len(keys) > 1 or any(d != KEYBOARD for d in devices.values()))
        self._side.keyboards.set_people(devices, names)

    def _on_scheme_changed(self, slot: str, scheme: object) -> None:
        self._save_scheme(slot, scheme)

    def _on_keys_reset(self, slot: str) -> None:
        self._save_scheme(slot, None)

    def _save_scheme(self, slot: str, scheme: Any) -> None:
        realtime = self._game.clock.realtime
        try:
            if scheme is None:
                self._people.reset(slot, realtime=realtime)
            else:
                self._people.set_scheme(slot, scheme, realtime=realtime)
        except UsageError as error:
            self._context.notify(error.sentence, "warning")

    def _on_editing_changed(self, editing: bool) -> None:
        if not editing:
            self._card.focus_stage()

    def _on_setting_changed(self, name: str) -> None:
        if name == "key_repeat":
            self.seat()

    # -- moves -----------------------------------------------------------------------

    def _on_acted(self, slot: str, action: object) -> None:
        self._game.begin()
        self._input.choose(slot, action)
        self._card.focus_stage()

    def _on_pushed(self, slot: str, key: str, down: bool) -> None:
        device = self._people.devices.get(slot, KEYBOARD)
        (self._input.press if down else self._input.release)(key, device)
        if not down:
            self._card.focus_stage()

    def _on_move_chosen(self, action: int) -> None:
        for question in self._input.questions:
            if question.legal is None or action in question.legal:
                self._input.choose(question.slot, action)
                return

    def _on_held_changed(self) -> None:
        self._side.keys.list.set_held(self._input.keys_down)

    def _on_questions_changed(self) -> None:
        """Show the keys of the slot that has to act in turn-based play."""
        if self._game.clock.realtime:
            return
        keys, questions = self._side.keys, self._input.questions
        shown = next((q for q in questions if q.slot == keys.slot), None)
        if shown is None and len(questions) == 1:
            shown = questions[0]
            keys.show_slot(shown.slot)
        keys.set_question(shown)
