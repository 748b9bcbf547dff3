"""Tree model of the moves that a search considered, for views and screen readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from PyQt6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt

from gym_gui.analysis.transcripts.search_values import ActionSearchResult
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.ui.numbers import local, number

MOVE_ROLE: Final = Qt.ItemDataRole.UserRole + 1
"""Item role of the :class:`SearchedMove` of a row."""
MOVE, TRIED, WORTH, THEN = range(4)
_HEADINGS: Final = ("Move", "Visits", "Value", "Expected line")
_ABOUT: Final = (
    "Moves of the search, the most visited first; below each move its replies",
    "Number of times that the search has tried the move",
    "Expected return after the move, for the agent that moves; higher is better",
    "Moves that the search expects after the move",
)


@dataclass(eq=False)
class SearchedMove:
    """A move in the search tree.

    Attributes:
        word: The move in the game's notation.
        visits: Number of times that the search tried the move; ``None`` if not reported.
        value: Expected return for the player that makes the move; ``None`` if not reported.
        line: Moves that the search expects after this move.
        above: The move before this one; ``None`` for a move in the current position.
        place: Row of the move among its siblings.
        share: Visits as a share of those of the most visited move, from 0 to 1.
        chosen: Whether the move was played.
        expected: Whether the search expects this move after the one before it.
        below: Replies to the move, the most visited first.
    """

    word: str
    visits: int | None = None
    value: float | None = None
    line: tuple[str, ...] = ()
    above: SearchedMove | None = None
    place: int = 0
    share: float = 0.0
    chosen: bool = False
    expected: bool = False
    below: list[SearchedMove] = field(default_factory=list["SearchedMove"])

    @property
    def path(self) -> tuple[str, ...]:
        """Moves from the current position to this move, which is the last."""
        return (*(self.above.path if self.above is not None else ()), self.word)

    @property
    def words(self) -> str:
        """Sentence about the move for screen readers."""
        found = ActionSearchResult(self.visits, self.value, self.line).words
        return ", ".join(filter(None, [self.word, "played" if self.chosen else "", found]))


def searched_moves(turn: Turn) -> list[SearchedMove]:
    """Return the moves of a decision, the most visited first, each with its replies."""
    most = max((each.visits or 0 for each in turn.considered.values()), default=0) or 1
    moves = _moves(turn.considered, None, most)
    for move in moves:
        move.chosen = move.word == turn.word
    return moves


def _moves(
    considered: Mapping[str, ActionSearchResult], above: SearchedMove | None, most: int
) -> list[SearchedMove]:
    ranked = sorted(considered.items(), key=lambda each: -(each[1].visits or 0))
    found: list[SearchedMove] = []
    for place, (word, evaluation) in enumerate(ranked):
        share = min((evaluation.visits or 0) / most, 1.0)
        move = SearchedMove(word, evaluation.visits, evaluation.value, evaluation.line, above, place, share)
        move.below = _moves(evaluation.replies, move, most)
        _expect(move, evaluation.line)
        found.append(move)
    return found


def _expect(move: SearchedMove, line: tuple[str, ...]) -> None:
    """Mark the moves of an expected line, and add those that the search did not list."""
    for word in line:
        follows = next((each for each in move.below if each.word == word), None)
        if follows is None:
            follows = SearchedMove(word, above=move, place=len(move.below))
            move.below.append(follows)
        follows.expected = True
        move = follows


class SearchModel(QAbstractItemModel):
    """Qt model of the search tree of one decision."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.moves: list[SearchedMove] = []

    def show(self, moves: list[SearchedMove]) -> None:
        """Replace the tree by these moves."""
        self.beginResetModel()
        self.moves = moves
        self.endResetModel()

    def every(self) -> Iterator[tuple[SearchedMove, QModelIndex]]:
        """Yield all moves with their indices, parents before children."""
        waiting = list(self.moves)
        for move in waiting:
            waiting += move.below
            yield move, self.createIndex(move.place, 0, move)

    def index(self, row: int, column: int, parent: QModelIndex = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a row and column below ``parent``, as Qt requires."""
        moves = self._below(parent)
        if not (0 <= row < len(moves) and 0 <= column < len(_HEADINGS)):
            return QModelIndex()
        return self.createIndex(row, column, moves[row])

    def parent(self, child: QModelIndex) -> QModelIndex:  # type: ignore[override]  # its other form has no index
        """Return the index of a row's parent, as Qt requires."""
        move = self.move_at(child)
        above = move.above if move is not None else None
        return QModelIndex() if above is None else self.createIndex(above.place, 0, above)

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Return the number of replies to a move."""
        return len(self._below(parent)) if parent.column() <= 0 else 0

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return len(_HEADINGS)

    def move_at(self, index: QModelIndex) -> SearchedMove | None:
        """Return the move of an index; ``None`` for an invalid index."""
        move = index.internalPointer() if index.isValid() else None
        return move if isinstance(move, SearchedMove) else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a cell for a Qt role."""
        move = self.move_at(index)
        if move is None:
            return None
        if role == MOVE_ROLE:
            return move
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return move.words if index.column() == MOVE else _cell(move, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return move.words
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in (TRIED, WORTH):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return _cell(move, index.column()) if role == Qt.ItemDataRole.DisplayRole else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's heading, or its explanation for the tool tip role."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return _ABOUT[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = section in (TRIED, WORTH)
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return _HEADINGS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def _below(self, index: QModelIndex) -> list[SearchedMove]:
        move = self.move_at(index)
        if move is not None:
            return move.below
        return [] if index.isValid() else self.moves


def _cell(move: SearchedMove, column: int) -> str:
    if column == MOVE:
        return f"{move.word} (played)" if move.chosen else move.word
    if column == TRIED:
        return "" if move.visits is None else f"{local(move.visits):,}"
    if column == WORTH:
        return "" if move.value is None else signed(move.value)
    return ", ".join(move.line)


def signed(value: float) -> str:
    """Return a value with its sign, such as ``+0.42``, so that color is not the only distinction."""
    return f"+{number(value, 2)}" if value > 0 else number(value, 2)
