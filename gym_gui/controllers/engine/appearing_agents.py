"""Slots that are named by patterns: who plays each agent, or each kind of agents that appear."""

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
"""Of random play in each episode, in which an agent of each pattern is looked for."""


def spelled_out(players: Mapping[AgentID, _T], agents: Iterable[AgentID]) -> dict[AgentID, _T]:
    """The player of each agent, where all are named beforehand; patterns are for those without a slot."""
    named = {slot: player for slot, player in players.items() if not is_pattern(slot)}
    patterns = [slot for slot in players if is_pattern(slot)]
    found = dict(named)
    for agent in agents:
        slot = None if agent in named else slot_for(agent, patterns)
        if slot is not None:
            found[agent] = players[slot]
    return found


def kinds_of_agents(environment: Environment) -> dict[AgentID, SlotInfo]:
    """A slot for each kind of agents that an environment does not name beforehand.

    Kinds are told apart by names: ``type0_*`` is one. Those that appear later are looked for in a few
    episodes of random play; the first of each kind says what all of them see and do.
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
    """The slots of an operator whose environment does not name its agents beforehand.

    Args:
        environment: It is played a little at random, where no agent of a pattern is there at first.
        named: The operator's slots: names and patterns.

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
    """What agents of each slot see and do, as the first of them that is found.

    Args:
        environment: It is played a little at random, where no agent of a pattern is there at first.
        slots: Those of the agents that are there at first.
        wanted: Names and patterns; one of which no agent appears is not in the result.
    """
    found: dict[AgentID, SlotInfo] = {}
    for slot in wanted:
        here = next((info for agent, info in slots.items() if slot_for(agent, wanted) == slot), None)
        info = here or _appeared(environment, slot, wanted)
        if info is not None:
            found[slot] = dataclasses.replace(info, agent_id=slot)
    return found


def _appeared(environment: Environment, slot: AgentID, wanted: Iterable[AgentID]) -> SlotInfo | None:
    adapter, named = environment.adapter, list(wanted)
    for seed in _SEEDS:
        for _ in Walk(adapter, seed).steps(_STEPS):
            for agent in adapter.get_current_agents():
                if slot_for(agent, named) == slot:
                    return read_slot(environment, agent)
    return None
