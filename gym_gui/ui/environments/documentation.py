"""The documentation of an environment: a summary in the inspector, and the full text over the stage."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui.ui import theme
from gym_gui.ui.widgets import Card, LinkButton, QuietButton, label, muted_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.rich_text import Prose

_SHORT: Final = 420
"""Largest number of characters of the summary in the inspector."""


class AboutSummary(QWidget):
    """Short summary of an environment, with a link to its full documentation.

    Args:
        parent: Qt parent.
    """

    more_wanted = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("about-summary")
        layout = column_layout(self, spacing=theme.STEP)
        self.text = muted_label("", wrap=True, name="about-text")
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._more = LinkButton(
            "Read the documentation…",
            name="read-documentation",
            tooltip="Show the environment's documentation: rules, observations, rewards",
            on_click=self.more_wanted.emit,
        )
        layout.addWidget(self.text)
        row = QHBoxLayout()
        row.addWidget(self._more)
        row.addStretch(1)
        layout.addLayout(row)
        self.set_text("")

    def set_text(self, summary: str, *, more: bool = False) -> None:
        """Show a summary, shortened if necessary.

        Args:
          summary: The text.
          more: Whether to show the link to the full documentation.
        """
        cut = summary if len(summary) <= _SHORT else summary[:_SHORT].rsplit(" ", 1)[0] + " …"
        self.text.setText(cut)
        self._more.setVisible(more)


class Documentation(Card):
    """The full documentation of an environment, shown in place of the stage.

    Args:
        parent: Qt parent.
    """

    closed = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("documentation")
        self._title = label("", "title")
        back = QuietButton(
            "Back to the game (Esc)",
            name="close-documentation",
            on_click=self.closed.emit,
        )
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(back)
        self.browser = Prose(self)
        self.browser.setObjectName("documentation-text")
        self.browser.setProperty("role", "bare")
        self.browser.setOpenExternalLinks(True)
        self.browser.setAccessibleName("Documentation of the environment")
        self.body.addLayout(head)
        self.add(self.browser, 1)

    def set_page(self, title: str, markdown: str, url: str) -> None:
        """Show a page with a link to its source.

        Args:
          title: Heading of the page.
          markdown: Text of the page.
          url: Address of the source; empty for none.
        """
        self._title.setText(title)
        link = f"\n\n[{url}]({url})\n" if url else ""
        self.browser.show_markdown(markdown + link)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Close the documentation when Escape is pressed."""
        if a0 is not None and a0.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(a0)
