"""The base class of pages: a bar, a body, an optional inspector, and hooks."""

from __future__ import annotations

from typing import ClassVar

from PyQt6.QtWidgets import QWidget

from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets.inspector import Inspector
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.page_bar import PageBar


class Page(QWidget):
    """Base class of pages, created on the first visit and kept until the window closes.

    A subclass fills :attr:`bar` and sets a layout on :attr:`body`.

    Args:
      context: Services that all widgets of the window share.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    icon: ClassVar[str] = ""
    steady: ClassVar[bool] = False
    """Whether the page's layout must not move during play, so that messages are shown over the page."""

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
        """Return the inspector, the column at the right; the first call adds it."""
        if self.inspector is None:
            self.inspector = Inspector(self)
            self._row.addWidget(self.inspector)
        return self.inspector

    def opened(self, **request: object) -> None:
        """Update the page when it is shown, with the arguments of :meth:`AppContext.go`."""

    def left(self) -> None:
        """Stop painting and polling when another page is shown."""

    def closing_costs(self) -> str:
        """Return sentences about paid work that is lost if the window closes now; ``""`` for none."""
        return ""

    async def closed(self) -> None:
        """Release all resources and end all processes of the page, when the window closes."""

    def commands(self) -> list[Command]:
        """Return the page's commands, which are available while the page is shown."""
        return []
