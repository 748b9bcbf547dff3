"""Every decision of the replayed episodes: who did what, for what reward, with what estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gym_gui.analysis import wording
from gym_gui.core.enums import ActionSource
from gym_gui.core.record_fields import number
from gym_gui.core.records import StepRecord
from gym_gui.ui.results.replay_player import ReplayPlayer

_SOURCES: Final = {
    ActionSource.RETRY: "retry",
    ActionSource.NOOP: "no-op",
    ActionSource.RANDOM_LEGAL: "random legal",
    ActionSource.HUMAN: "human",
    ActionSource.OPTION: "option",
}
"""Who chose, where it was not simply the policy."""
_ROW: Final = 28
CURRENT_ROLE: Final = Qt.ItemDataRole.UserRole + 1
"""Whether a row led to what is shown now."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its heading, whose it is (-1: everybody's), what stands in it."""

    heading: str
    side: int
    text: Callable[[ReplayPlayer, StepRecord], str]
    figure: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """One agent's decision in one step, as row numbers in each episode's record."""

    step: int
    agent: str
    rows: tuple[int | None, ...]


class StepTableModel(QAbstractTableModel):
    """Decisions of one episode, or of two side by side, step by step."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._players: Sequence[ReplayPlayer] = ()
        self._columns: list[_Column] = []
        self._rows: list[_Row] = []
        self._place: list[dict[int, int]] = []
        self._current: set[int] = set()

    def show(self, players: Sequence[ReplayPlayer], names: Sequence[str]) -> None:
        """Show these episodes.

        Args:
            players: One or two.
            names: What each is called in a heading.
        """
        self.beginResetModel()
        self._players = tuple(players)
        self._columns = _columns(players, names)
        self._rows = _merged(players)
        self._place = [
            {row: i for i, merged in enumerate(self._rows) if (row := merged.rows[side]) is not None}
            for side in range(len(players))
        ]
        self._current = set()
        self.endResetModel()

    def retell(self) -> None:
        """Words of actions have become known."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(self._columns) - 1))

    def set_position(self, position: int) -> tuple[int, int] | None:
        """Mark the decisions that led to a position; returns the first and last row of those to look at.

        Of an episode that is over already the last decisions stay marked; to be looked at are those
        of the longer one.
        """
        wanted: set[int] = set()
        going: set[int] = set()
        for player, place in zip(self._players, self._place, strict=True):
            if position < player.loaded or player.over:
                start, end = player.rows_at(position)
                rows = {place[row] for row in range(start, end) if row in place}
                wanted |= rows
                going |= rows if position < player.loaded else set()
        changed, self._current = wanted ^ self._current, wanted
        for row in changed:
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(self._columns) - 1))
        followed = going or wanted
        return (min(followed), max(followed)) if followed else None

    def position_of(self, row: int) -> int | None:
        """The position that a decision led to, ``None`` where it is not known yet."""
        merged = self._rows[row]
        for player, number_of in zip(self._players, merged.rows, strict=True):
            if number_of is None:
                continue
            looks = player.reel.looks
            low, high = 0, len(looks)
            while low < high:  # the first look that has the row behind it
                middle = (low + high) // 2
                if looks[middle].rows > number_of:
                    high = middle
                else:
                    low = middle + 1
            if low < len(looks):
                return low
        return None

    def position_of_step(self, step: int) -> int | None:
        """The position that the first decision of an environment step led to; ``None`` as above."""
        row = next((i for i, merged in enumerate(self._rows) if merged.step == step), None)
        return self.position_of(row) if row is not None else None

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Rows."""
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
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.heading
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip or None
        return _alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What stands in a cell."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        column, row = self._columns[index.column()], self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(column, row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return index.row() in self._current if role == CURRENT_ROLE else None

    def _text(self, column: _Column, row: _Row) -> str:
        sides = range(len(self._players)) if column.side < 0 else (column.side,)
        for side in sides:
            number_of = row.rows[side]
            if number_of is not None:
                player = self._players[side]
                return column.text(player, player.track.steps[number_of])
        return ""


def _alignment(column: _Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.figure else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _merged(players: Sequence[ReplayPlayer]) -> list[_Row]:
    """The episodes' rows, those of the same agent and step in one."""
    found: dict[tuple[int, str, int], list[int | None]] = {}
    for side, player in enumerate(players):
        seen: dict[tuple[int, str], int] = {}
        for i, step in enumerate(player.track.steps):
            key = step.step_index, step.agent_id
            again = seen[key] = seen.get(key, -1) + 1  # a manager may choose twice in one step
            found.setdefault((*key, again), [None] * len(players))[side] = i
    if len(players) == 1:
        return [_Row(step, agent, tuple(rows)) for (step, agent, _), rows in found.items()]
    order = sorted(found.items(), key=lambda item: item[0][0])  # stable: agents stay as they played
    return [_Row(step, agent, tuple(rows)) for (step, agent, _), rows in order]


def _columns(players: Sequence[ReplayPlayer], names: Sequence[str]) -> list[_Column]:
    agents = {step.agent_id for player in players for step in player.track.steps}
    columns = [_Column("Step", -1, _step, figure=True)]
    if len(agents) > 1:
        columns.append(_Column("Agent", -1, _agent))
    alone = len(players) == 1
    for side, (player, name) in enumerate(zip(players, names, strict=True)):
        steps = player.track.steps
        columns.append(_Column("Action" if alone else name, side, _action, tip=f"Action of {name}"))
        columns.append(_Column("Reward", side, _reward, figure=True, tip=f"Reward of {name}"))
        if any(number(step.value) is not None for step in steps):
            tip = f"What the policy of {name} expected from here on"
            columns.append(_Column("Value", side, _value, figure=True, tip=tip))
        if any(step.action_source in _SOURCES for step in steps):
            tip = f"Who chose for {name}, where it was not its policy"
            columns.append(_Column("By", side, _source, tip=tip))
        if alone and any(step.option is not None for step in steps):
            columns.append(_Column("Option", side, _option, tip="The option in force"))
    return columns


def _step(_player: ReplayPlayer, step: StepRecord) -> str:
    return str(step.step_index + 1)


def _agent(_player: ReplayPlayer, step: StepRecord) -> str:
    return step.agent_id


def _action(player: ReplayPlayer, step: StepRecord) -> str:
    return player.track.words(step, player.meanings)


def _reward(_player: ReplayPlayer, step: StepRecord) -> str:
    return wording.number(step.reward) if step.reward else "0"


def _value(_player: ReplayPlayer, step: StepRecord) -> str:
    return wording.number(number(step.value))


def _source(_player: ReplayPlayer, step: StepRecord) -> str:
    return _SOURCES.get(step.action_source, "")


def _option(_player: ReplayPlayer, step: StepRecord) -> str:
    return "" if step.option is None else str(step.option)


class _StepDelegate(QStyledItemDelegate):
    """Draws what led to the shown position as selected rows are drawn."""

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """See the class."""
        super().initStyleOption(option, index)
        if option is not None and index.data(CURRENT_ROLE):
            option.state |= QStyle.StateFlag.State_Selected


class StepTable(QTableView):
    """The table; a click on a decision goes to what it led to."""

    position_chosen = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("step-table")
        self.setAccessibleName("Steps of the episode")
        self.steps = StepTableModel(self)
        self.setModel(self.steps)
        self.setItemDelegate(_StepDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        # The arrow keys belong to the scrub bar; the table follows it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clicked.connect(self._on_clicked)
        side, head = self.verticalHeader(), self.horizontalHeader()
        assert side is not None and head is not None
        side.hide()
        side.setDefaultSectionSize(_ROW)
        head.setHighlightSections(False)
        head.setStretchLastSection(False)
        head.setMinimumSectionSize(44)
        head.setResizeContentsPrecision(100)

    def show_players(self, players: Sequence[ReplayPlayer], names: Sequence[str]) -> None:
        """Show these episodes."""
        self.steps.show(players, names)
        head = self.horizontalHeader()
        assert head is not None
        for column in range(self.steps.columnCount()):
            heading = self.steps.headerData(column, Qt.Orientation.Horizontal)
            words = len(players) > 1 or heading in ("Step", "Reward", "Value", "By", "Agent", "Option")
            fit = QHeaderView.ResizeMode.ResizeToContents if words else QHeaderView.ResizeMode.Stretch
            head.setSectionResizeMode(column, fit)
        head.setStretchLastSection(len(players) > 1)

    def follow(self, position: int) -> None:
        """Mark what led to a position and bring it into view."""
        marked = self.steps.set_position(position)
        if marked is None:
            self.scrollToTop()
            return
        hint = QAbstractItemView.ScrollHint.EnsureVisible
        for row in reversed(marked):
            self.scrollTo(self.steps.index(row, 0), hint)

    def _on_clicked(self, index: QModelIndex) -> None:
        position = self.steps.position_of(index.row())
        if position is not None:
            self.position_chosen.emit(position)
