"""Mouse control in real-time play: a click grabs the pointer until Escape is pressed."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QEvent, QObject, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QCursor, QKeyEvent, QMouseEvent
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.timers import single_shot_timer

BUTTONS: Final = {
    Qt.MouseButton.LeftButton: "MouseLeft",
    Qt.MouseButton.MiddleButton: "MouseMiddle",
    Qt.MouseButton.RightButton: "MouseRight",
}
"""Names of mouse buttons in key schemes."""
_FAR: Final = 80
"""Pixels from the center at which the pointer is moved back, before it reaches the screen's edge."""
_UNUSED_MS: Final = 1500
"""Milliseconds without a question after which the pointer is released: play has paused or ended."""


class MouseLook(QObject):
    """Grabs the pointer at a click, reports its motion, and releases it.

    Args:
        parent: Qt parent.
    """

    moved = pyqtSignal(int, int)
    """Emitted with the pixels moved to the right and down."""
    pressed = pyqtSignal(str)
    released = pyqtSignal(str)
    caught_changed = pyqtSignal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._widget: QWidget | None = None
        self._wanted = False
        self._tracked = False
        self._last, self._middle, self._put_back = QPoint(), QPoint(), False
        self._unused = single_shot_timer(self, _UNUSED_MS, self.give_back)

    @property
    def caught(self) -> bool:
        """Whether the pointer is grabbed."""
        return self._widget is not None

    def use(self, wanted: bool) -> None:
        """Set whether the person who must act now plays with the mouse.

        Args:
            wanted: Whether this person plays with the mouse; otherwise with keys only.
        """
        self._wanted = wanted
        if wanted:
            self._unused.start()
        else:
            self.give_back()

    def take(self, widget: QWidget, event: QEvent) -> bool:
        """Handle an event of the widget that shows the game.

        Returns:
            Whether the event is part of mouse play, so that no other handler may receive it.
        """
        kind = event.type()
        if isinstance(event, QKeyEvent):
            return self._take_key(event)
        if not isinstance(event, QMouseEvent):
            return False
        if not self.caught:
            if self._wanted and kind == QEvent.Type.MouseButtonPress and event.button() in BUTTONS:
                self._catch(widget, event.globalPosition().toPoint())
            return False  # Qt also gives the widget the keyboard focus at this click
        name = BUTTONS.get(event.button(), "")
        if kind == QEvent.Type.MouseMove:
            self._follow(event.globalPosition().toPoint())
        elif kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick) and name:
            self.pressed.emit(name)
        elif kind == QEvent.Type.MouseButtonRelease and name:
            self.released.emit(name)
        return True

    def give_back(self) -> None:
        """Release the pointer and stop mouse play until the next :meth:`use`."""
        self._unused.stop()
        self._wanted = False
        self._let_go()

    def _take_key(self, event: QKeyEvent) -> bool:
        if not self.caught or event.key() != Qt.Key.Key_Escape:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
        elif event.type() == QEvent.Type.KeyPress:
            self._let_go()
        return True

    def _catch(self, widget: QWidget, at: QPoint) -> None:
        self._widget, self._tracked = widget, widget.hasMouseTracking()
        self._middle = widget.mapToGlobal(widget.rect().center())
        self._last, self._put_back = at, False
        widget.setMouseTracking(True)
        widget.grabMouse(QCursor(Qt.CursorShape.BlankCursor))
        self.caught_changed.emit(True)

    def _let_go(self) -> None:
        widget, self._widget = self._widget, None
        if widget is None:
            return
        widget.releaseMouse()
        widget.setMouseTracking(self._tracked)
        for name in BUTTONS.values():
            self.released.emit(name)
        self.caught_changed.emit(False)

    def _follow(self, at: QPoint) -> None:
        """Emit how far the pointer moved, and move it back to the center before it reaches an edge.

        Moves already under way when the pointer is moved back still report the old position. If the platform
        cannot move the pointer (Wayland), all moves do.
        """
        off = (at - self._middle).manhattanLength()
        if self._put_back and off <= _FAR // 2:
            self._last, self._put_back = self._middle, False
        step, self._last = at - self._last, at
        if off > _FAR:
            self._put_back = True
            QCursor.setPos(self._middle)
        if not step.isNull():
            self.moved.emit(step.x(), step.y())
