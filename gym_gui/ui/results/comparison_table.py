"""Operators of one environment as a table, the best first; teams stand below their operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import QModelIndex, QSize, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QHeaderView, QWidget

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
from gym_gui.ui.widgets.rows import Column, RowsModel, RowsTable

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


def _rows(operators: Sequence[OperatorSummary]) -> list[_Row]:
    rows: list[_Row] = []
    for operator in operators:
        rows.append(_Row(operator))
        if len(operator.teams) > 1:
            rows += [_Row(operator, team) for team in operator.teams]
    return rows


def _columns(operators: Sequence[OperatorSummary]) -> list[Column[_Row]]:
    competing = any(len(o.teams) > 1 for o in operators)
    scored = competing and any(team.score for o in operators for team in o.teams)
    columns = [
        Column("Operator", _name, tip=_players),
        Column("", roles={KINDS_ROLE: _kinds}),
        _figure("Mean score" if scored else "IQM return", _value, "" if scored else _IQM, _basis),
        _figure("95 % interval", _interval, _HOW, _basis),
        _figure("Episodes", _episodes, "Those that ended as the environment says"),
    ]
    if competing:
        columns.append(_figure("Won", _won, "Share of episodes the team won"))
    if any(o.success for o in operators):
        columns.append(_figure("Success", _success, _SUCCESS))
    columns += [
        _figure("Length", _length, "Mean environment steps of an episode"),
        _figure("Unusable", _unusable, "Share of decisions whose last reply could not be played"),
        _figure("Decision p50", _latency, "Median time from the question to the answer"),
    ]
    if any(o.calls for o in operators):
        columns.append(_figure("Cost", _cost, "What calls to models cost, as far as prices are known"))
    return columns


def _figure(
    heading: str, text: Callable[[_Row], str], about: str, tip: Callable[[_Row], str | None] | None = None
) -> Column[_Row]:
    return Column(heading, text, tip=tip, about=about, figure=True)


_HOW: Final = "Bootstrap over seeds; where every value is equal there is none"
_SUCCESS: Final = "Share of successes, by the environment's own word; where episodes failed, what it could be"
_IQM: Final = "Interquartile mean: the mean of the middle half of the episodes' returns"


def _name(row: _Row) -> str:
    if row.team is None:
        return clean(row.operator.name)
    return clean(f"{_INDENT}{row.team.name}: {', '.join(row.team.members)}")


def _kinds(row: _Row) -> tuple[str, ...]:
    return row.kinds


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


def _players(row: _Row) -> str | None:
    if row.team is not None:
        return None
    players = [f"{s.slot}: {s.policy or s.worker_id} ({s.worker_type})" for s in row.operator.slots]
    if row.operator.calls and row.operator.calls.models:
        players.append(f"Model: {wording.models(row.operator.calls)}")
    return clean(f"{row.operator.name} in {row.operator.task}") + "\n" + "\n".join(map(clean, players))


def _basis(row: _Row) -> str | None:
    e = row.estimate
    if e is None:
        return None
    could = bounds_in_words(row.operator) if row.team is None else ""
    about = f"{wording.count(e.n, 'episode')}, {wording.count(e.units, 'independent seed')}. {e.method}"
    return f"{about}\nMean of {could}, with what was seen for those missing" if could else about


class ComparisonTable(RowsTable[_Row]):
    """The table; as high as its rows need."""

    operator_activated = pyqtSignal(object)
    """An :class:`OperatorSummary` whose episodes somebody wants to see again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._wanted: list[int] = []
        super().__init__(RowsModel(), "comparison-table", "Operators compared", _ROW, parent)
        self.rows.setParent(self)
        self.setItemDelegate(CellDelegate(self))
        self.setToolTip("Double click, or Enter: see its episodes again")
        self.activated.connect(self._on_activated)
        self.head.setFixedHeight(_HEAD)
        self.head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.head.setStretchLastSection(False)

    @property
    def operator(self) -> OperatorSummary | None:
        """The operator whose row is selected."""
        row = self.current
        return None if row is None else row.operator

    def show_operators(self, operators: Sequence[OperatorSummary]) -> None:
        """Show these operators of one environment, in their order; the selected one stays selected."""
        selected = self.operator
        rows = _rows(operators)
        self.rows.show_table(_columns(operators), rows)
        self._measure()
        self._share_width()
        keys = [row.operator.key for row in rows]
        if selected is not None and selected.key in keys:
            self.selectRow(keys.index(selected.key))

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Share the new width."""
        super().resizeEvent(e)
        self._share_width()

    def _measure(self) -> None:
        self._wanted = [
            max(self.sizeHintForColumn(section), self.head.sectionSizeHint(section)) + _AIR
            for section in range(len(self.rows.columns))
        ]

    def _share_width(self) -> None:
        """What is left over goes to the figures in equal parts, a little of it to the badge; a name that
        is too long for a narrow table is cut, and one narrower still (a wide font) is scrolled."""
        port = self.viewport()
        if port is None or not self._wanted:
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
            self.head.resizeSection(column, width)
        self.setFixedHeight(self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """All rows, up to nine, and the scroll bar where there is one."""
        rows = min(max(self.rows.rowCount(), 1), _MOST_ROWS)
        bar, port = self.horizontalScrollBar(), self.viewport()
        scrolled = port is not None and self.head.length() > port.width()
        below = bar.sizeHint().height() if scrolled and bar is not None else 0
        return QSize(600, _HEAD + rows * _ROW + 2 + below)

    def _on_activated(self, index: QModelIndex) -> None:
        row = self.rows.row(index.row())
        if row is not None:
            self.operator_activated.emit(row.operator)
