"""The windows beside the main one: opened where they lay, remembered, closed with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PyQt6.QtCore import QObject, QRect, QSettings, QSize, Qt
from PyQt6.QtGui import QKeySequence
from PyQt6.QtWidgets import QApplication, QStackedWidget, QWidget

from gym_gui.ui.apart.berth import KEYS, Berth
from gym_gui.ui.apart.own_window import OwnWindow
from gym_gui.ui.apart.window_places import KeptPlace, KeptPlaces, Screen, fitted
from gym_gui.ui.commands import Command, CommandRegistry
from gym_gui.ui.timers import single_shot_timer

FIRST: Final = QSize(720, 560)
_SETTLE_MS = 250
_EVERYWHERE = ("file", "go", "view", "help")
"""Beginnings of commands that are the window's, and no page's."""


class OwnWindows(QObject):
    """See the module.

    Args:
        layout: Where their places are kept.
        commands: What keys do that mean nothing in such a window.
        pages: The stack of pages in the main window; ``None`` before there is one.
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
        self._places = KeptPlaces(layout)
        self._open: dict[Berth, OwnWindow] = {}
        self._ended: set[OwnWindow] = set()
        self._over = False
        self._settle = single_shot_timer(self, _SETTLE_MS, self._remember)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.screenAdded.connect(self._tell_places)
            app.screenRemoved.connect(self._settle.start)

    def look_after(self, berth: Berth, key: str) -> None:
        """Move a berth into a window of its own when asked to, and at once if it was in one last time.

        Args:
            berth: The place on a page.
            key: Name under which its window is remembered.
        """
        if not berth.key:
            berth.toggle_wanted.connect(partial(self.toggle, berth))
            berth.destroyed.connect(partial(self._on_berth_gone, berth))
        berth.look_after(key)
        if berth.was_apart or self._places.of(key).open:
            self.detach(berth, activate=False)

    @property
    def shown(self) -> tuple[OwnWindow, ...]:
        """Those that are open."""
        return tuple(self._open.values())

    def comes_back(self, key: str) -> bool:
        """Whether there was a window of this name when the program ended."""
        return self._places.of(key).open

    def command(self, page: str, current: Callable[[], Berth | None]) -> Command:
        """What moves the picture of a page into a window of its own, and back.

        Args:
            page: Name of the page.
            current: Where its picture is; ``None`` while there is none.
        """

        def there() -> bool:
            berth = current()
            return berth is not None and bool(berth.key)

        def run() -> None:
            berth = current()
            if berth is not None and berth.key:
                self.toggle(berth)

        title = "Picture in a window of its own, or back"
        return Command(f"{page}.apart", title, run, KEYS, "View", "apart", there)

    def toggle(self, berth: Berth) -> None:
        """Into a window of its own, or back."""
        if berth.own_window is None:
            self.detach(berth)
        else:
            self.bring_back(berth)

    def detach(self, berth: Berth, *, activate: bool = True) -> None:
        """Put what a berth holds into a window of its own.

        Args:
            berth: The place on a page.
            activate: Give the window the keyboard.
        """
        if self._over or berth.own_window is not None:
            return
        kept = self._places.of(berth.key)
        screen, rect = fitted(kept, _screens(self._main), FIRST)
        window = OwnWindow(berth, partial(self._run, berth))
        window.left.connect(partial(self.bring_back, berth))
        self._open[berth] = window
        window.resize(rect.size())
        window.move(rect.topLeft())
        berth.lend(window)
        window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, not activate)
        if kept.full:
            window.showFullScreen()
        else:
            window.show()
        window.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, False)
        if activate:
            window.come_forward()
            berth.content.setFocus(Qt.FocusReason.OtherFocusReason)
        self._keep(berth, KeptPlace(True, _numbers(rect), screen.name, kept.full))
        window.placed.connect(self._settle.start)
        self._tell_places()

    def bring_back(self, berth: Berth) -> None:
        """Show it in its place again."""
        window = self._open.pop(berth, None)
        if window is None:
            return
        had_keyboard = window.isActiveWindow()
        self._keep_place(berth, window)
        berth.was_apart = False
        self._places.close(berth.key)
        self._end(berth, window)
        main = self._main
        if had_keyboard and main is not None:
            main.activateWindow()
            berth.content.setFocus(Qt.FocusReason.OtherFocusReason)

    def put_away(self, berth: Berth, *, forget: bool = False) -> None:
        """What it shows is not there any more; where it comes back, it comes back in its window.

        Args:
            berth: The place on a page.
            forget: Only this very one comes back there, and none of its name.
        """
        window = self._open.pop(berth, None)
        if window is None:
            return
        self._keep_place(berth, window)
        berth.was_apart = True
        if forget:
            self._places.close(berth.key)
        self._end(berth, window)

    def close(self) -> None:
        """The main window closes: so do all others, and are there again the next time."""
        self._remember()
        self._over = True
        self._settle.stop()
        for berth, window in list(self._open.items()):
            self._end(berth, window)
        self._open.clear()

    # ------------------------------------------------------------------ within

    @property
    def _main(self) -> QWidget | None:
        place = self._pages()
        return None if place is None else place.window()

    def _end(self, berth: Berth, window: OwnWindow) -> None:
        window.hide()
        berth.take_back()
        # Without a Qt parent it would go with its last name, in the middle of the event that has ended it.
        self._ended.add(window)
        window.destroyed.connect(partial(self._ended.discard, window))
        window.deleteLater()

    def _on_berth_gone(self, berth: Berth) -> None:
        window = self._open.pop(berth, None)
        if window is not None:
            self._ended.add(window)
            window.destroyed.connect(partial(self._ended.discard, window))
            window.deleteLater()

    def _remember(self) -> None:
        if self._over:
            return
        for berth, window in self._open.items():
            self._keep_place(berth, window)
        self._tell_places()

    def _keep_place(self, berth: Berth, window: OwnWindow) -> None:
        screen = window.screen()
        if self._over or screen is None or not window.isVisible():
            return
        full, before = window.isFullScreen(), self._places.of(berth.key)
        corner, size = window.pos(), window.size()
        rect = before.rect if full else (corner.x(), corner.y(), size.width(), size.height())
        self._keep(berth, KeptPlace(True, rect, screen.name(), full))

    def _keep(self, berth: Berth, place: KeptPlace) -> None:
        self._places.keep(berth.key, place)

    def _tell_places(self, *_: object) -> None:
        several = len(QApplication.screens()) > 1
        for berth, window in self._open.items():
            screen = window.screen()
            berth.say_place(screen.name() if several and screen is not None else "")

    def _run(self, berth: Berth, keys: str) -> bool:
        """Run the command of these keys; a page's only while it is the page of the picture."""
        registry, wanted = self._commands, QKeySequence(keys)
        for command in registry.all():
            own = command.id.partition(".")[0] in _EVERYWHERE
            if not registry.shortcut(command) or QKeySequence(command.shortcut) != wanted:
                continue
            if not own and not self._on_page(berth):
                continue
            main = self._main
            if own and main is not None:
                main.activateWindow()
            registry.run(command.id)
            return True
        return False

    def _on_page(self, berth: Berth) -> bool:
        """Whether the page that is shown is the one of this berth."""
        place = self._pages()
        page = place.currentWidget() if isinstance(place, QStackedWidget) else None
        return page is not None and page.isAncestorOf(berth)


def _numbers(rect: QRect) -> tuple[int, int, int, int]:
    return rect.left(), rect.top(), rect.width(), rect.height()


def _screens(main: QWidget | None) -> list[Screen]:
    """All of them, the main window's first."""
    there = QApplication.screens()
    first = (main.screen() if main is not None else None) or QApplication.primaryScreen()
    there.sort(key=lambda screen: screen is not first)
    return [Screen(screen.name(), screen.availableGeometry()) for screen in there]
