"""A pane that shows episodes of a running experiment or of a policy in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QWidget

from gym_gui.core.live import LiveView
from gym_gui.core.types import AgentID
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.renderers import SlotPlayer, StageView, facts_in_words
from gym_gui.ui.theme import Theme
from gym_gui.ui.widgets import Card, ElidedLabel, IconButton
from gym_gui.ui.widgets.layouts import row_layout


class WatchPane(Card):
    """Shows episodes that another process plays; accepts no moves.

    Args:
        current: Theme with the colors.
        parent: Qt owner.
    """

    closed = pyqtSignal()
    """Emitted when the user closes the pane with its button or with Escape."""

    def __init__(self, current: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("watch-pane")
        self.name = ElidedLabel("", "strong", parent=self, name="watch-name")
        self._close = IconButton(
            "close", "Stop watching (Esc)", name="watch-close", on_click=self.closed.emit
        )
        self._close.setFixedSize(24, 24)
        head = row_layout()
        head.addWidget(self.name, 1)
        self.stage = StageView(current, self)
        self.dock_slot = DockSlot(self.stage, parent=self)
        head.addWidget(self.dock_slot.button(24))
        head.addWidget(self._close)
        self.body.addLayout(head)
        self.add(self.dock_slot, 1)
        self.facts = ElidedLabel("", "muted", parent=self, name="watch-facts")
        self.add(self.facts)

    def begin(self, name: str, seats: Mapping[AgentID, SlotPlayer], title: str, text: str = "") -> None:
        """Clear the pane until the first view arrives.

        Args:
            name: Name of the watched operator or policy.
            seats: Player of each slot.
            title: Text that is shown until the first frame.
            text: Text below the title.
        """
        self.name.setText(name)
        self.dock_slot.set_title(f"Watching {name}")
        self.setAccessibleName(f"Watching {name}")
        self.stage.set_seats(seats)
        self.stage.set_overlay_shown(len(seats) > 1)
        self.stage.clear(title, text)
        self.facts.setText(title)

    def show_view(self, view: LiveView) -> None:
        """Show the live view of a step: its picture or text, and a line of facts."""
        self.stage.show_view(view)
        if not self.stage.ways:
            self.stage.set_hint("No picture of this episode", "Pictures begin with the next episode.")
        self.facts.setText(f"Episode {view.episode + 1} · seed {view.seed} · {facts_in_words(view)}")
        self.dock_slot.set_note(self.facts.text())

    def show_frame(self, frame: Any) -> None:
        """Show a frame, shape ``(height, width, 3)``, ``uint8``."""
        self.stage.show_frame(frame)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Close the pane when Escape is pressed."""
        if a0 is not None and a0.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(a0)
