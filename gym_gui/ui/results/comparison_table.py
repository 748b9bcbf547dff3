"""Table that compares the operators of one environment, the best first, with teams below their operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from PyQt6.QtCore import QModelIndex, QSize, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.charts.shapes import operator_roles, role_colors
from gym_gui.analysis.columns.cells import (
    ColumnOutput,
    ResultColumn,
    ResultRow,
    columns_in,
    options_of,
    teams_of,
)
from gym_gui.analysis.columns.result_columns import RESULT_COLUMNS
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.words.report_text import clean
from gym_gui.core.drawing.colors import LIGHT
from gym_gui.ui.numbers import screen
from gym_gui.ui.results.delegates import CellDelegate
from gym_gui.ui.results.library_model import BADGE_ROLE, KINDS_ROLE
from gym_gui.ui.theme import kind_word
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

_ROW, _HEAD, _MOST_ROWS = 34, 36, 9
_NAME = 0
_NARROWEST: Final = 160
"""Smallest width of the name column in a narrow window, in pixels."""


def _rows(operators: Sequence[OperatorSummary]) -> list[ResultRow]:
    return [row for o in operators for row in (ResultRow(o), *teams_of(o), *options_of(o))]


def _columns(rows: Sequence[ResultRow], roles: Mapping[str, str]) -> list[Column[ResultRow]]:
    return [
        Column(
            column.heading_in(ColumnOutput.WINDOW),
            partial(_text, column),
            tip=partial(_tip, column),
            about=column.about,
            figure=not column.words,
            roles={
                KINDS_ROLE: partial(_kinds, column),
                BADGE_ROLE: partial(_badge, roles),
            },
            called="Kind",
            spoken=partial(_spoken, column),
        )
        for column in columns_in(ColumnOutput.WINDOW, RESULT_COLUMNS, rows)
    ]


def _text(column: ResultColumn, row: ResultRow) -> str:
    cell = column.show(row, screen())
    return "" if cell.kinds else clean(cell.text)


def _spoken(column: ResultColumn, row: ResultRow) -> str:
    return ", ".join(map(kind_word, _kinds(column, row))) or _text(column, row)


def _kinds(column: ResultColumn, row: ResultRow) -> tuple[str, ...]:
    return column.show(row, screen()).kinds


def _badge(roles: Mapping[str, str], row: ResultRow) -> str:
    """Return the operator's own color as ``#rrggbb`` if several operators share its kind, else ``""``."""
    role = roles.get(row.operator.key, "") if row.team is None else ""
    return role_colors(LIGHT)[role] if role.startswith("further-") and len(row.kinds) == 1 else ""


def _tip(column: ResultColumn, row: ResultRow) -> str | None:
    told = column.tip(row) if column.tip is not None else None
    return "\n".join(map(clean, told.split("\n"))) if told else None


class ComparisonTable(RowsTable[ResultRow]):
    """Table of operators whose height fits its rows, up to nine."""

    operator_activated = pyqtSignal(object)
    """Emits the :class:`OperatorSummary` whose episodes the user asks to replay."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(RowsModel(), "comparison-table", "Operators compared", _ROW, parent)
        self.rows.setParent(self)
        self.setItemDelegate(CellDelegate(self))
        self.setToolTip("Double-click or press Enter to replay the operator's episodes")
        self.activated.connect(self._on_activated)
        self.head.setFixedHeight(_HEAD)

    @property
    def operator(self) -> OperatorSummary | None:
        """Operator of the current row, or ``None``."""
        row = self.current
        return None if row is None else row.operator

    def show_operators(
        self, operators: Sequence[OperatorSummary], roles: Mapping[str, str] | None = None
    ) -> None:
        """Show operators of one environment in the given order; keep the selection.

        Args:
            operators: The operators.
            roles: Color roles by operator key; needed if the report has more operators than the table.
        """
        selected = self.operator
        rows = _rows(operators)
        self.clearSpans()
        self.rows.show_table(_columns(rows, operator_roles(operators) if roles is None else roles), rows)
        for place, row in enumerate(rows):
            if row.option is not None:  # This row is a sentence and needs the whole line.
                self.setSpan(place, 0, 1, len(self.rows.columns))
        self.share_columns((_NAME,), _NARROWEST)
        self.setFixedHeight(self.sizeHint().height())
        keys = [row.operator.key for row in rows]
        if selected is not None and selected.key in keys:
            self.selectRow(keys.index(selected.key))

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Adapt the height, because the new width may need a scroll bar."""
        super().resizeEvent(e)
        self.setFixedHeight(self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """Return the size of all rows, up to nine, and of the horizontal scroll bar if it is shown."""
        rows = min(max(self.rows.rowCount(), 1), _MOST_ROWS)
        bar, port = self.horizontalScrollBar(), self.viewport()
        scrolled = port is not None and self.head.length() > port.width()
        below = bar.sizeHint().height() if scrolled and bar is not None else 0
        return QSize(600, _HEAD + rows * _ROW + 2 + below)

    def _on_activated(self, index: QModelIndex) -> None:
        row = self.rows.row(index.row())
        if row is not None:
            self.operator_activated.emit(row.operator)
