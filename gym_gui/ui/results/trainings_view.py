"""View of algorithms over several trainings: mean scores, and the share of trainings that reach a score."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.charts.bands import profile_chart, score_chart
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.words.algorithm_text import values_of
from gym_gui.analysis.words.report_text import clean
from gym_gui.ui import theme
from gym_gui.ui.numbers import in_sentences
from gym_gui.ui.plots import ChartView
from gym_gui.ui.theme import Theme
from gym_gui.ui.widgets import Card, muted_label
from gym_gui.ui.widgets.layouts import row_layout


class TrainingsView(QWidget):
    """View of a run's results for algorithms that were trained several times.

    Args:
        current: Color theme.
        parent: Qt owner.
    """

    def __init__(self, current: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trainings")
        self._scores = ChartView(current, "trainingScoresPlot", "")
        self._profile = ChartView(current, "trainingProfilePlot", "All trainings have the same score.")
        self.caption = muted_label(wrap=True, name="results-profile-caption")
        self.values = muted_label(wrap=True, name="results-training-values")
        beside = row_layout(self, spacing=theme.GAP)
        for title, widgets in (
            ("95 % interval over trainings", [self.values, self._scores]),
            ("Performance profile", [self.caption, self._profile]),
        ):
            card = Card(title, margin=theme.PAGE)
            for widget in widgets:
                card.add(widget, widget is widgets[-1])
            beside.addWidget(card, 1)

    def show_reports(self, reports: Sequence[AlgorithmReport], task: str) -> None:
        """Show the report of an environment; hide the view if the environment has no report."""
        found = next((report for report in reports if task in report.environments), None)
        self.setVisible(found is not None)
        if found is None:
            return
        profile = profile_chart(found)
        self._scores.set_chart(score_chart(found))
        self._profile.set_chart(profile or None)
        self.caption.setText(profile.caption)
        few = [t for a in found.algorithms for t in a.trained if t.mean.values]
        self.values.setVisible(bool(few))  # The values replace intervals.
        with in_sentences():
            self.values.setText("\n".join(clean(values_of(each)) for each in few))
        self._profile.setMinimumHeight(round(profile.heights[0]))
