"""Messages inside a page, each with an optional action, and hints for empty panels."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Literal

from PyQt6.QtCore import QEvent, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.icons import icon
from gym_gui.ui.widgets.buttons import IconButton, LinkButton, PrimaryButton, QuietButton
from gym_gui.ui.widgets.labels import label, muted_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout

MessageKind = Literal["info", "ok", "warning", "error"]
Action = tuple[str, Callable[[], object]]
"""Text of a button, and the function that a click calls."""


class IconLabel(QLabel):
    """Icon in the color of a theme token; the icon changes with the theme."""

    def __init__(self, name: str, color: str, size: int = 18, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._color, self._size = name, color, size
        self.setFixedSize(size, size)
        theme.current().changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        pixmap = icon(self._name, self._color).pixmap(QSize(self._size, self._size), self.devicePixelRatioF())
        self.setPixmap(pixmap)


class InlineMessage(QFrame):
    """Message inside a page, with an optional action button and an optional close button.

    Args:
        kind: ``info``, ``ok``, ``warning`` or ``error``; sets the icon and the word for screen readers.
        text: What happened, and what the user can do.
        action: Text of the action button, and the function that a click calls; ``None`` for no button.
        closable: Whether the message has a close button.
        name: ``objectName`` of the message; by default ``message-`` and the kind.
        parent: Qt owner.
    """

    dismissed = pyqtSignal()
    action_triggered = pyqtSignal()

    def __init__(
        self,
        kind: MessageKind,
        text: str,
        action: Action | None = None,
        *,
        closable: bool = False,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.kind, self._closable = kind, closable
        self._handler = action[1] if action else None
        self.setObjectName(name or f"message-{kind}")
        self.setProperty("role", "wash")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._label = label(text, wrap=True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = row_layout(self, margin=(10, 8, 10, 8))
        layout.addWidget(IconLabel(kind, "accent" if kind == "info" else kind), 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._label, 1)
        self.button: LinkButton | None = None
        self.link: LinkButton | None = None
        self._link: Action | None = None
        if action is not None:
            self.button = LinkButton(action[0], name="message-action", on_click=self._on_action)
            layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        if closable:
            close = IconButton("close", "Close this message", name="message-close", on_click=self._on_close)
            close.setFixedSize(20, 20)
            close.setIconSize(QSize(12, 12))
            layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.set_text(text)

    def add_action(self, text: str, on_click: Callable[[], object], *, name: str) -> LinkButton:
        """Add another button to the message and return the button.

        Args:
            text: Text of the button.
            on_click: Called on a click; the message stays.
            name: ``objectName`` of the button.
        """
        button = LinkButton(text, name=name, on_click=on_click)
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        at = layout.count() - (1 if self._closable else 0)
        layout.insertWidget(at, button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def lead_to(self, link: Action | None) -> None:
        """Show a link button for the message's subject, such as a line of a file; ``None`` hides the
        button.
        """
        if self.link is None and link is not None:
            self.link = self.add_action("", self._on_link, name="message-place")
        self._link = link
        if self.link is not None:
            self.link.set_text(link[0] if link is not None else "")
            self.link.setVisible(link is not None)

    def _on_link(self) -> None:
        if self._link is not None:
            self._link[1]()

    @property
    def text(self) -> str:
        """Text of the message."""
        return self._label.text()

    def set_text(self, text: str) -> None:
        """Change the text of the message."""
        self._label.setText(text)
        self.setAccessibleName(f"{self.kind.capitalize()}: {text}")

    def set_action(self, action: Action) -> None:
        """Change the text and function of the action button; the message must have one."""
        assert self.button is not None
        self.button.set_text(action[0])
        self._handler = action[1]

    def _on_action(self) -> None:
        self.action_triggered.emit()
        if self._handler is not None:
            self._handler()

    def _on_close(self) -> None:
        self.hide()
        self.dismissed.emit()


_LINE, _NARROWEST = 420, 160
"""Longest line of a hint and smallest width of a hint, in pixels."""


def replace_message(
    column: QBoxLayout, before: InlineMessage | None, message: InlineMessage | None
) -> InlineMessage | None:
    """Replace the message at the top of a column by another, or by none, and return the new message."""
    if before is not None:
        before.hide()
        before.deleteLater()
    if message is not None:
        column.insertWidget(0, message)
    return message


class EmptyHint(QWidget):
    """Hint in an empty panel that says what is missing and how to get it.

    Args:
        title: What is missing.
        text: What the user can do.
        action: Text of the main button, and the function that a click calls; ``None`` for no button.
        icon_name: Icon above the title; ``""`` for no icon.
        name: ``objectName`` of the hint.
        parent: Qt owner.
    """

    def __init__(
        self,
        title: str,
        text: str = "",
        action: Action | None = None,
        *,
        icon_name: str = "",
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._fitted: object = None
        self.setObjectName(name or "empty-hint")
        layout = column_layout(self, margin=theme.PAGE)
        layout.addStretch(1)
        centre = Qt.AlignmentFlag.AlignHCenter
        if icon_name:
            layout.addWidget(IconLabel(icon_name, "muted", 28), 0, centre)
        self.title = label(title, "title", wrap=True, name="empty-title")
        self.title.setAlignment(centre)
        self.text = muted_label(text, wrap=True, name="empty-text")
        self.text.setAlignment(centre)
        self.text.setVisible(bool(text))
        layout.addWidget(self.title)
        layout.addWidget(self.text, 0, centre)
        self._buttons = row_layout()
        self._buttons.addStretch(1)
        self._buttons.addStretch(1)
        layout.addSpacing(theme.STEP)
        layout.addLayout(self._buttons)
        layout.addStretch(1)
        if action is not None:
            self.add_action(*action, primary=True)

    def add_action(self, text: str, on_click: Callable[[], object], *, primary: bool = False) -> None:
        """Add another button to the hint."""
        made = PrimaryButton(text, on_click=on_click) if primary else QuietButton(text, on_click=on_click)
        self._buttons.insertWidget(self._buttons.count() - 1, made)

    def set_text(self, title: str, text: str) -> None:
        """Change the title and the text of the hint."""
        self.title.setText(title)
        self.text.setText(text)
        self.text.setVisible(bool(text))
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Return a small width, because the text can wrap in a narrower panel."""
        return QSize(_NARROWEST, super().minimumSizeHint().height())

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Wrap the text for the new width."""
        super().resizeEvent(a0)
        self._fit()

    def event(self, a0: QEvent | None) -> bool:
        """Wrap the text again when the font becomes known or changes with the style sheet."""
        done = super().event(a0)
        if a0 is not None and a0.type() in (QEvent.Type.Polish, QEvent.Type.FontChange):
            self._fit()
        return done

    def _fit(self) -> None:
        # A centered label does not get the height of its lines unless the height is set.
        room = max(min(_LINE, self.width() - 2 * theme.PAGE), 80)
        fitted = (room, self.text.text(), self.text.font().key())
        if fitted == self._fitted:
            return
        self._fitted = fitted
        width = min(room, self.text.fontMetrics().horizontalAdvance(self.text.text()) + 8)
        self.text.setMinimumSize(0, 0)  # heightForWidth() has no answer for widths below the minimum.
        height = max(self.text.heightForWidth(width), 0)

        def taller(steps: int) -> bool:
            return self.text.heightForWidth(width - steps * theme.STEP) != height

        # Make lines about equally long, so that the last one is not a single word.
        most = max(-(-(width - room // 2) // theme.STEP), 0)
        width -= bisect_left(range(1, most + 1), True, key=taller) * theme.STEP
        self.text.setFixedWidth(width)
        self.text.setMinimumHeight(height)
        if (layout := self.layout()) is not None:
            layout.activate()
