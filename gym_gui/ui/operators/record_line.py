"""A label in the inspector with the results of an operator since its last reset."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QSizePolicy, QWidget

from gym_gui.analysis.words import wording
from gym_gui.controllers.live_play.episode_totals import EpisodeTotals
from gym_gui.controllers.setup.play_setup import asks_models
from gym_gui.core.config import OperatorConfig
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.numbers import count, local, screen
from gym_gui.ui.timers import single_shot_timer

REFRESH_MS = 500


class OperatorRecord(QLabel):
    """Label with one operator's episodes, returns and decisions, updated at most twice a second."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("operator-record")
        self.setProperty("role", "muted")
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setToolTip(
            "Since the last reset. Unusable: decisions whose last reply could not be played. "
            "Median: time of a decision"
        )
        self._operator: LiveOperator | None = None
        self._timer = single_shot_timer(self, REFRESH_MS, self.refresh)

    def follow(self, operator: LiveOperator | None) -> None:
        """Show the results of an operator; ``None`` clears the label."""
        before, self._operator = self._operator, operator
        if before is not None:
            before.viewed.disconnect(self._on_results_changed)
            before.episode_over.disconnect(self._on_results_changed)
        if operator is not None:
            operator.viewed.connect(self._on_results_changed)
            operator.episode_over.connect(self._on_results_changed)
        self.refresh()

    def refresh(self) -> None:
        """Update the label now."""
        self._timer.stop()
        player = self._operator.player if self._operator is not None else None
        self.setText(record_words(player.tally, player.config) if player is not None else "")

    def _on_results_changed(self, _what: object) -> None:
        if not self._timer.isActive():
            self._timer.start()


def record_words(tally: EpisodeTotals, config: OperatorConfig) -> str:
    """Return an operator's results as text.

    Example: ``4 episodes · mean return 0.97 · median decision 1.4 s``.
    """
    parts = [count(tally.episodes, "episode") if tally.episodes else "No episode has ended yet"]
    if tally.mean_return is not None:
        parts.append(f"mean return {local(tally.mean_return):,.2f}")
    if tally.mean_length is not None:
        parts.append(f"mean length {local(tally.mean_length):,.0f} steps")
    if tally.unusable or (asks_models(config) and tally.decisions):
        parts.append(f"unusable {local(tally.unusable):,} of {count(tally.decisions, 'decision')}")
    if tally.median_s is not None:
        parts.append(f"median decision {wording.milliseconds(1000 * tally.median_s, screen())}")
    return " · ".join(parts)
