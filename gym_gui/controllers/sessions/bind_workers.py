"""Starts the workers of a checked operator and binds its slots to them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from gym_gui.controllers.engine.bound_operator import BoundOperator, Player
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.replays.demonstrations import with_turns
from gym_gui.controllers.sessions.example_turns import with_examples
from gym_gui.core.policy_source import PolicySource
from gym_gui.core.records import IN_PROCESS
from gym_gui.core.types import AgentID
from gym_gui.services.actor import ActorService
from gym_gui.services.backends import Sink
from gym_gui.services.policy_mapping import AgentPolicyBinding, PolicyMappingService
from gym_gui.workers.definition import ENGINE_SETTINGS
from gym_gui.workers.registry import WorkerTypeDefinition
from gym_gui.workers.slot import WorkerSlot
from gym_gui.workers.supervisor import SlotRequest, Supervisor
from gym_gui.workers.team_context import TeamContext

DEFAULT_DEADLINE_S = 300.0
"""Time limit of one decision in seconds for slots without a deadline. People have unlimited time."""

Secrets = Mapping[AgentID, Mapping[str, str]]


async def bind_workers(
    resolved: ResolvedOperator, supervisor: Supervisor, secrets: Secrets | None = None
) -> BoundOperator:
    """Start the workers of an operator and bind its slots to them.

    Raises:
        WorkerLaunchError: A worker could not be started or refused its slot.
    """
    policies = PolicyMappingService(ActorService())
    for slot in resolved.slots.values():
        policies.set_slot(slot)
    players: dict[AgentID, Player] = {}
    for agent, policy in resolved.objects.items():
        players[agent] = _bind_object(policies, agent, policy)
    # Errors in a slot's settings are raised here, before any worker is started.
    groups = [slot_requests(resolved, group, secrets or {}) for group in process_groups(resolved)]
    starts = [start_group(resolved, supervisor, requests, policies.collect) for requests in groups]
    for started in await asyncio.gather(*starts):
        for binding, slot in started:
            policies.attach(binding, slot)
            players[binding.agent_id] = Player.of(binding)
    return BoundOperator(
        resolved.config.operator_id,
        resolved.make_environment,
        resolved.slots,
        resolved.seatings,
        policies,
        players,
        {agent: a.on_invalid for agent, a in resolved.assignments.items()},
        resolved.views,
        bool(resolved.world),
    )


async def start_worker(
    resolved: ResolvedOperator,
    agent: AgentID,
    supervisor: Supervisor,
    secrets: Secrets,
    sink: Sink,
) -> tuple[AgentPolicyBinding, WorkerSlot]:
    """Start the worker of one slot in a separate process, without binding the slot.

    Raises:
        WorkerLaunchError: The worker could not be started or refused its slot.
    """
    requests = slot_requests(resolved, [agent], secrets)
    (started,) = await start_group(resolved, supervisor, requests, sink)
    return started


def process_groups(resolved: ResolvedOperator) -> list[list[AgentID]]:
    """Return groups of slots; the slots of each group share one worker process.

    Slots of a link group share a process; every other slot has its own. With ``isolation: worker``, slots of
    one team with the same worker, machine and GPU share a process, too, unless a person plays them. Opponents
    never share a process.
    """
    groups: dict[tuple[str, ...], list[AgentID]] = {}
    team_of = {agent: team for team, agents in resolved.teams.items() for agent in agents}
    for agent, definition in resolved.workers.items():
        link, team = resolved.config.link_group_of(agent), team_of.get(agent)
        assignment = resolved.assignments[agent]
        if link is not None:
            shared = "link", link.group_id
        elif resolved.config.isolation == "worker" and team is not None and assignment.worker_type != "human":
            place = (repr(assignment.settings.get(name)) for name in sorted(ENGINE_SETTINGS))
            shared = "worker", definition.type_id, team, *place
        else:
            shared = "slot", agent
        groups.setdefault(shared, []).append(agent)
    return list(groups.values())


def slot_requests(
    resolved: ResolvedOperator, agents: Sequence[AgentID], secrets: Secrets
) -> list[SlotRequest]:
    """Return the load requests of slots that share one worker process, in the order of ``agents``."""
    definition = resolved.workers[agents[0]]
    return [_request(resolved, agent, definition, secrets.get(agent, {})) for agent in agents]


async def start_group(
    resolved: ResolvedOperator,
    supervisor: Supervisor,
    requests: Sequence[SlotRequest],
    sink: Sink,
) -> list[tuple[AgentPolicyBinding, WorkerSlot]]:
    """Start one worker process that loads the requested slots, without binding the slots.

    Args:
        resolved: The operator.
        supervisor: Starts the worker.
        requests: Load requests of the slots.
        sink: Receives the worker's answers.

    Raises:
        WorkerLaunchError: The worker could not be started or refused its slot.
    """
    definition = resolved.workers[requests[0].agent_id]
    started = await supervisor.start_worker(definition, requests, sink)
    result: list[tuple[AgentPolicyBinding, WorkerSlot]] = []
    for request, (slot, policy) in zip(requests, started, strict=True):
        agent, name = request.agent_id, policy or definition.type_id
        kind = resolved.assignments[agent].worker_type
        settings = definition.with_defaults(resolved.assignments[agent].settings)
        result.append((AgentPolicyBinding(agent, name, definition.type_id, settings, kind), slot))
    return result


def _request(
    resolved: ResolvedOperator, agent: AgentID, definition: WorkerTypeDefinition, secrets: Mapping[str, str]
) -> SlotRequest:
    slot, assignment, pipeline = (
        resolved.slots[agent],
        resolved.assignments[agent],
        resolved.pipelines.get(agent),
    )
    settings = with_turns(resolved, agent, definition.placed(definition.with_defaults(assignment.settings)))
    if agent in resolved.views:
        settings = with_examples(resolved, agent, settings)
    if names := resolved.names_for(agent):
        settings["rename"] = names.to_json()
    if assignment.checkpoint_agent is not None:
        settings["checkpoint_agent"] = assignment.checkpoint_agent
    deadline = assignment.deadline_s
    if deadline is None and assignment.worker_type != "human":
        deadline = DEFAULT_DEADLINE_S
    # For a slot whose worker reads no prompts, no environment is made.
    reads = agent in resolved.views
    return SlotRequest(
        agent,
        resolved.env_id,
        slot.observation_space if pipeline is None else pipeline.input_space,
        slot.action_space,
        settings,
        resolved.worker_action_names(agent),
        slot.noop_action if isinstance(slot.noop_action, int) else None,
        assignment.deterministic,
        deadline,
        secrets,
        pipeline,
        resolved.team_context(agent) if reads else TeamContext(),
        resolved.team_contexts_elsewhere(agent) if reads else {},
        resolved.simulator if reads and resolved.views[agent].state else "",
        slot.options,
    )


def _bind_object(policies: PolicyMappingService, agent: AgentID, policy: object) -> Player:
    """Bind an in-process policy to a slot. A class or another factory is called once per episode."""
    own_name = "name" if isinstance(policy, type) or hasattr(policy, "select_action") else "__name__"
    shown = str(getattr(policy, own_name, getattr(policy, "__name__", type(policy).__name__)))
    source = PolicySource.of(policy)
    known = policies.actor_service.register_policy(f"{agent}:object", source, display_name=shown)
    policies.bind_agent_policy(agent, known.actor_id)
    return Player(IN_PROCESS, "baseline", known.display_name)
