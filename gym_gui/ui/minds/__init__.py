"""Views of what one agent observes and thinks."""

from __future__ import annotations

from gym_gui.ui.minds.mind import AgentSnapshot
from gym_gui.ui.minds.mind_view import AgentSnapshotView

__all__ = ["AgentSnapshot", "AgentSnapshotView"]
