"""Painting of table cells that hold more than text: badges of kinds, a status with its dot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PyQt6.QtCore import QModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter, QPixmap
from PyQt6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gym_gui.ui import theme
from gym_gui.ui.results.library_model import KINDS_ROLE, STATE_ROLE

_BADGE_HEIGHT: Final = 19
_INSET: Final = 12
"""Of text and badges in a cell: the style sheet's padding, and the 3 px Qt puts around text."""


class CellDelegate(QStyledItemDelegate):
    """Draws badges where a cell has kinds, a dot where it has a state, else text as always."""

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw a cell."""
        super().paint(painter, option, index)
        if painter is None:
            return
        kinds = index.data(KINDS_ROLE)
        if kinds:
            painter.save()
            paint_badges(painter, option.rect.adjusted(_INSET, 0, -4, 0), kinds)
            painter.restore()

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """No dotted focus frame inside a row that is selected as a whole; the dot is an icon."""
        super().initStyleOption(option, index)
        if option is None:
            return
        option.state &= ~QStyle.StateFlag.State_HasFocus
        token = index.data(STATE_ROLE)
        if token:
            option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
            option.decorationSize = QSize(14, 10)
            option.icon = _dot(str(token))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Wide enough for its badges."""
        hint = super().sizeHint(option, index)
        kinds = index.data(KINDS_ROLE)
        return QSize(badges_width(kinds) + 2 * _INSET, hint.height()) if kinds else hint


def _badge_font() -> QFont:
    return theme.font(theme.SMALL_PX, weight=QFont.Weight.DemiBold)


def badges_width(kinds: Sequence[str]) -> int:
    """Room that badges of these kinds take."""
    metrics = QFontMetrics(_badge_font())
    return sum(metrics.horizontalAdvance(theme.kind_word(kind)) + 20 for kind in kinds)


def paint_badges(painter: QPainter, rect: QRect, kinds: Sequence[str]) -> None:
    """Draw the pills of these kinds from the left of a rectangle."""
    area = QRectF(rect)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipRect(area)
    painter.setFont(_badge_font())
    metrics, at = QFontMetrics(_badge_font()), area.left()
    for kind in kinds:
        width = metrics.horizontalAdvance(theme.kind_word(kind)) + 16
        pill = QRectF(at, area.center().y() - _BADGE_HEIGHT / 2, width, _BADGE_HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.fill_for_white(theme.kind_colour(kind)))
        painter.drawRoundedRect(pill, _BADGE_HEIGHT / 2, _BADGE_HEIGHT / 2)
        painter.setPen(QColor("white"))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, theme.kind_word(kind))
        at += width + 4


def _dot(token: str) -> QIcon:
    ratio = 2
    pixmap = QPixmap(14 * ratio, 10 * ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.current().colour(token))
    painter.drawEllipse(QPointF(5 * ratio, 5 * ratio), 4 * ratio, 4 * ratio)
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return QIcon(pixmap)
