"""Operators of one environment as a table, the best first; teams stand below their operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gym_gui.analysis import wording
from gym_gui.analysis.summary import Estimate, OperatorSummary, TeamSummary
from gym_gui.analysis.text import (
    bounds_in_words,
    clean,
    episodes_in_words,
    success_in_words,
    unusable_in_words,
)
from gym_gui.ui.results.delegates import CellDelegate
from gym_gui.ui.results.library_model import KINDS_ROLE

NONE: Final = "–"  # noqa: RUF001  # the dash of an empty cell
_ROW, _HEAD, _MOST_ROWS = 34, 36, 9
_NAME, _KINDS = 0, 1
_AIR: Final = 4
"""Beside the widest cell of a column."""
_NARROWEST: Final = 120
"""A name keeps so much where the table is narrow."""
_INDENT: Final = "      "


@dataclass(frozen=True, slots=True)
class _Row:
    """An operator, or one of its teams."""

    operator: OperatorSummary
    team: TeamSummary | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        if self.team is None:
            return self.operator.kinds
        types = {slot.slot: slot.worker_type for slot in self.operator.slots}
        return tuple(dict.fromkeys(types[slot] for slot in self.team.slots if types.get(slot)))

    @property
    def competes(self) -> bool:
        """Whether the sum over all agents says nothing: teams play against each other."""
        return len(self.operator.teams) > 1

    @property
    def estimate(self) -> Estimate | None:
        if self.team is not None:
            return self.team.score or self.team.iqm
        return None if self.competes else self.operator.iqm


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its heading, what stands in it, what its tooltip says."""

    heading: str
    text: Callable[[_Row], str]
    tip: str = ""


class ComparisonModel(QAbstractTableModel):
    """See the module."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []
        self._columns: list[_Column] = []

    def show(self, operators: Sequence[OperatorSummary]) -> None:
        """Show these operators of one environment, in their order."""
        self.beginResetModel()
        self._rows = []
        for operator in operators:
            self._rows.append(_Row(operator))
            if len(operator.teams) > 1:
                self._rows += [_Row(operator, team) for team in operator.teams]
        self._columns = _columns(operators)
        self.endResetModel()

    def operator(self, row: int) -> OperatorSummary | None:
        """Whose row it is."""
        return self._rows[row].operator if 0 <= row < len(self._rows) else None

    def row_of(self, key: str) -> int:
        """The row of an operator, -1 where it is not there."""
        return next((i for i, row in enumerate(self._rows) if row.operator.key == key), -1)

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Operators and teams."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].heading
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._columns[section].tip or None
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What stands in a cell."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, section = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == KINDS_ROLE and section == _KINDS:
            return row.kinds
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(row, section)
        return None


def _alignment(section: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if section <= _KINDS else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _columns(operators: Sequence[OperatorSummary]) -> list[_Column]:
    competing = any(len(o.teams) > 1 for o in operators)
    scored = competing and any(team.score for o in operators for team in o.teams)

    columns = [
        _Column("Operator", _name),
        _Column("", _nothing),
        _Column("Mean score" if scored else "IQM return", _value, "" if scored else _IQM),
        _Column("95 % interval", _interval, "Bootstrap over seeds; where every value is equal there is none"),
        _Column("Episodes", _episodes, "Those that ended as the environment says"),
    ]
    if competing:
        columns.append(_Column("Won", _won, "Share of episodes the team won"))
    if any(o.success for o in operators):
        columns.append(
            _Column(
                "Success",
                _success,
                "Share of successes, by the environment's own word; where episodes failed, what it could be",
            )
        )
    columns += [
        _Column("Length", _length, "Mean environment steps of an episode"),
        _Column("Unusable", _unusable, "Share of decisions whose last reply could not be played"),
        _Column("Decision p50", _latency, "Median time from the question to the answer"),
    ]
    if any(o.calls for o in operators):
        columns.append(_Column("Cost", _cost, "What calls to models cost, as far as prices are known"))
    return columns


_IQM: Final = "Interquartile mean: the mean of the middle half of the episodes' returns"


def _name(row: _Row) -> str:
    if row.team is None:
        return clean(row.operator.name)
    return clean(f"{_INDENT}{row.team.name}: {', '.join(row.team.members)}")


def _nothing(_row: _Row) -> str:
    return ""


def _value(row: _Row) -> str:
    e = row.estimate
    return "by team" if e is None else NONE if e.value is None else wording.number(e.value)


def _interval(row: _Row) -> str:
    e = row.estimate
    if e is None:
        return ""
    if e.low is None or e.high is None:
        return e.note.replace("episodes", "ep.") or NONE
    digits = wording.decimals(e.value, e.low, e.high)
    return f"{wording.number(e.low, digits)} – {wording.number(e.high, digits)}"  # noqa: RUF001  # a range


def _episodes(row: _Row) -> str:
    return "" if row.team is not None else episodes_in_words(row.operator)


def _won(row: _Row) -> str:
    return NONE if row.team is None or row.team.win is None else wording.percent(row.team.win.value)


def _success(row: _Row) -> str:
    if row.team is not None:
        return ""
    return NONE if row.operator.success is None else success_in_words(row.operator)


def _length(row: _Row) -> str:
    return "" if row.team is not None else wording.number(row.operator.length.value, 0)


def _unusable(row: _Row) -> str:
    return "" if row.team is not None else unusable_in_words(row.operator)


def _latency(row: _Row) -> str:
    decisions = row.operator.decisions
    if row.team is not None:
        return ""
    return wording.milliseconds(decisions.latency_p50_ms if decisions else None).replace(" us", " µs")


def _cost(row: _Row) -> str:
    if row.team is not None:
        return ""
    return NONE if row.operator.calls is None else wording.price(row.operator.calls)


def _tip(row: _Row, section: int) -> str | None:
    if section == 0 and row.team is None:
        players = [f"{s.slot}: {s.policy or s.worker_id} ({s.worker_type})" for s in row.operator.slots]
        if row.operator.calls and row.operator.calls.models:
            players.append(f"Model: {wording.models(row.operator.calls)}")
        return clean(f"{row.operator.name} in {row.operator.task}") + "\n" + "\n".join(map(clean, players))
    if section in (2, 3) and (e := row.estimate) is not None:
        could = bounds_in_words(row.operator) if row.team is None else ""
        about = f"{wording.count(e.n, 'episode')}, {wording.count(e.units, 'independent seed')}. {e.method}"
        return f"{about}\nMean of {could}, with what was seen for those missing" if could else about
    return None


class ComparisonTable(QTableView):
    """The table; as high as its rows need."""

    operator_activated = pyqtSignal(object)
    """An :class:`OperatorSummary` whose episodes somebody wants to see again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("comparison-table")
        self._wanted: list[int] = []
        self.setAccessibleName("Operators compared")
        self.comparison = ComparisonModel(self)
        self.setModel(self.comparison)
        self.setItemDelegate(CellDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setToolTip("Double click, or Enter: see its episodes again")
        self.activated.connect(self._on_activated)
        side, head = self.verticalHeader(), self.horizontalHeader()
        assert side is not None and head is not None
        side.hide()
        side.setDefaultSectionSize(_ROW)
        head.setHighlightSections(False)
        head.setFixedHeight(_HEAD)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head.setStretchLastSection(False)

    @property
    def current(self) -> OperatorSummary | None:
        """The operator whose row is selected."""
        return self.comparison.operator(self.currentIndex().row())

    def show_operators(self, operators: Sequence[OperatorSummary]) -> None:
        """Show these; the selected one stays selected."""
        selected = self.current
        self.comparison.show(operators)
        self._measure()
        self._share_width()
        if selected is not None and (row := self.comparison.row_of(selected.key)) >= 0:
            self.selectRow(row)

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Share the new width."""
        super().resizeEvent(e)
        self._share_width()

    def _measure(self) -> None:
        head = self.horizontalHeader()
        assert head is not None
        self._wanted = [
            max(self.sizeHintForColumn(column), head.sectionSizeHint(column)) + _AIR
            for column in range(self.comparison.columnCount())
        ]

    def _share_width(self) -> None:
        """What is left over goes to the figures in equal parts, a little of it to the badge; a name that
        is too long for a narrow table is cut, and one narrower still (a wide font) is scrolled."""
        head, port = self.horizontalHeader(), self.viewport()
        if head is None or port is None or not self._wanted:
            return
        widths = list(self._wanted)
        spare = port.width() - sum(widths)
        if spare < 0:
            widths[_NAME] = max(widths[_NAME] + spare, _NARROWEST)
            spare = 0
        figures = range(_KINDS + 1, len(widths))
        each = 2 * spare // (2 * len(figures) + 1)
        for column in figures:
            widths[column] += each
        widths[_KINDS] += spare - each * len(figures)
        for column, width in enumerate(widths):
            head.resizeSection(column, width)
        self.setFixedHeight(self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """All rows, up to nine, and the scroll bar where there is one."""
        rows = min(max(self.comparison.rowCount(), 1), _MOST_ROWS)
        head, bar, port = self.horizontalHeader(), self.horizontalScrollBar(), self.viewport()
        scrolled = head is not None and port is not None and head.length() > port.width()
        below = bar.sizeHint().height() if scrolled and bar is not None else 0
        return QSize(600, _HEAD + rows * _ROW + 2 + below)

    def _on_activated(self, index: QModelIndex) -> None:
        operator = self.comparison.operator(index.row())
        if operator is not None:
            self.operator_activated.emit(operator)
