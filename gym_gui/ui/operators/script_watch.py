"""A picture of the play of one operator, beside the rows of a running experiment."""

from __future__ import annotations

from PyQt6.QtCore import QObject

from gym_gui.controllers.engine.session_events import FrameDrawn
from gym_gui.core.live import LiveView
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.watch_pane import WatchPane
from gym_gui.ui.operators.script_card import ScriptCard
from gym_gui.ui.operators.script_job import ScriptJob
from gym_gui.ui.renderers import slot_players


class ScriptWatch(QObject):
    """Shows the play of one operator beside the rows of script mode.

    Args:
        context: Provides colors, and windows into which a picture can be moved.
        card: Card with the picture and the rows, whose buttons request it.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, card: ScriptCard, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._card = context, card
        self._job: ScriptJob | None = None
        self._watched = ""
        card.watch_toggled.connect(self._on_toggled)

    def follow(self, job: ScriptJob | None) -> None:
        """Set the run whose operators are shown; ``None`` for no run."""
        self._job = job
        self._watch_job()

    def watch(self, operator_id: str) -> None:
        """Show the play of an operator; an empty id removes the picture."""
        self._watched, card = operator_id, self._card
        if not operator_id:
            if card.pane is not None:
                self._context.detached_windows.close_empty(card.pane.dock_slot)
            card.show_pane(None)
            self._watch_job()
            return
        pane = card.pane
        if pane is None:
            pane = WatchPane(self._context.theme)
            pane.closed.connect(self._on_pane_closed)
        card.show_pane(pane, operator_id)
        config = card.rows[operator_id].plan.config
        running = self._job is not None and self._job.running
        why = "Other operators play first." if running else "Press Run to play its episodes."
        pane.begin(config.display_name, slot_players(config), "No picture yet", why)
        self._context.detached_windows.manage(pane.dock_slot, "operators.watched")
        self._watch_job()

    def _watch_job(self) -> None:
        if self._job is not None:
            self._job.watch(self._watched, self._on_session_event if self._watched else None)

    def _on_session_event(self, event: object) -> None:
        pane = self._card.pane
        if pane is not None and isinstance(event, LiveView):
            pane.show_view(event)
        elif pane is not None and isinstance(event, FrameDrawn):
            pane.show_frame(event.frame)

    def _on_toggled(self, operator_id: str, wanted: bool) -> None:
        self.watch(operator_id if wanted else "")

    def _on_pane_closed(self) -> None:
        row = self._card.rows.get(self._watched)
        self.watch("")
        if row is not None:
            row.eye.setFocus()
