"""Base class of the pages: a bar, a body, an optional inspector and four hooks."""

from __future__ import annotations

from typing import ClassVar

from PyQt6.QtWidgets import QWidget

from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets.inspector import Inspector
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.page_bar import PageBar


class Page(QWidget):
    """Base of the pages; made at the first visit and kept until the window closes.

    A subclass fills :attr:`body` (set a layout on it) and :attr:`bar`.

    Args:
        context: Services that the window's parts share.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    icon: ClassVar[str] = ""
    steady: ClassVar[bool] = False
    """Whether the layout must not move during play, so that messages lie over the page."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context.place)
        self.hide()  # until the page is complete
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
        """Add the inspector at the right at the first call, and return it."""
        if self.inspector is None:
            self.inspector = Inspector(self)
            self._row.addWidget(self.inspector)
        return self.inspector

    def opened(self, **request: object) -> None:
        """Handle that the page is shown; ``request`` comes from :meth:`AppContext.go`."""

    def left(self) -> None:
        """Handle that another page is shown; a page that paints or polls stops here."""

    def closing_costs(self) -> str:
        """Return sentences about paid work that is lost if the window closes now; ``""`` for none."""
        return ""

    async def closed(self) -> None:
        """Release everything when the window closes; leave no process."""

    def commands(self) -> list[Command]:
        """Return the page's commands, available while the page is shown."""
        return []
