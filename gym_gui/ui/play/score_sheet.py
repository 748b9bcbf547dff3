"""The score sheet of a game: its sides with clocks and captured pieces, and all moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter, QPaintEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from gym_gui.core.live import AgentView, CapturedPieces, LiveView, PlayedMove
from gym_gui.ui import theme
from gym_gui.ui.numbers import local
from gym_gui.ui.renderers import seat_words
from gym_gui.ui.renderers.board_painters import paint_any_piece
from gym_gui.ui.widgets import ElidedLabel, QuietButton, muted_label
from gym_gui.ui.widgets.card import restyle
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.message_panels import IconLabel

_PIECE: Final = 16
"""Width and height of a captured piece, in pixels."""
_ROW: Final = 24
_HEAD: Final = 30
_ROWS: Final = 7
"""Number of rows that are visible without scrolling."""
_THOUGHT: Final = "Time that this side has used for its moves"
_FEW: Final = 8
"""Largest number of equal pieces that are drawn; a larger number is written as text."""


class ScoreSheet(QWidget):
    """The sides of a game and its moves; hidden if the game has neither a board nor move names.

    Args:
        heading: Heading that is shown and hidden together with the sheet.
        parent: Qt parent.
    """

    move_chosen = pyqtSignal(int)
    """Emits the number of the clicked move, counted from 1."""
    flip_wanted = pyqtSignal()
    back_wanted = pyqtSignal()
    evaluate_wanted = pyqtSignal()

    def __init__(self, heading: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("score-sheet")
        self._heading = heading
        self._sides = [_Side(self), _Side(self)]
        self.moves = MoveList(self)
        self.moves.move_chosen.connect(self.move_chosen)
        self.flip = QuietButton(
            "Flip",
            name="flip-board",
            tooltip="Show the board from the other side",
            on_click=self.flip_wanted.emit,
        )
        self.back = QuietButton(
            "Take back",
            name="take-back",
            tooltip="Return to the position before your last move, in a new episode that counts in no "
            "statistic",
            on_click=self.back_wanted.emit,
        )
        self.evaluate = QuietButton("Evaluate", name="evaluate", on_click=self.evaluate_wanted.emit)
        self.evaluate.hide()
        for button in (self.flip, self.back, self.evaluate):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        buttons = row_layout()
        buttons.addWidget(self.back)
        buttons.addWidget(self.flip)
        buttons.addWidget(self.evaluate)
        buttons.addStretch(1)
        layout = column_layout(self, spacing=theme.STEP)
        for side in self._sides:
            layout.addWidget(side)
        layout.addWidget(self.moves)
        layout.addLayout(buttons)
        self._set_shown(False)

    def show_view(self, view: LiveView | None, players: dict[str, str]) -> None:
        """Show the sides and the moves of a view.

        Args:
            view: The view; ``None`` if there is no game.
            players: Name of each slot's player.
        """
        sides = _in_order(view) if view is not None else []
        self._set_shown(view is not None and (view.board is not None or bool(view.moves)))
        if view is None:
            return
        taken = {c.agent: c for c in view.board.captured} if view.board is not None else {}
        kind = view.board.kind if view.board is not None else ""
        for side, agent in zip(self._sides, [*sides, None, None], strict=False):
            side.setVisible(len(sides) == len(self._sides) and agent is not None)
            if agent is not None:
                side.tell(
                    agent, players.get(agent.slot, ""), agent.agent in view.turn, kind, taken.get(agent.agent)
                )
        self.moves.show_moves(view.moves, {agent.agent: seat_words(agent) for agent in sides})
        self.flip.setVisible(view.board is not None)

    def _set_shown(self, shown: bool) -> None:
        self.setVisible(shown)
        if self._heading is not None:
            self._heading.setVisible(shown)

    def show_clocks(self, clocks: Sequence[SideClock]) -> None:
        """Show the clock of each side, in the order of :meth:`order`."""
        for side, clock in zip(self._sides, clocks, strict=False):
            side.show_clock(clock)

    @staticmethod
    def order(view: LiveView) -> list[AgentView]:
        """Return the sides in the order of the sheet: the side that moved first comes first."""
        return _in_order(view)


class SideClock(NamedTuple):
    """The clock of one side.

    Attributes:
        seconds: Time that the side has used or has left, in seconds.
        counts_down: Whether ``seconds`` is the remaining time.
        runs: Whether the clock runs.
        low: Whether the remaining time is low.
    """

    seconds: float
    counts_down: bool = False
    runs: bool = False
    low: bool = False

    @property
    def words(self) -> str:
        """Time as text, such as ``1:23`` or ``0:09.4, low``."""
        if not self.counts_down:
            return clock_words(self.seconds)
        shown = clock_words(self.seconds, tenths=self.low)
        return f"{shown}, {'out of time' if not self.seconds else 'low'}" if self.low else shown


def clock_words(seconds: float, *, tenths: bool = False) -> str:
    """Return a time as text, such as ``0:07``, ``12:30``, ``1:02:03``, or with tenths ``0:07.3``."""
    if tenths:
        minutes, rest = divmod(int(10 * seconds), 600)
        return f"{minutes}:{local(rest / 10):04.1f}"
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def _in_order(view: LiveView) -> list[AgentView]:
    first = view.moves[0].agent if view.moves else next(iter(view.turn), "")
    return sorted(view.agents, key=lambda agent: agent.agent != first)


class _Side(QWidget):
    """Row of one side, such as ``● White · you      1:23``, with the pieces that it has captured."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = ElidedLabel("", "strong", parent=self, name="side-name")
        self.clock = muted_label("", parent=self, name="side-clock")
        self._low = IconLabel("warning", "warning", _PIECE, self)
        self._low.setObjectName("side-low")
        self._low.setToolTip("Little time remains")
        self._low.hide()
        self._captured_row = _CapturedRow(self)
        head = row_layout(spacing=theme.STEP)
        head.addWidget(self.name, 1)
        head.addWidget(self._low)
        head.addWidget(self.clock)
        layout = column_layout(self, spacing=0)
        layout.addLayout(head)
        layout.addWidget(self._captured_row)

    def show_clock(self, clock: SideClock) -> None:
        """Show the time that the side has used or has left; a running countdown is drawn bold."""
        self.clock.setText(clock.words)
        role = "strong" if clock.counts_down and clock.runs else "muted"
        if self.clock.property("role") != role:
            self.clock.setProperty("role", role)
            restyle(self.clock)
        self._low.setVisible(clock.low)
        about = "Time that this side has left" if clock.counts_down else _THOUGHT
        self.clock.setToolTip(f"{about}{'; its clock runs' if clock.runs else ''}")

    def tell(
        self, agent: AgentView, player: str, to_move: bool, kind: str, taken: CapturedPieces | None
    ) -> None:
        who = " · ".join(filter(None, (seat_words(agent), player)))
        self.name.setText(f"{who}, to move" if to_move else who)
        self._captured_row.show_taken(kind, taken)


class _CapturedRow(QWidget):
    """Row of captured pieces, equal ones side by side, and the material advantage."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("side-taken")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._kind, self._captured = "", CapturedPieces("")
        self.hide()

    def show_taken(self, kind: str, taken: CapturedPieces | None) -> None:
        """Show the pieces that a side has captured; ``None`` hides the row."""
        self.setVisible(taken is not None)
        self._kind, self._captured = kind, taken or CapturedPieces("")
        ahead = f"; {self._captured.ahead} ahead" if self._captured.ahead else ""
        self.setAccessibleName(f"{len(self._captured.pieces)} captured{ahead}")
        self.setToolTip(f"Captured: {len(self._captured.pieces)}{ahead}")
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of one row of pieces."""
        return QSize(_PIECE, _PIECE + 2)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the pieces and the numbers."""
        painter, x = QPainter(self), 0.0
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(self.palette().windowText().color())
        for piece, number in Counter(self._captured.pieces).items():
            shown = number if number <= _FEW else 1
            for _ in range(shown):
                paint_any_piece(painter, self._kind, piece, QRectF(x, 0, _PIECE, _PIECE))
                x += _PIECE * 0.62
            x += _PIECE * 0.4
            if shown != number:
                x = self._draw_text(painter, x, f"{number} in all")
        if self._captured.ahead:
            self._draw_text(painter, x, f"+{self._captured.ahead}")

    def _draw_text(self, painter: QPainter, x: float, text: str) -> float:
        painter.setPen(self.palette().windowText().color())
        painter.drawText(QRectF(x, 0, 60, _PIECE), Qt.AlignmentFlag.AlignVCenter, text)
        return x + painter.fontMetrics().horizontalAdvance(text) + theme.STEP


class MoveList(QTableWidget):
    """Table of all moves with one column per side; a click on a move emits its number."""

    move_chosen = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("move-list")
        self.setAccessibleName("Moves")
        self.setToolTip("Click a move to see the position after it")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedHeight(_HEAD + _ROW * _ROWS + 2)
        for head in (self.verticalHeader(), self.horizontalHeader()):
            assert head is not None
            head.setHighlightSections(False)
            head.setSectionsClickable(False)
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        assert rows is not None and columns is not None
        rows.setDefaultSectionSize(_ROW)
        rows.setMinimumSectionSize(_ROW)
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        columns.setFixedHeight(_HEAD)
        rows.hide()  # Each row's text contains its move number.
        self._moves: tuple[PlayedMove, ...] = ()
        self._names: dict[str, str] = {}
        self._cells: list[tuple[int, int]] = []
        self.cellClicked.connect(self._on_clicked)

    def show_moves(self, moves: tuple[PlayedMove, ...], names: dict[str, str]) -> None:
        """Show these moves; rows of moves that are already shown are kept.

        Args:
          moves: All moves of the game, in order.
          names: Names of the sides by agent, in the order of the columns.
        """
        if names != self._names or moves[: len(self._moves)] != self._moves:
            self._moves, self._cells, self._names = (), [], dict(names)
            self.setRowCount(0)
            self.setColumnCount(max(len(names), 1))
            self.setHorizontalHeaderLabels(list(names.values()))
        sides = list(names)
        for move in moves[len(self._moves) :]:
            column = sides.index(move.agent) if move.agent in sides else 0
            row, last = self._cells[-1] if self._cells else (-1, len(sides))
            row = row if column > last else row + 1
            if row == self.rowCount():
                self.insertRow(row)
            word = move.word if column else f"{row + 1}. {move.word}"
            self.setItem(row, column, QTableWidgetItem(word))
            self._cells.append((row, column))
        grown, self._moves = len(moves) > len(self._moves), moves
        if grown:
            self.mark(len(moves))

    def mark(self, number: int) -> None:
        """Select a move by its number, from 1, and scroll to it."""
        if not 0 < number <= len(self._cells):
            self.clearSelection()
            return
        item = self.item(*self._cells[number - 1])
        if item is not None:
            self.setCurrentItem(item)
            self.scrollToItem(item)

    def _on_clicked(self, row: int, column: int) -> None:
        if (row, column) in self._cells:
            self.move_chosen.emit(self._cells.index((row, column)) + 1)
