"""Configuration of an experiment: its operators, each an environment with the players of its slots.

All classes are frozen, checked on construction and made of plain data, so that they can be sent between
processes and written to ``run.json``. Arguments may be of several types (a list instead of a tuple, another
spelling); attributes always have the declared type. Worker ids and environment ids are not looked up here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from gym_gui.core.declared_keys import (
    Key,
    check_keys,
    declared,
    key,
    member_of,
    names_of,
    optional,
    printable,
    record_of,
    spellings_of,
    whole,
)
from gym_gui.core.experiment.assignment import (
    InvalidFallback,
    LinkGroup,
    OnInvalid,
    WorkerAssignment,
)
from gym_gui.core.experiment.execution import (
    ISOLATIONS,
    MAX_STEPS,
    EnvironmentMode,
    EpisodePlan,
    ExecutionConfig,
    Isolation,
    RecordConfig,
    said_isolation,
)
from gym_gui.core.experiment.link_resolution import link_slots
from gym_gui.core.experiment.matrix_table import MatrixTable
from gym_gui.core.experiment.named_training_groups import TrainingOf
from gym_gui.core.experiment.operator_parts import (
    assignments_of,
    check_agent,
    instances_of,
    link_groups_of,
    teams_of,
)
from gym_gui.core.experiment.stopping_rule import check_decidable
from gym_gui.core.secret_refs import refuse_literals
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.validation import (
    ConfigError,
    Plain,
    folder_name,
    freeze,
    join,
    key_place,
    plain_mapping,
    refuse_shared_folders,
    text,
    under,
)

__all__ = [
    "EnvironmentMode",
    "EpisodePlan",
    "ExecutionConfig",
    "Experiment",
    "InvalidFallback",
    "LinkGroup",
    "OnInvalid",
    "OperatorConfig",
    "RecordConfig",
    "WorkerAssignment",
]

Api = Literal["aec", "parallel"]
Seats = Literal["fixed", "swap"]

SINGLE_AGENT: Final = "agent_0"
"""The engine's name of the only agent; files call it ``agent``."""
GOAL_SUFFIX: Final = "/goal"
"""Suffix that makes the slot of an agent's manager from the agent's name: ``agent_0/goal``."""


_APIS: Callable[[str], Api] = member_of("aec", "parallel")
_SEATS: Callable[[str], Seats] = member_of("fixed", "swap")


def _id(given: str) -> str:
    return folder_name(given, "")


def _players(given: Mapping[str, WorkerAssignment] | None) -> Mapping[str, WorkerAssignment]:
    return assignments_of(given or {})


def _kwargs(given: Mapping[str, object] | None) -> Mapping[str, Plain]:
    kwargs = plain_mapping(given or {}, "")
    refuse_literals(kwargs, "", by_name=False)
    return kwargs


def _links(given: Sequence[LinkGroup]) -> tuple[LinkGroup, ...]:
    return link_groups_of(given)


def _teams(given: Mapping[str, Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    return teams_of(given)


def _group(given: object) -> TrainingOf | None:
    return None if given is None else TrainingOf.from_data(given, "")


def _written_players(players: Mapping[str, WorkerAssignment]) -> Plain:
    return {agent: player.to_record() for agent, player in players.items()}


def _written_kwargs(kwargs: Mapping[str, Plain]) -> Plain:
    return dict(kwargs)


def _written_links(groups: tuple[LinkGroup, ...]) -> Plain:
    return [group.to_record() for group in groups]


def _written_teams(teams: Mapping[str, tuple[str, ...]] | None) -> Plain:
    return None if teams is None else {team: list(agents) for team, agents in teams.items()}


def _written_group(group: TrainingOf | None) -> Plain:
    return None if group is None else group.to_record()


def _said_links(groups: tuple[LinkGroup, ...]) -> str:
    return "\n".join(f"linked: {', '.join(group.agents)} share one checkpoint" for group in groups)


def _said_teams(teams: Mapping[str, tuple[str, ...]]) -> str:
    return "\n".join(f"team {team}: {', '.join(agents)}" for team, agents in teams.items())


@declared
class OperatorConfig:
    """One environment and the players of its slots; the unit that is compared.

    ``workers`` holds the players as the file names them; :meth:`resolved_slots` adds linked slots and
    managers. Three attributes are not keys of a file: ``origin`` is the file that defines the operator and
    the folder in which its modules are looked up; ``named`` says whether the user chose ``display_name``
    (otherwise the name follows the players that decide); ``host`` is the host of the user's list on which
    the window runs the operator (empty: this machine).
    """

    operator_id: str = key(
        converter=_id,
        kw_only=False,
        name="id",
        spellings=("operator_id",),
        meaning="unique, 1 to 64 characters, a safe folder name",
    )
    display_name: str = key(
        converter=printable(empty=True),
        default="",
        kw_only=False,
        kept=True,
        name="name",
        spellings=("display_name",),
        meaning="what people read",
        usual="the id",
    )
    env_name: str = key(
        converter=printable(empty=True),
        default="",
        kw_only=False,
        kept=True,
        environment=True,
        meaning="environment family",
        usual="found by `task`",
    )
    task: str = key(
        converter=printable(empty=True),
        default="",
        kw_only=False,
        kept=True,
        meaning="environment id, or `module:factory`, which is imported from the folder of this file first",
        usual="required",
    )
    workers: Mapping[str, WorkerAssignment] = key(
        converter=_players,
        default=None,
        kw_only=False,
        kept=True,
        write=_written_players,
        spellings=("player_workers",),
        each=WorkerAssignment,
        meaning="slot → who plays it",
        usual="required, or the older form",
    )
    max_steps: int | None = key(
        converter=optional(whole(1, MAX_STEPS)),
        default=None,
        environment=True,
        meaning="step limit of an episode; overrides `max_steps` of `execution`",
        unit="steps",
        usual="the environment's",
    )
    env_kwargs: Mapping[str, Plain] = key(
        converter=_kwargs,
        default=None,
        write=_written_kwargs,
        environment=True,
        meaning="passed to the environment",
    )
    link_groups: tuple[LinkGroup, ...] = key(
        converter=_links,
        default=(),
        write=_written_links,
        each=LinkGroup,
        meaning="slots that share one checkpoint",
        said=_said_links,
    )
    teams: Mapping[str, tuple[str, ...]] | None = key(
        converter=optional(_teams),
        default=None,
        write=_written_teams,
        environment=True,
        meaning="team → its agents",
        usual="the family's",
        said=_said_teams,
    )
    manager: Mapping[str, WorkerAssignment] = key(
        converter=_players,
        default=None,
        write=_written_players,
        each=WorkerAssignment,
        meaning="agent → the player that sets its goals, in the slot `<agent>/goal`",
    )
    api: Api | None = key(
        converter=optional(_APIS),
        default=None,
        environment=True,
        meaning="`aec` or `parallel` (PettingZoo)",
        usual="the family's",
    )
    seats: Seats = key(
        converter=_SEATS,
        default="fixed",
        kept=True,
        environment=True,
        meaning="`fixed`, or `swap`: every seed is played once per rotation of the teams; of the agents, "
        "where all are in one team",
        usual="`fixed`",
        said="seats are swapped: every seed is played once per seating",
    )
    isolation: Isolation | None = key(
        converter=optional(ISOLATIONS),
        default=None,
        meaning="`slot` or `worker`; overrides that of `execution`",
        usual="that of `execution`",
        said=said_isolation,
    )
    group: TrainingOf | None = key(
        converter=_group,
        default=None,
        write=_written_group,
        meaning="the group and the seed of its policy: `{name: PPO, seed: 3}`; [MOSAIC writes "
        "it](experiment_format/several_agents.md#groups-of-trainings)",
    )
    origin: Origin = field(default=TYPED, compare=False, kw_only=True)
    named: bool = field(default=True, compare=False, kw_only=True)
    host: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check and normalize.

        Raises:
            ConfigError: A value is of the wrong type, or two contradict each other.
        """
        check_keys(self)
        text(self.task, "task")
        text(self.host, "host", empty=True, max_length=255)
        freeze(
            self,
            named=self.named and bool(self.display_name),
            display_name=self.display_name or self.operator_id,
        )
        if set(self.workers) == {"agent"}:
            self._rename_single_agent()
        slots = link_slots(self.workers, self.link_groups)
        for agent in self.manager:
            if agent + GOAL_SUFFIX in slots:
                place = join("manager", key_place(agent))
                raise ConfigError(f"slot '{agent}{GOAL_SUFFIX}' is given in workers too", where=place)

    def _rename_single_agent(self) -> None:
        """Rename the only agent from ``agent`` to :data:`SINGLE_AGENT` wherever the operator names it."""
        names = {"agent": SINGLE_AGENT}
        teams = self.teams or {}
        freeze(
            self,
            workers={names.get(agent, agent): player for agent, player in self.workers.items()},
            manager={names.get(agent, agent): player for agent, player in self.manager.items()},
            link_groups=tuple(group.renamed(names) for group in self.link_groups),
            teams=self.teams and {t: tuple(names.get(a, a) for a in agents) for t, agents in teams.items()},
        )

    @classmethod
    def single_agent(
        cls,
        *,
        operator_id: str,
        display_name: str = "",
        worker_id: str = "",
        worker_type: str = "",
        env_name: str = "",
        task: str,
        settings: Mapping[str, object] | None = None,
        max_steps: int | None = None,
        env_kwargs: Mapping[str, object] | None = None,
    ) -> OperatorConfig:
        """Make an operator with one worker in the only slot of a single-agent environment.

        Raises:
            ConfigError: As the constructor.
        """
        player = WorkerAssignment(worker_id, worker_type, settings)
        return cls(
            operator_id,
            display_name,
            env_name,
            task,
            {SINGLE_AGENT: player},
            max_steps=max_steps,
            env_kwargs=env_kwargs,
        )

    @classmethod
    def multi_agent(
        cls,
        *,
        operator_id: str,
        display_name: str = "",
        env_name: str = "",
        task: str,
        player_workers: Mapping[str, WorkerAssignment],
        max_steps: int | None = None,
        env_kwargs: Mapping[str, object] | None = None,
        link_groups: Sequence[LinkGroup] = (),
        teams: Mapping[str, Sequence[str]] | None = None,
        manager: Mapping[str, WorkerAssignment] | None = None,
        api: str | None = None,
        seats: str = "fixed",
    ) -> OperatorConfig:
        """Make an operator with a worker in each slot of a multi-agent environment.

        Raises:
            ConfigError: As the constructor.
        """
        return cls(
            operator_id,
            display_name,
            env_name,
            task,
            player_workers,
            max_steps=max_steps,
            env_kwargs=env_kwargs,
            link_groups=link_groups,
            teams=teams,
            manager=manager,
            api=api,
            seats=seats,
        )

    def resolved_slots(self) -> dict[str, WorkerAssignment]:
        """Return the player of each slot, with link groups applied and managers under ``<agent>/goal``.

        Order: slots as written, then agents that only link groups name, then managers.
        """
        slots = link_slots(self.workers, self.link_groups)
        return slots | {agent + GOAL_SUFFIX: player for agent, player in self.manager.items()}

    def link_group_of(self, agent: str) -> LinkGroup | None:
        """Return the link group that contains ``agent``, or ``None``."""
        return next((group for group in self.link_groups if agent in group.agents), None)

    @property
    def task_key(self) -> str:
        """Key that is equal for operators that play the same environment with the same configuration."""
        teams = None if self.teams is None else {team: list(who) for team, who in self.teams.items()}
        how = (dict(self.env_kwargs), self.api, self.max_steps, teams, self.seats)
        return json.dumps((self.task, *how), sort_keys=True, default=str)

    def check_complete(self) -> None:
        """Refuse an operator without players, and agent names that no slot has.

        An experiment file must name a player for each slot. A configuration made in Python may leave slots
        to in-process policies, which a configuration cannot name.

        Raises:
            ConfigError: A name or a player is wrong; the error names the place.
        """
        agents = link_slots(self.workers, self.link_groups)
        if not agents:
            raise ConfigError("no slot has a player", where="workers", fix="Name a worker for each agent")
        for agent in self.manager:
            check_agent(agent, agents, join("manager", key_place(agent)))
        for team, members in (self.teams or {}).items():
            for agent in members:
                check_agent(agent, agents, join("teams", key_place(team)))
        if self.seats == "swap" and len(agents) < 2:
            raise ConfigError("swapping seats needs at least two agents", where="seats", fix="Use 'fixed'")

    def to_record(self) -> dict[str, Plain]:
        """Return the operator as plain data, in the form of an operator in an experiment file."""
        always, chosen = record_of(self)
        # A run folder lies elsewhere, so that a replay needs the folder of the module.
        folder = self.origin.folder if ":" in self.task else ""
        return always | chosen | ({"folder": folder} if folder else {})


FOLDER: Final = Key(
    printable(longest=4096),
    "the folder that is searched first for the module of `module:factory`",
    usual="this file's folder",
)
"""The key ``folder`` of an operator; its value becomes part of :attr:`OperatorConfig.origin`."""
OPERATOR_KEYS: Final = {**spellings_of(OperatorConfig), "folder": "folder"}
"""Each spelling that an operator may use for a key, with the key."""
ENVIRONMENT_KEYS: Final = names_of(OperatorConfig, of=lambda key: key.environment)
"""Keys of an operator that define its environment; matrices and tournaments have these keys, too."""


@dataclass(frozen=True, init=False)
class Experiment:
    """Operators that are compared on the same seeds.

    Attributes:
        operators: The operators that are compared, in the order of the file.
        execution: Number of episodes, seeds and speed.
        matrix: The rows of the matrix that the operators come from; ``None`` if they come from no matrix.
    """

    operators: tuple[OperatorConfig, ...]
    execution: ExecutionConfig
    matrix: MatrixTable | None

    def __init__(
        self,
        operators: Sequence[OperatorConfig],
        execution: ExecutionConfig | None = None,
        matrix: MatrixTable | None = None,
    ) -> None:
        """Check each value, and check that operators, execution and matrix fit together.

        Raises:
            ConfigError: No operators, ids that would share a folder, or fewer seeds than episodes.
        """
        items = instances_of(operators, OperatorConfig, "operators")
        if not items:
            raise ConfigError("must not be empty", where="operators")
        refuse_shared_folders([operator.operator_id for operator in items], "operators")
        run = execution or ExecutionConfig()
        freeze(self, operators=items, execution=run, matrix=matrix)
        if matrix is not None:
            matrix.check(operator.operator_id for operator in items)
        # An operator that swaps seats needs fewer seeds; the number is known once its teams are known.
        if any(operator.seats == "fixed" for operator in items):
            run.check_seeds(1)
        if run.until == "decided":
            with under("execution"):
                # Pyright treats a field with a converter as a descriptor, which matches no protocol.
                check_decidable(cast("Sequence[Any]", items), run)

    def max_steps(self, operator: OperatorConfig) -> int | None:
        """Return the step limit of an episode: the operator's, else the experiment's, else ``None``."""
        return operator.max_steps if operator.max_steps is not None else self.execution.max_steps

    def isolation(self, operator: OperatorConfig) -> Isolation:
        """Return which slots share a process: the operator's setting, else the experiment's."""
        return operator.isolation or self.execution.isolation

    def to_record(self) -> dict[str, Plain]:
        """Return the data that ``run.json`` stores, from which an equal experiment can be read.

        Secrets remain references.
        """
        record: dict[str, Plain] = {
            "operators": [operator.to_record() for operator in self.operators],
            "execution": self.execution.to_record(),
        }
        return record if self.matrix is None else {**record, "matrix": self.matrix.to_record()}
