"""Names of training groups, and the training that an operator belongs to if a whole group plays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gym_gui.core.validation import ConfigError, Plain, integer, join, keys, text

GROUP_PREFIX: Final = "group:"
"""Prefix of ``group:NAME``, which stands for the policies of all trainings in a group."""


@dataclass(frozen=True)
class TrainingOf:
    """One training of a group; operators of a group are compared with others as a whole.

    Attributes:
        name: Name of the group in reports.
        seed: Seed of the training.
    """

    name: str
    seed: int

    @classmethod
    def from_data(cls, data: object, where: str) -> TrainingOf:
        """Read a training of a group from ``{name: PPO, seed: 3}``.

        Raises:
            ConfigError: The data is not such a mapping.
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
        """Return the training in the form that :meth:`from_data` reads."""
        return {"name": self.name, "seed": self.seed}


def group_name(label: str, env_id: str) -> str:
    """Return the name of a group and of its folder: ``ppo_CartPole-v1``."""
    return re.sub(r"[^\w.-]+", "_", f"{label}_{env_id}")
