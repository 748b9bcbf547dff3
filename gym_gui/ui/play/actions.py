"""The buttons in the bar of the Play page: restart, pause and record."""

from __future__ import annotations

from PyQt6.QtCore import QObject, Qt, pyqtSignal

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.ui.icons import icon
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.widgets import PrimaryButton, QuietButton, restyle

_MEANING = {
    "Start": "Begin the game (Ctrl+P)",
    "Resume": "Continue the game (Ctrl+P)",
    "Pause": "Pause before the next step (Ctrl+P)",
}


class PlayActions(QObject):
    """Buttons that restart, pause and record a game; a click never takes the focus from the game.

    Args:
        game: Game whose state the buttons show.

    Attributes:
        buttons: The buttons, from left to right.
    """

    restarted = pyqtSignal()
    held = pyqtSignal()
    record_toggled = pyqtSignal()

    def __init__(self, game: PlayGame) -> None:
        super().__init__(game)
        self._game = game
        self.restart = QuietButton(
            "Restart",
            icon_name="restart",
            name="restart",
            tooltip="Play the same seed again (Ctrl+R)",
            on_click=self.restarted.emit,
        )
        self.pause = QuietButton(
            "Pause",
            icon_name="pause",
            name="pause",
            tooltip=_MEANING["Pause"],
            on_click=self.held.emit,
        )
        self._record = PrimaryButton(
            "Record", icon_name="record", name="record", on_click=self.record_toggled.emit
        )
        self.buttons = (self.restart, self.pause, self._record)
        for button in self.buttons:
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_state(self) -> None:
        """Update texts and visibility of the buttons to the state of the game."""
        game = self._game
        has_game = game.operator is not None
        for button in self.buttons:
            button.setVisible(has_game)
        self.pause.setEnabled(not game.is_over and game.state is not OperatorState.BROKEN)
        begins, halted = game.waits, (game.waits or game.paused) and not game.is_over
        words = "Start" if begins else "Resume" if halted else "Pause"
        self.pause.set_text(words, "run" if halted else "pause")
        self.pause.setToolTip(_MEANING[words])
        self._show_recording(game.recording)

    def _show_recording(self, on: bool) -> None:
        button = self._record
        button.set_text("Recording" if on else "Record")
        role = "primary" if on else ""
        if button.property("role") != role:
            button.setProperty("role", role)
            restyle(button)
        button.setIcon(icon("circle-fill", "on_accent" if on else "muted"))
        button.setToolTip(
            "Each finished episode is written to a run folder. Click to stop recording (Ctrl+Shift+R)"
            if on
            else "No episode is recorded. Click to record from the next episode on (Ctrl+Shift+R)"
        )
