"""Text labels in the styles of the window."""

from __future__ import annotations

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QLabel, QSizePolicy, QWidget


def label(
    text: str = "", role: str = "", *, wrap: bool = False, name: str = "", parent: QWidget | None = None
) -> QLabel:
    """Return a plain-text label with a role of the style sheet (``muted``, ``strong``, ``small``, ``fact``,
    …).

    ``name`` becomes its ``objectName``.
    """
    result = QLabel(text, parent)
    result.setObjectName(name)
    result.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        result.setProperty("role", role)
    if wrap:
        result.setWordWrap(True)
        result.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return result


def section_label(text: str, parent: QWidget | None = None) -> QLabel:
    """Return a small heading in capitals; screen readers read the text in its original case."""
    result = label(text.upper(), "section", parent=parent)
    result.setAccessibleName(text)
    return result


def title_label(text: str, parent: QWidget | None = None) -> QLabel:
    """Return a title label, 15 px semibold."""
    return label(text, "title", parent=parent)


def muted_label(
    text: str = "", *, wrap: bool = False, name: str = "", parent: QWidget | None = None
) -> QLabel:
    """Return a label in muted color for secondary text."""
    return label(text, "muted", wrap=wrap, name=name, parent=parent)


class ElidedLabel(QLabel):
    """One-line label that shortens text that does not fit with "…"; the tooltip then shows the whole text."""

    def __init__(
        self,
        text: str = "",
        role: str = "",
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._mode = mode
        if role:
            self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the size of the whole text, plus two pixels because font hinting rounds widths."""
        return super().sizeHint() + QSize(2, 0)

    def minimumSizeHint(self) -> QSize:
        """Return a size that fits four letters of average width."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), self.fontMetrics().averageCharWidth() * 4), hint.height())

    def setText(self, a0: str | None) -> None:
        """Change the text and update the tooltip, because no resize event follows if the width stays."""
        super().setText(a0)
        self._update_tooltip()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Set the tooltip to the whole text if the text does not fit, else clear the tooltip."""
        super().resizeEvent(a0)
        self._update_tooltip()

    def _update_tooltip(self) -> None:
        cut = self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()
        self.setToolTip(self.text() if cut else "")

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the text, shortened to fit."""
        painter = QPainter(self)
        rect = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), self._mode, rect.width())
        painter.setPen(self.palette().windowText().color())
        painter.drawText(rect, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), text)
