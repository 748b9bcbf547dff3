"""Describes the first difference between a replayed episode and its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import orjson

from gym_gui.core.types import AgentID

STEP_KEYS: Final = ("seed", "action", "reward", "terminated", "truncated", "state_sha")
"""Keys of a step row that a replay of the same actions must reproduce, in the order of reporting."""

EPISODE_KEYS: Final = (
    *("seed", "status", "length", "total_reward", "returns", "teams", "outcome", "success"),
    *("terminated", "truncated", "trajectory_sha256"),
)
"""Keys of an episode's line that a replay of the same steps must reproduce, in the order of reporting."""
_ABSENT = object()


class Cause(StrEnum):
    """Cause of the difference between a repeated episode and its record."""

    ENVIRONMENT = "environment"
    POLICY = "policy"
    ENDING = "ending"


@dataclass(frozen=True)
class Divergence:
    """First difference between a replayed episode and its record.

    Attributes:
        operator_id: The operator; ``None`` if a file of the run was changed.
        episode_index: The episode; ``None`` if a file of the run was changed.
        what: The key that differs, or what is missing, as a clause that follows :attr:`place`.
        step_index: The step; ``None`` if the episode's own line differs.
        agent_id: The agent; ``None`` if no step row differs.
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
        """Operator, episode, step and agent as text; ``""`` if a file of the run was changed."""
        if self.operator_id is None:
            return ""
        place = f"operator {self.operator_id}, episode {self.episode_index}"
        if self.step_index is not None:
            place += f", step {self.step_index}, agent {self.agent_id}"
        return place

    def __str__(self) -> str:
        return f"{self.place}: {self.what}" if self.place else self.what


def row_differs(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return how a replayed step row differs from the recorded row; ``""`` if both are equal."""
    if (then.get("step_index"), then.get("agent_id")) != (now["step_index"], now["agent_id"]):
        return f"the row is out of order: step {now['step_index']} of agent {now['agent_id']} is next"
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
    """Return a number with its noun in the singular or plural: ``1 episode``, ``20 episodes``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
