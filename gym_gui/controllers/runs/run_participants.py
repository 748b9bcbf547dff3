"""Collects the fields of ``run.json`` about the players, from the descriptions that sessions send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_gui.controllers.engine.session_interface import SessionReady
from gym_gui.core.records import RENAMED, SEAT_NAMES


class RunParticipants:
    """Players, names of actions, objects and seats by operator, and versions of all packages in use.

    Args:
        before: Content of ``run.json`` of a run that is resumed; its entries are kept.
    """

    def __init__(self, before: Mapping[str, Any] | None = None) -> None:
        said = before or {}
        self._players: dict[str, Any] = dict(said.get("players") or {})
        self._actions: dict[str, Any] = dict(said.get("actions") or {})
        self._renamed: dict[str, Any] = dict(said.get(RENAMED) or {})
        self._seat_names: dict[str, Any] = dict(said.get(SEAT_NAMES) or {})
        self._versions: dict[str, str] = dict(said.get("versions") or {})
        self._machines: dict[str, Any] = dict(said.get("machines") or {})

    def add(self, operator_id: str, ready: SessionReady) -> None:
        """Store the description that a session sends of its operator; it replaces an earlier one."""
        self._players[operator_id] = ready.players
        self._actions[operator_id] = ready.actions
        if ready.machine:
            self._machines[operator_id] = {**ready.machine, "versions": ready.versions}
        else:
            self._machines.pop(operator_id, None)
            self._versions.update(ready.versions)
        if ready.renamed:
            self._renamed[operator_id] = ready.renamed
        if ready.seats:
            self._seat_names[operator_id] = ready.seats

    def record(self) -> dict[str, Any]:
        """Return the collected fields of ``run.json``."""
        known = {"players": self._players, "actions": self._actions, "versions": self._versions}
        seldom = {RENAMED: self._renamed, SEAT_NAMES: self._seat_names, "machines": self._machines}
        return {**known, **{key: value for key, value in seldom.items() if value}}
