"""Tree view of a search: the branch width shows the visits of a move, the color of a dot its value."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QPolygonF, QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.ui import theme
from gym_gui.ui.agent_snapshots.search_model import (
    MOVE,
    MOVE_ROLE,
    THEN,
    TRIED,
    WORTH,
    SearchedMove,
    SearchModel,
    searched_moves,
    signed,
)

_ROW: Final = 24
_INDENT: Final = 30
_STEM: Final = 22.0
"""Distance between a branch and the moves to which it leads, in pixels."""
_WIDEST: Final = 7.0
"""Branch width of the most visited move, in pixels."""
_THINNEST: Final = 1.0
_SPOT: Final = 5
_WORTH_PX: Final = 66
_NARROWEST: Final = 310
_LINE_PX: Final = 110
"""Least width of the column with the expected line of moves, in pixels."""
_ALWAYS: Final = (MOVE, TRIED, WORTH)
"""Columns that are shown at any width of the view."""


class SearchTree(QTreeView):
    """Tree view of the search of one decision, with keyboard navigation.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("search-tree")
        self.setAccessibleName("Search tree")
        self.moves = SearchModel(self)
        self.setModel(self.moves)
        self.setItemDelegate(_SearchDelegate(self))
        self.setUniformRowHeights(True)
        self.setIndentation(_INDENT)
        self.setAllColumnsShowFocus(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setMinimumWidth(_NARROWEST)
        head = self.header()
        assert head is not None
        head.setSectionsMovable(False)
        head.setStretchLastSection(True)
        head.setMinimumSectionSize(40)
        for section in _ALWAYS:
            head.setSectionResizeMode(section, QHeaderView.ResizeMode.ResizeToContents)
        self._turn: Turn | None = None
        theme.current().changed.connect(self._on_theme_changed)

    def show_turn(self, turn: Turn | None) -> None:
        """Show the search of a decision; hide the tree if the decision has none."""
        shown = turn if turn is not None and turn.considered else None
        self.setVisible(shown is not None)
        if shown == self._turn:
            return
        before = self.moves.data(self.currentIndex(), MOVE_ROLE)
        self._turn = shown
        self.moves.show([] if shown is None else searched_moves(shown))
        path = before.path if isinstance(before, SearchedMove) else ()
        for move, index in self.moves.every():
            # Expand the expected line of play; the user expands other moves.
            open_above = move.above is None or self.isExpanded(index.parent())
            self.setExpanded(index, bool(move.below) and open_above and (move.chosen or move.expected))
            if move.path == path:
                self.setCurrentIndex(index)
        self._fit_line()

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Hide the last column if the new width is too small for it."""
        super().resizeEvent(e)
        self._fit_line()

    def _fit_line(self) -> None:
        viewport, head = self.viewport(), self.header()
        if viewport is not None and head is not None:
            # Use the needed widths, not the actual ones: the last visible column takes all remaining width.
            needed = ((self.sizeHintForColumn(each), head.sectionSizeHint(each)) for each in _ALWAYS)
            taken = sum(map(max, needed))
            self.setColumnHidden(THEN, viewport.width() - taken < _LINE_PX)

    def drawBranches(self, painter: QPainter | None, rect: QRect, index: QModelIndex) -> None:
        """Draw the branches of a move; each is as wide as its share of the visits."""
        move = self.moves.move_at(index)
        if painter is None or move is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = rect.center().y() + 0.5
        right = float(rect.right() + 1)
        at = right - _STEM
        above = move.above
        siblings = self.moves.moves if above is None else above.below
        top = float(rect.top())
        if move.place or above is not None:
            self._stem(painter, at, top, middle, siblings[move.place :])
        if move.place + 1 < len(siblings):
            self._stem(painter, at, middle, rect.bottom() + 1.0, siblings[move.place + 1 :])
        path = QPainterPath(QPointF(at, middle))
        path.lineTo(right - (14 if move.below else 2), middle)
        painter.setPen(self._pen([move]))
        painter.drawPath(path)
        if move.below:
            self._draw_caret(painter, QPointF(right - 6, middle), opened=self.isExpanded(index))
        while above is not None:  # branches that pass this row to moves further below
            at -= _INDENT
            siblings = self.moves.moves if above.above is None else above.above.below
            if above.place + 1 < len(siblings):
                self._stem(painter, at, top, rect.bottom() + 1.0, siblings[above.place + 1 :])
            above = above.above
        painter.restore()

    def _stem(self, painter: QPainter, x: float, top: float, bottom: float, to: list[SearchedMove]) -> None:
        painter.setPen(self._pen(to))
        painter.drawLine(QPointF(x, top), QPointF(x, bottom))

    def _pen(self, to: list[SearchedMove]) -> QPen:
        """Return the pen for the branch that leads to these moves."""
        widest = max(to, key=lambda move: move.share)
        played = any(_is_played(move) for move in to)
        color = theme.current().color("accent" if played else "scroll")
        width = max(_THINNEST, _WIDEST * widest.share)
        return QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)

    def _draw_caret(self, painter: QPainter, centre: QPointF, *, opened: bool) -> None:
        now = theme.current()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(now.color("muted"))
        x, y = centre.x(), centre.y()
        points = ((-5, -3), (5, -3), (0, 4)) if opened else ((-3, -5), (-3, 5), (4, 0))
        painter.drawPolygon(QPolygonF([QPointF(x + right, y + down) for right, down in points]))

    def _on_theme_changed(self) -> None:
        viewport = self.viewport()
        if viewport is not None:
            viewport.update()


def _is_played(move: SearchedMove) -> bool:
    """Return whether a move was played, or is expected after the played move."""
    return move.chosen or (move.expected and move.above is not None and _is_played(move.above))


class _SearchDelegate(QStyledItemDelegate):
    """Draws a bar below the visits, a colored dot before the value, and played moves in bold."""

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """Set a bold font for played moves and a muted color for expected lines."""
        super().initStyleOption(option, index)
        move = index.data(MOVE_ROLE)
        if option is None or not isinstance(move, SearchedMove):
            return
        if index.column() == MOVE and _is_played(move):
            option.font.setWeight(QFont.Weight.DemiBold)
        if index.column() == THEN:
            option.palette.setColor(option.palette.ColorRole.Text, theme.current().color("muted"))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return the row's height and, for the value column, a width that fits the colored dot."""
        hint = super().sizeHint(option, index)
        return QSize(max(hint.width(), _WORTH_PX) if index.column() == WORTH else hint.width() + 6, _ROW)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw a cell with its bar or dot."""
        super().paint(painter, option, index)
        move = index.data(MOVE_ROLE)
        if painter is None or not isinstance(move, SearchedMove):
            return
        if index.column() == TRIED and move.visits:
            self._paint_bar(painter, option.rect, move.share)
        if index.column() == WORTH and move.value is not None:
            text = option.fontMetrics.horizontalAdvance(signed(move.value))
            self._paint_worth(painter, option.rect, move.value, text)

    def _paint_bar(self, painter: QPainter, cell: QRect, share: float) -> None:
        room = cell.width() - 10
        bar = QRectF(cell.right() - 5 - room * share, cell.bottom() - 2, room * share, 2)
        painter.fillRect(bar, theme.current().color("accent"))

    def _paint_worth(self, painter: QPainter, cell: QRect, value: float, text: int) -> None:
        """Draw a colored dot to the left of a number that is ``text`` pixels wide."""
        now = theme.current()
        color = QColor(now.color("ok" if value > 0 else "error" if value < 0 else "muted"))
        color.setAlphaF(0.35 + 0.65 * min(abs(value), 1.0))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(cell.right() - text - 20, cell.center().y() + 0.5), _SPOT, _SPOT)
        painter.restore()
