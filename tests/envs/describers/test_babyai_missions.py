"""What is said of BabyAI's missions is so by the game's own verifier, and said where such missions are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gym_gui import envs
from gym_gui.envs import Environment
from gym_gui.envs.describers.minigrid import PHRASES

AGENT = "agent_0"
_SEEDS = 60
GO, OPEN, PUT, AFTER, PLACE = (phrase.meaning for phrase in PHRASES)
_KINDS = {"GoToInstr": GO, "OpenInstr": OPEN, "PutNextInstr": PUT, "AfterInstr": AFTER}


def kinds(order: Any) -> Iterator[str]:
    """The sentences that a mission needs, by the parts it is made of."""
    if (told := _KINDS.get(type(order).__name__)) is not None:
        yield told
    for name in ("instr_a", "instr_b"):
        if hasattr(order, name):
            yield from kinds(getattr(order, name))
    things = [getattr(order, name) for name in ("desc", "desc_move", "desc_fixed") if hasattr(order, name)]
    if any(thing.loc for thing in things):
        yield PLACE


def tasks() -> list[str]:
    """Every task of BabyAI that is listed."""
    return sorted(spec.id for spec in envs.list_specs() if spec.id.startswith("BabyAI-"))


@pytest.mark.full
def test_every_task_comes_with_the_meaning_of_its_missions_and_no_other() -> None:
    wrong: dict[str, Any] = {}
    listed = tasks()
    for task in listed:
        environment = envs.make(task)
        try:
            briefing = environment.describer(AGENT).game(AGENT)
            told = {phrase.meaning for phrase in PHRASES if phrase.meaning in briefing}
            needed: set[str] = set()
            for seed in range(_SEEDS):
                environment.adapter.reset(seed=seed)
                needed |= set(kinds(environment.env.instrs))
                if needed == told and seed >= 4:
                    break
            if needed != told:
                wrong[task] = (told - needed, needed - told)
        finally:
            environment.close()
    assert len(listed) > 60
    assert not wrong


def do(environment: Environment, *words: str) -> float:
    """The reward of the last of several actions."""
    reward = 0.0
    for word in words:
        action = environment.action_meanings(AGENT).index(word)
        reward = environment.adapter.step({AGENT: action}).rewards[AGENT]
    return reward


def stand_before(environment: Environment, x: int, y: int) -> bool:
    """Put the agent on a free cell one step and one turn from facing (x, y), where there is one."""
    game = environment.env
    for facing, (right, down) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
        at = x - right, y - down
        if not (0 <= at[0] < game.width and 0 <= at[1] < game.height) or game.grid.get(*at) is not None:
            continue
        game.agent_pos, game.agent_dir = at, (facing + 1) % 4
        return True
    return False


def test_going_to_a_thing_is_to_look_at_it_from_the_next_cell() -> None:
    environment = envs.make("BabyAI-GoToLocal-v0")
    done = 0
    try:
        for seed in range(20):
            environment.adapter.reset(seed=seed)
            x, y = environment.env.instrs.desc.obj_poss[0]
            environment.env.agent_pos = (1, 1)  # a corner of the room
            if not stand_before(environment, x, y):
                continue
            assert do(environment, "done") == 0, "beside it, looking elsewhere"
            assert do(environment, "left") > 0
            done += 1
    finally:
        environment.close()
    assert done > 10


def test_opening_a_door_is_to_toggle_it_open() -> None:
    environment = envs.make("BabyAI-OpenRedDoor-v0")
    try:
        environment.adapter.reset(seed=1)
        (door,) = environment.env.instrs.desc.obj_set
        x, y = door.cur_pos
        assert stand_before(environment, int(x), int(y))
        door.is_open = True
        assert do(environment, "left", "toggle") == 0 and not door.is_open
        assert do(environment, "toggle") > 0
    finally:
        environment.close()


def test_next_to_is_a_side_and_not_a_corner() -> None:
    environment = envs.make("BabyAI-PutNextLocal-v0")
    rewarded = {True: 0, False: 0}
    try:
        for seed in range(40):
            environment.adapter.reset(seed=seed)
            game = environment.env
            thing = game.instrs.desc_move.obj_set[0]
            fixed = {(int(x), int(y)) for x, y in game.instrs.desc_fixed.obj_poss}
            game.grid.set(*thing.cur_pos, None)
            game.carrying = thing
            for x, y in ((x, y) for x in range(1, 7) for y in range(1, 7)):
                beside = any(abs(x - a) + abs(y - b) == 1 for a, b in fixed)
                corner = any(abs(x - a) == 1 == abs(y - b) for a, b in fixed)
                wanted = beside if seed % 2 else corner and not beside
                if wanted and game.grid.get(x, y) is None and stand_before(environment, x, y):
                    do(environment, "left")
                    assert (do(environment, "drop") > 0) is beside
                    rewarded[beside] += 1
                    break
    finally:
        environment.close()
    assert min(rewarded.values()) > 5
