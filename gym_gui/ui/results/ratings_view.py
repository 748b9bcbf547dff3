"""A tournament: its table of policies, their ratings, and who makes how much of the points against whom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PyQt6.QtWidgets import QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from gym_gui.analysis.charts.payoffs import PayoffChart
from gym_gui.analysis.charts.ratings import rating_chart
from gym_gui.analysis.plain_columns import Column as TextColumn
from gym_gui.analysis.standings import Standing, Standings
from gym_gui.analysis.standings_text import NAME, columns_of, seat_lines
from gym_gui.analysis.text import clean
from gym_gui.ui import theme
from gym_gui.ui.plots import ChartView
from gym_gui.ui.results.delegates import CellDelegate
from gym_gui.ui.theme import Theme
from gym_gui.ui.widgets import Card, muted_label
from gym_gui.ui.widgets.rows import Column, RowsModel, RowsTable

_ROW, _HEAD, _MOST_ROWS = 34, 36, 9
_NARROWEST: Final = 64
_TALLEST: Final = 420
"""Of a chart; squares of more policies are smaller."""


def _text(column: TextColumn[Standing], standing: Standing) -> str:
    return clean(column.show(standing))


class StandingsTable(RowsTable[Standing]):
    """Policies by rank; as high as its rows need."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(RowsModel(), "standings-table", "Policies by rank", _ROW, parent)
        self.rows.setParent(self)
        self.setItemDelegate(CellDelegate(self))
        self.head.setFixedHeight(_HEAD)
        self.head.setMinimumSectionSize(_NARROWEST)

    def show_standings(self, policies: Sequence[Standing]) -> None:
        """Show these, in their order."""
        columns = [Column(c.heading, partial(_text, c), figure=not c.words) for c in columns_of(policies)]
        self.rows.show_table(columns, policies)
        for section, column in enumerate(columns):
            # Names share what figures leave, and are cut where that is little.
            whole = QHeaderView.ResizeMode.ResizeToContents
            name = column.heading == NAME
            self.head.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch if name else whole)
        self.setFixedHeight(_HEAD + min(len(policies), _MOST_ROWS) * _ROW + 2)


class RatingsView(QWidget):
    """Shows what a run says as a tournament.

    Args:
        current: Colours.
        parent: Qt owner.
    """

    def __init__(self, current: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ratings")
        self.table = StandingsTable()
        self.ratings = ChartView(current, "ratingPlot", "")
        self.payoffs = ChartView(current, "payoffPlot", "Nobody has met yet.")
        self.caption = muted_label(wrap=True)
        self.caption.setObjectName("results-payoff-caption")
        self.seats = muted_label(wrap=True)
        self.seats.setObjectName("results-seats")
        above = Card(margin=theme.STEP)
        above.add(self.table)
        beside = QHBoxLayout()
        beside.setSpacing(theme.GAP)
        for title, widgets in (
            ("Rating, 95 % interval", [self.seats, self.ratings]),
            (PayoffChart.title, [self.caption, self.payoffs]),
        ):
            card = Card(title, margin=theme.PAGE)
            for widget in widgets:
                card.add(widget, widget is widgets[-1])
            beside.addWidget(card, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GAP)
        column.addWidget(above)
        column.addLayout(beside, 1)

    def show_standings(self, standings: Standings) -> None:
        """Show these."""
        payoffs = PayoffChart(standings)
        self.table.show_standings(standings.policies)
        self.ratings.set_chart(rating_chart(standings))
        self.payoffs.set_chart(payoffs)
        self.caption.setText(payoffs.caption)
        self.seats.setText(clean(" ".join(seat_lines(standings))))
        tall = max(round(min(payoffs.heights[1], _TALLEST)), self.ratings.minimumSizeHint().height())
        self.payoffs.setMinimumHeight(tall)
