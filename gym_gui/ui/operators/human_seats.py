"""Input of people who play slots of an operator: keys, moves on a board, buttons in the inspector."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError
from gym_gui.core.live import HumanQuestion
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.live.live_operator import LiveOperator

if TYPE_CHECKING:
    from gym_gui.controllers.setup.catalog_cache import CatalogCache
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.envs.keymaps import KeyScheme
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.operators.render_container import OperatorRenderContainer

_log = logging.getLogger(__name__)


def people_of(config: OperatorConfig) -> tuple[str, ...]:
    """Return the slots that a person plays; scripted lists of actions do not count."""
    return tuple(
        slot
        for slot, player in config.resolved_slots().items()
        if player.worker_type == "human" and "script" not in player.settings
    )


class OperatorHumans(QObject):
    """Passes an operator's requests for actions to the person at its card, and returns the answers.

    Args:
        context: The window's services.
        operator: Operator whose slots people play.
        catalog: Provides the keys of environments.
        card: Card whose keyboard and board give the answers.
    """

    ready = pyqtSignal()
    """Emitted when the keys of the slots are known, and when the operator has no slot for a person."""
    refused = pyqtSignal(str)

    def __init__(
        self,
        context: AppContext,
        operator: LiveOperator,
        catalog: CatalogCache,
        card: OperatorRenderContainer,
    ) -> None:
        super().__init__(card)
        self._context, self._operator, self._card = context, operator, card
        self._catalog = catalog
        self.input = HumanInput(self)
        self.input.chosen.connect(self._on_chosen)
        self.input.refused.connect(self.refused)
        self.schemes: dict[str, KeyScheme] = {}
        self.words: dict[str, dict[int, str]] = {}
        self.names: dict[str, str] = {}
        self._asked_for = ""
        operator.asked.connect(self._on_asked)
        operator.withdrawn.connect(self._on_withdrawn)
        operator.config_changed.connect(self._on_config_changed)
        card.move_chosen.connect(self._on_move)
        self._on_config_changed(operator.player.config)

    @property
    def people(self) -> tuple[str, ...]:
        """Slots that a person plays."""
        return people_of(self._operator.player.config)

    def choose(self, slot: str, action: Any) -> None:
        """Answer the request of a slot with the action of a button."""
        self.input.choose(slot, action)

    def release(self) -> None:
        """Stop receiving input from the card, and ignore the result of a read of the keys."""
        self._asked_for = ""
        self.input.detach()

    def _on_config_changed(self, config: OperatorConfig) -> None:
        if not self.people:
            self._asked_for = ""
            self.schemes, self.words = {}, {}
            self.input.detach()
            self.ready.emit()
            return
        wanted = f"{config.task} {config.api} {dict(config.env_kwargs)} {self.people}"
        if wanted != self._asked_for:
            self._asked_for = wanted
            self._context.spawn(self._learn(config, wanted), "Reading the keys of the environment")

    async def _learn(self, config: OperatorConfig, wanted: str) -> None:
        from gym_gui.controllers.setup.configuration_draft import Draft

        try:
            env_info = await self._catalog.env_info(Draft.of(config).request())
        except MosaicError as error:
            # The operator cannot start either, and its card shows why.
            _log.info("the keys of %s are not known: %s", config.task, error)
            return
        if wanted == self._asked_for:
            self._attach(env_info)

    def _attach(self, env_info: EnvironmentInfo) -> None:
        from gym_gui.services.keymaps_store import KeymapName, KeymapsStore

        saved = KeymapsStore(self._context.store)
        self.schemes, self.words = {}, {}
        for place, slot in enumerate(self.people):
            seat = env_info.slots.get(slot)
            if seat is None:
                continue
            keys = env_info.page.keys[slot]
            player = min(place, len(keys) - 1)
            name = KeymapName.of(env_info.family, tuple(seat.words.values()), player)
            self.schemes[slot] = saved.apply(name, keys[player])
            self.words[slot], self.names[slot] = seat.words, env_info.seat_name(slot)
        realtime = any(self._operator.player.config.resolved_slots()[slot].deadline_s for slot in self.people)
        self.input.attach(self._card, self.schemes, realtime=realtime, words=self.words)
        for question in self._operator.player.questions:
            self.input.offer(question)
        self._show_asked()
        self.ready.emit()

    def _on_asked(self, question: HumanQuestion) -> None:
        self.input.offer(question)
        self._show_asked()

    def _on_withdrawn(self, question_id: int) -> None:
        self.input.withdraw(question_id)
        self._show_asked()

    def _on_chosen(self, question: HumanQuestion, action: object) -> None:
        self._operator.player.answer(question, action)
        self._show_asked()

    def _show_asked(self) -> None:
        """Make the picture accept clicks while a person is asked for an action."""
        self._card.stage.set_interactive(bool(self.schemes and self._operator.player.questions))

    def _on_move(self, _operator_id: str, action: object) -> None:
        """Answer the oldest request: on a board, its slot is the one to move."""
        questions = self._operator.player.questions
        if questions:
            self.input.choose(questions[0].slot, action)
