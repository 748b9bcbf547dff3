"""From an operator's configuration to one that is checked and can be staffed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
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
from gym_gui.core.trusted.subjects import Need, Subject
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
"""A slot's context in its own seat, and in the seats of others that it takes in some episodes."""


@dataclass(frozen=True)
class ResolvedOperator:
    """A checked operator: every name in it exists and every slot has a player that fits.

    Attributes:
        config: The operator.
        slots: Agent slots of its environment.
        seatings: Slot by seat, by number of the seating.
        assignments: The player of each slot, link groups applied.
        workers: The worker behind each slot; slots of ``objects`` are not in it.
        objects: In-process policies by slot (from Python only).
        pipelines: What happens to observations of a slot before its worker sees them; slots whose
            worker sees what the environment gives are not in it.
        env_id: The environment's canonical id.
        env_package: Import name of the package it comes from.
        observation_bytes: Size of the largest observation, for sizing concurrency.
        seat_names: The game's names of seats, by slot that it has a name for.
        max_steps: Steps after which its episodes are truncated; prompts say the number.
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
        """A new instance of the operator's environment.

        Args:
            render_mode: What it draws; a picture in any case where a slot is shown one.
        """
        if any(view.image for view in self.views.values()):
            render_mode = "rgb_array"
        return make_environment(self.config, render_mode=render_mode)

    @cached_property
    def views(self) -> Mapping[AgentID, PromptInputs]:
        """What slots are shown beside their observations, by slot that wants it."""
        wanted = {
            agent: PromptInputs.of(
                definition.inputs.wanted, definition.with_defaults(self.assignments[agent].settings)
            )
            for agent, definition in self.workers.items()
        }
        return {agent: view for agent, view in wanted.items() if view is not None}

    @cached_property
    def world(self) -> str:
        """The world that all instances of its environment share; empty where each has its own."""
        config = self.config
        try:
            spec = envs.resolve(config.task, env_name=config.env_name or None, api=config.api)
        except UsageError:
            return ""  # what it is was not checked here
        return family_of(spec).world(spec, config.env_kwargs or {})

    @cached_property
    def other_names(self) -> Mapping[AgentID, Names]:
        """The other names that slots get in place of the game's, by slot."""
        wanted = {agent: view for agent, view in self.views.items() if view.rename != "none"}
        if not wanted:
            return {}
        with contextlib.closing(self.make_environment()) as environment:
            return {agent: environment.other_names(agent, view) for agent, view in wanted.items()}

    def names_for(self, agent: AgentID) -> Names:
        """What is called otherwise for one slot."""
        return self.other_names.get(agent, _USUAL)

    def told_actions(self, agent: AgentID) -> tuple[str, ...]:
        """The words of a slot's discrete actions, as its worker gets them."""
        return tuple(map(self.names_for(agent).action, self.slots[agent].action_meanings))

    @property
    def action_words(self) -> dict[AgentID, list[str]]:
        """Words of discrete actions that count from 0, by slot that has them; beside other ones the usual."""
        return {
            agent: [
                word if told == word else f"{told} ({word})"
                for told, word in zip(self.told_actions(agent), slot.action_meanings, strict=True)
            ]
            for agent, slot in self.slots.items()
            if slot.action_meanings and not getattr(slot.action_space, "start", 0)
        }

    @property
    def notes(self) -> list[str]:
        """What a person should know before it starts, one sentence each."""
        idle = [nothing_to_do(self.slots[agent], a, self.env_id) for agent, a in self.assignments.items()]
        betrayed = [
            f"{agent} receives rewards (tell_rewards: always), which reveal what its seat may not know"
            for agent, view in self.views.items()
            if view.tell_rewards == "always" and "rewards" not in self.slots[agent].offers
        ]
        return [*filter(None, idle), *betrayed]

    def worker_type(self, slot: AgentID) -> str:
        """Kind of who plays a slot."""
        assignment = self.assignments.get(slot)
        return assignment.worker_type if assignment else "baseline"

    def with_assignment(self, agent: AgentID, assignment: WorkerAssignment) -> ResolvedOperator:
        """The same operator with another player in one slot, checked; starts nothing.

        Raises:
            UsageError: There is no such slot or worker, or the player cannot play there.
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
        """What a worker that reads gets to know of the game before it begins.

        Args:
            agent: A slot of :attr:`views`.
        """
        return self._team_contexts[agent][0]

    def team_contexts_elsewhere(self, agent: AgentID) -> Mapping[AgentID, TeamContext]:
        """The same for others' seats that it takes in some episodes, by agent."""
        return self._team_contexts[agent][1]

    @cached_property
    def simulator(self) -> str:
        """What is inside the environment, for workers that are handed its state; empty where it has none."""
        with contextlib.closing(self.make_environment()) as environment:
            return "" if environment.simulator is None else as_json(environment.simulator.description())

    @cached_property
    def _team_contexts(self) -> Mapping[AgentID, TeamContexts]:
        """The contexts of slots that read; made, with one environment for all, when one of them starts.

        The slot of agents that appear gets no context beforehand: each agent gets it when it appears.
        """
        environment = self.make_environment()
        environment.cut_off = self.max_steps

        def team_context(seat: AgentID, view: PromptInputs) -> TeamContext:
            return TeamContext(environment.briefing(seat, view), *environment.company(seat))

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
        """Others' seats in which a slot sits in some seating."""
        seats = {seat for seating in self.seatings for seat, taken in seating.items() if taken == slot}
        return sorted(seats - {slot})


def make_environment(config: OperatorConfig, render_mode: str | None = None) -> Environment:
    """Make an operator's environment, its manager slots and teams included.

    Args:
        config: The operator.
        render_mode: For example ``"rgb_array"``; ``None`` draws nothing.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made so.
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
    """Who can sit where in an operator's environment, which is made in this process.

    Args:
        config: The operator.
        named: Slots that it has beside those it is configured with.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made so; or no agent of a slot has
            appeared.
    """
    with contextlib.closing(make_environment(config)) as environment:
        try:
            slots = slots_in(environment, (*config.resolved_slots(), *named))
        except UsageError as error:
            raise of_operator(config, error) from None
        spec, teams = environment.spec, {team: tuple(who) for team, who in environment.teams.items()}
        open_ended = environment.adapter.is_open_ended
        return EnvironmentSeats(spec.id, spec.package, slots, teams, environment.seat_names, open_ended)


def needs_of(config: OperatorConfig, env_only: bool = False) -> list[Need]:
    """Everything of an operator that the user has to allow where a file names it.

    Args:
        config: The operator.
        env_only: Only its environment counts: its actions are recorded, and no worker is started.

    Raises:
        UsageError: The environment or a worker is unknown, or even the user cannot allow it.
    """
    players = [] if env_only else list(config.resolved_slots().values())
    find_workers(player.worker_id for player in players)
    spec = envs.resolve(config.task, env_name=config.env_name or None, api=config.api, origin=config.origin)
    needs = envs.needs_of(spec, config.env_kwargs)
    for assignment in players:
        definition = WorkerTypeRegistry.require(assignment.worker_id)
        needs += needs_of_settings(definition, assignment.settings)
    return list(dict.fromkeys(needs))


def vouch(config: OperatorConfig, env_only: bool = False) -> list[Subject]:
    """What a process that acts for this one has to be handed, so that it may play an operator.

    Raises:
        NotAllowedError: A file names something that the person has not allowed.
        UsageError: As :func:`needs_of`.
    """
    needs = needs_of(config, env_only)
    require(needs, config.origin)
    return [need.subject for need in needs]


def unchecked_operator(config: OperatorConfig) -> ResolvedOperator:
    """An operator that carries the configuration alone.

    Its session host makes the environment and checks the operator against it; doing the same
    first would cost time and bring the environment's packages into this process.
    """
    return ResolvedOperator(config, {}, ({},), config.resolved_slots(), {}, config.task, "", 0)


def resolve_operator(
    config: OperatorConfig,
    objects: Mapping[AgentID, object] | None = None,
    *,
    seats_of: SeatsOf | None = None,
) -> ResolvedOperator:
    """Check an operator against its environment and the known workers; starts nothing.

    Args:
        config: The operator.
        objects: In-process policies for slots the configuration leaves out.
        seats_of: Looks at its environment; by default that is made in this process.

    Raises:
        UsageError: The environment, a worker or a slot name is unknown; a slot is empty; a
            worker cannot play a slot. One sentence, with the way out.
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
    """The operator in the environment's names, where it is written in those of older scripts."""
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
    """Refuse a player that cannot play; returns what happens to observations before the worker sees them."""
    if assignment.worker_type != definition.kind.value:
        kind = definition.kind.value
        raise ExperimentError(
            f"{where}: {definition.type_id} is of type {kind!r}, not {assignment.worker_type!r}",
            fix=f"Write type {kind!r} for {agent}, or name another worker",
        )
    definition.check_settings(assignment.settings, f"{where}, {agent}")
    path = policy_path(assignment, definition)
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
    if path is not None and not path.exists() and "address" not in assignment.settings:
        known = known_name(path)
        raise ExperimentError(
            f"{where}: checkpoint {path} of {agent} does not exist",
            fix=f"The library has one of that name: write {known}"
            if known
            else "Train one with `mosaic train`, or bring one with `mosaic policies add`",
        )
    return pipeline_of(assignment, definition, slot)
