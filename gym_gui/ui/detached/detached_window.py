"""A separate window for a picture or a transcript; closing it returns the content to its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PyQt6.QtCore import QEvent, QPoint, QRect, Qt, pyqtSignal
from PyQt6.QtGui import (
    QCloseEvent,
    QContextMenuEvent,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QMoveEvent,
    QResizeEvent,
    QScreen,
    QShowEvent,
)
from PyQt6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.detached.dock_slot import DockSlot
from gym_gui.ui.widgets import ElidedLabel

FULL: Final = "F11"
NEXT_SCREEN: Final = "Ctrl+Shift+F11"


class DetachedWindow(QWidget):
    """Window for a view that was moved out of its page; passes keys that the view does not use to that page.

    The window has no Qt parent, so that a window manager neither keeps it above the main window nor
    minimizes both together.

    Args:
        dock_slot: Slot whose content the window holds.
        run: Runs the command of a shortcut; returns whether a command has this shortcut.
    """

    left = pyqtSignal()
    """Emitted when the user closes the window, so that its content returns to the page."""
    placed = pyqtSignal()
    """Emitted when the window was moved, resized, or changed to or from full screen."""

    def __init__(self, dock_slot: DockSlot, run: Callable[[str], bool]) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.setObjectName("own-window")
        self.setProperty("role", "sheet")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumSize(200, 150)
        self._dock_slot, self._run = dock_slot, run
        self._note = ElidedLabel("", "muted", parent=self, name="own-window-note")
        self._note.hide()
        self._column = QVBoxLayout(self)
        self._column.setSpacing(theme.ROW)
        self._column.addWidget(self._note)
        self._fit_margin()

    @property
    def is_content_visible(self) -> bool:
        """Whether the window is visible and not minimized."""
        return self.isVisible() and not self.isMinimized()

    def set_title(self, title: str) -> None:
        """Set the window's title."""
        self.setWindowTitle(f"{title} · MOSAIC" if title else "MOSAIC")
        self.setAccessibleName(f"{title}, in its own window")

    def set_note(self, note: str) -> None:
        """Set the text above the content; an empty text hides it."""
        if note != self._note.text():
            self._note.setText(note)
            self._note.setVisible(bool(note))

    def set_content(self, content: QWidget) -> None:
        """Move a widget into the window as its content."""
        hidden = content.isHidden()
        self._column.addWidget(content, 1)
        content.setHidden(hidden)

    def bring_to_front(self) -> None:
        """Raise and activate the window."""
        if self.isMinimized():
            self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.raise_()
        self.activateWindow()

    def toggle_full(self) -> None:
        """Switch full screen on or off."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def next_screen(self) -> None:
        """Move the window to the next screen, if there are several."""
        screens, now = QApplication.screens(), self.screen()
        if len(screens) > 1:
            at = screens.index(now) if now in screens else -1
            self.show_on(screens[(at + 1) % len(screens)])

    def show_on(self, screen: QScreen) -> None:
        """Move the window to the center of a screen; a full-screen window stays full screen."""
        full = self.isFullScreen()
        room = screen.availableGeometry()
        size = (self.normalGeometry().size() if full else self.size()).boundedTo(room.size())
        self.hide()  # some window managers move no window that fills a screen
        self.setWindowState(Qt.WindowState.WindowNoState)
        self.setGeometry(QRect(room.center() - QPoint(size.width() // 2, size.height() // 2), size))
        if full:
            self.showFullScreen()
        else:
            self.show()
        self.bring_to_front()
        self.placed.emit()

    # ------------------------------------------------------------------ events

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Handle a key by the window, else by the page, else by the commands."""
        if a0 is None:
            return
        keys = QKeySequence(a0.keyCombination()).toString(QKeySequence.SequenceFormat.PortableText)
        own: dict[str, Callable[[], object]] = {
            FULL: self.toggle_full,
            NEXT_SCREEN: self.next_screen,
            self._dock_slot.keys: self.left.emit,
        }
        if self.isFullScreen():
            own["Esc"] = self.toggle_full
        if keys in own:
            own[keys]()
        elif not self._send_to_page(a0) and not (keys and self._run(keys)):
            super().keyPressEvent(a0)

    def keyReleaseEvent(self, a0: QKeyEvent | None) -> None:
        """Pass a key release to the page."""
        if a0 is not None and not self._send_to_page(a0):
            super().keyReleaseEvent(a0)

    def _send_to_page(self, event: QKeyEvent) -> bool:
        again = event.clone()
        if again is None:
            return False
        again.setAccepted(False)
        QApplication.sendEvent(self._dock_slot, again)
        return again.isAccepted()

    def contextMenuEvent(self, a0: QContextMenuEvent | None) -> None:
        """Show a menu with the window's actions."""
        if a0 is None:
            return
        menu = QMenu(self)
        menu.setObjectName("own-window-menu")
        menu.aboutToHide.connect(menu.deleteLater)
        full = "Leave full screen" if self.isFullScreen() else "Full screen"
        entries: list[tuple[str, str, Callable[[], object]]] = [(full, FULL, self.toggle_full)]
        if len(QApplication.screens()) > 1:
            entries.append(("Move to the next screen", NEXT_SCREEN, self.next_screen))
        entries.append(
            (f"Return the {self._dock_slot.what} to its page", self._dock_slot.keys, self.left.emit)
        )
        for words, keys, run in entries:
            action = menu.addAction(words, run)
            if action is not None:
                action.setShortcut(keys)
        menu.popup(a0.globalPos())

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        """Emit ``left``, so that the content returns to its page, which closes the window."""
        if a0 is not None:
            a0.ignore()
        self.left.emit()

    def changeEvent(self, a0: QEvent | None) -> None:
        """Adjust the margin to full screen, and signal a changed visibility or activation."""
        super().changeEvent(a0)
        if a0 is None:
            return
        if a0.type() == QEvent.Type.WindowStateChange:
            self._fit_margin()
            self._dock_slot.seen_changed.emit()
            self.placed.emit()
        elif a0.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._dock_slot.entered.emit()

    def _fit_margin(self) -> None:
        margin = theme.STEP if self.isFullScreen() else theme.GAP
        self._column.setContentsMargins(margin, margin, margin, margin)

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Signal that the content is visible again."""
        super().showEvent(a0)
        self._dock_slot.seen_changed.emit()

    def hideEvent(self, a0: QHideEvent | None) -> None:
        """Signal that the content is hidden."""
        super().hideEvent(a0)
        self._dock_slot.seen_changed.emit()

    def moveEvent(self, a0: QMoveEvent | None) -> None:
        """Signal the new position, so that it is remembered."""
        super().moveEvent(a0)
        self.placed.emit()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Signal the new size, so that it is remembered."""
        super().resizeEvent(a0)
        self.placed.emit()
