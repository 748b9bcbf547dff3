"""The buttons of the Play page in its bar: restart, pause, record."""

from __future__ import annotations

from PyQt6.QtCore import QObject, Qt, pyqtSignal

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.ui.icons import icon
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.widgets import PrimaryButton, QuietButton, restyle

_MEANING = {
    "Start": "Begin to play (Ctrl+P)",
    "Go on": "Let it go on (Ctrl+P)",
    "Pause": "Hold before the next step (Ctrl+P)",
}


class PlayActions(QObject):
    """Three buttons that are shown while there is a game; a click never takes the focus from the game.

    Args:
        game: Game that the buttons control; the page handles their signals.

    Attributes:
        buttons: The buttons in their order.
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
            tooltip="The same seed from its beginning (Ctrl+R)",
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
        """Show and enable the buttons as the game's state allows."""
        game = self._game
        there = game.operator is not None
        for button in self.buttons:
            button.setVisible(there)
        self.pause.setEnabled(not game.is_over and game.state is not OperatorState.BROKEN)
        begins, stands = game.waits, (game.waits or game.paused) and not game.is_over
        words = "Start" if begins else "Go on" if stands else "Pause"
        self.pause.set_text(words, "run" if stands else "pause")
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
            "Finished episodes are written to a run folder, every step. Click to write nothing (Ctrl+Shift+R)"
            if on
            else "Nothing is written. Click to record episodes from the next one on (Ctrl+Shift+R)"
        )
