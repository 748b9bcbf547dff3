"""Labels in the window's few sizes."""

from __future__ import annotations

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QLabel, QSizePolicy, QWidget


def label(
    text: str = "", role: str = "", *, wrap: bool = False, name: str = "", parent: QWidget | None = None
) -> QLabel:
    """A label in one of the style sheet's roles (``muted``, ``strong``, ``small``, ``fact``, …).

    ``name`` is its ``objectName``.
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
    """A small heading in capitals; screen readers get it as written."""
    result = label(text.upper(), "section", parent=parent)
    result.setAccessibleName(text)
    return result


def title_label(text: str, parent: QWidget | None = None) -> QLabel:
    """A title, 15 px semibold."""
    return label(text, "title", parent=parent)


def muted_label(
    text: str = "", *, wrap: bool = False, name: str = "", parent: QWidget | None = None
) -> QLabel:
    """What is read second."""
    return label(text, "muted", wrap=wrap, name=name, parent=parent)


class ElidedLabel(QLabel):
    """A label of one line that ends in "…" where it has no room; the tooltip has all of it."""

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
        """Room for all of it; hinting rounds, so two pixels more than measured."""
        return super().sizeHint() + QSize(2, 0)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), self.fontMetrics().averageCharWidth() * 4), hint.height())

    def setText(self, a0: str | None) -> None:
        """Show another text; where its place stays as wide as it was, nothing else would tell of it."""
        super().setText(a0)
        self._tell_whole()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Tell the whole text in the tooltip where it is cut."""
        super().resizeEvent(a0)
        self._tell_whole()

    def _tell_whole(self) -> None:
        cut = self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()
        self.setToolTip(self.text() if cut else "")

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the text, cut to fit."""
        painter = QPainter(self)
        rect = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), self._mode, rect.width())
        painter.setPen(self.palette().windowText().color())
        painter.drawText(rect, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), text)
