"""A bar beside a chess board: how much of it is White's is how good the position is for White."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme

_WIDTH = 34
_LIGHT, _DARK = QColor("#f4f4f2"), QColor("#2b2b2b")
"""White's part and Black's, the same in both themes."""


class EvaluationBar(QWidget):
    """Hidden until there is something to say.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evaluation-bar")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._share, self.words = 0.5, ""
        self.hide()

    def sizeHint(self) -> QSize:
        """As wide as its number."""
        return QSize(_WIDTH, 120)

    def show_evaluation(self, share: float, words: str) -> None:
        """Show White's part of the bar, 0 to 1, and the number; an empty number: it is being found out."""
        self._share, self.words = share, words
        said = f"Stockfish: {words} for White" if words else "Stockfish is thinking"
        self.setToolTip(said)
        self.setAccessibleName(said)
        self.show()
        self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Black above, White below, the number on the side that is ahead."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(whole, _DARK)
        edge = whole.bottom() - whole.height() * self._share
        painter.fillRect(QRectF(whole.left(), edge, whole.width(), whole.bottom() - edge), _LIGHT)
        painter.setPen(self.palette().mid().color())
        painter.drawRect(whole)
        painter.setFont(theme.font(theme.SMALL_PX))
        below = self._share >= 0.5
        painter.setPen(_DARK if below else _LIGHT)
        place = Qt.AlignmentFlag.AlignBottom if below else Qt.AlignmentFlag.AlignTop
        painter.drawText(
            whole.adjusted(0, 4, 0, -4), place | Qt.AlignmentFlag.AlignHCenter, self.words or "…"
        )
