"""Finds the slot that plays each agent, for slots that are named by patterns such as ``type0_*``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from gym_gui.controllers.engine.bound_operator import read_slot, read_slots
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.slot_patterns import ANY, is_pattern, pattern_of, slot_for
from gym_gui.core.paradigms.random_episode import Walk
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo

_T = TypeVar("_T")
_SEEDS: Final = (0, 1, 2)
_STEPS: Final = 200
"""Largest number of random steps per episode in the search for agents that appear during play."""


def spelled_out(players: Mapping[AgentID, _T], agents: Iterable[AgentID]) -> dict[AgentID, _T]:
    """Return the player of each agent, with slot patterns replaced by the agents that match them.

    An agent that has a slot of its own gets the player of that slot.
    """
    named = {slot: player for slot, player in players.items() if not is_pattern(slot)}
    patterns = [slot for slot in players if is_pattern(slot)]
    found = dict(named)
    for agent in agents:
        slot = None if agent in named else slot_for(agent, patterns)
        if slot is not None:
            found[agent] = players[slot]
    return found


def kinds_of_agents(environment: Environment) -> dict[AgentID, SlotInfo]:
    """Return one slot per kind of agent, for an environment that does not list all agents before play.

    Agents whose names match one pattern, such as ``type0_*``, are of one kind. Three episodes with random
    actions reveal agents that appear during play. The first agent of a kind defines the kind's spaces.
    """
    adapter = environment.adapter
    found: dict[AgentID, SlotInfo] = {}
    for seed in _SEEDS:
        for _ in Walk(adapter, seed).steps(_STEPS):
            for agent in adapter.get_current_agents():
                slot = pattern_of(agent)
                if slot not in found:
                    found[slot] = dataclasses.replace(read_slot(environment, agent), agent_id=slot)
    return found


def slots_of_patterns(environment: Environment, named: Iterable[AgentID]) -> dict[AgentID, SlotInfo]:
    """Return the slots of an operator whose environment does not list all agents before play.

    Args:
        environment: Plays a few episodes of random actions if a pattern matches none of its first agents.
        named: The operator's slots: agent names and patterns of agent names.

    Raises:
        ExperimentError: An agent has no slot, or no agent of a slot has appeared.
    """
    wanted, slots = list(named), read_slots(environment)
    unplayed = [agent for agent in slots if slot_for(agent, wanted) is None]
    if unplayed:
        raise ExperimentError(
            f"no slot plays {', '.join(unplayed)}, and agents of {environment.spec.id} cannot be "
            "named beforehand",
            fix=f"Name slots for kinds of them: {pattern_of(unplayed[0])!r}, or {ANY!r} for all",
        )
    found = found_by_patterns(environment, slots, wanted)
    missing = next((slot for slot in wanted if slot not in found), None)
    if missing is not None:
        raise ExperimentError(
            f"no agent of slot {missing!r} has appeared in {len(_SEEDS)} episodes of random play",
            fix="See with `mosaic envs check` which agents appear",
        )
    return found


def found_by_patterns(
    environment: Environment, slots: Mapping[AgentID, SlotInfo], wanted: Sequence[AgentID]
) -> dict[AgentID, SlotInfo]:
    """Return spaces and action names of each slot, read from the first agent that matches the slot.

    Args:
        environment: Plays a few episodes of random actions if a pattern matches none of ``slots``.
        slots: Slots of the agents that are present at first.
        wanted: Agent names and patterns. The result omits patterns for which no agent appears.
    """
    found: dict[AgentID, SlotInfo] = {}
    for slot in wanted:
        here = next((info for agent, info in slots.items() if slot_for(agent, wanted) == slot), None)
        info = here or _appeared(environment, slot, wanted)
        if info is not None:
            found[slot] = dataclasses.replace(info, agent_id=slot)
    return found


def _appeared(environment: Environment, slot: AgentID, wanted: Iterable[AgentID]) -> SlotInfo | None:
    """Return spaces and action names of the first agent in random play that matches ``slot``, or ``None``."""
    adapter, named = environment.adapter, list(wanted)
    for seed in _SEEDS:
        for _ in Walk(adapter, seed).steps(_STEPS):
            for agent in adapter.get_current_agents():
                if slot_for(agent, named) == slot:
                    return read_slot(environment, agent)
    return None
