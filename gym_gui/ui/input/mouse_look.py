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
"""Distance from the center, in pixels, at which the pointer is moved back to the center."""
_UNUSED_MS: Final = 1500
"""Time without a request for an action after which the pointer is released, in milliseconds."""


class MouseLook(QObject):
    """Grabs the pointer at a click, emits its motion, and releases it.

    Args:
        parent: Qt parent.
    """

    moved = pyqtSignal(int, int)
    """Emits how many pixels the pointer moved right and down."""
    pressed = pyqtSignal(str)
    released = pyqtSignal(str)
    caught_changed = pyqtSignal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._widget: QWidget | None = None
        self._wanted = False
        self._tracked = False
        self._last, self._center, self._recentered = QPoint(), QPoint(), False
        self._unused = single_shot_timer(self, _UNUSED_MS, self.release_pointer)

    @property
    def caught(self) -> bool:
        """Whether the pointer is grabbed."""
        return self._widget is not None

    def use(self, wanted: bool) -> None:
        """Set whether the person who has to act plays with the mouse.

        Args:
            wanted: Whether the person plays with mouse and keys, not with keys only.
        """
        self._wanted = wanted
        if wanted:
            self._unused.start()
        else:
            self.release_pointer()

    def handle_event(self, widget: QWidget, event: QEvent) -> bool:
        """Handle an event of the widget that shows the game.

        Returns:
            Whether the event was used for mouse play; other handlers must not get it.
        """
        kind = event.type()
        if isinstance(event, QKeyEvent):
            return self._take_key(event)
        if not isinstance(event, QMouseEvent):
            return False
        if not self.caught:
            if self._wanted and kind == QEvent.Type.MouseButtonPress and event.button() in BUTTONS:
                self._grab(widget, event.globalPosition().toPoint())
            return False  # this click must also give the widget the keyboard focus
        name = BUTTONS.get(event.button(), "")
        if kind == QEvent.Type.MouseMove:
            self._emit_motion(event.globalPosition().toPoint())
        elif kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick) and name:
            self.pressed.emit(name)
        elif kind == QEvent.Type.MouseButtonRelease and name:
            self.released.emit(name)
        return True

    def release_pointer(self) -> None:
        """Release the pointer, and ignore the mouse until the next :meth:`use`."""
        self._unused.stop()
        self._wanted = False
        self._release()

    def _take_key(self, event: QKeyEvent) -> bool:
        if not self.caught or event.key() != Qt.Key.Key_Escape:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
        elif event.type() == QEvent.Type.KeyPress:
            self._release()
        return True

    def _grab(self, widget: QWidget, at: QPoint) -> None:
        self._widget, self._tracked = widget, widget.hasMouseTracking()
        self._center = widget.mapToGlobal(widget.rect().center())
        self._last, self._recentered = at, False
        widget.setMouseTracking(True)
        widget.grabMouse(QCursor(Qt.CursorShape.BlankCursor))
        self.caught_changed.emit(True)

    def _release(self) -> None:
        widget, self._widget = self._widget, None
        if widget is None:
            return
        widget.releaseMouse()
        widget.setMouseTracking(self._tracked)
        for name in BUTTONS.values():
            self.released.emit(name)
        self.caught_changed.emit(False)

    def _emit_motion(self, at: QPoint) -> None:
        """Emit how far the pointer moved, and move it back to the center before it reaches an edge.

        Events that were sent before the move to the center still report the old position. If the platform
        cannot move the pointer (Wayland), all events report it.
        """
        off = (at - self._center).manhattanLength()
        if self._recentered and off <= _FAR // 2:
            self._last, self._recentered = self._center, False
        step, self._last = at - self._last, at
        if off > _FAR:
            self._recentered = True
            QCursor.setPos(self._center)
        if not step.isNull():
            self.moved.emit(step.x(), step.y())
