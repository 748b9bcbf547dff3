"""Starts, pauses, records and repeats a game, and shows its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PyQt6.QtCore import QObject

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.human.human_input import KEYBOARD
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.line_links import link_of
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.input.people import People
from gym_gui.ui.play.actions import PlayActions
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.widgets import SeedBox


class GameController(QObject):
    """Carries out the user's commands for a game; pauses a real-time game while the stage has no focus.

    Args:
        context: The window's services.
        game: The game.
        people_input: Signals whether the stage accepts keys.
        people: Provides the keyboard of each person.
        card: Card that shows the game.
        seed_box: Field for the seed of the next episode.
        actions: Buttons: restart, pause, record.
        parent: Qt parent.

    Attributes:
        paused_by_focus: Whether the game is paused because the stage lost the focus.
    """

    def __init__(
        self,
        context: AppContext,
        game: PlayGame,
        people_input: HumanInput,
        people: People,
        card: StageCard,
        seed_box: SeedBox,
        actions: PlayActions,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._context, self._game, self._people = context, game, people
        self._card, self._seed_box, self._actions = card, seed_box, actions
        self.paused_by_focus = False
        actions.restarted.connect(self.restart)
        actions.held.connect(self.toggle_pause)
        actions.record_toggled.connect(self.toggle_record)
        seed_box.seed_changed.connect(self.play)
        game.changed.connect(self._on_game_changed)
        game.over.connect(self._on_over)
        game.broke.connect(self._on_broke)
        people_input.listening_changed.connect(self._on_listening_changed)
        card.enter_pressed.connect(self._on_enter)
        card.stage.everything_wanted.connect(self.show_everything)
        card.result.again.connect(self.play_again)
        card.result.same_again.connect(self.restart)
        card.result.show_results.connect(self._on_show_results)

    # -- user actions ----------------------------------------------------------------

    def play(self, seed: int) -> None:
        """Play an episode with a seed."""
        if self._game.operator is None:
            return
        self._seed_box.set_seed(seed)
        self._begin(self._game.play, seed)

    def restart(self) -> None:
        """Play the current seed again from its first step."""
        self.play(self._game.seed)

    def take_back(self, step: int) -> None:
        """Continue the game from an earlier position.

        Args:
          step: Number of moves that are kept.
        """
        self._begin(self._game.take_back, step)

    def _begin(self, play: Callable[[int], object], at: int) -> None:
        self._card.show_result(False)
        self._card.show_trouble("")
        self.paused_by_focus = False
        play(at)
        self._card.focus_stage()

    def play_again(self) -> None:
        """Play an episode with the next seed."""
        self.play(self._game.seed + 1)

    def toggle_pause(self) -> None:
        """Begin a game that waits, continue a paused game, or pause a running game."""
        game = self._game
        if game.waits:
            game.begin()
            self._card.focus_stage()
        elif game.paused:
            self.paused_by_focus = False
            game.resume()
            self._card.focus_stage()
        else:
            game.pause()

    def toggle_record(self) -> None:
        """Start or stop recording from the next episode on."""
        self._game.set_recording(not self._game.recording)
        self._card.focus_stage()

    def show_everything(self, everything: bool) -> None:
        """Set whether people see information that the game hides from their seats, and restart the
        episode."""
        self._context.settings.set("everything_shown", everything)
        self.restart()

    # -- events ----------------------------------------------------------------------

    def _on_enter(self) -> None:
        if self._game.is_over:
            self.play_again()
        elif self._game.waits_for_go:
            self._game.begin()
        elif self._game.state is OperatorState.BROKEN:
            self.restart()

    def _on_listening_changed(self, listens: bool) -> None:
        game = self._game
        if not game.clock.realtime or game.waits or game.is_over:
            return
        if not listens and not game.paused and KEYBOARD in self._people.devices.values():
            self.paused_by_focus = True
            game.pause()
        elif listens and self.paused_by_focus:
            self.paused_by_focus = False
            game.resume()

    def _on_game_changed(self) -> None:
        if not self._game.paused:
            self.paused_by_focus = False
        self._actions.show_state()
        run = self._game.run
        self._context.set_run(run.run_id if run is not None else "")
        self._card.result.results_button.setEnabled(run is not None and run.folder is not None)

    def _on_over(self, line: Mapping[str, Any], fallbacks: int) -> None:
        game = self._game
        own_agents = [a for a, about in line["agents"].items() if about.get("slot", a) in game.people]
        self._card.countdown.stop()
        self._card.result.show_result(line, own_agents, fallbacks, recorded=game.run is not None)
        self._card.show_result(True)

    def _on_broke(self, sentence: str) -> None:
        self._card.countdown.stop()
        link = link_of(self._context, sentence, self._game.config, again=("Restart", self.restart))
        self._card.show_trouble(f"{sentence}. Press Restart to play the episode again.", link=link)

    def _on_show_results(self) -> None:
        run = self._game.run
        if run is not None and run.folder is not None:
            self._context.go("results", run=run.folder)
