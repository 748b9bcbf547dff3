"""The bar under a replay: where it is, how much of it is there, and a handle to move."""

from __future__ import annotations

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QSlider, QWidget

from gym_gui.ui import theme

_GROOVE, _HANDLE, _HEIGHT = 4, 14, 24
_EDGE = _HANDLE / 2 + 1


class ScrubBar(QSlider):
    """A slider over positions; a click goes there at once, arrow keys go one by one.

    Positions that cannot be shown yet are paler and cannot be reached.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("scrub-bar")
        self.setAccessibleName("Step of the episode")
        self.setToolTip("Drag to any step. Arrow keys: one step; Page keys: ten; Home, End; Space plays")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setPageStep(10)
        self.setTracking(True)
        self._loaded = 0

    @property
    def loaded(self) -> int:
        """The last position that can be shown."""
        return self._loaded

    def set_extent(self, last: int, loaded: int) -> None:
        """Positions 0 to ``last``, of which those up to ``loaded`` can be shown."""
        self._loaded = loaded
        self.setMaximum(max(last, 0))
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Wide enough to be grasped."""
        return QSize(80, _HEIGHT)

    def mousePressEvent(self, ev: QMouseEvent | None) -> None:
        """Go where the pointer is."""
        if ev is None or ev.button() != Qt.MouseButton.LeftButton:
            return
        self.setSliderDown(True)
        self._go(ev.position().x())

    def mouseMoveEvent(self, ev: QMouseEvent | None) -> None:
        """Follow the pointer."""
        if ev is not None and self.isSliderDown():
            self._go(ev.position().x())

    def mouseReleaseEvent(self, ev: QMouseEvent | None) -> None:
        """Let go."""
        self.setSliderDown(False)

    def position_at(self, x: float) -> int:
        """The position under a place of the bar."""
        room = max(self.width() - 2 * _EDGE, 1)
        share = min(max((x - _EDGE) / room, 0.0), 1.0)
        return round(share * self.maximum())

    def place_of(self, position: int) -> float:
        """Where a position is on the bar."""
        share = position / self.maximum() if self.maximum() else 0.0
        return _EDGE + share * (self.width() - 2 * _EDGE)

    def paintEvent(self, ev: QPaintEvent | None) -> None:
        """Draw groove, what is there, what was played, handle."""
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        middle = self.height() / 2
        start, here = self.place_of(0), self.place_of(self.value())
        for end, token in (
            (self.width() - _EDGE, "line"),
            (self.place_of(self._loaded), "scroll"),
            (here, "accent"),
        ):
            painter.setBrush(tokens.colour(token))
            groove = QRectF(start, middle - _GROOVE / 2, max(end - start, 0.0), _GROOVE)
            painter.drawRoundedRect(groove, _GROOVE / 2, _GROOVE / 2)
        if not self.isEnabled():
            return
        painter.setBrush(tokens.colour("accent"))
        painter.drawEllipse(QPointF(here, middle), _HANDLE / 2, _HANDLE / 2)
        if self.hasFocus():
            painter.setBrush(tokens.colour("on_accent"))
            painter.drawEllipse(QPointF(here, middle), _HANDLE / 4, _HANDLE / 4)

    def _go(self, x: float) -> None:
        self.setValue(min(self.position_at(x), self._loaded))
