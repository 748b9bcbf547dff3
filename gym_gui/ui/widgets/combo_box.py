"""Combo box for forms, which ignores the mouse wheel without focus and shortens long text with "…"."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QPaintEvent, QWheelEvent
from PyQt6.QtWidgets import (
    QComboBox,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

_POPUP_EDGE: Final = 12
"""Total width of border and padding at both sides of the drop-down list, in pixels."""


class SteadyComboBox(QComboBox):
    """Combo box as wide as the form allows; the mouse wheel changes its value only if it has the focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(QStyledItemDelegate(self))  # The default delegate ignores style rules for items.
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def showPopup(self) -> None:
        """Open the drop-down list, wide enough for its items even if the form is narrow."""
        view = self.view()
        if view is not None:
            view.setMinimumWidth(view.sizeHintForColumn(0) + _POPUP_EDGE)
        super().showPopup()

    def paintEvent(self, e: QPaintEvent | None) -> None:
        """Draw the combo box with its text shortened by "…" if necessary, because Qt would cut within a
        letter.
        """
        if self.isEditable():
            super().paintEvent(e)
            return
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        style = self.style()
        if style is not None:
            part = QStyle.SubControl.SC_ComboBoxEditField
            room = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
            text = option.currentText
            option.currentText = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def wheelEvent(self, e: QWheelEvent | None) -> None:
        if e is not None and not self.hasFocus():
            e.ignore()
        else:
            super().wheelEvent(e)
