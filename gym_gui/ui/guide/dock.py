"""The dock with the guide beside the pages: text, pictures, links, history and search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QPoint, Qt, QUrl, pyqtSignal
from PyQt6.QtGui import (
    QDesktopServices,
    QKeyEvent,
    QKeySequence,
    QPixmap,
    QShortcut,
)
from PyQt6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QWidget

from gym_gui.core.errors import UsageError
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.guide.book import FIRST, Book, slug
from gym_gui.ui.widgets import IconButton, PickerButton, PickerItem, muted_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.rich_text import Prose
from gym_gui.ui.widgets.search_field import search_field

WIDTH: Final = 400
NARROWEST: Final = 280
PAGE_NEEDS: Final = 840
"""Width that pages and rail need, in pixels; if the guide leaves less, it floats in its own window."""
_PAGE: Final = "guide/page"
SHOWN: Final = "guide/shown"
_WIDE: Final = "guide/width"
_MOST: Final = 100
"""Largest number of positions in the history."""


@dataclass(frozen=True, slots=True)
class GuidePosition:
    """A position in the guide.

    Attributes:
        page: Name of the page, such as ``guide/play.md``.
        heading: Anchor of a heading; empty for the start of the page.
        scroll: Scroll position in pixels.
    """

    page: str
    heading: str = ""
    scroll: int = 0


class GuideDock(QDockWidget):
    """Shows pages of the guide, and remembers its page, its width and whether it is open.

    Args:
        context: The window's services.
        parent: The main window.
        book: Documentation to show; ``None`` for the one that comes with MOSAIC.
    """

    left = pyqtSignal()
    """Emitted when the keyboard focus returns to the page of the window."""
    shown_page = pyqtSignal(str)

    def __init__(self, context: AppContext, parent: QWidget, book: Book | None = None) -> None:
        super().__init__("Guide", parent)
        self._context = context
        self._book = book or Book()
        self._back: list[GuidePosition] = []
        self._forward: list[GuidePosition] = []
        self._spot: GuidePosition | None = None
        self.setObjectName("guide-dock")
        self.setAccessibleName("Guide")
        self.setAllowedAreas(Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
        self.setTitleBarWidget(self._head())
        content = QWidget(self)
        content.setObjectName("guide")
        content.setProperty("role", "inspector")
        content.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        content.setMinimumWidth(NARROWEST)
        self.browser = Prose(content)
        self.browser.setObjectName("guide-text")
        self.browser.setAccessibleName("Page of the guide")
        self.browser.setOpenLinks(False)
        self.browser.anchorClicked.connect(self.follow)
        column = column_layout(content, margin=(theme.GAP, theme.ROW, theme.STEP, theme.STEP))
        column.addLayout(self._search_row())
        column.addWidget(self.browser, 1)
        self.setWidget(content)
        for keys, slot in (
            (QKeySequence.StandardKey.Find, self._on_find),
            (QKeySequence.StandardKey.Back, self.go_back),
            (QKeySequence.StandardKey.Forward, self.go_forward),
        ):
            shortcut = QShortcut(QKeySequence(keys), self, slot)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        context.theme.changed.connect(self._on_theme_changed)
        self._fill_contents()

    # ------------------------------------------------------------------ parts

    def _head(self) -> QWidget:
        head = QWidget(self)
        head.setObjectName("guide-head")
        head.setProperty("role", "bar")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._back_button = IconButton("left", "Back (Alt+Left)", name="guide-back", on_click=self.go_back)
        self._forward_button = IconButton(
            "right", "Forward (Alt+Right)", name="guide-forward", on_click=self.go_forward
        )
        self._pages = PickerButton(
            name="guide-pages", placeholder="Pages of the guide", search_hint="Search the pages"
        )
        self._pages.setAccessibleName("Page of the guide")
        self._pages.setMinimumWidth(110)
        self._pages.chosen.connect(self._on_page_chosen)
        self._float = IconButton(
            "expand",
            "Move the guide to its own window, or beside the page",
            name="guide-float",
            on_click=self._on_float,
        )
        close = IconButton("close", "Close the guide (F1)", name="guide-close", on_click=self.shut)
        row = QHBoxLayout(head)
        around = (theme.BAR_HEIGHT - theme.CONTROL_HEIGHT) // 2
        row.setContentsMargins(theme.STEP, around, theme.STEP, around)  # a dock only uses the size hint
        row.setSpacing(2)
        row.addWidget(self._back_button)
        row.addWidget(self._forward_button)
        row.addWidget(self._pages, 1)
        row.addWidget(self._float)
        row.addWidget(close)
        return head

    def _search_row(self) -> QHBoxLayout:
        self.search = search_field(
            "guide-search",
            "Find in the guide (Ctrl+F)",
            self._on_words_changed,
            called="Find in the guide",
            parent=self,
        )
        self.search.returnPressed.connect(self.find_next)
        self._found = muted_label("", name="guide-found")
        self._found.hide()
        row = row_layout(margin=(0, 0, theme.ROW, 0), spacing=None)
        row.addWidget(self.search, 1)
        row.addWidget(self._found)
        return row

    def _fill_contents(self) -> None:
        try:
            pages = self._book.contents()
        except UsageError as error:
            self._show_warning(error)
            return
        self._pages.set_items([PickerItem(page, title) for page, title in pages])

    # ------------------------------------------------------------------- navigation

    @property
    def page(self) -> str:
        """Name of the shown page, such as ``guide/play.md``."""
        return self._spot.page if self._spot is not None else ""

    def open(self, page: str = "", heading: str = "") -> None:
        """Show the dock at a page of the guide.

        Args:
          page: Name of the page; empty for the page that was shown last.
          heading: Anchor of a heading on the page.
        """
        self._context.layout.setValue(SHOWN, True)
        self.show()
        kept = str(self._context.layout.value(_PAGE, FIRST) or FIRST)
        if page or self._spot is None:
            self.go(GuidePosition(page or kept, heading))

    def shut(self) -> None:
        """Hide the guide, and return the focus to the page of the window."""
        self.remember()
        self._context.layout.setValue(SHOWN, False)
        self.hide()
        self.left.emit()

    def remember(self) -> None:
        """Save the width of the dock."""
        if self.isVisible() and not self.isFloating():
            self._context.layout.setValue(_WIDE, self.width())

    def dock_or_float(self, window: QWidget) -> None:
        """Dock the guide beside the pages, or float it at the window's right edge if space is short."""
        narrow = window.width() - self.wanted_width < PAGE_NEEDS
        if narrow != self.isFloating():
            self.setFloating(narrow)
        if narrow:
            self.resize(self.wanted_width, window.height())
            self.move(window.mapToGlobal(window.rect().topRight()) - QPoint(self.wanted_width, 0))

    @property
    def wanted_width(self) -> int:
        """Saved width of the guide, in pixels."""
        return int(self._context.layout.value(_WIDE, WIDTH, type=int))

    def go(self, spot: GuidePosition) -> bool:
        """Show a position and add the current one to the history; return whether the page exists."""
        here = self._here()
        if not self._show(spot):
            return False
        if here is not None and replace(here, scroll=0) != replace(spot, scroll=0):
            self._back = [*self._back[1 - _MOST :], here]
            self._forward = []
        self._update_history_buttons()
        return True

    def go_back(self) -> None:
        """Return to the previous position of the history."""
        self._move_in_history(self._back, self._forward)

    def go_forward(self) -> None:
        """Go to the next position of the history."""
        self._move_in_history(self._forward, self._back)

    def _move_in_history(self, way: list[GuidePosition], other: list[GuidePosition]) -> None:
        here = self._here()
        if way and here is not None and self._show(way[-1]):
            way.pop()
            other.append(here)
            self._update_history_buttons()

    def follow(self, url: QUrl) -> None:
        """Follow a link to a page, a heading or a picture; web addresses open in the browser."""
        if url.scheme() in ("http", "https", "mailto"):
            QDesktopServices.openUrl(url)
            return
        target, heading = url.path(), url.fragment()
        if not target:
            self.go(GuidePosition(self.page, heading))
            return
        path = Path(url.toLocalFile()) if url.isLocalFile() else self._linked_file(target)
        if path.suffix == ".webp":
            self._show_picture(path)
        elif page := self._book.name(path):
            self.go(GuidePosition(page, heading))
        else:
            self._context.notify(f"{path.name} is not part of the guide. Read it in MOSAIC's source", "info")

    def find_next(self) -> None:
        """Go to the next match of the searched words, on this page or a later one."""
        words = self.search.text().strip()
        if not words or self._spot is None:
            return
        if self.browser.find(words):
            self._show_search_result("")
            return
        try:
            pages = [page for page, _ in self._book.contents()]
            at = pages.index(self.page) if self.page in pages else -1
            after = (*pages[at + 1 :], *pages[: at + 1])
            page = next((p for p in after if words.lower() in self._book.text(p).lower()), None)
        except UsageError as error:
            self._show_warning(error)
            return
        if page is None:
            self._show_search_result("No match")
            return
        if page != self.page:
            self.go(GuidePosition(page))
        self.browser.moveCursor(self.browser.textCursor().MoveOperation.Start)
        there = self.browser.find(words)
        self._show_search_result("" if there else "No match")

    # ---------------------------------------------------------------- internal

    def _here(self) -> GuidePosition | None:
        bar = self.browser.verticalScrollBar()
        if self._spot is None or bar is None:
            return None
        return replace(self._spot, scroll=bar.value())

    def _show(self, spot: GuidePosition) -> bool:
        if self._spot is None or spot.page != self._spot.page:
            try:
                text = self._book.markdown(spot.page, dark=self._context.theme.dark)
            except (UsageError, OSError, UnicodeDecodeError) as error:
                self._show_warning(error)
                return False
            self.browser.show_markdown(text)
        self._spot = spot
        self._context.layout.setValue(_PAGE, spot.page)
        self._pages.set_value(spot.page)
        bar = self.browser.verticalScrollBar()
        if spot.scroll and bar is not None:
            bar.setValue(spot.scroll)
        else:
            self._show_heading(spot.heading)
        self.shown_page.emit(spot.page)
        return True

    def _show_heading(self, heading: str) -> None:
        for words, block in self.browser.headings():
            if not heading or slug(words) == heading:
                self.browser.show_block(block)
                return

    def _linked_file(self, target: str) -> Path:
        return (self._book.path(self.page).parent / target).resolve()

    def _show_picture(self, path: Path) -> None:
        """Show a picture at its own size, or as large as fits the screen."""
        picture = QPixmap(str(path))
        screen = self.screen()
        if picture.isNull() or screen is None:
            return
        room = screen.availableSize() * 0.92
        if picture.width() > room.width() or picture.height() > room.height():
            picture = picture.scaled(
                room, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        dialog = Dialog("guide-picture", "Picture of the guide", self.window())
        shown = QLabel(dialog)
        shown.setPixmap(picture)
        shown.setAccessibleName("Picture")
        layout = column_layout(dialog, spacing=None)
        layout.addWidget(shown)
        dialog.open()

    def _show_warning(self, error: Exception) -> None:
        self._context.notify(str(error), "warning")

    def _update_history_buttons(self) -> None:
        self._back_button.setEnabled(bool(self._back))
        self._forward_button.setEnabled(bool(self._forward))

    # ------------------------------------------------------------------ slots and events

    def _on_page_chosen(self, page: object) -> None:
        self.go(GuidePosition(str(page)))

    def _on_find(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _show_search_result(self, words: str) -> None:
        """Show a message beside the search field; an empty text hides it."""
        self._found.setText(words)
        self._found.setVisible(bool(words))

    def _on_words_changed(self, _words: str) -> None:
        self._show_search_result("")

    def _on_float(self) -> None:
        self.setFloating(not self.isFloating())

    def _on_theme_changed(self) -> None:
        """Show the page again with the pictures of the new theme, at the same position."""
        here, self._spot = self._here(), None
        if here is not None:
            self._show(here)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Return the keyboard focus to the page of the window on Escape."""
        if a0 is not None and a0.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(a0)
