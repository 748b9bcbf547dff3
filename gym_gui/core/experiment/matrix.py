"""Contents of ``matrix`` in an experiment file: rows and grids of players and environments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from gym_gui.core.config import ENVIRONMENT_KEYS, OperatorConfig
from gym_gui.core.declared_keys import Key, keys_of
from gym_gui.core.experiment import aliases
from gym_gui.core.experiment.assignment import SLOT_KEYS, WorkerAssignment, normal_settings
from gym_gui.core.experiment.document_rows import GROUPS, ROLES, ROWS, STANDS_IN
from gym_gui.core.experiment.matrix_table import one_line
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.validation import ConfigError, Plain, join, keys, mapping

MOST_ROWS: Final = 1000
"""Largest number of rows: lineups times tasks times settings."""

_OF_OPERATORS: Final = keys_of(OperatorConfig)
_ENVIRONMENT: Final = {name: _OF_OPERATORS[name] for name in ENVIRONMENT_KEYS}
ROW_KEYS: Final[Mapping[str, Key[Any]]] = {
    "name": Key(None, "unique among the rows", required=True),
    "title": Key(None, "title shown to people", usual="`name`"),
    "sides": Key(
        None,
        "players of each team, in the environment's order or by the team's name; a player is a policy, or "
        "`{policy: NAME, …}` with its changes",
        required=True,
    ),
}
"""Keys of a row that the user defines."""
TASK_KEYS: Final[Mapping[str, Key[Any]]] = {
    "task": replace(_OF_OPERATORS["task"], required=True),
    **_ENVIRONMENT,
}
"""Keys of a task in a grid."""
SETTING_KEYS: Final[Mapping[str, Key[Any]]] = {
    "policies": Key(None, "policy → its changes, in the form of a slot", each=WorkerAssignment),
    **{name: _ENVIRONMENT[name] for name in ("env_kwargs", "max_steps")},
}
"""Keys of a setting in a grid."""
KEYS: Final[Mapping[str, Key[Any]]] = {
    "rows": Key(
        None,
        "names of built-in rows or of groups of them, and your own rows: `{name, title, sides}`",
        usual="one of `rows` and `players`",
        each=ROW_KEYS,
        words=("documents", *GROUPS, *ROWS),
    ),
    "players": Key(None, "names of policies that fill all slots", usual="one of `rows` and `players`"),
    "task": replace(_OF_OPERATORS["task"], usual="one of `task` and `tasks`"),
    "tasks": Key(
        None,
        "environments; or name → an environment, or a mapping with `task` and other keys of it",
        usual="one of `task` and `tasks`",
        each=TASK_KEYS,
    ),
    "settings": Key(
        None,
        "name → changes: `policies` by name, `env_kwargs`, `max_steps`",
        usual="one without changes",
        each=SETTING_KEYS,
    ),
    "roles": Key(
        None,
        "role of a built-in row → policy",
        usual="the policy of that name",
        within={role: Key(None, "policy that has this role") for role in ROLES},
    ),
    **_ENVIRONMENT,
    "seats": replace(_ENVIRONMENT["seats"], usual="`swap` where sides compete"),
}
"""Keys of ``matrix`` in an experiment file."""


@dataclass(frozen=True)
class Seat:
    """Policy of a seat in a row of a matrix, with its changes.

    Attributes:
        policy: A role, or the name of a policy.
        changes: Values that differ from the policy's own, as a slot of an experiment file writes them.
    """

    policy: str
    changes: Mapping[str, Plain] = field(default_factory=dict[str, Plain])

    def named(self, policy: str) -> str:
        """Return the name of the resolved policy with its changes: ``gpt (coordination_level 2)``."""
        changes = ", ".join(one_line(f"{key} {value}", 60) for key, value in self.changes.items())
        return f"{policy} ({changes})" if changes else policy


@dataclass(frozen=True)
class Lineup:
    """The players of each side in a row of a matrix, before an environment is chosen.

    Attributes:
        name: Name that is unique in the matrix.
        title: Title for people.
        sides: Seats of each side; one seat plays all slots of its side.
        teams: Names of the sides; empty: the environment's own teams, in its order.
        everywhere: Whether one policy plays every slot, whatever the sides are.
    """

    name: str
    title: str
    sides: tuple[tuple[Seat, ...], ...]
    teams: tuple[str, ...] = ()
    everywhere: bool = False


@dataclass(frozen=True)
class Variant:
    """One setting of a matrix's grid: changes of policies and of the environment.

    Attributes:
        name: Name that is unique in the matrix; empty if there is only one setting.
        policies: Changes of a policy, by the policy's name.
        environment: Changes of the environment.
    """

    name: str = ""
    policies: Mapping[str, Mapping[str, Plain]] = field(default_factory=dict[str, Mapping[str, Plain]])
    environment: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Matrix:
    """A matrix as the file requests it.

    Attributes:
        policies: Players by name.
        lineups: Rows of the matrix, or the players of its grid.
        tasks: Environments by name: keys of an operator, including ``task``.
        variants: Settings of the grid.
        roles: Policy for each role of the documents.
        written: ``matrix`` as the file has it.
        origin: The file of the matrix.
        broken: Policies that cannot be loaded, with the reason.
    """

    policies: Mapping[str, WorkerAssignment]
    lineups: tuple[Lineup, ...]
    tasks: Mapping[str, Mapping[str, Any]]
    variants: tuple[Variant, ...]
    roles: Mapping[str, str]
    written: Mapping[str, Plain]
    origin: Origin = TYPED
    broken: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """Refuse a matrix whose rows would take too long to play.

        Raises:
            ConfigError: There are too many rows.
        """
        parts = [(self.lineups, "row"), (self.tasks, "task"), (self.variants, "setting")]
        counts = " x ".join(f"{len(part)} {word}{'s' * (len(part) != 1)}" for part, word in parts)
        if (rows := len(self.lineups) * len(self.tasks) * len(self.variants)) > MOST_ROWS:
            raise ConfigError(
                f"{counts} are {rows:,} operators, at most {MOST_ROWS:,} are allowed",
                where="matrix",
                fix="Leave some out, or split it into several files",
            )

    def policy_of(self, seat: Seat) -> str:
        """Return the name of the policy in a seat, even if no policy has this name."""
        name = self.roles.get(seat.policy, seat.policy)
        stands_in = STANDS_IN.get(name, "")
        return self.policy_of(Seat(stands_in)) if stands_in and name not in self.policies else name

    def asked(self) -> dict[str, Plain]:
        """Return the matrix as plain data of an experiment file, which reads back to an equal matrix."""
        written = dict(self.written)
        if any(":" in str(task["task"]) for task in self.tasks.values()) and self.origin.folder:
            written["folder"] = self.origin.folder  # needed to play the matrix again from the run folder
        return {"policies": {name: p.to_record() for name, p in self.policies.items()}, "matrix": written}


def changed(player: WorkerAssignment, changes: Mapping[str, object], where: str) -> WorkerAssignment:
    """Return a policy with some of its settings changed.

    Args:
        player: The policy.
        changes: Changes, as a slot of an experiment file writes them.
        where: Place of the changes.

    Raises:
        ConfigError: Something is wrong; the error names the place.
    """
    given = keys(changes, where, SLOT_KEYS)
    for key in ("type", "worker_id"):
        if key in given:
            raise ConfigError(
                "cannot change the worker of a policy",
                where=join(where, key),
                fix="Add a policy with that worker under 'policies'",
            )
    inline = {key: given.pop(key) for key in tuple(given) if key in aliases.INLINE_SETTINGS}
    nested = mapping(given.pop("settings", {}), join(where, "settings"))
    settings = {**player.settings, **normal_settings({**nested, **inline}, "settings")}
    return replace(player, settings=settings, **cast("dict[str, Any]", given))
