"""What is said inside a page: a message with a way out, and what to do with an empty panel."""

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
"""What a button says, and what it does."""


class IconLabel(QLabel):
    """An icon of one token's color that follows the theme."""

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
    """A sentence in a page, with an action and, on request, a way to close it.

    Args:
        kind: ``info``, ``ok``, ``warning`` or ``error``; has an icon and a word for readers.
        text: The thing and the way out.
        action: What the button says and what it does.
        closable: Whether it has a button that closes it.
        name: Its ``objectName``; by default by its kind.
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
        """Offer one more way.

        Args:
            text: What its button says.
            on_click: What it does; the message stays.
            name: Of the button.
        """
        button = LinkButton(text, name=name, on_click=on_click)
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        at = layout.count() - (1 if self._closable else 0)
        layout.insertWidget(at, button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def lead_to(self, link: Action | None) -> None:
        """Lead to what the sentence is about: a file at its line, say; ``None``: nowhere."""
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
        """The sentence."""
        return self._label.text()

    def set_text(self, text: str) -> None:
        """Say another sentence."""
        self._label.setText(text)
        self.setAccessibleName(f"{self.kind.capitalize()}: {text}")

    def set_action(self, action: Action) -> None:
        """Have its button say and do something else; it must have one."""
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
"""Longest line of a hint, and the least width it can be read at."""


def replace_message(
    column: QBoxLayout, before: InlineMessage | None, message: InlineMessage | None
) -> InlineMessage | None:
    """Show a message on top of a column instead of the one before; returns it."""
    if before is not None:
        before.hide()
        before.deleteLater()
    if message is not None:
        column.insertWidget(0, message)
    return message


class EmptyHint(QWidget):
    """What an empty panel says: what belongs here and how it gets here.

    Args:
        title: What is not there yet.
        text: What to do next.
        action: The main way, as a button.
        icon_name: An icon above the title.
        name: Its ``objectName``.
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
        """Offer one more way."""
        made = PrimaryButton(text, on_click=on_click) if primary else QuietButton(text, on_click=on_click)
        self._buttons.insertWidget(self._buttons.count() - 1, made)

    def set_text(self, title: str, text: str) -> None:
        """Say another thing."""
        self.title.setText(title)
        self.text.setText(text)
        self.text.setVisible(bool(text))
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Lines are broken anew where there is less room than they take now."""
        return QSize(_NARROWEST, super().minimumSizeHint().height())

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Break the lines anew."""
        super().resizeEvent(a0)
        self._fit()

    def event(self, a0: QEvent | None) -> bool:
        """The font is known once the style sheet was applied."""
        done = super().event(a0)
        if a0 is not None and a0.type() in (QEvent.Type.Polish, QEvent.Type.FontChange):
            self._fit()
        return done

    def _fit(self) -> None:
        # A centered label does not get the height its lines need, unless this sets it.
        room = max(min(_LINE, self.width() - 2 * theme.PAGE), 80)
        fitted = (room, self.text.text(), self.text.font().key())
        if fitted == self._fitted:
            return
        self._fitted = fitted
        width = min(room, self.text.fontMetrics().horizontalAdvance(self.text.text()) + 8)
        self.text.setMinimumSize(0, 0)  # heightForWidth() answers for no width below the minimum
        height = max(self.text.heightForWidth(width), 0)

        def taller(steps: int) -> bool:
            return self.text.heightForWidth(width - steps * theme.STEP) != height

        # Lines of about one length: no word stands alone in the last one.
        most = max(-(-(width - room // 2) // theme.STEP), 0)
        width -= bisect_left(range(1, most + 1), True, key=taller) * theme.STEP
        self.text.setFixedWidth(width)
        self.text.setMinimumHeight(height)
        if (layout := self.layout()) is not None:
            layout.activate()
