"""Messages below the page, or over a page whose layout must not move; they need no answer."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext, Notice
from gym_gui.ui.widgets import restyle
from gym_gui.ui.widgets.message_panels import InlineMessage

AT_ONCE = 3
_OVER_WIDTH = 460
BRIEF_MS = 8000
"""Time for which a message without an error or warning is shown, in milliseconds."""


class NoticeArea(QWidget):
    """Shows the last messages, the newest at the bottom; warnings and errors stay until they are closed."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self.setAccessibleName("Messages")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(theme.PAGE, theme.ROW, theme.PAGE, theme.ROW)
        self._layout.setSpacing(theme.STEP)
        self._messages: list[InlineMessage] = []
        self._page: QWidget | None = None
        self.home = QVBoxLayout()
        """Layout for messages below the page, which the main window contains."""
        self.home.addWidget(self)
        self.hide()
        context.noticed.connect(self._on_noticed)

    def place_over(self, page: QWidget | None) -> None:
        """Show messages over the lower right corner of a widget, or below the page.

        Args:
          page: The widget; ``None`` shows messages below the page.
        """
        if page is self._page:
            return
        before, self._page = self._page, page
        if before is not None:
            before.removeEventFilter(self)
        if page is None:
            self.home.addWidget(self)
        else:
            page.installEventFilter(self)
            self.home.removeWidget(self)
        margin = theme.ROW if page is not None else theme.PAGE
        self._layout.setContentsMargins(margin, theme.ROW, margin, theme.ROW)
        self.setProperty("role", "box" if page is not None else "")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground, page is not None)
        restyle(self)
        self._place_over()

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Move the messages when the page changes its size."""
        if a0 is self._page and a1 is not None and a1.type() == QEvent.Type.Resize:
            self._place_over()
        return super().eventFilter(a0, a1)

    def event(self, a0: QEvent | None) -> bool:
        """Resize the messages after one was added, removed or changed."""
        handled = super().event(a0)
        if a0 is not None and a0.type() == QEvent.Type.LayoutRequest:
            self._place_over()
        return handled

    def _place_over(self) -> None:
        page, parent = self._page, self.parentWidget()
        if page is None or parent is None or not self._messages:
            return
        corner = page.mapTo(parent, page.rect().bottomRight())
        width = min(_OVER_WIDTH, page.width() - 2 * theme.ROW)
        height = self._layout.totalHeightForWidth(width)
        self.setGeometry(corner.x() - theme.ROW - width, corner.y() - theme.ROW - height, width, height)
        self.raise_()

    @property
    def texts(self) -> list[str]:
        """Texts of the messages that are shown."""
        return [message.text for message in self._messages]

    def clear(self) -> None:
        """Remove all messages."""
        for message in list(self._messages):
            self._drop(message)

    def _on_noticed(self, notice: Notice) -> None:
        same = next((m for m in self._messages if m.text == notice.text), None)
        if same is not None:
            self._drop(same)
        message = InlineMessage(notice.kind, notice.text, notice.action, closable=True, parent=self)
        message.dismissed.connect(self._on_dismissed)
        message.action_triggered.connect(self._on_dismissed)
        if notice.kind in ("info", "ok"):
            timer = QTimer(message)
            timer.setSingleShot(True)
            timer.timeout.connect(message.dismissed)
            timer.start(BRIEF_MS)
        self._messages.append(message)
        self._layout.addWidget(message)
        for oldest in self._messages[:-AT_ONCE]:
            self._drop(oldest)
        self._place_over()
        self.show()

    def _on_dismissed(self) -> None:
        sender: QObject | None = self.sender()
        if isinstance(sender, InlineMessage):
            self._drop(sender)

    def _drop(self, message: InlineMessage) -> None:
        if message in self._messages:
            self._messages.remove(message)
            message.hide()
            self._layout.removeWidget(message)
            message.deleteLater()
        self.setVisible(bool(self._messages))
