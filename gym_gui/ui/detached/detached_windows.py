"""Windows beside the main window: opened where they last were, and closed with the main window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PyQt6.QtCore import QObject, QRect, QSettings, QSize, Qt
from PyQt6.QtGui import QKeySequence
from PyQt6.QtWidgets import QApplication, QStackedWidget, QWidget

from gym_gui.ui.commands import Command, CommandRegistry
from gym_gui.ui.detached.detached_window import DetachedWindow
from gym_gui.ui.detached.dock_slot import KEYS, DockSlot
from gym_gui.ui.detached.window_positions import SavedPosition, SavedPositions, Screen, fitted
from gym_gui.ui.timers import single_shot_timer

FIRST: Final = QSize(720, 560)
_SETTLE_MS = 250
_EVERYWHERE = ("file", "go", "view", "help")
"""Prefixes of commands that belong to the main window, not to a page."""


class DetachedWindows(QObject):
    """Opens and closes detached windows, and remembers their positions.

    Args:
        layout: Settings that store the windows' positions.
        commands: Commands for keys that a detached window does not handle itself.
        pages: Returns the stack of pages in the main window; ``None`` before it is created.
        parent: Qt owner.
    """

    def __init__(
        self,
        layout: QSettings,
        commands: CommandRegistry,
        pages: Callable[[], QWidget | None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._commands, self._pages = commands, pages
        self._places = SavedPositions(layout)
        self._open: dict[DockSlot, DetachedWindow] = {}
        self._ended: set[DetachedWindow] = set()
        self._is_closed = False
        self._settle = single_shot_timer(self, _SETTLE_MS, self._remember)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.screenAdded.connect(self._show_screens)
            app.screenRemoved.connect(self._settle.start)

    def manage(self, dock_slot: DockSlot, key: str) -> None:
        """Handle a slot's requests to detach its content, and detach it now if it was detached before.

        Args:
            dock_slot: The slot of the content on its page.
            key: Name under which the window's position is remembered.
        """
        if not dock_slot.key:
            dock_slot.toggle_wanted.connect(partial(self.toggle, dock_slot))
            dock_slot.destroyed.connect(partial(self._on_slot_destroyed, dock_slot))
        dock_slot.show_button(key)
        if dock_slot.was_apart or self._places.of(key).open:
            self.detach(dock_slot, activate=False)

    @property
    def shown(self) -> tuple[DetachedWindow, ...]:
        """All open detached windows."""
        return tuple(self._open.values())

    def was_open(self, key: str) -> bool:
        """Return whether the window with a name was open when the program ended."""
        return self._places.of(key).open

    def command(self, page: str, current: Callable[[], DockSlot | None]) -> Command:
        """Return the command that moves a page's picture into its own window and back.

        Args:
            page: Name of the page.
            current: Returns the slot of the page's picture; ``None`` without a picture.
        """

        def available() -> bool:
            dock_slot = current()
            return dock_slot is not None and bool(dock_slot.key)

        def run() -> None:
            dock_slot = current()
            if dock_slot is not None and dock_slot.key:
                self.toggle(dock_slot)

        title = "Picture in a window of its own, or back"
        return Command(f"{page}.apart", title, run, KEYS, "View", "apart", available)

    def toggle(self, dock_slot: DockSlot) -> None:
        """Move a slot's content into its own window, or back to its page."""
        if dock_slot.own_window is None:
            self.detach(dock_slot)
        else:
            self.return_content(dock_slot)

    def detach(self, dock_slot: DockSlot, *, activate: bool = True) -> None:
        """Move a slot's content into its own window.

        Args:
            dock_slot: The slot of the content on its page.
            activate: Whether the window gets the keyboard focus.
        """
        if self._is_closed or dock_slot.own_window is not None:
            return
        kept = self._places.of(dock_slot.key)
        screen, rect = fitted(kept, _screens(self._main), FIRST)
        window = DetachedWindow(dock_slot, partial(self._run, dock_slot))
        window.left.connect(partial(self.return_content, dock_slot))
        self._open[dock_slot] = window
        window.resize(rect.size())
        window.move(rect.topLeft())
        dock_slot.move_to(window)
        window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, not activate)
        if kept.full:
            window.showFullScreen()
        else:
            window.show()
        window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, False)
        if activate:
            window.bring_to_front()
            dock_slot.content.setFocus(Qt.FocusReason.OtherFocusReason)
        self._keep(dock_slot, SavedPosition(True, _numbers(rect), screen.name, kept.full))
        window.placed.connect(self._settle.start)
        self._show_screens()

    def return_content(self, dock_slot: DockSlot) -> None:
        """Move a slot's content back to its page and close its window."""
        window = self._open.pop(dock_slot, None)
        if window is None:
            return
        had_keyboard = window.isActiveWindow()
        self._keep_place(dock_slot, window)
        dock_slot.was_apart = False
        self._places.close(dock_slot.key)
        self._end(dock_slot, window)
        main = self._main
        if had_keyboard and main is not None:
            main.activateWindow()
            dock_slot.content.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_empty(self, dock_slot: DockSlot, *, forget: bool = False) -> None:
        """Close a slot's window because the slot has no content; new content opens the window again.

        Args:
            dock_slot: The slot.
            forget: Whether later slots with the same name start without their own window.
        """
        window = self._open.pop(dock_slot, None)
        if window is None:
            return
        self._keep_place(dock_slot, window)
        dock_slot.was_apart = True
        if forget:
            self._places.close(dock_slot.key)
        self._end(dock_slot, window)

    def close(self) -> None:
        """Close all windows with the main window; the next start opens them again."""
        self._remember()
        self._is_closed = True
        self._settle.stop()
        for dock_slot, window in list(self._open.items()):
            self._end(dock_slot, window)
        self._open.clear()

    # ---------------------------------------------------------------- internal

    @property
    def _main(self) -> QWidget | None:
        place = self._pages()
        return None if place is None else place.window()

    def _end(self, dock_slot: DockSlot, window: DetachedWindow) -> None:
        window.hide()
        dock_slot.move_back()
        # Without a Qt parent the window would be deleted with its last reference, during the event that
        # closes it.
        self._ended.add(window)
        window.destroyed.connect(partial(self._ended.discard, window))
        window.deleteLater()

    def _on_slot_destroyed(self, dock_slot: DockSlot) -> None:
        window = self._open.pop(dock_slot, None)
        if window is not None:
            self._ended.add(window)
            window.destroyed.connect(partial(self._ended.discard, window))
            window.deleteLater()

    def _remember(self) -> None:
        if self._is_closed:
            return
        for dock_slot, window in self._open.items():
            self._keep_place(dock_slot, window)
        self._show_screens()

    def _keep_place(self, dock_slot: DockSlot, window: DetachedWindow) -> None:
        screen = window.screen()
        if self._is_closed or screen is None or not window.isVisible():
            return
        full, before = window.isFullScreen(), self._places.of(dock_slot.key)
        corner, size = window.pos(), window.size()
        rect = before.rect if full else (corner.x(), corner.y(), size.width(), size.height())
        self._keep(dock_slot, SavedPosition(True, rect, screen.name(), full))

    def _keep(self, dock_slot: DockSlot, place: SavedPosition) -> None:
        self._places.save(dock_slot.key, place)

    def _show_screens(self, *_: object) -> None:
        several = len(QApplication.screens()) > 1
        for dock_slot, window in self._open.items():
            screen = window.screen()
            dock_slot.show_screen(screen.name() if several and screen is not None else "")

    def _run(self, dock_slot: DockSlot, keys: str) -> bool:
        """Run the command of a shortcut; a page's command runs only while the page is shown.

        Returns:
          Whether a command has this shortcut.
        """
        registry, wanted = self._commands, QKeySequence(keys)
        for command in registry.all():
            own = command.id.partition(".")[0] in _EVERYWHERE
            if not registry.shortcut(command) or QKeySequence(command.shortcut) != wanted:
                continue
            if not own and not self._on_page(dock_slot):
                continue
            main = self._main
            if own and main is not None:
                main.activateWindow()
            registry.run(command.id)
            return True
        return False

    def _on_page(self, dock_slot: DockSlot) -> bool:
        """Return whether the shown page contains a slot."""
        place = self._pages()
        page = place.currentWidget() if isinstance(place, QStackedWidget) else None
        return page is not None and page.isAncestorOf(dock_slot)


def _numbers(rect: QRect) -> tuple[int, int, int, int]:
    return rect.left(), rect.top(), rect.width(), rect.height()


def _screens(main: QWidget | None) -> list[Screen]:
    """Return all screens, that of the main window first."""
    available = QApplication.screens()
    first = (main.screen() if main is not None else None) or QApplication.primaryScreen()
    available.sort(key=lambda screen: screen is not first)
    return [Screen(screen.name(), screen.availableGeometry()) for screen in available]
