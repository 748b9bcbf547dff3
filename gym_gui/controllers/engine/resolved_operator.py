"""Checks an operator's configuration and finds the worker of every slot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gym_gui import envs
from gym_gui.controllers.engine.appearing_agents import spelled_out
from gym_gui.controllers.engine.bound_operator import (
    Seating,
    nothing_to_do,
    seatings,
)
from gym_gui.controllers.engine.environment_seats import EnvironmentSeats, SeatsOf, of_operator, slots_in
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import ExperimentError, MissingDependencyError, UnknownNameError, UsageError
from gym_gui.core.experiment import aliases
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.trusted.subjects import RequiredSubject, Subject
from gym_gui.core.trusted.trust import require
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.envs.environment_registry import family_of
from gym_gui.envs.simulator import as_json
from gym_gui.services.backends import SlotInfo
from gym_gui.services.compatibility import fit, other_worker, pipeline_of, policy_path
from gym_gui.services.policies.policy_library import at_path, known_name
from gym_gui.services.policy_files import read_policy_file
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.named_resources import needs_of_settings
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import check_installed
from gym_gui.workers.team_context import TeamContext
from mosaic_worker.preprocessing import Pipeline
from mosaic_worker.renaming import Names

_USUAL = Names()
TeamContexts = tuple[TeamContext, Mapping[AgentID, TeamContext]]
"""Briefing and team of a slot's own seat, and, by agent, of other seats that it plays in some episodes."""


@dataclass(frozen=True)
class ResolvedOperator:
    """Operator whose configuration was checked: its names exist, and every slot has a player that fits.

    Attributes:
        config: Configuration of the operator.
        slots: Agent slots of the operator's environment.
        seatings: The seatings, each a mapping from seat to slot.
        assignments: The player of each slot, after link groups were applied.
        workers: The worker behind each slot, except for the slots of ``objects``.
        objects: In-process policies by slot (from Python only).
        pipelines: Transformations of a slot's observations before its worker sees them. Slots whose
            worker sees the environment's own observations are left out.
        env_id: The environment's canonical id.
        env_package: Import name of the package that provides the environment.
        observation_bytes: Size of the largest observation, used to choose the concurrency.
        seat_names: The game's own name of a seat, by slot. Slots whose seat has no name are left out.
        max_steps: Steps after which episodes are truncated. Players that read prompts learn this number.
        teams: Agents of each team.
    """

    config: OperatorConfig
    slots: Mapping[AgentID, SlotInfo]
    seatings: Sequence[Seating]
    assignments: Mapping[AgentID, WorkerAssignment]
    workers: Mapping[AgentID, WorkerTypeDefinition]
    env_id: str
    env_package: str
    observation_bytes: int
    objects: Mapping[AgentID, object] = field(default_factory=dict[AgentID, object])
    pipelines: Mapping[AgentID, Pipeline] = field(default_factory=dict[AgentID, Pipeline])
    seat_names: Mapping[AgentID, str] = field(default_factory=dict[AgentID, str])
    max_steps: int | None = None
    teams: Mapping[str, Sequence[AgentID]] = field(default_factory=dict[str, Sequence[AgentID]])

    def make_environment(self, render_mode: str | None = None) -> Environment:
        """Make a new instance of the operator's environment.

        Args:
            render_mode: Gymnasium render mode; ``"rgb_array"`` in any case if a slot is shown images.
        """
        if any(view.image for view in self.views.values()):
            render_mode = "rgb_array"
        return make_environment(self.config, render_mode=render_mode)

    @cached_property
    def views(self) -> Mapping[AgentID, PromptInputs]:
        """Prompt inputs by slot, for slots whose workers get more than observations."""
        wanted = {
            agent: PromptInputs.of(
                definition.inputs.wanted, definition.with_defaults(self.assignments[agent].settings)
            )
            for agent, definition in self.workers.items()
        }
        return {agent: view for agent, view in wanted.items() if view is not None}

    @cached_property
    def world(self) -> str:
        """Name of the simulation that all instances of the environment share; ``""`` if each has its own."""
        config = self.config
        try:
            spec = envs.resolve(config.task, env_name=config.env_name or None, api=config.api)
        except UsageError:
            return ""  # an unchecked operator may name an unknown environment
        return family_of(spec).world(spec, config.env_kwargs or {})

    @cached_property
    def other_names(self) -> Mapping[AgentID, Names]:
        """Substitute names that replace the usual names in a slot's prompts, by slot."""
        wanted = {agent: view for agent, view in self.views.items() if view.rename != "none"}
        if not wanted:
            return {}
        with contextlib.closing(self.make_environment()) as environment:
            return {agent: environment.other_names(agent, view) for agent, view in wanted.items()}

    def names_for(self, agent: AgentID) -> Names:
        """Return the substitute names in one slot's prompts; empty if the slot gets the usual names."""
        return self.other_names.get(agent, _USUAL)

    def worker_action_names(self, agent: AgentID) -> tuple[str, ...]:
        """Return the names of a slot's discrete actions that the slot's worker receives."""
        return tuple(map(self.names_for(agent).action, self.slots[agent].action_meanings))

    @property
    def action_words(self) -> dict[AgentID, list[str]]:
        """Action names by slot, for slots with discrete actions that count from 0.

        A substitute name is followed by the usual name in parentheses.
        """
        return {
            agent: [
                word if told == word else f"{told} ({word})"
                for told, word in zip(self.worker_action_names(agent), slot.action_meanings, strict=True)
            ]
            for agent, slot in self.slots.items()
            if slot.action_meanings and not getattr(slot.action_space, "start", 0)
        }

    @property
    def notes(self) -> list[str]:
        """Warnings that a person should read before the operator starts, one sentence each."""
        idle = [nothing_to_do(self.slots[agent], a, self.env_id) for agent, a in self.assignments.items()]
        betrayed = [
            f"{agent} receives rewards (tell_rewards: always), which reveal what its seat may not know"
            for agent, view in self.views.items()
            if view.tell_rewards == "always" and "rewards" not in self.slots[agent].offers
        ]
        return [*filter(None, idle), *betrayed, *self._trained_elsewhere()]

    def _trained_elsewhere(self) -> Iterator[str]:
        """Yield a sentence for each slot whose policy was trained in another environment."""
        for agent, assignment in self.assignments.items():
            path = policy_path(assignment, self.workers[agent])
            file = read_policy_file(path) if path is not None else None
            trained_in = "" if file is None else file.env_id
            # A skill is trained in an environment of its own, ``Skills/<task>``.
            if trained_in and self.env_id not in (trained_in, trained_in.partition("/")[2]):
                yield f"{agent} plays {self.env_id} by a policy that was trained in {trained_in}"

    def worker_type(self, slot: AgentID) -> str:
        """Return the worker type of a slot's player; ``"baseline"`` for in-process policies."""
        assignment = self.assignments.get(slot)
        return assignment.worker_type if assignment else "baseline"

    def with_assignment(self, agent: AgentID, assignment: WorkerAssignment) -> ResolvedOperator:
        """Return a copy of the operator with another, checked player in one slot; no worker is started.

        Raises:
            UsageError: The slot or the worker does not exist, or the player cannot play in the slot.
        """
        where = f"operator {self.config.operator_id!r}"
        if agent not in self.slots:
            raise UnknownNameError(f"agent of {self.env_id} in {where}", agent, self.slots)
        definition, assignment = WorkerTypeRegistry.require(assignment.worker_id), at_path(assignment)
        pipeline = _check_player(where, agent, assignment, definition, self.slots[agent])
        others = {slot: each for slot, each in self.pipelines.items() if slot != agent}
        return replace(
            self,
            pipelines=others if pipeline is None else {**others, agent: pipeline},
            assignments={**self.assignments, agent: assignment},
            workers={**self.workers, agent: definition},
            objects={slot: policy for slot, policy in self.objects.items() if slot != agent},
        )

    def team_context(self, agent: AgentID) -> TeamContext:
        """Return the briefing, team, teammates and opponents that a slot's worker gets before the game.

        Args:
            agent: A slot whose worker reads prompts (:attr:`views`).
        """
        return self._team_contexts[agent][0]

    def team_contexts_elsewhere(self, agent: AgentID) -> Mapping[AgentID, TeamContext]:
        """Return briefing and team of other agents' seats that a slot plays in some episodes, by agent."""
        return self._team_contexts[agent][1]

    @cached_property
    def simulator(self) -> str:
        """JSON description of the environment's simulator, for workers that get its state.

        ``""`` if it has none.
        """
        with contextlib.closing(self.make_environment()) as environment:
            return "" if environment.simulator is None else as_json(environment.simulator.description())

    @cached_property
    def _team_contexts(self) -> Mapping[AgentID, TeamContexts]:
        """Briefings and teams of the slots that read prompts, made when the first of these slots is started.

        One environment is made for all of them. A pattern slot gets an empty context here: each of its agents
        gets its own context when the agent appears.
        """
        environment = self.make_environment()
        environment.cut_off = self.max_steps

        def team_context(seat: AgentID, view: PromptInputs) -> TeamContext:
            return TeamContext(environment.briefing(seat, view), *environment.team_and_others(seat))

        try:
            return {
                slot: (
                    team_context(slot, view),
                    {seat: team_context(seat, view) for seat in self._taken_by(slot)},
                )
                if not is_pattern(slot)
                else (TeamContext(), {})
                for slot, view in self.views.items()
            }
        finally:
            environment.close()

    def _taken_by(self, slot: AgentID) -> list[AgentID]:
        """Return other agents' seats that a slot plays in some seating."""
        seats = {seat for seating in self.seatings for seat, taken in seating.items() if taken == slot}
        return sorted(seats - {slot})


def make_environment(config: OperatorConfig, render_mode: str | None = None) -> Environment:
    """Make an operator's environment, its manager slots and teams included.

    Args:
        config: The operator.
        render_mode: For example ``"rgb_array"``; ``None`` draws nothing.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made with these settings.
    """
    environment = envs.make(
        config.task,
        env_name=config.env_name or None,
        api=config.api,
        render_mode=render_mode,
        env_kwargs=dict(config.env_kwargs),
        origin=config.origin,
    )
    if config.manager:
        environment = environment.with_manager(agents=list(config.manager))
    if config.teams is not None:
        environment.teams = dict(config.teams)
    return environment


def seats_here(config: OperatorConfig, named: Iterable[AgentID] = ()) -> EnvironmentSeats:
    """Return the slots and teams of an operator's environment, which is made in this process.

    Args:
        config: The operator.
        named: Slots of the operator in addition to those in its configuration.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made with these settings; or no
            agent of a slot has appeared.
    """
    with contextlib.closing(make_environment(config)) as environment:
        try:
            slots = slots_in(environment, (*config.resolved_slots(), *named))
        except UsageError as error:
            raise of_operator(config, error) from None
        spec, teams = environment.spec, {team: tuple(who) for team, who in environment.teams.items()}
        open_ended = environment.adapter.is_open_ended
        return EnvironmentSeats(spec.id, spec.package, slots, teams, environment.seat_names, open_ended)


def needs_of(config: OperatorConfig, env_only: bool = False) -> list[RequiredSubject]:
    """Return everything in an operator that needs the user's permission if a file names it.

    Args:
        config: The operator.
        env_only: Count only the environment, because recorded actions are played and no worker is started.

    Raises:
        UsageError: The environment or a worker is unknown, or needs something that users cannot allow.
    """
    players = [] if env_only else list(config.resolved_slots().values())
    find_workers(player.worker_id for player in players)
    spec = envs.resolve(config.task, env_name=config.env_name or None, api=config.api, origin=config.origin)
    needs = envs.needs_of(spec, config.env_kwargs)
    for assignment in players:
        definition = WorkerTypeRegistry.require(assignment.worker_id)
        needs += needs_of_settings(definition, assignment.settings)
    return list(dict.fromkeys(needs))


def checked_permissions(config: OperatorConfig, env_only: bool = False) -> list[Subject]:
    """Check the user's permissions for an operator, and return those that its child process needs.

    Raises:
        NotAllowedError: A file names something that the user has not allowed.
        UsageError: As :func:`needs_of`.
    """
    needs = needs_of(config, env_only)
    require(needs, config.origin)
    return [need.subject for need in needs]


def unchecked_operator(config: OperatorConfig) -> ResolvedOperator:
    """Return an operator that contains its configuration only, without a check.

    The session host makes the environment and checks the operator. A check in this process would cost time
    and import the environment's packages.
    """
    return ResolvedOperator(config, {}, ({},), config.resolved_slots(), {}, config.task, "", 0)


def resolve_operator(
    config: OperatorConfig,
    objects: Mapping[AgentID, object] | None = None,
    *,
    seats_of: SeatsOf | None = None,
) -> ResolvedOperator:
    """Check an operator against its environment and the known workers, without starting a worker.

    Args:
        config: The operator.
        objects: In-process policies for slots that the configuration leaves out.
        seats_of: Reads the slots and teams of the environment. By default, the environment is made in
            this process.

    Raises:
        UsageError: The environment, a worker or a slot name is unknown, a slot is empty, or a worker
            cannot play a slot. The message is one sentence and a way to fix the problem.
    """
    given = dict(objects or {})
    players = {a: player for a, player in config.resolved_slots().items() if a not in given}
    find_workers(player.worker_id for player in players.values())
    for player in players.values():
        definition = WorkerTypeRegistry.require(player.worker_id)
        require(needs_of_settings(definition, player.settings), config.origin)
    found = seats_here(config, given) if seats_of is None else seats_of(config)
    slots, where = found.slots, f"operator {config.operator_id!r}"
    config = _in_names_of(config, slots)
    if not found.open_ended and any(map(is_pattern, (*config.workers, *given))):
        given = spelled_out(given, slots)
        players = spelled_out(config.workers, [agent for agent in slots if agent not in given])
        config = replace(config, workers=players)
    teams = found.teams if config.teams is None else config.teams
    seats = seatings(teams, slots, swap=config.seats == "swap")
    size = max(slot.observation_codec.size_hint for slot in slots.values())
    assignments = {a: at_path(w) for a, w in config.resolved_slots().items() if a not in given}
    for agent in (*assignments, *given):
        if agent not in slots:
            known = ", ".join(slots)
            raise UnknownNameError(
                "agent", agent, slots, hint=f"Its agents: {known}", where=f"{where} ({found.env_id})"
            )
    empty = [agent for agent in slots if agent not in assignments and agent not in given]
    if empty:
        raise ExperimentError(
            f"{where}: no worker plays {', '.join(empty)}",
            fix="Name a worker for every agent under 'workers'",
        )
    workers: dict[AgentID, WorkerTypeDefinition] = {}
    pipelines: dict[AgentID, Pipeline] = {}
    for agent, assignment in assignments.items():
        definition = WorkerTypeRegistry.require(assignment.worker_id)
        pipeline = _check_player(where, agent, assignment, definition, slots[agent])
        workers[agent] = definition
        if pipeline is not None:
            pipelines[agent] = pipeline
            size = max(size, SpaceCodec(pipeline.input_space).size_hint)
    return ResolvedOperator(
        *(config, slots, seats, assignments, workers, found.env_id, found.package, size, given, pipelines),
        found.seat_names,
        teams=teams,
    )


def _in_names_of(config: OperatorConfig, slots: Mapping[AgentID, SlotInfo]) -> OperatorConfig:
    """Return the configuration with agent names of older scripts replaced by those of the environment."""
    new = aliases.numbered(config.resolved_slots(), list(slots))
    if not new:
        return config
    links = [
        replace(
            link, primary_agent=new[link.primary_agent], linked_agents=[new[a] for a in link.linked_agents]
        )
        for link in config.link_groups
    ]
    teams = config.teams
    return replace(
        config,
        workers={new[agent]: player for agent, player in config.workers.items()},
        link_groups=links,
        teams=None if teams is None else {t: [new.get(a, a) for a in who] for t, who in teams.items()},
    )


def _check_player(
    where: str, agent: AgentID, assignment: WorkerAssignment, definition: WorkerTypeDefinition, slot: SlotInfo
) -> Pipeline | None:
    """Raise an error if a player cannot play in a slot.

    Return the pipeline that transforms the worker's observations; ``None`` if there is none.
    """
    if assignment.worker_type != definition.kind.value:
        kind = definition.kind.value
        raise ExperimentError(
            f"{where}: {definition.type_id} is of type {kind!r}, not {assignment.worker_type!r}",
            fix=f"Write type {kind!r} for {agent}, or name another worker",
        )
    definition.check_settings(assignment.settings, f"{where}, {agent}")
    path = policy_path(assignment, definition)
    # Before the fit: without its file, a policy's preprocessing is not known, and its spaces seem not to fit.
    if path is not None and not path.exists() and "address" not in assignment.settings:
        known = known_name(path)
        raise ExperimentError(
            f"{where}: checkpoint {path} of {agent} does not exist",
            fix=f"The library has one of that name: write {known}"
            if known
            else "Train one with `mosaic train`, or bring one with `mosaic policies add`",
        )
    file = read_policy_file(path) if path is not None else None
    if reason := fit(slot, definition, assignment, file):
        theirs = file is not None and other_worker(file, definition)
        raise ExperimentError(
            f"{where}: {definition.type_id} cannot play {agent}: {reason}",
            fix=f"Write worker_id {file.worker_id!r} for {agent}" if file is not None and theirs else "",
        )
    # After the fit: the user should not install a worker that cannot play here anyway.
    status = check_installed(definition)
    if status.missing:
        raise MissingDependencyError(
            f"{where}: what {definition.type_id} needs ({', '.join(status.missing)})", status.install
        )
    return pipeline_of(assignment, definition, slot)
