"""MiniGrid, BabyAI and MultiGrid in words, against the state of the environments themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui import envs
from gym_gui.envs import Environment
from gym_gui.envs.describers.grid_words import COMPASS, CellWords, GridView, place
from gym_gui.envs.describers.multigrid_slots import slot_names
from gym_gui.envs.facts import fact

MINIGRIDS = [
    *("MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N2-v0", "MiniGrid-ObstructedMaze-Full-v1"),
    *(
        "MiniGrid-Unlock-v0",
        "MiniGrid-MemoryS7-v0",
        "MiniGrid-Fetch-8x8-N3-v0",
        "MiniGrid-KeyCorridorS4R3-v0",
    ),
    *("MiniGrid-RedBlueDoors-8x8-v0", "MiniGrid-MultiRoom-N4-S5-v0", "MiniGrid-Playground-v0"),
    *("BabyAI-GoToRedBall-v0", "BabyAI-BossLevel-v0", "BabyAI-UnlockPickup-v0"),
]
SPORTS = ["S-2v2", "S-4v4", "BB-3v1", "AF-2v3", "C-2v2"]
PLACE = re.compile(r"(\d+) (ahead|behind|left|right)")


def walk(environment: Environment, seeds: int, steps: int) -> Iterator[dict[str, Any]]:
    """Observations of random walks."""
    adapter, rng = environment.adapter, np.random.default_rng(0)
    for seed in range(seeds):
        seen = adapter.reset(seed=seed)
        for _ in range(steps):
            yield seen
            agents = adapter.get_current_agents()
            if not agents:
                break
            moves = {agent: int(rng.integers(adapter.action_space(agent).n)) for agent in agents}
            seen = adapter.step(moves).observations


def told(text: str) -> Counter[tuple[str, int, int]]:
    """Name, cells ahead and cells to the right of each thing that a text lists."""
    found: Counter[tuple[str, int, int]] = Counter()
    for line in text.splitlines():
        if line.startswith("- "):
            name, places = line[2:].rsplit(": ", 1)
            for where in places.split("; "):
                sides = {side: int(n) for n, side in PLACE.findall(where)}
                ahead = sides.get("ahead", 0) - sides.get("behind", 0)
                found[name, ahead, sides.get("right", 0) - sides.get("left", 0)] += 1
    return found


def name_of(thing: Any) -> str:
    """An object of MiniGrid as people call it."""
    if thing.type == "lava":
        return "lava"
    if thing.type == "door":
        state = "locked" if thing.is_locked else "open" if thing.is_open else "closed"
        return f"{state} {thing.color} door"
    return f"{thing.color} {thing.type}"


def in_sight(env: Any) -> Counter[tuple[str, int, int]]:
    """What MiniGrid's agent really sees, from the grid itself."""
    size = env.agent_view_size
    _, visible = env.gen_obs_grid()
    found: Counter[tuple[str, int, int]] = Counter()
    for x in range(env.width):
        for y in range(env.height):
            thing = env.grid.get(x, y)
            if thing is None or thing.type == "wall" or (x, y) == tuple(env.agent_pos):
                continue
            column, row = env.get_view_coords(x, y)
            if 0 <= column < size and 0 <= row < size and visible[column, row]:
                found[name_of(thing), size - 1 - row, column - size // 2] += 1
    return found


@pytest.mark.parametrize("task", MINIGRIDS)
def test_what_lies_in_sight_is_told_where_it_lies(task: str) -> None:
    environment = envs.make(task)
    env, describer = environment.env, environment.describer("agent_0")
    states = things = 0
    try:
        for seen in walk(environment, 6, 40):
            if not environment.adapter.get_current_agents():
                continue
            text = describer.text("agent_0", seen["agent_0"])
            assert told(text) == in_sight(env), text
            assert f"You look {COMPASS[env.agent_dir]}." in text
            carried = "nothing" if env.carrying is None else f"a {name_of(env.carrying)}"
            assert f"You carry {carried}." in text
            assert text.startswith(f"Mission: {env.mission}\n" if env.mission else "You look")
            states, things = states + 1, things + len(in_sight(env))
    finally:
        environment.close()
    assert states >= 50 and things > 20


@pytest.mark.parametrize("task", MINIGRIDS[:2])
def test_the_whole_grid_is_told_from_where_the_agent_stands(task: str) -> None:
    from minigrid.wrappers import FullyObsWrapper

    environment = envs.make(task)
    env, describer = environment.env, environment.describer("agent_0")
    whole = FullyObsWrapper(env)
    try:
        for seen in walk(environment, 3, 30):
            if not environment.adapter.get_current_agents():
                continue
            text = describer.text("agent_0", whole.observation(seen["agent_0"]))
            expected: Counter[tuple[str, int, int]] = Counter()
            ahead, right = env.dir_vec, env.right_vec
            for x in range(env.width):
                for y in range(env.height):
                    thing, away = env.grid.get(x, y), np.array([x, y]) - env.agent_pos
                    if thing is not None and thing.type != "wall" and away.any():
                        expected[name_of(thing), int(away @ ahead), int(away @ right)] += 1
            assert told(text) == expected, text
            assert "carry" not in text
    finally:
        environment.close()


def test_ways_end_where_one_cannot_go_on() -> None:
    cells = np.ones((5, 5, 3), np.int64)
    cells[2, 4] = (1, 0, 0)
    cells[2, 1] = (4, 0, 1)  # a closed red door, three ahead
    cells[0, 4] = (9, 0, 0)  # lava, two to the left
    cells[3, 4] = (4, 2, 0)  # an open blue door beside it, to the right
    cells[4, 4] = (0, 0, 0)
    view = GridView(cells)
    assert view.way(1, 0) == "2 free cells, then closed red door"
    assert view.way(0, -1) == "1 free cell, then lava"
    assert view.way(0, 1) == "1 free cell, then out of sight"


@st.composite
def views(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], tuple[int, int] | None]:
    """Cells of any kind, color and state, unknown ones included; where the agent stands."""
    wide, high = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    cell = st.tuples(st.integers(0, 12), st.integers(0, 7), st.sampled_from([0, 1, 2, 3, 5, 101]))
    cells = draw(st.lists(cell, min_size=wide * high, max_size=wide * high))
    stands = st.tuples(st.integers(0, wide - 1), st.integers(0, high - 1))
    return np.array(cells, np.uint8).reshape(wide, high, 3), draw(st.none() | stands)


@given(views())
def test_each_cell_of_any_view_is_told_and_stated_where_it_is(
    view: tuple[np.ndarray[Any, Any], tuple[int, int] | None],
) -> None:
    image, stands = view
    wide, high = image.shape[:2]
    column, row = stands or (wide // 2, high - 1)
    words, read = CellWords(), GridView(image, stands=stands)
    placed = {(row - y, x - column): tuple(image[x, y].tolist()) for x in range(wide) for y in range(high)}
    free = {at for at, cell in placed.items() if cell[0] in (1, 3, 8) or (cell[0] == 4 and not cell[2])}
    things = {at: words[cell] for at, cell in placed.items() if cell[0] > 2 and at != (0, 0)}
    in_order = sorted(things, key=lambda at: (abs(at[0]) + abs(at[1]), -at[0], at[1]))
    assert [(each.ahead, each.right) for each in read.things] == in_order
    assert all((each.name, each.said) == things[each.ahead, each.right] for each in read.things)
    stated = [
        *(fact(*things[at].said, *at) for at in in_order),
        *(fact("wall", *at) for at, cell in placed.items() if cell[0] == 2),
        *(fact("free", *at) for at in free - {(0, 0)}),
    ]
    around = ("facing", "carrying")
    assert Counter(stated) == Counter(each for each in read.facts() if each.predicate not in around)
    for ahead, right in ((1, 0), (0, 1), (0, -1)):
        steps = next(n for n in range(1, 7) if (n * ahead, n * right) not in free)
        end = placed.get((steps * ahead, steps * right), (0, 0, 0))
        ends = {0: "out of sight", 2: "wall"}.get(end[0]) or words[end].name.partition(" looking ")[0]
        way = f"{steps - 1} free cell{'s' * (steps != 2)}, then {ends}"
        assert read.way(ahead, right) == (way if steps > 1 or end[0] == 0 else ends)


def test_every_minigrid_has_a_briefing_and_words() -> None:
    for spec in envs.list_specs("minigrid")[::9]:
        if "WFC" in spec.id or "wfc" in str(spec.entry_point):
            continue  # needs packages of its own
        environment = envs.make(spec.id)
        try:
            seen = environment.adapter.reset(seed=1)["agent_0"]
            describer = environment.describer("agent_0")
            briefing = describer.briefing("agent_0")
            fewer = environment.adapter.action_space("agent_0").n < 7  # of turns and steps alone
            assert fewer != ("- pickup: take what lies" in briefing), spec.id
            assert "Ahead:" in describer.text("agent_0", seen), spec.id
            assert environment.pictures("agent_0") == ("egocentric",)
            assert describer.seat_picture("agent_0", seen) is not None
        finally:
            environment.close()


def seen_by(env: Any, agent: Any) -> set[tuple[int, int]]:
    """Cells (ahead, right) that an agent of MultiGrid can see, by the package's own mask."""
    from mosaic_multigrid.utils.obs import gen_obs_grid_vis_mask

    mask = gen_obs_grid_vis_mask(env.grid.state, env.agent_states, agent.view_size)[agent.index]
    size = agent.view_size
    return {(size - 1 - y, x - size // 2) for x in range(size) for y in range(size) if mask[x, y]}


def crowded(env: Any, rng: np.random.Generator) -> dict[int, Any]:
    """All agents anew on a few cells, looking anywhere, some with a ball; what they see."""
    from mosaic_multigrid.core.world_object import Ball

    corner = np.array([rng.integers(1, env.width - 4), rng.integers(1, env.height - 4)])
    cells = rng.permutation(12)
    for agent, cell in zip(env.agents, cells, strict=False):
        agent.state.pos = tuple(int(n) for n in corner + divmod(int(cell), 3))
        agent.state.dir = int(rng.integers(4))
        agent.state.carrying = Ball(color="red", index=0) if rng.random() < 0.3 else None
    return env.gen_obs()


@pytest.mark.parametrize("sport", SPORTS)
def test_team_mates_are_named_where_they_are_in_sight_and_nowhere_else(sport: str) -> None:
    environment = envs.make(f"MosaicMultiGrid-{sport}-IndAgObs-v1")
    env, rng, found = environment.env, np.random.default_rng(1), 0
    names = slot_names(env)
    try:
        environment.adapter.reset(seed=1)
        for _ in range(120):
            seen = crowded(env, rng)
            for agent in env.agents:
                name, view = names[agent.index], seen[agent.index]
                describer = environment.describer(name)
                together = describer.text(name, view, "visible_teammates")
                expected = {
                    f"- {names[mate.index]}, your team-mate, looking {COMPASS[mate.state.dir]}"
                    f"{' with a red ball' if mate.state.carrying else ''}: {place(*away)}"
                    for mate in env.agents
                    if mate is not agent
                    and mate.team_index == agent.team_index
                    and (away := away_from(agent, mate)) in seen_by(env, agent)
                }
                assert {line for line in together.splitlines() if "your team-mate" in line} == expected, (
                    together
                )
                assert "team-mate" not in describer.text(name, view)
                found += len(expected)
    finally:
        environment.close()
    assert found > 100


def away_from(agent: Any, other: Any) -> tuple[int, int]:
    """Cells ahead and to the right."""
    ahead = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)][agent.state.dir])
    away = np.array(other.state.pos) - np.array(agent.state.pos)
    return int(away @ ahead), int(away @ np.array([-ahead[1], ahead[0]]))


def test_a_player_is_told_where_to_score_and_with_whom() -> None:
    environment = envs.make("MosaicMultiGrid-S-2v2-IndAgObs-v1")
    try:
        briefing = environment.describer("blue_1").briefing("blue_1", "visible_teammates")
        assert "You are blue_1, of team blue. With you plays blue_0 against green_0, green_1." in briefing
        goals = dict(zip(environment.env.goal_index, environment.env.goal_pos, strict=False))
        west = goals[1][0] < environment.env.width / 2  # the goal of team 1, which is green
        assert f"the green goal at the {'west' if west else 'east'} end" in briefing
        assert "Team-mates in view are named." in briefing
    finally:
        environment.close()
