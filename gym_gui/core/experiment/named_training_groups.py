"""Groups of trainings by name, and of which training an operator is where a whole group plays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gym_gui.core.validation import ConfigError, Plain, integer, join, keys, text

GROUP_PREFIX: Final = "group:"
"""``group:NAME`` in place of a policy's path means every policy of that group of trainings."""


@dataclass(frozen=True)
class TrainingOf:
    """One training of a group; operators of one group are compared with others as a whole.

    Attributes:
        name: What the group is called in reports.
        seed: The seed of the training.
    """

    name: str
    seed: int

    @classmethod
    def from_data(cls, data: object, where: str) -> TrainingOf:
        """Read ``{name: PPO, seed: 3}``.

        Raises:
            ConfigError: It is none.
        """
        if isinstance(data, cls):
            return data
        given = keys(data, where, {"name": "name", "seed": "seed"})
        for key in ("name", "seed"):
            if key not in given:
                raise ConfigError(f"{key!r} is missing", where=where)
        seed = integer(given["seed"], join(where, "seed"), low=0, high=2**63 - 1)
        return cls(text(given["name"], join(where, "name")), seed)

    def to_record(self) -> dict[str, Plain]:
        """As :meth:`from_data` reads it."""
        return {"name": self.name, "seed": self.seed}


def group_name(label: str, env_id: str) -> str:
    """``ppo_CartPole-v1``: what a group is asked for by, and what its folder is called."""
    return re.sub(r"[^\w.-]+", "_", f"{label}_{env_id}")
