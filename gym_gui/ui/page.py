"""What every page is: a bar, a body, an inspector where it wants one, and four hooks."""

from __future__ import annotations

from typing import ClassVar

from PyQt6.QtWidgets import QWidget

from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets.inspector import Inspector
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.page_bar import PageBar


class Page(QWidget):
    """Base of the pages. Made on the first visit, kept until the window closes.

    A subclass fills :attr:`body` (set a layout on it) and :attr:`bar`.

    Args:
        context: What the window's parts share.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    icon: ClassVar[str] = ""
    steady: ClassVar[bool] = False
    """Whether nothing in it may move while one plays on it: messages lie over it."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context.place)
        self.hide()  # until all of it is there
        self.context = context
        self.setObjectName(f"page-{self.name}")
        self.setAccessibleName(self.title)
        self.bar = PageBar(self.title, self)
        self.body = QWidget(self)
        self.body.setObjectName(f"{self.name}-body")
        self.inspector: Inspector | None = None
        self._row = row_layout(spacing=0)
        self._row.addWidget(self.body, 1)
        layout = column_layout(self, spacing=0)
        layout.addWidget(self.bar)
        layout.addLayout(self._row, 1)

    def use_inspector(self) -> Inspector:
        """Add the column at the right (once); returns it."""
        if self.inspector is None:
            self.inspector = Inspector(self)
            self._row.addWidget(self.inspector)
        return self.inspector

    def opened(self, **request: object) -> None:
        """The page is shown; ``request`` is what :meth:`AppContext.go` was given."""

    def left(self) -> None:
        """Another page is shown; a page that paints or polls rests now."""

    def closing_costs(self) -> str:
        """What was paid for and is lost when the window closes now, in sentences; empty: nothing."""
        return ""

    async def closed(self) -> None:
        """The window closes: release everything, leave no process."""

    def commands(self) -> list[Command]:
        """What can be done here; available while the page is shown."""
        return []
