"""Pursuit, multiwalker, and knights, archers, zombies in words, against the fields themselves."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment, resolve
from gym_gui.envs.describers.pursuit import WALKER_SEES
from gym_gui.envs.describers.zombies import HEIGHT, WIDTH
from gym_gui.envs.environment_registry import family_of

PART = re.compile(r"(\d+) (left|right|up|down)")


def steps(task: str, seeds: int, length: int, **options: Any) -> Iterator[tuple[Environment, dict[str, Any]]]:
    environment, rng = envs.make(task, env_kwargs=options), np.random.default_rng(0)
    adapter = environment.adapter
    try:
        for seed in range(seeds):
            seen = adapter.reset(seed=seed)
            for _ in range(length):
                agents = adapter.get_current_agents()
                if not agents:
                    break
                yield environment, {agent: seen[agent] for agent in agents}
                moves = {agent: int(rng.integers(adapter.action_space(agent).n)) for agent in agents}
                seen = adapter.step(moves).observations
    finally:
        environment.close()


def place(text: str) -> tuple[int, int]:
    """Cells to the right and down."""
    found = {side: int(n) for n, side in PART.findall(text)}
    return found.get("right", 0) - found.get("left", 0), found.get("down", 0) - found.get("up", 0)


def places(line: str) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for each in line.partition(": ")[2].split("; "):
        if each != "none":
            many = re.search(r"\((\d+) of them\)", each)
            found[place(each)] += int(many[1]) if many else 1
    return found


def inside(layer: Any, own: Any, reach: int) -> Counter[tuple[int, int]]:
    away = [np.asarray(layer.get_position(i)) - own for i in range(layer.n_agents())]
    return Counter((int(x), int(y)) for x, y in away if max(abs(x), abs(y)) <= reach)


def test_pursuers_are_told_who_is_where() -> None:
    states = found = 0
    for environment, seen in steps("pursuit_v5", 3, 22, n_evaders=40):
        env = environment.env.env
        for i, (agent, view) in enumerate(seen.items()):
            own, describer = np.array(env.pursuer_layer.get_position(i)), environment.describer(agent)
            evaders, pursuers, ways, _, *rows = describer.text(agent, view).splitlines()
            for (y, x), cell in np.ndenumerate(np.array(list(map(list, rows)))):
                away = np.array((x - 3, y - 3))
                wall = "." if is_free(env, own + away) else "#"
                assert cell == (wall if away.any() else "@")
            others = inside(env.pursuer_layer, own, 3)
            others[0, 0] -= 1
            assert places(evaders) == inside(env.evader_layer, own, 3)
            assert places(pursuers) == +others
            for word, step in (("left", (-1, 0)), ("right", (1, 0)), ("up", (0, -1)), ("down", (0, 1))):
                free = 0
                while free < 3 and is_free(env, own + np.array(step) * (free + 1)):
                    free += 1
                assert re.search(rf"{word} (\d)", ways).group(1) == str(free)  # pyright: ignore[reportOptionalMemberAccess]
            named = describer.text(agent, view, "visible_teammates")
            mates = dict(line[2:].split(": ") for line in named.splitlines() if line.startswith("- "))
            assert Counter(map(place, mates.values())) == +others
            for mate, where in mates.items():
                at = env.pursuer_layer.get_position(list(seen).index(mate))
                assert place(where) == tuple(int(n) for n in np.array(at) - own)
            states, found = states + 1, found + sum(others.values())
    assert states >= 500 and found > 300


def is_free(env: Any, cell: Any) -> bool:
    x, y = (int(n) for n in cell)
    return 0 <= x < env.x_size and 0 <= y < env.y_size and env.map_matrix[x, y] != -1


@pytest.mark.parametrize("method", ["vector", "vector-masked", "vector-sequence"])
def test_zombies_are_told_where_they_are(method: str) -> None:
    zombies = states = 0
    for environment, seen in steps(
        "knights_archers_zombies_v11", 1, 120, obs_method=method, spawn_delay=8, killable_knights=False
    ):
        env = environment.env
        for agent, view in seen.items():
            own = env.agent_map[agent]
            lines = environment.describer(agent).text(agent, view).splitlines()
            told = [tuple(map(int, re.findall(r"\d+", line))) for line in lines if line.startswith("- ")]
            expected: list[tuple[int, int, int]] = []
            for zombie in env.zombie_list:
                right, down = zombie.rect.x - own.rect.x, zombie.rect.y - own.rect.y
                turn = math.degrees(own.direction.angle_to((right, down)) * math.pi / 180)
                turn = (turn + 180) % 360 - 180
                expected.append((round(math.hypot(right, down)), round(abs(turn)), HEIGHT - zombie.rect.y))
            near = [each if len(each) == 3 else (each[0], 0, each[1]) for each in told]
            assert len(near) == len(expected)
            for (a, b, c), (d, e, f) in zip(sorted(near), sorted(expected), strict=True):
                assert abs(a - d) <= 1 and abs(b - e) <= 1 and abs(c - f) <= 1, (near, expected)
            assert lines[0].startswith(f"You are {own.rect.x} from the left and {HEIGHT - own.rect.y} above")
            if method == "vector":
                alive = {name for name in env.possible_agents if name not in env.dead_agents} - {agent}
                assert {line.partition(":")[0] for line in lines if "_" in line.partition(":")[0]} == alive
            zombies, states = zombies + len(expected), states + 1
    assert states > 100 and zombies > 200
    assert env_size() == (WIDTH, HEIGHT)


def env_size() -> tuple[int, int]:
    from pettingzoo.butterfly.knights_archers_zombies.src import constants

    return constants.SCREEN_WIDTH, constants.SCREEN_HEIGHT


def test_a_walkers_components_are_those_of_its_documentation() -> None:
    spec = resolve("multiwalker_v9")
    rows = re.findall(r"^\|\s+(\d+)(?:-(\d+))?\s+\|", family_of(spec).documentation(spec), re.M)
    assert max(int(last or first) for first, last in rows) + 1 == len(WALKER_SEES) == len(set(WALKER_SEES))


@pytest.mark.parametrize("task", ["pistonball_v6", "cooperative_pong_v6"])
def test_a_screen_is_not_said(task: str) -> None:
    environment = envs.make(task)
    try:
        environment.adapter.reset(seed=0)
        agent = environment.adapter.possible_agents[0]
        assert not environment.describer(agent).can_say(agent)
    finally:
        environment.close()
