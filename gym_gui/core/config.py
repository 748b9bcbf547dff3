"""What an experiment is made of: operators, each one an environment and its players.

All of it is frozen, checked on construction and plain data underneath, so that it
travels between processes and into ``run.json``. Inputs may be wide (a list, another
spelling); attributes are exact. Worker and environment ids are not looked up here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from gym_gui.core.experiment.assignment import (
    InvalidFallback,
    LinkGroup,
    OnInvalid,
    WorkerAssignment,
)
from gym_gui.core.experiment.execution import (
    MAX_STEPS,
    EnvironmentMode,
    EpisodePlan,
    ExecutionConfig,
    RecordConfig,
)
from gym_gui.core.experiment.link_resolution import link_slots
from gym_gui.core.experiment.matrix_table import MatrixTable
from gym_gui.core.experiment.operator_parts import (
    assignments_of,
    check_agent,
    instances_of,
    link_groups_of,
    teams_of,
)
from gym_gui.core.experiment.training_of import TrainingOf
from gym_gui.core.experiment.until import check_decidable
from gym_gui.core.secret_refs import refuse_literals
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.validation import (
    ConfigError,
    Plain,
    choice,
    folder_name,
    freeze,
    integer,
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
"""Slot of an agent's manager: ``agent_0/goal``."""


@dataclass(frozen=True, init=False)
class OperatorConfig:
    """One environment and who plays its slots; the unit that is compared.

    Attributes:
        operator_id: Unique in its experiment and a safe folder name.
        display_name: What people read.
        env_name: Environment family (``minigrid``), or empty to go by ``task``.
        task: Environment id, or ``module:factory``.
        workers: Who plays each slot, as written; :meth:`resolved_slots` adds the rest.
        max_steps: Limit of an episode, before the experiment's own.
        env_kwargs: Passed to the environment's factory.
        link_groups: Slots that share a checkpoint file.
        teams: Agents of each team, or ``None`` for the family's own teams.
        manager: Agent -> who sets its goals (hierarchical stepping).
        api: PettingZoo interface to ask for, or ``None`` for the family's choice.
        seats: ``swap`` plays every seed once per rotation of the teams; of the agents, where all are in one.
        group: Of which training of a group its policy is, ``None`` where that is not said.
        origin: The file that says all this, and where its own modules are looked for.
        named: Whether somebody chose ``display_name``; else it follows who decides.
        host: Which of the person's hosts it runs on in the window; empty: this machine. It says where an
            operator runs and not what it is, so no experiment holds it.
    """

    operator_id: str
    display_name: str
    env_name: str
    task: str
    workers: Mapping[str, WorkerAssignment]
    max_steps: int | None
    env_kwargs: Mapping[str, Plain]
    link_groups: tuple[LinkGroup, ...]
    teams: Mapping[str, tuple[str, ...]] | None
    manager: Mapping[str, WorkerAssignment]
    api: Api | None
    seats: Seats
    group: TrainingOf | None
    origin: Origin = field(compare=False)
    named: bool = field(compare=False)
    host: str

    def __init__(
        self,
        operator_id: str,
        display_name: str = "",
        env_name: str = "",
        task: str = "",
        workers: Mapping[str, WorkerAssignment] | None = None,
        *,
        max_steps: int | None = None,
        env_kwargs: Mapping[str, object] | None = None,
        link_groups: Sequence[LinkGroup] = (),
        teams: Mapping[str, Sequence[str]] | None = None,
        manager: Mapping[str, WorkerAssignment] | None = None,
        api: str | None = None,
        seats: str = "fixed",
        group: object = None,
        origin: Origin = TYPED,
        named: bool = True,
        host: str = "",
    ) -> None:
        """Check and normalise.

        Raises:
            ConfigError: A value is of the wrong type, or two contradict each other.
        """
        folder = folder_name(operator_id, "id")
        players = assignments_of(workers or {}, "workers")
        rename = {"agent": SINGLE_AGENT} if set(players) == {"agent"} else {}
        players = {rename.get(agent, agent): player for agent, player in players.items()}
        kwargs = plain_mapping(env_kwargs or {}, "env_kwargs")
        refuse_literals(kwargs, "env_kwargs", by_name=False)
        managers = assignments_of(manager or {}, "manager")
        freeze(
            self,
            operator_id=folder,
            display_name=text(display_name, "name", empty=True) or folder,
            env_name=text(env_name, "env_name", empty=True),
            task=text(task, "task"),
            workers=players,
            max_steps=None if max_steps is None else integer(max_steps, "max_steps", low=1, high=MAX_STEPS),
            env_kwargs=kwargs,
            link_groups=link_groups_of(link_groups, rename),
            teams=None if teams is None else teams_of(teams, rename),
            manager={rename.get(agent, agent): player for agent, player in managers.items()},
            api=None if api is None else choice(api, "api", ("aec", "parallel")),
            seats=choice(seats, "seats", ("fixed", "swap")),
            group=None if group is None else TrainingOf.from_data(group, "group"),
            origin=origin,
            named=named and bool(display_name),
            host=text(host, "host", empty=True, max_length=255),
        )
        slots = link_slots(players, self.link_groups)
        for agent in self.manager:
            if agent + GOAL_SUFFIX in slots:
                place = join("manager", key_place(agent))
                raise ConfigError(f"slot '{agent}{GOAL_SUFFIX}' is given in workers too", where=place)

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
        """One worker in the only slot of a single-agent environment.

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
        """A worker in each slot of a multi-agent environment.

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
        """Who plays each slot, link groups applied; managers as ``<agent>/goal``.

        Order: slots as written, then agents known only from link groups, then managers.
        """
        slots = link_slots(self.workers, self.link_groups)
        return slots | {agent + GOAL_SUFFIX: player for agent, player in self.manager.items()}

    def link_group_of(self, agent: str) -> LinkGroup | None:
        """The link group that ``agent`` belongs to, or ``None``."""
        return next((group for group in self.link_groups if agent in group.agents), None)

    def check_complete(self) -> None:
        """Refuse names that no slot has, and an operator without players.

        Experiment files are complete; a configuration made in Python may leave slots to
        in-process policies, which it cannot name.

        Raises:
            ConfigError: With the place.
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
        """Plain data in the shape of an operator of an experiment file."""
        record: dict[str, Plain] = {
            "id": self.operator_id,
            "name": self.display_name,
            "env_name": self.env_name,
            "task": self.task,
            "workers": {agent: player.to_record() for agent, player in self.workers.items()},
            "seats": self.seats,
        }
        teams = self.teams
        optional: dict[str, Plain] = {
            "max_steps": self.max_steps,
            "env_kwargs": dict(self.env_kwargs) or None,
            "link_groups": [group.to_record() for group in self.link_groups] or None,
            "teams": None if teams is None else {team: list(agents) for team, agents in teams.items()},
            "manager": {agent: player.to_record() for agent, player in self.manager.items()} or None,
            "api": self.api,
            "group": None if self.group is None else self.group.to_record(),
            # Needed to play it again from the run folder, which lies elsewhere.
            "folder": (self.origin.folder or None) if ":" in self.task else None,
        }
        return record | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True, init=False)
class Experiment:
    """Operators that are compared on the same seeds.

    Attributes:
        operators: What is compared, in the order written.
        execution: How often, with which seeds, how fast.
        matrix: The rows that they play, where they are those of a matrix.
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
        """Check what operators and execution have to do with each other.

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
        # Operators that swap seats need fewer; how many is known once their teams are.
        if any(operator.seats == "fixed" for operator in items):
            run.check_seeds(1)
        if run.until == "decided":
            with under("execution"):
                check_decidable(items, run)

    def max_steps(self, operator: OperatorConfig) -> int | None:
        """Limit of an episode: the operator's, else the experiment's, else ``None``."""
        return operator.max_steps if operator.max_steps is not None else self.execution.max_steps

    def to_record(self) -> dict[str, Plain]:
        """What ``run.json`` stores; reads back to an equal experiment.

        Secrets stay references in it.
        """
        record: dict[str, Plain] = {
            "operators": [operator.to_record() for operator in self.operators],
            "execution": self.execution.to_record(),
        }
        return record if self.matrix is None else {**record, "matrix": self.matrix.to_record()}
