"""Table of all decisions of the replayed episodes: action, reward, value estimate and source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from PyQt6.QtCore import QModelIndex, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gym_gui.core.enums import ActionSource
from gym_gui.core.record_fields import number
from gym_gui.core.records import StepRecord
from gym_gui.core.types import REFUSED
from gym_gui.ui import numbers
from gym_gui.ui.replays.replay_player import ReplayPlayer
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

_SOURCES: Final = {
    ActionSource.RETRY: "retry",
    ActionSource.NOOP: "no-op",
    ActionSource.DEFAULT: "default",
    ActionSource.RANDOM_LEGAL: "random legal",
    ActionSource.HUMAN: "human",
    ActionSource.OPTION: "option",
}
"""Words for sources of an action other than the policy."""
_ROW: Final = 28
CURRENT_ROLE: Final = Qt.ItemDataRole.UserRole + 1
"""Item role that tells whether a row's decision led to the shown position."""


@dataclass(frozen=True, slots=True)
class _Row:
    """Decision of one agent in one step: its table row, and its row in the record of each episode (or
    ``None``).
    """

    place: int
    step: int
    rows: tuple[int | None, ...]


class StepTableModel(RowsModel[_Row]):
    """Table model of the decisions of one or two episodes, ordered by step."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._players: Sequence[ReplayPlayer] = ()
        self._place: list[dict[int, int]] = []
        self._current: set[int] = set()

    def show(self, players: Sequence[ReplayPlayer], names: Sequence[str]) -> None:
        """Show the decisions of one or two episodes.

        Args:
            players: One or two replays.
            names: Name of each episode's operator for the headings.
        """
        self._players, self._current = tuple(players), set()
        rows = _merged(players)
        self._place = [
            {number_of: row.place for row in rows if (number_of := row.rows[side]) is not None}
            for side in range(len(players))
        ]
        self.show_table(_columns(players, names), rows)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a cell; for :data:`CURRENT_ROLE`, whether its decision led to the shown
        position.
        """
        return index.row() in self._current if role == CURRENT_ROLE else super().data(index, role)

    def set_position(self, position: int) -> tuple[int, int] | None:
        """Mark the decisions that led to a position, and return the first and last row to scroll to, or
        ``None``.

        If one of two episodes has ended, its last decisions stay marked, and the returned rows are those of
        the
        other episode.
        """
        wanted: set[int] = set()
        going: set[int] = set()
        for player, place in zip(self._players, self._place, strict=True):
            if position < player.loaded or player.at_end:
                start, end = player.rows_at(position)
                rows = {place[row] for row in range(start, end) if row in place}
                wanted |= rows
                going |= rows if position < player.loaded else set()
        changed, self._current = wanted ^ self._current, wanted
        for row in changed:
            self.rows_changed(row, row)
        followed = going or wanted
        return (min(followed), max(followed)) if followed else None

    def position_of(self, row: int) -> int | None:
        """Return the position after a row's decision; ``None`` if that position is not loaded yet."""
        merged = self.rows[row]
        for player, number_of in zip(self._players, merged.rows, strict=True):
            if number_of is None:
                continue
            looks = player.reel.states
            low, high = 0, len(looks)
            while low < high:  # find the first view after the row
                middle = (low + high) // 2
                if looks[middle].rows > number_of:
                    high = middle
                else:
                    low = middle + 1
            if low < len(looks):
                return low
        return None

    def position_of_step(self, step: int) -> int | None:
        """Return the position after the first decision of an environment step; ``None`` if not loaded."""
        row = next((merged.place for merged in self.rows if merged.step == step), None)
        return self.position_of(row) if row is not None else None


def _merged(players: Sequence[ReplayPlayer]) -> list[_Row]:
    """Merge the rows of two episodes: decisions of the same agent and step share one row."""
    found: dict[tuple[int, str, int], list[int | None]] = {}
    for side, player in enumerate(players):
        seen: dict[tuple[int, str], int] = {}
        for i, step in enumerate(player.track.steps):
            key = step.step_index, step.agent_id
            again = seen[key] = seen.get(key, -1) + 1  # a manager may choose twice in one step
            found.setdefault((*key, again), [None] * len(players))[side] = i
    listed = list(found.items())
    if len(players) > 1:
        listed.sort(key=_step_of)  # stable: agents stay as they played
    return [_Row(place, key[0], tuple(rows)) for place, (key, rows) in enumerate(listed)]


def _step_of(item: tuple[tuple[int, str, int], list[int | None]]) -> int:
    return item[0][0]


_ENDED = {"over": "done", "budget": "out of moves", "episode": "episode over"}
"""Words for the reasons why an option ended."""
Text = Callable[[ReplayPlayer, StepRecord], str]


def _columns(players: Sequence[ReplayPlayer], names: Sequence[str]) -> list[Column[_Row]]:
    agents = {step.agent_id for player in players for step in player.track.steps}
    about = "Environment step of the decision, counted from 0"
    columns = [_column("Step", players, _step, about, figure=True)]
    if len(agents) > 1:
        columns.append(_column("Agent", players, _agent))
    alone = len(players) == 1
    for side, (player, name) in enumerate(zip(players, names, strict=True)):
        steps = player.track.steps
        its = [player if i == side else None for i in range(len(players))]
        columns.append(_column("Action" if alone else name, its, _action, f"Action of {name}"))
        columns.append(_column("Reward", its, _reward, f"Reward of {name}", figure=True))
        if any(number(step.value) is not None for step in steps):
            about = f"Value estimate: return that the policy of {name} expects from here on"
            columns.append(_column("Value", its, _value, about, figure=True))
        if any(step.action_source in _SOURCES for step in steps):
            about = f"Source of the action of {name} if its policy did not choose it"
            columns.append(_column("By", its, _source, about, tip=_refused))
        if alone and any(step.option is not None for step in steps):
            columns.append(
                _column(
                    "Option",
                    its,
                    _option,
                    "Option that the agent follows; in the row of its choice, how it ended",
                )
            )
    return columns


def _column(
    heading: str,
    players: Sequence[ReplayPlayer | None],
    text: Text,
    about: str = "",
    *,
    figure: bool = False,
    tip: Text | None = None,
) -> Column[_Row]:
    """Return a table column; ``None`` in ``players`` leaves the cells of that episode empty."""
    said = None if tip is None else partial(_cell, players, tip)
    return Column(heading, partial(_cell, players, text), about=about, figure=figure, tip=said)


def _cell(players: Sequence[ReplayPlayer | None], text: Text, row: _Row) -> str:
    for player, number_of in zip(players, row.rows, strict=True):
        if player is not None and number_of is not None:
            return text(player, player.track.steps[number_of])
    return ""


def _step(_player: ReplayPlayer, step: StepRecord) -> str:
    return str(step.step_index)


def _agent(player: ReplayPlayer, step: StepRecord) -> str:
    return player.track.seats.get(step.agent_id, step.agent_id)


def _action(player: ReplayPlayer, step: StepRecord) -> str:
    return player.track.words(step, player.meanings)


def _reward(_player: ReplayPlayer, step: StepRecord) -> str:
    return numbers.number(step.reward) if step.reward else "0"


def _value(_player: ReplayPlayer, step: StepRecord) -> str:
    return numbers.number(number(step.value))


def _source(_player: ReplayPlayer, step: StepRecord) -> str:
    return _SOURCES.get(step.action_source, "")


def _refused(_player: ReplayPlayer, step: StepRecord) -> str:
    return str(step.extra.get(REFUSED, ""))


def _option(_player: ReplayPlayer, step: StepRecord) -> str:
    ended = step.extra.get("option_ended_by")
    if ended is not None:
        return f"{_ENDED.get(str(ended), str(ended))} after {numbers.count(_moves(step), 'move')}"
    return "" if step.option is None else str(step.option)


def _moves(step: StepRecord) -> int:
    moves = step.extra.get("option_moves")
    return moves if isinstance(moves, int) else 0


class _StepDelegate(QStyledItemDelegate):
    """Delegate that draws rows whose decisions led to the shown position as selected."""

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """Draw rows that led to the shown position as selected."""
        super().initStyleOption(option, index)
        if option is not None and index.data(CURRENT_ROLE):
            option.state |= QStyle.StateFlag.State_Selected


class StepTable(RowsTable[_Row]):
    """Table of the decisions of replayed episodes; a click moves the replay to the position after a
    decision.
    """

    position_chosen = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.steps = StepTableModel()
        self._action: int | None = None
        self._followed: tuple[int, int] | None = None
        super().__init__(self.steps, "step-table", "Steps of the episode", _ROW, parent)
        self.steps.setParent(self)
        self.setItemDelegate(_StepDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        # The arrow keys belong to the scrub bar; the table follows it.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clicked.connect(self._on_clicked)
        self.head.setMinimumSectionSize(44)
        self.head.setResizeContentsPrecision(100)

    def show_players(self, players: Sequence[ReplayPlayer], names: Sequence[str]) -> None:
        """Show the decisions of one or two episodes."""
        self._followed = None
        self.steps.show(players, names)
        headings = [column.heading for column in self.steps.columns]
        self._action = headings.index("Action") if len(players) == 1 else None
        self.head.setStretchLastSection(self._action is None)
        self._fit_columns()

    @property
    def wanted_width(self) -> int:
        """Width in pixels at which no cell is cut."""
        sections = range(len(self.steps.columns))
        cells = sum(max(self.sizeHintForColumn(s), self.head.sectionSizeHint(s)) for s in sections)
        bar = self.verticalScrollBar()
        return cells + (bar.sizeHint().width() if bar is not None else 0)

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Fit the columns to the new width and keep the marked rows visible."""
        super().resizeEvent(e)
        self._fit_columns()
        self._bring_into_view()

    def _fit_columns(self) -> None:
        """Stretch the action column over the remaining width; if there is none, let the table scroll."""
        roomy = self.wanted_width <= self.width()
        for section in range(len(self.steps.columns)):
            wide = section == self._action and roomy
            fit = QHeaderView.ResizeMode.Stretch if wide else QHeaderView.ResizeMode.ResizeToContents
            if self.head.sectionResizeMode(section) != fit:
                self.head.setSectionResizeMode(section, fit)

    def follow(self, position: int) -> None:
        """Mark the decisions that led to a position and scroll to them."""
        self._followed = self.steps.set_position(position)
        if self._followed is None:
            self.scrollToTop()
        self._bring_into_view()

    def _bring_into_view(self) -> None:
        hint = QAbstractItemView.ScrollHint.EnsureVisible
        for row in reversed(self._followed or ()):
            self.scrollTo(self.steps.index(row, 0), hint)

    def _on_clicked(self, index: QModelIndex) -> None:
        position = self.steps.position_of(index.row())
        if position is not None:
            self.position_chosen.emit(position)
