"""A combo box that fits a form: the wheel scrolls past it, and what has no room ends in dots."""

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
"""Border and padding of a list, both sides, in pixels."""


class SteadyComboBox(QComboBox):
    """A choice that a wheel which scrolls the page does not change; as wide as the form has room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(QStyledItemDelegate(self))  # its own one draws no item of the style sheet
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def showPopup(self) -> None:
        """The list has room for its words, however narrow the form is."""
        view = self.view()
        if view is not None:
            view.setMinimumWidth(view.sizeHintForColumn(0) + _POPUP_EDGE)
        super().showPopup()

    def paintEvent(self, e: QPaintEvent | None) -> None:
        """What has no room ends in dots; Qt would cut it within a letter."""
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
