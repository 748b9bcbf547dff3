"""Makes example turns for a policy's prompt from the slot's own environment.

Episodes of random legal moves are played in a separate environment. Their seeds are far from those of runs.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final

import numpy as np

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.experiment.slot_patterns import is_pattern, slot_for
from gym_gui.core.plain_data import to_plain
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment

SETTING: Final = "example_turns"
"""Name of the setting that passes example turns to a worker, by seat."""
_SEED: Final = 730_190_277
_EPISODES, _STEPS, _SEEN = 8, 60, 5
"""Largest number of episodes, of steps per episode, and of candidate turns per example."""
_STEPS_OF_ALL: Final = 4_800
"""Largest number of steps for all slots of an operator together. Each slot has an equal share."""

Turn = Mapping[str, Any]


def with_examples(resolved: ResolvedOperator, agent: AgentID, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a slot's settings, with example turns added if a chosen option of a setting needs them."""
    schema = resolved.workers[agent].settings_schema
    chosen = [setting.option(settings.get(setting.name, setting.default)) for setting in schema]
    count = max((option.turns for option in chosen if option is not None), default=0)
    return {**settings, SETTING: turns_by_seat(resolved, agent, count)} if count else dict(settings)


def most_turns(resolved: ResolvedOperator, agent: AgentID) -> int:
    """Return the largest number of example turns that any option of the slot's worker needs."""
    schema = resolved.workers[agent].settings_schema
    return max((option.turns for setting in schema for option in setting.options), default=0)


def turns_by_seat(resolved: ResolvedOperator, agent: AgentID, count: int) -> dict[AgentID, list[Turn]]:
    """Return example turns of each seat that a slot's policy plays, by seat, the slot's own seat first.

    Args:
        resolved: The operator.
        agent: The slot, whose worker reads prompts.
        count: Number of turns per seat.
    """
    seats = (agent, *resolved.team_contexts_elsewhere(agent))
    steps = max(1, _STEPS_OF_ALL // len(resolved.views))
    with contextlib.closing(resolved.make_environment()) as environment:
        return example_turns(environment, seats, resolved.views[agent], count, steps, resolved.slots)


def example_turns(
    environment: Environment,
    seats: Sequence[AgentID],
    view: PromptInputs,
    count: int,
    steps: int = _STEPS_OF_ALL,
    slots: Iterable[AgentID] = (),
) -> dict[AgentID, list[Turn]]:
    """Return example turns by seat: observation, legal actions and a random action.

    If possible, the actions of a seat's turns differ from each other.

    Args:
        environment: The environment to play in.
        seats: Seats whose turns are returned.
        view: Prompt inputs, which determine the text of observations.
        count: Number of turns per seat.
        steps: Largest number of environment steps in all episodes together.
        slots: All slots, if agents may appear. A seat that is a pattern gets the turns of the agents that
            match it.
    """
    shown = replace(view, text=True, image=False, messages=False, facts=False, state=False)
    found: dict[AgentID, list[Turn]] = {seat: [] for seat in seats}
    wanted = set(seats)
    for seat, turn in _played(environment, wanted, shown, steps, list(filter(is_pattern, slots))):
        found[seat].append(turn)
        if len(found[seat]) >= _SEEN * count:
            wanted.discard(seat)
        if not wanted:
            break
    return {seat: _spread(turns, count) for seat, turns in found.items()}


def _played(
    environment: Environment,
    wanted: Set[AgentID],
    view: PromptInputs,
    steps: int,
    patterns: Sequence[AgentID],
) -> Iterator[tuple[AgentID, Turn]]:
    """Yield turns of the seats that are still in ``wanted`` while random episodes are played."""
    adapter, rng = environment.adapter, np.random.default_rng(_SEED)
    for seed in range(_SEED, _SEED + _EPISODES):
        seen = adapter.reset(seed=seed)
        numbers = Counter[AgentID]()
        for _ in range(_STEPS):
            moves: dict[AgentID, Any] = {}
            for agent in adapter.get_current_agents():
                mask, draw = adapter.action_mask(agent), int(rng.integers(1 << 62))
                moves[agent] = environment.describer(agent).any_action(agent, mask, draw)
                seat = agent if agent in wanted else slot_for(agent, patterns)
                if seat is not None and seat in wanted:
                    told = replace(view, text=environment.describer(agent).can_say(agent))
                    what = environment.show(agent, seen[agent], told, mask)
                    yield (
                        seat,
                        {
                            "step": numbers[agent],
                            "text": what.text,
                            "choices": [[choice.action, choice.word] for choice in what.choices],
                            "mask": None if mask is None else to_plain(mask),
                            "action": to_plain(moves[agent]),
                        },
                    )
                    numbers[agent] += 1
            if not moves:
                break
            if steps <= 0:
                return
            seen = adapter.step(moves).observations
            steps -= 1


def _spread(turns: Sequence[Turn], count: int) -> list[Turn]:
    """Return at most ``count`` turns in the order of play, preferably with different actions."""
    chosen: list[int] = []
    for fresh in (True, False):
        for at, turn in enumerate(turns):
            known = any(turns[other]["action"] == turn["action"] for other in chosen)
            if len(chosen) < count and at not in chosen and not (fresh and known):
                chosen.append(at)
    return [turns[at] for at in sorted(chosen)]
