"""The main window: navigation rail, page, messages, log and status line; it knows pages only by name."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QCloseEvent, QPaintEvent, QResizeEvent, QShowEvent
from PyQt6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLabel,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.drag_and_drop import PathDropTarget
from gym_gui.ui.page import Page
from gym_gui.ui.pages import PageEntry, places
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.message_panels import EmptyHint
from gym_gui.ui.widgets.tab_order import tab_on
from gym_gui.ui.window.closing_dialog import ClosingDialog
from gym_gui.ui.window.log_dock import LogDock, LogFeed
from gym_gui.ui.window.menus import Menus
from gym_gui.ui.window.navigation import NavigationRail
from gym_gui.ui.window.notices import NoticeArea
from gym_gui.ui.window.palette import CommandPalette
from gym_gui.ui.window.shortcuts import ShortcutSheet
from gym_gui.ui.window.status_line import StatusLine
from gym_gui.version import __version__

if TYPE_CHECKING:
    from gym_gui.ui.editor.editors import Editors
    from gym_gui.ui.editor.file_request import FileRequest
    from gym_gui.ui.guide.dock import GuideDock
    from gym_gui.ui.tours.guide import TourGuide

_log = logging.getLogger(__name__)

SMALLEST: Final = QSize(1000, 640)
FIRST: Final = QSize(1280, 800)
CLOSING_MS: Final = 300
"""Time after which a slow close shows a note, in milliseconds."""
TOURS: Final = "Play, compare, mix a team, ask a model, train, publish"
EXPERIMENTS: Final = (".py", ".yaml", ".yml", ".json")


class MainWindow(PathDropTarget, QMainWindow):
    """Main window of the program, which creates each page on the first visit.

    Args:
        context: Services that all widgets share; its ``requested`` signal makes the window show a page.
    """

    page_shown = pyqtSignal(str)
    painted = pyqtSignal()
    """Emitted once, after the first paint."""
    ended = pyqtSignal()
    """Emitted when all resources are released and the program can end."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.context = context
        self.pages: dict[str, Page] = {}
        self._places: dict[str, PageEntry] = {place.name: place for place in places()}
        self._page_commands: list[str] = []
        self._current = ""
        self._editors: Editors | None = None
        self._ending: asyncio.Task[None] | None = None
        self._painted = self._is_shut_down = self._is_closing = self._close_confirmed = False
        self._guide: GuideDock | None = None
        self._tours: TourGuide | None = None
        self._first = QSize()
        self.setObjectName("main-window")
        self.setWindowTitle("MOSAIC")
        screen = self.screen()
        # At 200 % scaling a screen may be smaller than the usual minimum size.
        enlarged = screen is not None and screen.devicePixelRatio() > 1
        self.setMinimumSize(SMALLEST.boundedTo(screen.availableSize()) if screen and enlarged else SMALLEST)
        self.setAcceptDrops(True)
        self.feed = LogFeed(self)
        self.feed.open()
        self._build()
        context.commands.add(*self._own_commands())
        self.menus.fill()
        context.requested.connect(self._on_requested)
        context.edit_asked.connect(self._on_edit_asked)
        context.file_told.connect(self._on_file_told)
        self._restore()
        self.go(self._first_page())

    # ------------------------------------------------------------------ parts

    def _build(self) -> None:
        self._rail = NavigationRail(list(self._places.values()), self)
        self._stack = QStackedWidget(self)
        self._stack.setObjectName("pages")
        # The stack has the focus at first, so that no button looks selected and keys reach the page.
        self._stack.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.context.place = self._stack
        self.notices = NoticeArea(self.context, self)
        self._log_dock = LogDock(self.context, self.feed, self)
        self._log_dock.hide()
        self._status = StatusLine(self.context, self)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.setObjectName("log-splitter")
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self._stack)
        self._splitter.addWidget(self._log_dock)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setSizes([600, 180])
        column = column_layout(spacing=0)
        column.addWidget(self._splitter, 1)
        self._tour_place = QVBoxLayout()
        column.addLayout(self._tour_place)
        column.addLayout(self.notices.home)
        column.addWidget(self._status)
        centre = QWidget(self)
        row = row_layout(centre, spacing=0)
        row.addWidget(self._rail)
        row.addLayout(column, 1)
        self.setCentralWidget(centre)
        bar = self.menuBar()
        assert bar is not None
        self.menus = Menus(self.context, self, bar)
        self._palette_box = CommandPalette(self.context, self)
        self._closing_note = QLabel("Closing…", self)
        self._closing_note.setObjectName("closing")
        self._closing_note.setProperty("role", "wash")
        self._closing_note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._closing_note.hide()
        self._rail.chosen.connect(self.go)
        self._rail.logo.clicked.connect(self._on_logo_clicked)
        self._status.log_toggled.connect(self._on_log_toggled)
        self._log_dock.closed.connect(self._on_log_closed)

    def _own_commands(self) -> list[Command]:
        commands = [
            Command("file.new", "New comparison", self._on_new, "Ctrl+N", "File", "add"),
            Command("file.open", "Open experiment file…", self.choose_file, "Ctrl+O", "File", "open"),
            Command("operators.tournament", "Hold a tournament…", self._on_tournament, "", "File", "results"),
            Command(
                "view.palette", "Search everything…", self._palette_box.open, "Ctrl+Shift+P", "View", "search"
            ),
        ]
        numbered = [place for place in self._places.values() if not place.foot]
        for place in self._places.values():
            keys = "Ctrl+," if place.foot else f"Ctrl+{numbered.index(place) + 1}"
            go = _ShowPage(self, place.name)
            commands.append(Command(f"go.{place.name}", place.title, go, keys, "View", place.icon))
        commands += [
            Command(
                "view.theme",
                "Switch between light and dark",
                self.switch_theme,
                "Ctrl+Shift+D",
                "View",
                "dark",
            ),
            Command(
                "hosts.open", "Hosts…", self._on_hosts, icon="agents", detail="Other machines, reached by ssh"
            ),
            Command("view.log", "Log", self._status.log.toggle, "Ctrl+L", "View", "log"),
            Command("view.full", "Full screen", self._on_full_screen, "F11", "View", "expand"),
            Command("help.guide", "Guide to this page", self._on_guide, "F1", "Help", "help"),
            Command("help.contents", "Guide", self.show_guide, "", "Help", "help"),
            Command("help.tours", "Tours…", self.choose_tour, "", "Help", "star", detail=TOURS),
            Command("help.shortcuts", "Shortcuts", self._on_shortcuts, "Shift+F1", "Help", "keyboard"),
            Command("help.about", "About MOSAIC", self._on_about, "", "Help", "info"),
            Command("file.quit", "Quit", self.close, "Ctrl+Q", "File", "close"),
        ]
        if "operators" not in self._places:
            commands = [c for c in commands if c.id not in ("file.new", "file.open")]
        return commands

    # ------------------------------------------------------------------ pages

    @property
    def current(self) -> str:
        """Name of the page that is shown."""
        return self._current

    @property
    def page(self) -> Page | None:
        """The page that is shown; ``None`` if it could not be created."""
        return self.pages.get(self._current)

    def go(self, name: str, request: dict[str, object] | None = None) -> None:
        """Show a page and pass it a request; the first visit creates the page.

        Args:
          name: Name of the page.
          request: Keyword arguments of the page's ``opened``.
        """
        if self._is_closing:
            return
        if name not in self._places:
            self.context.notify(f"This installation has no page {name!r}", "warning")
            self._rail.set_current(self._current)
            return
        before = self.page
        page = self.pages.get(name) or self._create_page(name)
        if page is not None:
            self._show_page(name, page, before)
            try:
                page.opened(**(request or {}))
            except Exception as error:
                # An error while a page opens must not close the window.
                _log.exception("page %s could not open", name)
                self.context.notify(f"{page.title} could not open: {error}. The log has the details", "error")
        self._rail.set_current(self._current)

    def _create_page(self, name: str) -> Page | None:
        try:
            page = self._places[name].load()(self.context)
        except Exception as error:
            _log.exception("page %s could not be made", name)
            self.context.notify(
                f"{self._places[name].title} cannot be shown: {error}. The log has the details", "error"
            )
            if not self._current:
                self._stack.addWidget(EmptyHint("This page cannot be shown", str(error), icon_name="warning"))
            return None
        self.pages[name] = page
        self._stack.addWidget(page)
        return page

    def _show_page(self, name: str, page: Page, before: Page | None) -> None:
        if before is page:
            return
        if before is not None:
            before.left()
        self.context.commands.remove(self._page_commands)
        self._current = name
        self.context.layout.setValue("window/page", name)  # at once, in case the process is killed
        focused = self.focusWidget()
        if focused is None or self._stack.isAncestorOf(focused):
            # Otherwise Qt would move the focus from the hidden widget to the new page's first widget.
            self._stack.setFocus()
        self._stack.setCurrentWidget(page)
        self.notices.place_over(self._stack if page.steady else None)
        self._stack.setAccessibleName(f"{page.title}, the page")
        commands = page.commands()
        self._page_commands = [command.id for command in commands]
        self.context.commands.add(*commands)
        self.setWindowTitle(f"{page.title} · MOSAIC")
        self.page_shown.emit(name)

    def _on_requested(self, name: str, request: object) -> None:
        self.go(name, request if isinstance(request, dict) else {})

    # ------------------------------------------------------------------ files

    def _on_edit_asked(self, request: FileRequest) -> None:
        if self._is_closing:
            return
        if self._editors is None:
            from gym_gui.ui.editor.editors import Editors  # most windows never need it

            self._editors = Editors(self.context, self)
        self._editors.open(request)

    def _on_file_told(self, path: str, problems: object) -> None:
        if self._editors is not None:
            self._editors.show_problems(path, tuple(problems) if isinstance(problems, (list, tuple)) else ())

    # ------------------------------------------------------------------ commands

    def switch_theme(self) -> None:
        """Switch between the dark and the light theme, and save the choice."""
        self.context.settings.set("theme", "light" if self.context.theme.dark else "dark")

    def _on_tournament(self) -> None:
        self.context.go("operators", tournament="new")

    def choose_file(self) -> None:
        """Let the user choose an experiment or tournament file, and open it in script mode."""
        dialog = QFileDialog(
            self, "Open an experiment file", str(self.context.layout.value("files/last", ""))
        )
        dialog.setObjectName("choose-experiment")
        dialog.setNameFilters(
            [f"Experiments and tournaments ({' '.join(f'*{end}' for end in EXPERIMENTS)})", "All files (*)"]
        )
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._on_file_selected)
        dialog.open()

    def open_dropped(self, path: Path) -> None:
        """Open a file or folder that was dropped on the window."""
        self.open_file(path)

    def open_file(self, path: Path) -> None:
        """Open an experiment file in script mode, or a run folder on the Results page."""
        if path.is_dir():
            if (path / "run.json").is_file():
                self.context.go("results", run=path)
            else:
                self.context.notify(f"{path.name} is not a run folder, because it has no run.json", "warning")
        elif path.suffix.lower() in EXPERIMENTS:
            self.context.layout.setValue("files/last", str(path.parent))
            self.context.go("operators", script=path)
        else:
            kinds = ", ".join(EXPERIMENTS)
            self.context.notify(f"{path.name} is not an experiment file ({kinds}) or a run folder", "warning")

    def show_guide(self, page: str = "", heading: str = "") -> None:
        """Open the guide beside the pages.

        Args:
            page: Guide page, such as ``guide/play.md``; empty for the page that was shown last.
            heading: Anchor of a heading on that page.
        """
        if self._guide is None:
            from gym_gui.ui.guide.dock import GuideDock

            self._guide = GuideDock(self.context, self)
            self._guide.left.connect(self._on_guide_left)
            self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._guide)
        shut = self._guide.isHidden()
        self._guide.open(page, heading)
        if shut:
            self._guide.dock_or_float(self)
            self.resizeDocks([self._guide], [self._guide.wanted_width], Qt.Orientation.Horizontal)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Dock the guide beside the pages, or float it if the new width is too small."""
        super().resizeEvent(a0)
        if self._guide is not None and self._guide.isVisible() and not self._guide.isFloating():
            self._guide.dock_or_float(self)

    def _on_guide(self) -> None:
        """Show the guide to the current page; hide the guide if it shows this page already."""
        page = self._places[self._current].guide if self._current in self._places else ""
        if self._guide is not None and self._guide.isVisible() and self._guide.page == page:
            self._guide.shut()
            return
        self.show_guide(page)
        if self._guide is not None:
            self._guide.browser.setFocus()

    @property
    def tours(self) -> TourGuide:
        """The tour guide, which is created on first use."""
        if self._tours is None:
            from gym_gui.ui.tours.guide import TourGuide
            from gym_gui.ui.tours.tour_strip import TourStrip

            strip = TourStrip(self)
            self._tour_place.addWidget(strip)
            self._tours = TourGuide(
                self.context,
                self,
                strip,
                shown=lambda: self._current,
                pages=self.pages,
                open_guide=self.show_guide,
            )
        return self._tours

    def choose_tour(self) -> None:
        """Show the list of tours."""
        from gym_gui.ui.tours.chooser import TourChooser

        TourChooser(self.tours.progress, self.tours.start, self).open()

    def _on_guide_left(self) -> None:
        self._stack.setFocus()

    def _on_file_selected(self, path: str) -> None:
        self.open_file(Path(path))

    def _on_new(self) -> None:
        self.context.go("operators", new=True)

    def _on_hosts(self) -> None:
        from gym_gui.ui.hosts.runs_on import open_hosts

        open_hosts(self.context, self)

    def _on_shortcuts(self) -> None:
        ShortcutSheet(self.context.commands, self).open()

    def _on_about(self) -> None:
        place = self.context.store.data
        self.context.notify(
            f"MOSAIC {__version__}: compares agents of any kind on the same seeds. Data folder: {place}"
        )

    def _on_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _on_logo_clicked(self) -> None:
        place = self._rail.logo.mapToGlobal(self._rail.logo.rect().bottomLeft())
        self.menus.popup().popup(place)

    def _on_log_toggled(self, shown: bool) -> None:
        self._log_dock.setVisible(shown)
        self.context.layout.setValue("window/log", shown)
        if shown:
            self._log_dock.table.scrollToBottom()

    def _on_log_closed(self) -> None:
        self._status.log.setChecked(False)

    # ------------------------------------------------------------------------------- saved layout

    def _restore(self) -> None:
        layout = self.context.layout
        geometry = layout.value("window/geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            self._first = self._first_size()
            self.resize(self._first)
        sizes = layout.value("window/splitter")
        if sizes is not None:
            self._splitter.restoreState(sizes)
        self._log_dock.hide()
        if layout.value("window/log", False, type=bool):
            self._status.log.setChecked(True)

    def _first_size(self) -> QSize:
        screen = self.screen()
        return FIRST.boundedTo(screen.availableSize()) if screen is not None else FIRST

    def _fit_frame(self) -> None:
        """Shrink the window at the first start, so that its frame fits the screen."""
        screen, frame = self.screen(), self.frameGeometry()
        if screen is None or self.size() != self._first:
            return
        room = screen.availableGeometry()
        over = (frame.size() - room.size()).expandedTo(QSize(0, 0))
        if not over.isNull():
            self.resize(self.size() - over)
            self.move(room.topLeft())

    def _first_page(self) -> str:
        last = str(self.context.layout.value("window/page", "home"))
        return last if last in self._places else next(iter(self._places))

    def _remember(self) -> None:
        layout = self.context.layout
        layout.setValue("window/geometry", self.saveGeometry())
        layout.setValue("window/splitter", self._splitter.saveState())
        layout.setValue("window/page", self._current)
        if self._guide is not None:
            self._guide.remember()

    # ------------------------------------------------------------------ events

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move the focus on Tab in the order in which widgets appear."""
        return tab_on(self, forward=next) or super().focusNextPrevChild(next)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the window, and emit ``painted`` after the first time."""
        super().paintEvent(a0)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self._on_first_painted)

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Show the window, keep the palette on top and set the first focus."""
        super().showEvent(a0)
        self._palette_box.raise_()
        handle = self.windowHandle()
        if handle is not None:
            self.menus.watch(handle)
        if self.focusWidget() is None:
            self._stack.setFocus()

    def closeEvent(self, a0: QCloseEvent | None) -> None:
        """Release all resources first; the window closes afterwards."""
        if self._is_shut_down or a0 is None:
            super().closeEvent(a0)
            return
        a0.ignore()
        if not (self._close_confirmed or self._is_closing) and (costs := self._closing_costs()):
            self._ask_whether_to_close(costs)
            return
        if self._ending is None and not self._is_closing:
            # Not a task of the context: closing the context cancels its own tasks.
            self._ending = asyncio.get_running_loop().create_task(self.shut_down())
            self._ending.add_done_callback(self._on_shut_down)

    def close_unasked(self) -> None:
        """Close the window without asking, after a signal or the user's agreement."""
        self._close_confirmed = True
        self.close()

    def _closing_costs(self) -> list[str]:
        app = QApplication.instance()
        if isinstance(app, QApplication) and app.isSavingSession():
            return []  # the desktop session is ending and must not wait for an answer
        return [costs for page in self.pages.values() if (costs := page.closing_costs())]

    def _ask_whether_to_close(self, costs: Sequence[str]) -> None:
        if self.findChild(ClosingDialog) is None:
            dialog = ClosingDialog(costs, self)
            dialog.agreed.connect(self.close_unasked)
            dialog.open()

    async def shut_down(self) -> None:
        """Close all pages, end all tasks and processes, and save the layout."""
        if self._is_closing:
            return
        self._is_closing = True
        self._remember()
        self.context.detached_windows.close()
        self._status.stop()
        if self._tours is not None:
            self._tours.close()
        note = QTimer(self)
        note.setSingleShot(True)
        note.timeout.connect(self._on_closing_slow)
        note.start(CLOSING_MS)
        for name, page in self.pages.items():
            try:
                await page.closed()
            except Exception:
                _log.exception("page %s failed to close", name)
        if self._editors is not None:
            await self._editors.close()
        await self.context.close()
        note.stop()
        self.feed.close()
        self._is_shut_down = True

    def _on_shut_down(self, _task: object) -> None:
        self._is_shut_down = True
        self.close()
        self.ended.emit()

    def _on_closing_slow(self) -> None:
        self._closing_note.resize(180, 44)
        self._closing_note.move((self.width() - 180) // 2, (self.height() - 44) // 2)
        self._closing_note.show()
        self._closing_note.raise_()
        self.setEnabled(False)

    def _on_first_painted(self) -> None:
        self._fit_frame()
        self._status.start()
        if self.context.layout.value("guide/shown", False, type=bool):
            self.show_guide()
        if tour := str(self.context.layout.value("tours/current", "") or ""):
            self._continue_tour(tour)
        self.painted.emit()

    def _continue_tour(self, tour: str) -> None:
        """Continue the tour that was active when the window last closed, on the current page."""
        with contextlib.suppress(KeyError):  # a tour of a later version
            self.tours.start(tour, stay=True)


class _ShowPage:
    """Function object of a command that shows one page."""

    def __init__(self, window: MainWindow, name: str) -> None:
        self._window, self._name = window, name

    def __call__(self) -> None:
        self._window.go(self._name)
