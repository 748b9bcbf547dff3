"""Push buttons of the window: one filled button per page, and quiet, link and icon buttons."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypedDict, Unpack

from PyQt6.QtCore import QPoint, QRect, QSize, Qt
from PyQt6.QtGui import QFontMetrics, QIcon, QPainter, QPaintEvent
from PyQt6.QtWidgets import (
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from gym_gui.ui import theme
from gym_gui.ui.icons import icon

BUTTON_ICON: Final = QSize(19, 15)
"""Size in pixels of an icon before a button's text, including the gap between icon and text."""
CARET_ROOM: Final = 18
_KEYS: Final = re.compile(r" \((?:[^()]*\+[^()]+|double click|Delete|Enter|F\d+)\)$")
"""Regular expression of a shortcut at the end of a tooltip; an icon button's accessible name omits the
shortcut.
"""


class ButtonOptions(TypedDict, total=False):
    """Keyword arguments of every button besides its text.

    Attributes:
        icon_name: Icon before the text.
        spare_icon: Icon that replaces the text if there is no space for the text.
        icon_color: Theme token of the icon's color.
        key: Shortcut drawn as a keycap; the button itself does not handle the shortcut.
        tooltip: Longer description of the action.
        name: ``objectName``; made from the text by default.
        on_click: Called without arguments.
        parent: Qt owner.
    """

    icon_name: str
    spare_icon: str
    icon_color: str
    key: str
    tooltip: str
    name: str
    on_click: Callable[[], object]
    parent: QWidget | None


class _Button(QPushButton):
    """Button with an optional icon and an optional keycap that shows its shortcut."""

    def __init__(self, text: str, **options: Unpack[ButtonOptions]) -> None:
        super().__init__(text, options.get("parent"))
        self._key = options.get("key", "")
        self._compact = False
        self._spare_icon = options.get("spare_icon", "")
        self._icon_color = options.get("icon_color", "")
        self.setObjectName(options.get("name") or f"button-{_slug(text)}")
        self.setAccessibleName(text)
        # A click does not take the focus, so that Space and arrow keys still reach the page.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if self._key:  # Otherwise a layout would not shrink it below the hint, which includes the keycap.
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        if icon_name := options.get("icon_name"):
            self.set_icon(icon_name)
        tooltip = options.get("tooltip", "")
        self.setToolTip(f"{tooltip or text} ({self._key})" if self._key else tooltip)
        if on_click := options.get("on_click"):
            self.clicked.connect(_Click(on_click))

    def set_icon(self, name: str) -> None:
        """Change the icon to one of :mod:`gym_gui.ui.icons`."""
        self.setIcon(icon(name, self._icon_color))
        self.setIconSize(BUTTON_ICON)

    def set_text(self, text: str, icon_name: str = "") -> None:
        """Change the text of the button, and its icon if ``icon_name`` is given."""
        self.setText(text)
        self.setAccessibleName(text)
        if icon_name:
            self.set_icon(icon_name)

    @property
    def words_width(self) -> int:
        """Width in pixels that the button saves if its icon replaces the text."""
        words = self.fontMetrics().horizontalAdvance(self.text())
        if self._spare_icon:
            return max(words - BUTTON_ICON.width() - theme.STEP, 0)
        return 0 if self.icon().isNull() else words

    @property
    def compact(self) -> bool:
        """Whether the button shows only its icon."""
        return self._compact

    def set_compact(self, compact: bool) -> None:
        """Set whether the button shows only its icon; accessible name and tooltip keep the text."""
        if compact != self._compact:
            self._compact = compact
            if self._spare_icon:
                self.set_icon(self._spare_icon) if compact else self.setIcon(QIcon())
            self.setToolTip(self.toolTip() or self.text())
            self.updateGeometry()
            self.update()

    def initStyleOption(self, option: QStyleOptionButton | None) -> None:
        """Set Qt's style option of the button, without text in compact mode."""
        super().initStyleOption(option)
        if option is not None and self._compact:
            option.text = ""

    def sizeHint(self) -> QSize:
        """Return the size with space for the keycap; in compact mode, without space for the text."""
        words = QSize(self.fontMetrics().horizontalAdvance(self.text()) if self._compact else 0, 0)
        return super().sizeHint() + self._key_room() - words

    def minimumSizeHint(self) -> QSize:
        """Return the size without the keycap, because a narrow button hides its keycap but not its text."""
        return self.sizeHint() - self._key_room()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the button, with the keycap at the right of the text if the keycap fits."""
        if not self._key or self.width() < self.sizeHint().width():
            super().paintEvent(a0)
            return
        width = self._cap_width()
        paint_button(self, width + theme.ROW)
        rect = QRect(self.width() - width - 10, (self.height() - 18) // 2, width, 18)
        paint_keycap(QPainter(self), rect, self._key, enabled=self.isEnabled())

    def _key_room(self) -> QSize:
        return QSize(self._cap_width() + theme.ROW, 0) if self._key else QSize(0, 0)

    def _cap_width(self) -> int:
        return keycap_width(self._key)


class PrimaryButton(_Button):
    """Filled button for the main action of a page or dialog."""

    def __init__(self, text: str, **options: Unpack[ButtonOptions]) -> None:
        options.setdefault("icon_color", "on_accent")
        super().__init__(text, **options)
        self.setProperty("role", "primary")


class QuietButton(_Button):
    """Button for a secondary action; a button with a menu shows a caret."""

    def __init__(self, text: str, *, menu: QMenu | None = None, **options: Unpack[ButtonOptions]) -> None:
        super().__init__(text, **options)
        self._caret = menu is not None
        if menu is not None:
            self.setMenu(menu)

    def sizeHint(self) -> QSize:
        """Return the size with space for the caret."""
        return super().sizeHint() + QSize(CARET_ROOM if self._caret else 0, 0)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the button, with a caret if it has a menu."""
        if not self._caret:
            super().paintEvent(a0)
            return
        paint_button(self, CARET_ROOM)
        paint_caret(self)


class LinkButton(_Button):
    """Button that looks like a link in a line of text."""

    def __init__(self, text: str, **options: Unpack[ButtonOptions]) -> None:
        super().__init__(text, **options)
        self.setProperty("role", "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)


class IconButton(QToolButton):
    """Square button with only an icon; its tooltip and accessible name describe the action."""

    def __init__(
        self,
        icon_name: str,
        tooltip: str,
        *,
        name: str = "",
        on_click: Callable[[], object] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", "bare")
        self.setObjectName(name or f"button-{_slug(tooltip)}")
        self.setIcon(icon(icon_name))
        self.setIconSize(QSize(theme.ICON, theme.ICON))
        self.setFixedSize(30, 30)
        self.setToolTip(tooltip)
        self.setAccessibleName(_KEYS.sub("", tooltip))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if on_click is not None:
            self.clicked.connect(_Click(on_click))

    def set_icon(self, name: str) -> None:
        """Change the icon of the button."""
        self.setIcon(icon(name))


class _Click:
    """Slot for the ``clicked`` signal that calls a handler without the ``checked`` argument."""

    def __init__(self, handler: Callable[[], object]) -> None:
        self._handler = handler

    def __call__(self, *_: object) -> None:
        self._handler()


def paint_button(button: QPushButton, room: int) -> None:
    """Draw a push button and leave ``room`` pixels at its right end free of text."""
    painter = QStylePainter(button)
    option = QStyleOptionButton()
    button.initStyleOption(option)
    option.features &= ~QStyleOptionButton.ButtonFeature.HasMenu
    painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
    style = button.style()
    if style is not None:
        inside = style.subElementRect(QStyle.SubElement.SE_PushButtonContents, option, button)
        option.rect = inside.adjusted(0, 0, -room, 0)
    painter.drawControl(QStyle.ControlElement.CE_PushButtonLabel, option)


def keycap_width(text: str) -> int:
    """Return the width of a keycap with the given text, in pixels."""
    return max(QFontMetrics(theme.font(theme.SMALL_PX)).horizontalAdvance(text) + 12, 20)


def paint_keycap(painter: QPainter, rect: QRect, text: str, *, enabled: bool = True) -> None:
    """Draw a keyboard key with its text as a small rounded rectangle."""
    current = theme.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(current.color("line"))
    painter.setBrush(current.color("panel"))
    painter.drawRoundedRect(rect.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    painter.setFont(theme.font(theme.SMALL_PX))
    painter.setPen(current.color("muted" if enabled else "faint"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def paint_caret(widget: QWidget) -> None:
    """Draw the caret at the right end of a button that opens a list or menu."""
    painter = QPainter(widget)
    size = 12
    corner = QPoint(widget.width() - size - 9, (widget.height() - size) // 2)
    icon("down").paint(painter, QRect(corner, QSize(size, size)))


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
