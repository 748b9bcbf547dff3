"""What ``run.json`` says of those who act, as their sessions say it once everybody sits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gym_gui.controllers.session_interface import SessionReady


class RunParticipants:
    """Who plays for each operator, what its actions are called, and the versions of all that acts."""

    def __init__(self) -> None:
        self._players: dict[str, Any] = {}
        self._actions: dict[str, Any] = {}
        self._versions: dict[str, str] = {}

    def add(self, operator_id: str, ready: SessionReady) -> None:
        """Note what a session says of its operator, in place of what was said before."""
        self._players[operator_id] = ready.players
        self._actions[operator_id] = ready.actions
        self._versions.update(ready.versions)

    def record(self) -> dict[str, Any]:
        """The keys of ``run.json``, as far as they are known."""
        return {"players": self._players, "actions": self._actions, "versions": self._versions}
