"""Buttons: one filled per page, the others quiet."""

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
"""Of an icon before a text, with the air between them."""
CARET_ROOM: Final = 18
_KEYS: Final = re.compile(r" \((?:[^()]*\+[^()]+|double click|Delete|Enter|F\d+)\)$")
"""Keys at the end of a tooltip: screen readers say them after the name, as its description."""


class ButtonOptions(TypedDict, total=False):
    """What every button of ours takes besides its text.

    Attributes:
        icon_name: Icon before the text.
        spare_icon: Icon that stands for the text where there is no room for it.
        icon_color: Token of the icon.
        key: Shortcut shown as a keycap; the shortcut itself belongs to a command.
        tooltip: What it does, longer.
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
    """A button with an icon and, on request, a keycap that tells its shortcut."""

    def __init__(self, text: str, **options: Unpack[ButtonOptions]) -> None:
        super().__init__(text, options.get("parent"))
        self._key = options.get("key", "")
        self._compact = False
        self._spare_icon = options.get("spare_icon", "")
        self._icon_color = options.get("icon_color", "")
        self.setObjectName(options.get("name") or f"button-{_slug(text)}")
        self.setAccessibleName(text)
        # A click leaves the focus where it is, so that Space and arrows still reach the page.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if self._key:  # else a layout would not go below the hint, which has the keycap
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        if icon_name := options.get("icon_name"):
            self.set_icon(icon_name)
        tooltip = options.get("tooltip", "")
        self.setToolTip(f"{tooltip or text} ({self._key})" if self._key else tooltip)
        if on_click := options.get("on_click"):
            self.clicked.connect(_Click(on_click))

    def set_icon(self, name: str) -> None:
        """Show another icon of :mod:`gym_gui.ui.icons`."""
        self.setIcon(icon(name, self._icon_color))
        self.setIconSize(BUTTON_ICON)

    def set_text(self, text: str, icon_name: str = "") -> None:
        """Say another thing (Run becomes Pause)."""
        self.setText(text)
        self.setAccessibleName(text)
        if icon_name:
            self.set_icon(icon_name)

    @property
    def words_width(self) -> int:
        """What it could give up in a narrow place, in pixels: its words, where an icon says the same."""
        words = self.fontMetrics().horizontalAdvance(self.text())
        if self._spare_icon:
            return max(words - BUTTON_ICON.width() - theme.STEP, 0)
        return 0 if self.icon().isNull() else words

    @property
    def compact(self) -> bool:
        """Whether the icon stands alone."""
        return self._compact

    def set_compact(self, compact: bool) -> None:
        """Show the icon alone, or the words again; its name and tooltip say what it does."""
        if compact != self._compact:
            self._compact = compact
            if self._spare_icon:
                self.set_icon(self._spare_icon) if compact else self.setIcon(QIcon())
            self.setToolTip(self.toolTip() or self.text())
            self.updateGeometry()
            self.update()

    def initStyleOption(self, option: QStyleOptionButton | None) -> None:
        """Without words where they have no room."""
        super().initStyleOption(option)
        if option is not None and self._compact:
            option.text = ""

    def sizeHint(self) -> QSize:
        """Wide enough for the keycap."""
        words = QSize(self.fontMetrics().horizontalAdvance(self.text()) if self._compact else 0, 0)
        return super().sizeHint() + self._key_room() - words

    def minimumSizeHint(self) -> QSize:
        """As wide as its words: they are not cut; the keycap goes where there is no room for it."""
        return self.sizeHint() - self._key_room()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the button, its text in the room that is left of the keycap, the keycap."""
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
    """The page's main action, filled."""

    def __init__(self, text: str, **options: Unpack[ButtonOptions]) -> None:
        options.setdefault("icon_color", "on_accent")
        super().__init__(text, **options)
        self.setProperty("role", "primary")


class QuietButton(_Button):
    """Any other action; with a menu, a caret tells that it opens one."""

    def __init__(self, text: str, *, menu: QMenu | None = None, **options: Unpack[ButtonOptions]) -> None:
        super().__init__(text, **options)
        self._caret = menu is not None
        if menu is not None:
            self.setMenu(menu)

    def sizeHint(self) -> QSize:
        """Wide enough for the caret."""
        return super().sizeHint() + QSize(CARET_ROOM if self._caret else 0, 0)

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the button, and the caret of its menu."""
        if not self._caret:
            super().paintEvent(a0)
            return
        paint_button(self, CARET_ROOM)
        paint_caret(self)


class LinkButton(_Button):
    """An action that reads like a link, in a line of text."""

    def __init__(self, text: str, **options: Unpack[ButtonOptions]) -> None:
        super().__init__(text, **options)
        self.setProperty("role", "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)


class IconButton(QToolButton):
    """A square button with an icon alone; its tooltip and accessible name say what it does."""

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
        """Show another icon."""
        self.setIcon(icon(name))


class _Click:
    """Drops the ``checked`` argument of ``clicked``, which our handlers do not take."""

    def __init__(self, handler: Callable[[], object]) -> None:
        self._handler = handler

    def __call__(self, *_: object) -> None:
        self._handler()


def paint_button(button: QPushButton, room: int) -> None:
    """Draw a button whose text leaves ``room`` pixels free at its right end."""
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
    """Width of a keycap with this text."""
    return max(QFontMetrics(theme.font(theme.SMALL_PX)).horizontalAdvance(text) + 12, 20)


def paint_keycap(painter: QPainter, rect: QRect, text: str, *, enabled: bool = True) -> None:
    """Draw a key as a small rounded rectangle."""
    current = theme.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(current.color("line"))
    painter.setBrush(current.color("panel"))
    painter.drawRoundedRect(rect.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    painter.setFont(theme.font(theme.SMALL_PX))
    painter.setPen(current.color("muted" if enabled else "faint"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def paint_caret(widget: QWidget) -> None:
    """Draw the caret of a control that opens a list, at its right end."""
    painter = QPainter(widget)
    size = 12
    corner = QPoint(widget.width() - size - 9, (widget.height() - size) // 2)
    icon("down").paint(painter, QRect(corner, QSize(size, size)))


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
