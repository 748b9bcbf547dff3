"""Shows the selected operator's transcript below the cards or in a window of its own, or hides it."""

from __future__ import annotations

from typing import Final

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QSplitter

from gym_gui.ui.context import AppContext
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.operators.transcript_dock import MIND, TURNS, TranscriptDock

KEYS: Final = "Ctrl+Shift+T"
"""Keys that move the transcript into a window of its own, and back."""
_KEPT = "operators/transcript"
_HEIGHT = 300
"""Height of the transcript at first, in pixels."""


class TranscriptPlace(QObject):
    """Creates the transcript when it is first needed, and lets it follow the selected operator.

    Args:
        context: The window's services.
        splitter: Holds the cards; the transcript becomes its last part.
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
        """Follow another operator; ``None`` for no operator."""
        self._operator = operator
        if self.shown:
            self._tell(operator)

    def show(self, shown: bool = True) -> None:
        """Show the transcript of the operator, or hide it."""
        if self._dock is None or self._dock_slot is None:
            if not shown:
                return
            self._make()
        assert self._dock_slot is not None
        self._dock_slot.setVisible(shown)
        if shown:
            self._context.detached_windows.look_after(self._dock_slot, _KEPT)
        else:
            self._context.detached_windows.put_away(self._dock_slot)
        self._tell(self._operator if shown else None)

    def show_what(self, what: str, agent: str = "") -> None:
        """Show the transcript or one agent; see :meth:`TranscriptDock.show_what`."""
        self.show()
        assert self._dock is not None
        self._dock.show_what(what, agent)

    def show_last_turn(self) -> None:
        """Show the newest turn of the operator."""
        operator = self._operator
        if operator is None:
            return
        self.show_what(TURNS)
        assert self._dock is not None
        last = operator.player.tally.calls.last if operator.player.tally.calls is not None else None
        self._dock.follow(operator, last.agent if last is not None else None)
        self._dock.panel.select_last()

    def toggle(self, what: str = TURNS) -> None:
        """Show the transcript (or one agent), or hide it if that is already shown."""
        if self.shown and self._dock is not None and self._dock.choice.value == what:
            self.show(False)
        else:
            self.show_what(what)

    def toggle_mind(self) -> None:
        """Show what one agent observes and thinks, or hide it."""
        self.toggle(MIND)

    def toggle_apart(self) -> None:
        """Move the transcript into a window of its own, or back below the cards."""
        if not self.shown:
            self.show()
            if self._dock_slot is None or self._dock_slot.own_window is not None:
                return
        assert self._dock_slot is not None
        self._context.detached_windows.toggle(self._dock_slot)

    def bring_back(self) -> None:
        """Show the transcript again if it was in a window of its own when the program ended."""
        if self._operator is not None and self._context.detached_windows.comes_back(_KEPT):
            self.show()

    def release(self) -> None:
        """Stop following the operator, because the page closes."""
        self._tell(None)

    def _make(self) -> None:
        owner = self._splitter.parentWidget()  # A splitter lays out every child that is created in it.
        self._dock = TranscriptDock(self._context.spawn, owner)
        self._dock.close_requested.connect(self._on_close_requested)
        self._dock_slot = DockSlot(self._dock, "transcript", keys=KEYS, collapses=True, parent=owner)
        self._splitter.addWidget(self._dock_slot)
        self._splitter.setStretchFactor(self._splitter.count() - 1, 0)
        self._dock_slot.shifted.connect(self._share)
        self._share()

    def _share(self, *_: object) -> None:
        """Resize the splitter; a transcript in its own window leaves its space to the cards."""
        assert self._dock_slot is not None
        height, sizes = self._splitter.height(), self._splitter.sizes()
        wanted = min(max(_HEIGHT, height // 3), self._dock_slot.maximumHeight())
        self._splitter.setSizes([max(height - wanted - sum(sizes[1:-1]), 200), *sizes[1:-1], wanted])

    def _tell(self, operator: LiveOperator | None) -> None:
        if self._dock is None or self._dock_slot is None:
            return
        self._dock.follow(operator)
        name = operator.player.config.display_name if operator is not None else ""
        self._dock_slot.set_title(f"Transcript of {name}" if name else "Transcript")

    def _on_close_requested(self) -> None:
        self.show(False)
