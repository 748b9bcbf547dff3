"""Shows the selected operator's transcript below the cards or in its own window, or hides it."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QSplitter

from gym_gui.ui.context import AppContext
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.operators.transcript_dock import MIND, TURNS, TranscriptDock

KEYS: Final = "Ctrl+Shift+T"
"""Shortcut that moves the transcript into its own window and back."""
_KEPT = "operators/transcript"
_HEIGHT = 300
"""Initial height of the transcript, in pixels."""


class TranscriptArea(QObject):
    """Creates the transcript on first use, and shows the selected operator in it.

    Args:
        context: The window's services.
        splitter: Holds the cards; the transcript becomes its last widget.
    """

    def __init__(self, context: AppContext, splitter: QSplitter) -> None:
        super().__init__(splitter)
        self._context, self._splitter = context, splitter
        self._dock: TranscriptDock | None = None
        self._dock_slot: DockSlot | None = None
        self._operator: LiveOperator | None = None

    @property
    def shown(self) -> bool:
        """Whether the transcript is visible, below the cards or in its own window."""
        return self._dock is not None and self._dock.isVisibleTo(self._splitter)

    def follow(self, operator: LiveOperator | None) -> None:
        """Show the transcript of another operator from now on; ``None`` for no operator."""
        self._operator = operator
        if self.shown:
            self._show_operator(operator)

    def show(self, shown: bool = True) -> None:
        """Show the transcript of the selected operator, or hide it."""
        if self._dock is None or self._dock_slot is None:
            if not shown:
                return
            self._make()
        assert self._dock_slot is not None
        self._dock_slot.setVisible(shown)
        if shown:
            self._context.detached_windows.manage(self._dock_slot, _KEPT)
        else:
            self._context.detached_windows.close_empty(self._dock_slot)
        self._show_operator(self._operator if shown else None)

    def show_what(self, what: str, agent: str = "") -> None:
        """Show the transcript or one agent; see :meth:`TranscriptDock.show_what`."""
        self.show()
        assert self._dock is not None
        self._dock.show_what(what, agent)

    def show_last_turn(self) -> None:
        """Show the newest turn of the selected operator."""
        operator = self._operator
        if operator is None:
            return
        self.show_what(TURNS)
        assert self._dock is not None
        last = operator.player.tally.calls.last if operator.player.tally.calls is not None else None
        self._dock.follow(operator, last.agent if last is not None else None)
        self._dock.panel.select_last()

    def toggle(self, what: str = TURNS) -> None:
        """Show a view of the selected operator, or hide it if it is shown already.

        Args:
          what: ``TURNS`` for the transcript, ``MIND`` for one agent.
        """
        if self.shown and self._dock is not None and self._dock.choice.value == what:
            self.show(False)
        else:
            self.show_what(what)

    def toggle_agent(self) -> None:
        """Show what one agent observes and thinks, or hide it if it is shown already."""
        self.toggle(MIND)

    def toggle_window(self) -> None:
        """Move the transcript into its own window, or back below the cards."""
        if not self.shown:
            self.show()
            if self._dock_slot is None or self._dock_slot.own_window is not None:
                return
        assert self._dock_slot is not None
        self._context.detached_windows.toggle(self._dock_slot)

    def restore_window(self) -> None:
        """Show the transcript if it was in its own window when the program ended."""
        if self._operator is not None and self._context.detached_windows.was_open(_KEPT):
            self.show()

    def release(self) -> None:
        """Disconnect from the operator, because the page closes."""
        self._show_operator(None)

    def _make(self) -> None:
        owner = self._splitter.parentWidget()  # A splitter lays out every child that is created in it.
        self._dock = TranscriptDock(self._context.spawn, owner)
        self._dock.close_requested.connect(self._on_close_requested)
        self._dock_slot = DockSlot(self._dock, "transcript", keys=KEYS, collapses=True, parent=owner)
        self._splitter.addWidget(self._dock_slot)
        self._splitter.setStretchFactor(self._splitter.count() - 1, 0)
        self._dock_slot.shifted.connect(self._resize_parts)
        self._resize_parts()

    def _resize_parts(self, *_: object) -> None:
        """Resize the splitter: a transcript in its own window leaves its space to the cards."""
        assert self._dock_slot is not None
        height, sizes = self._splitter.height(), self._splitter.sizes()
        wanted = min(max(_HEIGHT, height // 3), self._dock_slot.maximumHeight())
        self._splitter.setSizes([max(height - wanted - sum(sizes[1:-1]), 200), *sizes[1:-1], wanted])

    def _show_operator(self, operator: LiveOperator | None) -> None:
        if self._dock is None or self._dock_slot is None:
            return
        self._dock.follow(operator)
        name = operator.player.config.display_name if operator is not None else ""
        self._dock_slot.set_title(f"Transcript of {name}" if name else "Transcript")

    def _on_close_requested(self) -> None:
        self.show(False)
