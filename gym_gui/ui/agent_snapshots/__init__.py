"""Views of what one agent observes and thinks."""

from __future__ import annotations

from gym_gui.ui.agent_snapshots.agent_snapshot import AgentSnapshot
from gym_gui.ui.agent_snapshots.agent_snapshot_view import AgentSnapshotView

__all__ = ["AgentSnapshot", "AgentSnapshotView"]
