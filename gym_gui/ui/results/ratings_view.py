"""Results of a tournament or of cross-play: a table, ratings or team scores, and the matrix of pairings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, TypeVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QBoxLayout, QWidget

from gym_gui.analysis.charts.cross_play import CrossPlayChart, cross_play_chart
from gym_gui.analysis.charts.intervals import IntervalChart
from gym_gui.analysis.charts.payoffs import PayoffChart
from gym_gui.analysis.charts.ratings import rating_chart
from gym_gui.analysis.charts.squares import SquareChart
from gym_gui.analysis.findings.cross_play import CrossPlay
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.words.cross_play_text import (
    ALGORITHM,
    LEGEND,
    TRAINED_LEGEND,
    pool_sentence,
    trained_columns,
)
from gym_gui.analysis.words.cross_play_text import columns_of as mate_columns
from gym_gui.analysis.words.plain_columns import Column as TextColumn
from gym_gui.analysis.words.report_text import clean
from gym_gui.analysis.words.standings_text import NAME, columns_of, rating_legend, seat_lines
from gym_gui.ui import theme
from gym_gui.ui.numbers import in_sentences
from gym_gui.ui.plots import ChartView
from gym_gui.ui.results.delegates import CellDelegate
from gym_gui.ui.theme import Theme
from gym_gui.ui.widgets import Card, muted_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

Row = TypeVar("Row")

_ROW, _HEAD, _MOST_ROWS = 34, 36, 9
_NARROWEST: Final = 64
GAMES: Final = "Click a square to replay its games."
_SIDE_BY_SIDE: Final = 720
_TALLEST: Final = 420
"""Largest height of a chart, in pixels; many policies make the squares of the matrix smaller."""


def _text(column: TextColumn[Any], row: object) -> str:
    with in_sentences():
        return clean(column.show(row))


class StandingsTable(RowsTable[Any]):
    """Table of policies in order of rank, whose height fits its rows, up to nine."""

    def __init__(
        self,
        name: str = "standings-table",
        about: str = "Policies by rank",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(RowsModel(), name, about, _ROW, parent)
        self.rows.setParent(self)
        self.setItemDelegate(CellDelegate(self))
        self.head.setFixedHeight(_HEAD)

    def show_policies(self, told: Sequence[TextColumn[Row]], policies: Sequence[Row]) -> None:
        """Show the policies in the given order, one table column for each entry of ``told``."""
        columns = [Column(c.heading, partial(_text, c), figure=not c.words) for c in told]
        self.rows.show_table(columns, policies)
        names = [section for section, c in enumerate(columns) if c.heading in (NAME, ALGORITHM)]
        self.share_columns(names, _NARROWEST)
        self.setFixedHeight(_HEAD + min(len(policies), _MOST_ROWS) * _ROW + 2)


def retitle(card: Card, title: str) -> None:
    """Replace the heading of a card; the card must have a heading."""
    assert card.heading is not None
    card.heading.setText(title.upper())
    card.heading.setAccessibleName(title)


class RatingsView(QWidget):
    """View of the results of a tournament or of cross-play.

    Args:
        current: Color theme.
        parent: Qt owner.
    """

    pairing_chosen = pyqtSignal(str)
    """Emits the id of the operator whose games the user asks to see."""

    def __init__(self, current: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ratings")
        self.table = StandingsTable()
        self.ratings = ChartView(current, "ratingPlot", "Too few games for an interval yet.")
        self.payoffs = ChartView(current, "payoffPlot", "No policies have met yet.", invitation=GAMES)
        self.payoffs.chosen.connect(self._on_square_chosen)
        self._found: Standings | CrossPlay | None = None
        self.caption = muted_label(wrap=True, name="results-payoff-caption")
        self.seats = muted_label(wrap=True, name="results-seats")
        self.legend = muted_label(wrap=True, name="results-legend")
        self.legend.setContentsMargins(theme.GAP, 0, theme.GAP, theme.GAP)
        self.trainings = StandingsTable("trained-teams-table", "Trainings of algorithms")
        above = Card(margin=theme.STEP)
        above.add(self.table)
        above.add(self.trainings)
        above.add(self.legend)
        beside = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        beside.setSpacing(theme.GAP)
        self._cards = (Card("Rating, 95 % interval", margin=theme.PAGE), Card(" ", margin=theme.PAGE))
        parts = ((self.seats, self.ratings), (self.caption, self.payoffs))
        for card, (words, chart) in zip(self._cards, parts, strict=True):
            card.add(words)
            card.add(chart, True)
            beside.addWidget(card, 1)
        column = column_layout(self, spacing=theme.GAP)
        column.addWidget(above)
        column.addLayout(beside, 1)
        self._column, self._beside = column, beside
        self._stacked = QBoxLayout.Direction.TopToBottom

    def set_charts_first(self) -> None:
        """Place the charts above the table, because the charts change while games are played."""
        self._column.removeItem(self._beside)
        self._column.insertLayout(0, self._beside, 1)
        self._stacked = QBoxLayout.Direction.BottomToTop  # The matrix comes first.

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Place the charts side by side if the view is wide enough, else one above the other."""
        super().resizeEvent(a0)
        room = self.width() >= _SIDE_BY_SIDE
        self._beside.setDirection(QBoxLayout.Direction.LeftToRight if room else self._stacked)

    def show_standings(self, standings: Standings) -> None:
        """Show the ratings of a tournament."""
        self._found = standings
        self.table.show_policies(columns_of(standings.policies), standings.policies)
        with in_sentences():
            self.seats.setText(clean(" ".join(seat_lines(standings))))
        self.legend.setText(rating_legend(standings.policies))
        self.trainings.hide()
        with in_sentences():
            self._show_charts(rating_chart(standings), PayoffChart(standings))

    def show_cross_play(self, found: CrossPlay) -> None:
        """Show the scores of teams in cross-play."""
        self._found = found
        self.table.show_policies(mate_columns(found.policies), found.policies)
        with in_sentences():
            self.seats.setText(clean(pool_sentence(found)))
        self.legend.setText(f"{LEGEND} {TRAINED_LEGEND}" if found.algorithms else LEGEND)
        self.trainings.setVisible(bool(found.algorithms))
        self.trainings.show_policies(trained_columns(found.algorithms), found.algorithms)
        with in_sentences():  # Some texts are made only when the charts are drawn.
            self._show_charts(cross_play_chart(found), CrossPlayChart.of(found))

    def _on_square_chosen(self, number: int) -> None:
        chart, found = self.payoffs.chart, self._found
        if isinstance(chart, SquareChart) and found is not None:
            row, column = divmod(number, len(chart.names))
            fixture = found.fixture(chart.names[row], chart.names[column])
            if fixture is not None:
                self.pairing_chosen.emit(fixture.operator_id)

    def _show_charts(self, left: IntervalChart, right: SquareChart) -> None:
        for card, chart in zip(self._cards, (left, right), strict=True):
            retitle(card, chart.title)
        self.ratings.set_chart(left)
        self.payoffs.set_chart(right)
        self.caption.setText(f"{right.caption} {GAMES}")
        tall = max(round(min(right.heights[1], _TALLEST)), self.ratings.minimumSizeHint().height())
        self.payoffs.setMinimumHeight(tall)
