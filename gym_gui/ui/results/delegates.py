"""Delegate that draws table cells with badges, status dots, stars and chips beside the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PyQt6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    pyqtSignal,
)
from PyQt6.QtGui import QIcon, QMouseEvent, QPainter, QPen, QPixmap
from PyQt6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.core.run_labels import LONGEST_NAME
from gym_gui.ui import theme
from gym_gui.ui.icons import icon
from gym_gui.ui.results.library_model import BADGE_ROLE, CHIPS_ROLE, KINDS_ROLE, STAR_ROLE, STATE_ROLE
from gym_gui.ui.widgets.badges import (
    BADGE_HEIGHT,
    PILL_GAP,
    badge_font,
    badges_width,
    paint_badges,
    pill_width,
    pills_width,
    words_in,
)

_INSET: Final = 12
"""Left inset of text and badges in a cell, in pixels: the style sheet's padding plus the 3 px that Qt
adds.
"""


class CellDelegate(QStyledItemDelegate):
    """Delegate that draws the badges, status dot, star and chips of a cell, besides its text."""

    star_clicked = pyqtSignal(QModelIndex)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one table cell."""
        super().paint(painter, option, index)
        if painter is None:
            return
        kinds = index.data(KINDS_ROLE)
        if kinds:
            painter.save()
            paint_badges(painter, option.rect.adjusted(_INSET, 0, -4, 0), kinds, index.data(BADGE_ROLE) or "")
            painter.restore()
        star = index.data(STAR_ROLE)
        if star is not None:
            square = QRect(0, 0, 16, 16)
            square.moveCenter(option.rect.center())
            icon("starred" if star else "star", "warning" if star else "faint").paint(painter, square)
        if chips := index.data(CHIPS_ROLE):
            self._paint_chips(painter, option, index, chips)

    def _paint_chips(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex,
        chips: Sequence[tuple[str, str]],
    ) -> None:
        shown, width = _chips_in(option.rect.width(), chips)
        text = option.fontMetrics.horizontalAdvance(str(index.data() or ""))
        left = option.rect.left() + _INSET + min(text + 8, option.rect.width() - 2 * _INSET - width)
        painter.save()
        paint_chips(painter, QRect(left, option.rect.top(), width, option.rect.height()), shown)
        painter.restore()

    def editorEvent(
        self,
        event: QEvent | None,
        model: QAbstractItemModel | None,
        option: QStyleOptionViewItem,
        index: QModelIndex,
    ) -> bool:
        """Emit ``star_clicked`` when the user clicks a star."""
        if (
            isinstance(event, QMouseEvent)
            and index.data(STAR_ROLE) is not None
            and event.button() == Qt.MouseButton.LeftButton
        ):
            if event.type() == QEvent.Type.MouseButtonRelease:
                self.star_clicked.emit(index)
            return True
        return super().editorEvent(event, model, option, index)

    def createEditor(
        self, parent: QWidget | None, option: QStyleOptionViewItem, index: QModelIndex
    ) -> QWidget | None:
        """Return a text field that edits the name of a run."""
        editor = super().createEditor(parent, option, index)
        if isinstance(editor, QLineEdit):
            editor.setObjectName("run-name-editor")
            editor.setMaxLength(LONGEST_NAME)
            editor.setPlaceholderText(str(index.data() or ""))
            editor.setAccessibleName("Name of the run")
        return editor

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """Set Qt's style option for a cell.

        A selected row has no focus frame, the text leaves space for chips, and the status dot is an icon.
        """
        super().initStyleOption(option, index)
        if option is None:
            return
        option.state &= ~QStyle.StateFlag.State_HasFocus
        if chips := index.data(CHIPS_ROLE):
            room = option.rect.width() - 2 * _INSET - 8 - _chips_in(option.rect.width(), chips)[1]
            option.text = option.fontMetrics.elidedText(option.text, Qt.TextElideMode.ElideRight, room)
        token = index.data(STATE_ROLE)
        if token:
            option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
            option.decorationSize = QSize(14, 10)
            option.icon = _dot(str(token))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return a cell size that fits the badges."""
        hint = super().sizeHint(option, index)
        kinds = index.data(KINDS_ROLE)
        return QSize(badges_width(kinds) + 2 * _INSET, hint.height()) if kinds else hint


def _chips_in(room: int, chips: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], int]:
    """Return the chips that fit into half of a cell's width, and their total width in pixels.

    If some do not fit, the last returned chip counts them.
    """
    fit, rest = words_in(room / 2, [text for text, _ in chips])
    shown = [*chips[:fit], *([(rest, "faint")] if rest else [])]
    return shown, pills_width([text for text, _ in shown])


def paint_chips(painter: QPainter, rect: QRect, chips: Sequence[tuple[str, str]]) -> None:
    """Draw texts in outlined pills from the left of a rectangle, each in the color of its theme token."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(badge_font())
    at, ground = float(rect.left()), theme.current().tokens.panel
    for text, token in chips:
        width = pill_width(text)
        pill = QRectF(at + 0.5, rect.center().y() - BADGE_HEIGHT / 2 + 0.5, width - 1, BADGE_HEIGHT)
        painter.setPen(QPen(theme.current().color("line" if token in ("muted", "faint") else token), 1))
        painter.setBrush(theme.current().color("panel"))
        painter.drawRoundedRect(pill, BADGE_HEIGHT / 2, BADGE_HEIGHT / 2)
        painter.setPen(theme.text_on(ground, theme.current().color("muted" if token == "faint" else token)))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)
        at += width + PILL_GAP


def _dot(token: str) -> QIcon:
    ratio = 2
    pixmap = QPixmap(14 * ratio, 10 * ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.current().color(token))
    painter.drawEllipse(QPointF(5 * ratio, 5 * ratio), 4 * ratio, 4 * ratio)
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return QIcon(pixmap)
