"""The slot of a picture or transcript on its page; the content can move to its own window and back."""

from __future__ import annotations

from typing import Final, Protocol

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets import IconButton, LinkButton, label
from gym_gui.ui.widgets.layouts import column_layout, row_layout

KEYS: Final = "Ctrl+F11"
"""Shortcut that moves a picture into its own window and back."""
_MOST = 16777215
"""Qt's largest height of a widget (``QWIDGETSIZE_MAX``)."""


class ContentWindow(Protocol):
    """Protocol of a window that shows a slot's content.

    See :class:`~gym_gui.ui.detached.detached_window.DetachedWindow`.
    """

    @property
    def is_content_visible(self) -> bool:
        """Whether the window is visible and not minimized."""
        ...

    def isActiveWindow(self) -> bool:
        """Return whether the window has the keyboard focus."""
        ...

    def set_title(self, title: str) -> None:
        """Set the window's title."""

    def set_note(self, note: str) -> None:
        """Set the text above the content; an empty text hides it."""

    def set_content(self, content: QWidget) -> None:
        """Move a widget into the window as its content."""

    def bring_to_front(self) -> None:
        """Raise and activate the window."""


class DockSlot(QWidget):
    """Place of a widget on its page; the widget can move into its own window and back.

    Code that updates the widget does not depend on the window that shows it.

    Args:
        content: The widget, which becomes a child of the slot.
        what: Word for the widget in texts for the user, such as ``"picture"``.
        keys: Shortcut that moves the widget into its own window and back.
        collapses: Whether the slot shrinks to one line while the widget is in its own window.
        parent: Qt owner.

    Attributes:
        content: The widget that moves.
        key: Name under which the window's position is remembered; empty before :meth:`show_button`.
    """

    shifted = pyqtSignal(object)
    """Emits the window to which the content was moved; ``None`` if it was moved back to the page."""
    seen_changed = pyqtSignal()
    """Emitted when the content may have become visible or hidden."""
    entered = pyqtSignal()
    """Emitted when the content's window gets the keyboard focus."""
    toggle_wanted = pyqtSignal()
    """Emitted when the user wants to move the content into its own window or back."""

    def __init__(
        self,
        content: QWidget,
        what: str = "picture",
        *,
        keys: str = KEYS,
        collapses: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("dock-slot")
        self.content, self.what, self.keys, self.key = content, what, keys, ""
        self.title = self.note = ""
        self.was_apart = False
        self._collapses = collapses
        self._window: ContentWindow | None = None
        self._elsewhere: DetachedNotice | None = None
        self._button: IconButton | None = None
        self._column = column_layout(self, spacing=None)
        self._column.addWidget(content, 1)

    @property
    def own_window(self) -> ContentWindow | None:
        """Window that shows the content; ``None`` while the content is on the page."""
        return self._window

    @property
    def is_content_visible(self) -> bool:
        """Whether the content is visible: on the shown page, or in a window that is not minimized."""
        return self.content.isVisible() if self._window is None else self._window.is_content_visible

    def set_title(self, title: str) -> None:
        """Set the title of the content's window."""
        if title == self.title:
            return
        self.title = title
        if self._window is not None:
            self._window.set_title(title)

    def set_note(self, note: str) -> None:
        """Set the text that the content's own window shows above the content."""
        self.note = note
        if self._window is not None:
            self._window.set_note(note)

    def button(self, size: int = 22) -> IconButton:
        """Return the button that moves the content into its own window and back.

        The button is hidden until :meth:`show_button` is called.

        Args:
            size: Width and height in pixels.
        """
        if self._button is None:
            self._button = IconButton("apart", "", name="own-window", on_click=self.toggle_wanted.emit)
            self._button.setFixedSize(size, size)
            self._button.hide()
            self._show_button()
        return self._button

    def show_button(self, key: str) -> None:
        """Show the button, because :class:`DetachedWindows` now handles its clicks.

        Args:
            key: Name under which the window's position is remembered.
        """
        self.key = key
        if self._button is not None:
            self._button.show()

    def move_to(self, window: ContentWindow, place: str = "") -> None:
        """Move the content into a window.

        Args:
            window: The window.
            place: Name of the window's screen; empty for a single screen.
        """
        if self._elsewhere is None:
            self._elsewhere = DetachedNotice(self.what, self.keys, self)
            self._elsewhere.back_wanted.connect(self.toggle_wanted)
            self._elsewhere.look_wanted.connect(self._on_look_wanted)
            self._column.addWidget(self._elsewhere, 1)
        self._elsewhere.show_place(place)
        self._elsewhere.show()
        if self._collapses:
            self.setMaximumHeight(self._elsewhere.sizeHint().height())
        self._window = window
        window.set_title(self.title)
        window.set_note(self.note)
        window.set_content(self.content)
        self._emit_moved()

    def show_screen(self, place: str) -> None:
        """Show the name of the screen on which the content's window is."""
        if self._elsewhere is not None:
            self._elsewhere.show_place(place)

    def move_back(self) -> None:
        """Move the content back into the slot, with its visibility unchanged."""
        window, self._window = self._window, None
        if window is None:
            return
        if self._elsewhere is not None:
            self._elsewhere.hide()
        self.setMaximumHeight(_MOST)
        hidden = self.content.isHidden()
        self._column.insertWidget(0, self.content, 1)
        self.content.setHidden(hidden)
        self._emit_moved()

    def _emit_moved(self) -> None:
        self._show_button()
        self.shifted.emit(self._window)
        self.seen_changed.emit()

    def _show_button(self) -> None:
        if self._button is not None:
            apart = self._window is not None
            words = (
                f"Return the {self.what} to its page" if apart else f"Move the {self.what} to its own window"
            )
            self._button.set_icon("back_in" if apart else "apart")
            self._button.setToolTip(f"{words} ({self.keys})")
            self._button.setAccessibleName(words)

    def _on_look_wanted(self) -> None:
        if self._window is not None:
            self._window.bring_to_front()


class DetachedNotice(QFrame):
    """Notice in an empty slot that says where the content is, with links to return it or raise its window.

    Args:
        what: Word for the content, such as ``"picture"``.
        keys: Shortcut that returns the content to the page.
        parent: Qt owner.
    """

    back_wanted = pyqtSignal()
    look_wanted = pyqtSignal()

    def __init__(self, what: str, keys: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("elsewhere")
        self.setProperty("role", "wash")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._what = what
        self._words = label("", "muted", wrap=True, parent=self, name="elsewhere-words")
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        back = LinkButton("Return to this page", name="elsewhere-back", on_click=self.back_wanted.emit)
        back.setToolTip(f"Return the {what} to this page ({keys})")
        look = LinkButton("Show the window", name="elsewhere-look", on_click=self.look_wanted.emit)
        look.setToolTip(f"Raise the window of the {what}")
        ways = row_layout(spacing=theme.GAP)
        ways.addStretch(1)
        ways.addWidget(back)
        ways.addWidget(look)
        ways.addStretch(1)
        column = column_layout(self, margin=theme.ROW, spacing=theme.STEP)
        column.addStretch(1)
        column.addWidget(self._words)
        column.addLayout(ways)
        column.addStretch(1)

    def show_place(self, place: str) -> None:
        """Show the sentence that says where the content is.

        Args:
            place: Name of the screen; empty for a single screen.
        """
        where = f", on {place}" if place else ""
        self._words.setText(f"The {self._what} is in its own window{where}.")
        self.setAccessibleName(self._words.text())
