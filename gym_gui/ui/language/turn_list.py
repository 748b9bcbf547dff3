"""List view of model calls and program decisions, with two lines each."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QModelIndex, QRect, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QPainter, QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gym_gui.analysis.transcripts.turn import DRY, Turn
from gym_gui.ui import theme
from gym_gui.ui.language.player_strip import answer_line, idle_reason
from gym_gui.ui.language.turns import TURN_ROLE, TurnModel
from gym_gui.ui.numbers import local

ROW: Final = 46
_SIDE: Final = 10


class TurnDelegate(QStyledItemDelegate):
    """Delegate that draws a turn: step and agent, tokens and latency, and a one-line summary."""

    several = False
    """Whether each turn names its agent."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return the size of a row; all rows have the same height."""
        return QSize(120, ROW)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one model call or decision of the list."""
        turn = index.data(TURN_ROLE)
        if painter is None or not isinstance(turn, Turn):
            return
        now = theme.current()
        painter.save()
        ground = now.color("panel")
        if option.state & QStyle.StateFlag.State_Selected:
            ground = now.color("wash")
            painter.fillRect(option.rect, ground)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            ground = now.color("raised")
            painter.fillRect(option.rect, ground)
        area = option.rect.adjusted(_SIDE, 4, -_SIDE, -4)
        half = area.height() // 2
        top, below = QRect(area), QRect(area)
        top.setHeight(half)
        below.setTop(area.top() + half)
        small = theme.tabular(theme.font(theme.SMALL_PX))
        strong = theme.tabular(theme.font(theme.TEXT_PX, weight=QFont.Weight.DemiBold))
        facts = facts_of(turn)
        width = QFontMetrics(small).horizontalAdvance(facts)
        painter.setFont(small)
        painter.setPen(now.color("muted"))
        painter.drawText(top, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, facts)
        left = QRect(top)
        left.setRight(top.right() - width - 8)
        head = heading_of(turn, several=self.several)
        _draw(painter, left, head, strong, now.color("text"))
        color = now.color("error" if turn.failed else "muted" if turn.kind == DRY else "text")
        _draw(painter, below, summary_of(turn), theme.font(theme.TEXT_PX), theme.text_on(ground, color))
        painter.restore()


def _draw(painter: QPainter, rect: QRect, text: str, font: QFont, color: QColor) -> None:
    painter.setFont(font)
    painter.setPen(color)
    elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)


def heading_of(turn: Turn, *, several: bool) -> str:
    """Return the heading of a model call: ``Step 12`` or ``Step 12 · green_0 · retry``."""
    parts = [f"Step {turn.step}"]
    if several:
        parts.append(turn.agent)
    if turn.attempt:
        parts.append("retry" if turn.attempt == 1 else f"retry {turn.attempt}")
    if turn.turn:
        parts.append(f"call {turn.turn + 1}")
    return " \N{MIDDLE DOT} ".join(parts)


def facts_of(turn: Turn) -> str:
    """Return the tokens and latency of a model call: ``512 + 8 tokens · 35 ms``."""
    parts: list[str] = []
    if turn.input_tokens or turn.output_tokens:
        parts.append(f"{local(turn.input_tokens):,} + {local(turn.output_tokens):,} tokens")
    if turn.replayed:
        parts.append("replayed")
    elif turn.latency_ms is not None and turn.kind != DRY:
        ms = turn.latency_ms
        parts.append(f"{local(ms):.0f} ms" if ms < 1000 else f"{local(ms / 1000):.1f} s")
    return " \N{MIDDLE DOT} ".join(parts)


def summary_of(turn: Turn) -> str:
    """Return a model's reply in one line, or its error."""
    if turn.thought is not None and turn.refused:
        return f"No action: {idle_reason(turn)}"
    if turn.error:
        return f"No reply: {turn.error}"
    if turn.kind == DRY:
        return "Not sent (dry run)"
    words = answer_line(turn) or "(nothing)"
    return f"Unusable: {words}" if turn.refused else words


class TurnList(QListView):
    """List view of model calls and decisions; :attr:`turn_selected` emits the number of the selected row."""

    turn_selected = pyqtSignal(int)

    def __init__(self, model: TurnModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("turn-list")
        self.setAccessibleName("Turns")
        self.turns = model
        self.delegate = TurnDelegate(self)
        self.setModel(model)
        self.setItemDelegate(self.delegate)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListView.Shape.NoFrame)

    @property
    def at_end(self) -> bool:
        """Whether the newest row or no row is selected."""
        row = self.currentIndex().row()
        return row < 0 or row >= self.turns.rowCount() - 1

    def select(self, row: int) -> None:
        """Select a row and scroll to it."""
        index = self.turns.index(row, 0)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Keep the selected row visible."""
        super().resizeEvent(e)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        """Emit the number of the newly selected row."""
        super().currentChanged(current, previous)
        if current.isValid():
            self.turn_selected.emit(current.row())
