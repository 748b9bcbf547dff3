"""Describes the first place at which a replayed episode differs from its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import orjson

from gym_gui.core.types import AgentID

STEP_KEYS: Final = ("seed", "action", "reward", "terminated", "truncated", "state_sha")
"""Keys of a step row that must be equal when the same actions are played, in the order of reporting."""

EPISODE_KEYS: Final = (
    *("seed", "status", "length", "total_reward", "returns", "teams", "outcome", "success"),
    *("terminated", "truncated", "trajectory_sha256"),
)
"""Keys of an episode's line that must be equal if its steps are, in the order of reporting."""
_ABSENT = object()


class Cause(StrEnum):
    """Why an episode differs from its record."""

    ENVIRONMENT = "environment"
    POLICY = "policy"
    ENDING = "ending"


@dataclass(frozen=True)
class Divergence:
    """The first place at which a replayed episode differs from its record.

    Attributes:
        operator_id: The operator; ``None`` if a file of the run was changed.
        episode_index: The episode, or ``None``.
        what: The key that differs, or what is missing, as a clause that follows the place.
        step_index: The step; ``None`` if the episode's own line differs.
        agent_id: The agent, or ``None``.
        cause: Why the episode differs; ``None`` if that was not examined.
    """

    operator_id: str | None
    episode_index: int | None
    what: str
    step_index: int | None = None
    agent_id: AgentID | None = None
    cause: Cause | None = None

    @property
    def place(self) -> str:
        """The place as text; ``""`` if the run as a whole differs."""
        if self.operator_id is None:
            return ""
        place = f"operator {self.operator_id}, episode {self.episode_index}"
        if self.step_index is not None:
            place += f", step {self.step_index}, agent {self.agent_id}"
        return place

    def __str__(self) -> str:
        return f"{self.place}: {self.what}" if self.place else self.what


def row_differs(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return how a recorded row differs from the replayed row in its place; ``""`` if it does not."""
    if (then.get("step_index"), then.get("agent_id")) != (now["step_index"], now["agent_id"]):
        return f"the row does not belong here: step {now['step_index']} of agent {now['agent_id']} is next"
    keys = (*STEP_KEYS, "observation") if "observation" in now else STEP_KEYS
    return next((w for key in keys if (w := key_differs(key, then, now))), "")


def key_differs(key: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    left, right = then.get(key, _ABSENT), now.get(key, _ABSENT)
    if left == right:
        return ""
    return f"{key} is {_shown(left)} in the record, {_shown(right)} when played again"


def _shown(value: object) -> str:
    if value is _ABSENT:
        return "absent"
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= 80 else text[:77] + "..."


def counted(number: int, what: str) -> str:
    """Return a number with its noun: ``1 episode``, ``20 episodes``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
