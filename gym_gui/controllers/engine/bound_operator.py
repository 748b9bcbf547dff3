"""Operators that are ready to play: the slots of the environment and the policy of each slot."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gym_gui.core.errors import ExperimentError, SpaceError
from gym_gui.core.experiment import aliases
from gym_gui.core.experiment.assignment import OnInvalid, WorkerAssignment
from gym_gui.core.experiment.legality import problem_with
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.experiment.slot_patterns import ANY, is_pattern
from gym_gui.core.records import IN_PROCESS, AgentRecord
from gym_gui.core.spaces import to_space, zero_action
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo
from gym_gui.services.policy_mapping import AgentPolicyBinding, PolicyMappingService

Seating = Mapping[AgentID, AgentID]
"""Maps each agent to the configured slot whose policy plays that agent."""


@dataclass(frozen=True)
class Player:
    """Worker and policy of a slot, as named in the run's records.

    Attributes:
        worker_id: The worker, or ``"in_process"``.
        worker_type: ``rl``, ``llm``, ``human``, ``baseline``, …
        policy: The policy's own short name.
    """

    worker_id: str
    worker_type: str
    policy: str

    @classmethod
    def of(cls, binding: AgentPolicyBinding) -> Player:
        """Return the worker and policy that a slot's binding names."""
        return cls(binding.worker_id or IN_PROCESS, binding.worker_type, binding.policy_id)

    def record(self) -> dict[str, str]:
        """Return worker id, worker type and policy name, keyed by their field names in the record."""
        return {"worker_id": self.worker_id, "worker_type": self.worker_type, "policy": self.policy}

    def seated(self, slot: AgentID) -> AgentRecord:
        """Return the entry of ``episodes.jsonl`` with the worker and policy that played a seat."""
        return AgentRecord(self.worker_id, self.worker_type, self.policy, slot)


@dataclass
class BoundOperator:
    """Environment, policies and rules with which a session plays an operator's episodes.

    Attributes:
        operator_id: The operator.
        make_environment: Makes an instance of the environment. Many instances may be stepped in turn.
        slots: Spaces and action names by slot.
        seatings: Seatings of the operator, each a mapping from agent to slot.
        policies: The policies of all slots.
        players: The player of each slot, for the record.
        rules: How an unusable answer is handled, by slot. Without a rule, the episode fails.
        views: Prompt inputs by slot, for slots that get more than their observations.
        one_world: Whether all instances share one simulation, so that one episode is played at a time.
    """

    operator_id: str
    make_environment: Callable[[], Environment]
    slots: Mapping[AgentID, SlotInfo]
    seatings: Sequence[Seating]
    policies: PolicyMappingService
    players: Mapping[AgentID, Player]
    rules: Mapping[AgentID, OnInvalid] = field(default_factory=dict[AgentID, OnInvalid])
    views: Mapping[AgentID, PromptInputs] = field(default_factory=dict[AgentID, PromptInputs])
    one_world: bool = False


def read_slots(environment: Environment) -> dict[AgentID, SlotInfo]:
    """Return spaces and action names of each possible agent of an environment, by agent."""
    return {agent: read_slot(environment, agent) for agent in environment.adapter.possible_agents}


def recorded_slots(environment: Environment) -> dict[AgentID, SlotInfo]:
    """Return the slots for a recording: one per agent, or one for all agents if agents may appear in play."""
    slots = read_slots(environment)
    if not environment.adapter.is_open_ended:
        return slots
    first = next(iter(slots.values()))
    return {ANY: dataclasses.replace(first, agent_id=ANY)}


def read_slot(environment: Environment, agent: AgentID) -> SlotInfo:
    """Return the slot information of one agent: spaces, action names, no-op and available prompt inputs."""
    adapter = environment.adapter
    return SlotInfo(
        agent,
        adapter.observation_space(agent),
        adapter.action_space(agent),
        environment.noop_action(agent),
        environment.action_meanings(agent),
        _offers(environment, agent),
        environment.pictures(agent),
        environment.family.pattern_id(environment.spec),
        environment.option_names(agent),
        environment.default_action(agent),
    )


def _offers(environment: Environment, agent: AgentID) -> tuple[str, ...]:
    """Return the names of the inputs and features that are available for prompts of an agent."""
    offers = ["legal_actions", "messages"]
    if environment.describer(agent).can_say(agent):
        offers.append("text")
    if environment.describer(agent).can_state(agent):
        offers.append("facts")
    if environment.describer(agent).measures(agent):
        offers.append("measurements")
    if environment.option_names(agent):
        offers.append("manager")
    if _is_one_control(environment.adapter.action_space(agent)):
        offers.append("one_control")
    if environment.simulator is not None:
        offers.append("state")
    if environment.pictures(agent):
        offers.append("image")
    if not environment.rewards_betray:
        offers.append("rewards")
    return (*offers, *environment.retellings(agent))


def _is_one_control(action_space: Any) -> bool:
    """Return whether an action of the space is a single number or one choice from a list."""
    space = to_space(action_space)
    return space.kind == "Discrete" or (space.kind == "Box" and math.prod(space.shape) == 1)


def seatings(
    teams: Mapping[str, Sequence[AgentID]], slots: Mapping[AgentID, SlotInfo], *, swap: bool
) -> list[Seating]:
    """Return one seating as configured or, with ``swap``, one seating for each rotation of the teams.

    If all agents are in one team, the agents rotate instead of the teams.

    Raises:
        ExperimentError: Teams or agents cannot swap seats: agents may appear later, there is only one
            agent, or the teams' sizes or the agents' spaces differ.
    """
    as_configured = {agent: agent for agent in slots if not is_pattern(agent)}
    if not swap:
        return [as_configured]
    if len(as_configured) < len(slots):
        raise ExperimentError("seats cannot be swapped where agents appear", fix="Use seats: fixed")
    if len(teams) == 1:
        teams = {agent: (agent,) for agent in next(iter(teams.values()))}
    names = list(teams)
    if len(names) < 2:
        raise ExperimentError("seats cannot be swapped: there is one agent", fix="Use seats: fixed")
    if len({len(teams[name]) for name in names}) > 1:
        raise ExperimentError("seats cannot be swapped: the teams differ in size", fix="Use seats: fixed")
    result: list[Seating] = []
    for turn in range(len(names)):
        seating = dict(as_configured)
        for i, name in enumerate(names):
            squad = teams[names[(i + turn) % len(names)]]
            for seat, slot in zip(teams[name], squad, strict=True):
                _check_same(slots[seat], slots[slot])
                seating[seat] = slot
        result.append(seating)
    return result


def is_alike(a: SlotInfo, b: SlotInfo) -> bool:
    """Return whether two agents have the same spaces, so that one player can play either of them."""
    return to_space(a.observation_space) == to_space(b.observation_space) and to_space(
        a.action_space
    ) == to_space(b.action_space)


def _check_same(a: SlotInfo, b: SlotInfo) -> None:
    if not is_alike(a, b):
        raise ExperimentError(
            f"seats cannot be swapped: {a.agent_id} and {b.agent_id} have different spaces",
            fix="Use seats: fixed",
        )


def noop_of(slot: SlotInfo, mask: Any) -> Any:
    """Return the slot's no-op, or the lowest legal action if the no-op is illegal.

    If the environment names no no-op, the action of zeros is used instead.

    Raises:
        SpaceError: The action space is the environment's own and has no no-op.
    """
    space = slot.action_codec.space
    if slot.noop_action is None and space.kind == "Custom":
        raise SpaceError(f"{slot.agent_id} has no action that does nothing")
    action = slot.noop_action if slot.noop_action is not None else zero_action(space)
    if mask is not None and problem_with(space, action, mask):
        legal = [i for i, ok in enumerate(mask) if ok]
        return legal[0] + space.start if legal and space.kind == "Discrete" else action
    return action


def nothing_to_do(slot: SlotInfo, assignment: WorkerAssignment, env_id: str) -> str:
    """Return a warning if a slot may need a no-op that its environment does not have; else ``""``.

    The warning names the slot and the action that is played instead.
    """
    passive = assignment.settings.get("behavior") == aliases.BEHAVIORS["passive"]
    if slot.noop_action is not None or not (passive or assignment.on_invalid.then == "noop"):
        return ""
    try:
        action = noop_of(slot, None)
    except SpaceError as error:
        return str(error)
    place = action - slot.action_codec.space.start if isinstance(action, int) else -1
    words = slot.action_meanings
    shown = f"{action} ({words[place]})" if 0 <= place < len(words) else str(action)
    who = "which is to do nothing," if passive else "where its answer cannot be played (on_invalid: noop),"
    return f"{env_id} has no action that does nothing: {slot.agent_id}, {who} plays {shown}"
