"""Inspector: the right column of a page, which shows the selected object and its settings."""

from __future__ import annotations

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QFrame, QLabel, QLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets.labels import section_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.scrolling import scroll_over


class _Content(QWidget):
    """Content widget of the inspector without a minimum height, so that its height follows from its width.

    Without a known width, wrapping labels request the height that they need when narrow, and content
    that fits would scroll.
    """

    def minimumSizeHint(self) -> QSize:
        hint, layout = super().minimumSizeHint(), self.layout()
        wraps = layout is not None and layout.hasHeightForWidth()
        return QSize(hint.width(), 0) if wraps else hint


class Inspector(QFrame):
    """Column, 300 px wide, that scrolls if its content is too high; :meth:`add` adds content.

    :meth:`add_foot` adds widgets below the scroll area.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "inspector")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setObjectName("inspector")
        self.setAccessibleName("Inspector")
        self.setFixedWidth(theme.INSPECTOR_WIDTH)
        self.content = _Content()
        self.content.setProperty("role", "scrolled")
        self.body = column_layout(self.content, margin=theme.PAGE)
        self.body.addStretch(1)
        scroll = scroll_over(self.content, parent=self)
        self._bar = scroll.verticalScrollBar()
        assert self._bar is not None
        self._bar.rangeChanged.connect(self._on_range_changed)
        layout = column_layout(self, spacing=None)
        layout.addWidget(scroll, 1)

    def _on_range_changed(self, _low: int, high: int) -> None:
        """Reduce the right margin by the width of a visible scroll bar, so that the content keeps its
        width.
        """
        taken = self._bar.sizeHint().width() if high > 0 and self._bar is not None else 0
        margins = self.body.contentsMargins()
        if margins.right() != theme.PAGE - taken:
            margins.setRight(theme.PAGE - taken)
            self.body.setContentsMargins(margins)

    def add_foot(self, widget: QWidget) -> None:
        """Add a widget below the scroll area, where it is always visible."""
        widget.setProperty("role", "foot")
        widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        layout = self.layout()
        assert layout is not None
        layout.addWidget(widget)

    def add(self, item: QWidget | QLayout) -> None:
        """Add a widget or layout below the existing content."""
        place = self.body.count() - 1
        if isinstance(item, QWidget):
            self.body.insertWidget(place, item)
        else:
            self.body.insertLayout(place, item)

    def add_section(self, text: str) -> QLabel:
        """Add a heading below the existing content, with space above it."""
        place = self.body.count() - 1
        if place > 0:
            self.body.insertSpacing(place, theme.GAP)
        heading = section_label(text)
        self.add(heading)
        return heading

    def clear(self) -> None:
        """Remove and delete all scrolled content."""
        while self.body.count() > 1:
            item = self.body.takeAt(0)
            if item is not None:
                _dispose(item.widget(), item.layout())


def _dispose(widget: QWidget | None, layout: QLayout | None) -> None:
    if widget is not None:
        widget.hide()
        widget.deleteLater()
    if layout is not None:
        while (item := layout.takeAt(0)) is not None:
            _dispose(item.widget(), item.layout())
        layout.deleteLater()
