"""Common steps of several operators: nobody takes one before all have taken the one before."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from gym_gui.controllers.live_play.episode_player import EpisodePlayer


class LockStep(QObject):
    """Beats at a rate, as long as everybody keeps up.

    Args:
        players: Who steps, as they are at that moment.
        parent: Qt owner.

    Attributes:
        rate: Most steps a second; ``None``: as many as come.
    """

    exhausted = pyqtSignal()
    """Nobody can take a step by itself any more."""

    def __init__(self, players: Callable[[], Sequence[EpisodePlayer]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._players = players
        self.rate: float | None = None
        self._on = False
        self._due = 0.0
        self._beat = QTimer(self)
        self._beat.setSingleShot(True)
        self._beat.timeout.connect(self._on_beat)

    def start(self) -> None:
        """Beat from now on; where it does already, the next beat is due at once."""
        self._on = True
        self._due = time.monotonic()
        self.nudge()

    def stop(self) -> None:
        """No step more."""
        self._on = False
        self._beat.stop()

    def nudge(self) -> None:
        """Have the next step taken when it is due, if everybody has taken the last."""
        if self._on and not self._beat.isActive() and not self._waited_for():
            wait = self._due - time.monotonic()
            self._beat.start(max(0, round(wait * 1000)))

    def _waited_for(self) -> bool:
        return any(player.stepping or player.busy for player in self._players())

    def _on_beat(self) -> None:
        if not self._on or self._waited_for():
            return
        now = time.monotonic()
        self._due = max(self._due + (1.0 / self.rate if self.rate else 0.0), now)
        players = self._players()
        for player in players:
            player.step()
        if not any(p.stepping or (p.is_running() and not p.done and not p.shortage) for p in players):
            self.exhausted.emit()
