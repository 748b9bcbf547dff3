"""Messages below the page: they push nothing away and wait for nobody."""

from __future__ import annotations

from PyQt6.QtCore import QObject, QTimer
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.context import AppContext, Notice
from gym_gui.ui.widgets.messages import InlineMessage

AT_ONCE = 3
BRIEF_MS = 8000
"""How long what is only said (not to be mended) stays."""


class NoticeArea(QWidget):
    """Shows the last few notices, newest below; errors stay until they are closed."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self.setAccessibleName("Messages")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(theme.PAGE, theme.ROW, theme.PAGE, theme.ROW)
        self._layout.setSpacing(theme.STEP)
        self._messages: list[InlineMessage] = []
        self.hide()
        context.noticed.connect(self._on_noticed)

    @property
    def texts(self) -> list[str]:
        """What is being said."""
        return [message.text for message in self._messages]

    def clear(self) -> None:
        """Take everything away."""
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
