"""Toy text in words, against the transitions that the worlds themselves keep."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.toy_text.blackjack import sum_hand, usable_ace

from gym_gui import envs
from gym_gui.core.paradigms import adapt
from gym_gui.envs import Environment
from gym_gui.envs.families.gymnasium import GymnasiumFamily

AGENT = "agent_0"


@contextmanager
def made(task: str, **kwargs: Any) -> Iterator[Environment]:
    environment = envs.make(task, env_kwargs=kwargs)
    try:
        yield environment
    finally:
        environment.close()


def around(text: str) -> dict[str, str]:
    """What lies each way."""
    said = text.rsplit("Next to you: ", 1)[1].rstrip(".")
    return dict(part.split(" ", 1) for part in said.split(", "))


def cell(text: str) -> tuple[int, int]:
    row, column = re.findall(r"row (\d+), column (\d+)", text)[0]
    return int(row) - 1, int(column) - 1


def offset(text: str, names: tuple[str, str, str, str]) -> tuple[int, int]:
    """Rows and columns of ``4 south, 2 east``."""
    sides = {name: int(n) for n, name in re.findall(r"(\d+) (\w+)", text)}
    up, down, left, right = (sides.get(name, 0) for name in names)
    return down - up, right - left


@pytest.mark.parametrize(
    "kwargs",
    [{"map_name": "4x4"}, {"map_name": "8x8"}, {"map_name": None}, {"desc": ["SFG", "HFF", "FFG"]}],
    ids=str,
)
def test_every_cell_of_the_lake(kwargs: Mapping[str, Any]) -> None:
    with made("FrozenLake-v1", is_slippery=False, **kwargs) as environment:
        env, describer = environment.env, environment.describer(AGENT)
        words, grounds = environment.action_meanings(AGENT), {b"H": "hole", b"G": "goal"}
        letters = env.desc.reshape(-1)
        for state, letter in enumerate(letters):
            text = describer.text(AGENT, state)
            at = cell(text)
            assert at == divmod(state, env.ncol)
            for goal in re.findall(r"[^;:]+", text.split("Goal: ")[1].split(".")[0]):
                rows, columns = offset(goal, ("up", "down", "left", "right"))
                assert env.desc[at[0] + rows, at[1] + columns] == b"G"
            if letter in (b"H", b"G"):
                continue  # the game is over there, and the transitions stay
            for action, moves in env.P[state].items():
                there = moves[0][1]
                expected = "edge" if there == state else grounds.get(letters[there], "ice")
                assert around(text)[words[action]] == expected, text
        rows = ["".join(each.decode() for each in row) for row in env.desc]
        briefing = describer.briefing(AGENT)
        shared = kwargs.get("map_name", "") is not None
        assert ("\n".join(rows) in briefing) == shared
        assert ("\n".join(rows) in describer.text(AGENT, 0)) != shared
        assert "You always go where you want." in briefing


def test_how_slippery_it_is() -> None:
    for kwargs, says in (({}, "0.333"), ({"success_rate": 0.8}, "0.8")):
        with made("FrozenLake-v1", **kwargs) as environment:
            assert f"with probability {says}, else" in environment.describer(AGENT).briefing(AGENT)
    with made("Taxi-v4", is_rainy=True, rainy_probability=0.7, fickle_passenger=True) as environment:
        briefing = environment.describer(AGENT).briefing(AGENT)
        assert "with probability 0.7, else" in briefing and "may want to go elsewhere" in briefing
    with made("CliffWalking-v1", is_slippery=True) as environment:
        assert "It is slippery" in environment.describer(AGENT).briefing(AGENT)


def test_every_cell_of_the_cliff() -> None:
    with made("CliffWalking-v1") as environment:
        env, describer = environment.env, environment.describer(AGENT)
        words = environment.action_meanings(AGENT)
        assert "slippery" not in describer.briefing(AGENT)
        for state in range(37):  # beyond the start are the cliff and the goal
            text = describer.text(AGENT, state)
            at = cell(text)
            assert at == divmod(state, 12)
            rows, columns = offset(text.split("Goal: ")[1].split(".")[0], ("up", "down", "left", "right"))
            assert (at[0] + rows) * 12 + at[1] + columns == 47
            for action, ((_, there, reward, over),) in env.P[state].items():
                ground = around(text)[words[action]]
                assert (ground == "cliff") == (reward == -100)
                assert (ground == "goal") == over
                assert (ground == "edge") == (there == state and reward == -1)


def test_every_state_of_the_taxi() -> None:
    ways = ("north", "south", "west", "east")
    with made("Taxi-v4") as environment:
        env, describer = environment.env, environment.describer(AGENT)
        words = environment.action_meanings(AGENT)
        for state, actions in env.P.items():
            text = describer.text(AGENT, state)
            row, column, passenger, destination = env.decode(state)
            assert cell(text) == (row, column)
            open_ways = text.split("Open ways: ")[1].rstrip(".").split(", ")
            after = {words[action]: moves[0] for action, moves in actions.items()}
            assert set(open_ways) == {way for way in ways if after[way][1] != state}
            waits, goes = text.split("Passenger: ")[1].splitlines()[0].split(" Destination: ")
            assert ("; here)" in waits) == (after["pickup"][2] == -1)
            assert ("in the taxi" in waits) == (passenger == 4)
            assert ("in the taxi" in waits and "; here)" in goes) == (after["dropoff"][2] == 20)
            for said, index in ((waits, passenger), (goes, destination)):
                if index < 4:
                    assert re.search(r"([RGYB]) \(", said)[1] == "RGYB"[index]  # type: ignore[index]
                    assert cell(said) == env.locs[index]
                    rows, columns = offset(said.split(";")[1], ways)
                    assert (row + rows, column + columns) == env.locs[index]


def test_hands_of_blackjack() -> None:
    seen_aces = dealer_aces = 0
    with made("Blackjack-v1") as environment:
        env, describer, adapter = environment.env, environment.describer(AGENT), environment.adapter
        for seed in range(150):
            seen = adapter.reset(seed=seed)
            while adapter.get_current_agents():
                text = describer.text(AGENT, seen[AGENT])
                ace = bool(usable_ace(env.player))
                total = re.match(r"Your cards make (\d+); (an|no) ace", text)
                assert total and int(total[1]) == sum_hand(env.player) and (total[2] == "an") == ace
                shows = text.rsplit("The dealer shows ", 1)[1].rstrip(".")
                assert shows == ("an ace" if env.dealer[0] == 1 else str(env.dealer[0]))
                seen_aces, dealer_aces = seen_aces + ace, dealer_aces + (env.dealer[0] == 1)
                seen = adapter.step({AGENT: int(sum_hand(env.player) < 17)}).observations
        assert "1.5" not in describer.briefing(AGENT)
    assert seen_aces > 10 and dealer_aces > 5
    for kwargs, pays in (({"natural": True, "sab": False}, True), ({"natural": True}, False)):
        with made("Blackjack-v1", **kwargs) as environment:
            assert ("rewarded with 1.5" in environment.describer(AGENT).briefing(AGENT)) == pays


def walked(environment: Environment, decide: Any, seed: int) -> float:
    """Return of a game that is decided by what is read."""
    adapter, describer, total = environment.adapter, environment.describer(AGENT), 0.0
    words = environment.action_meanings(AGENT)
    seen = adapter.reset(seed=seed)
    while adapter.get_current_agents():
        step = adapter.step({AGENT: words.index(decide(describer.text(AGENT, seen[AGENT])))})
        seen, total = step.observations, total + step.rewards[AGENT]
    return total


def test_the_lake_is_crossed_by_the_map_that_is_told() -> None:
    steps = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    with made("FrozenLake-v1", map_name="8x8", is_slippery=False) as environment:
        told = environment.describer(AGENT).briefing(AGENT).split("The map:\n")[1].split("\nS is")[0]
        rows = told.splitlines()

        def way(text: str) -> str:
            start = cell(text)
            queue, known = deque([(start, "")]), {start}
            while queue:
                at, first = queue.popleft()
                if rows[at[0]][at[1]] == "G":
                    return first
                for word, (row, column) in steps.items():
                    there = at[0] + row, at[1] + column
                    inside = 0 <= there[0] < len(rows) and 0 <= there[1] < len(rows[0])
                    if inside and there not in known and rows[there[0]][there[1]] != "H":
                        known.add(there)
                        queue.append((there, first or word))
            raise AssertionError("there is no way")

        assert walked(environment, way, 1) == 1


def test_the_cliff_is_passed_by_what_lies_around() -> None:
    def way(text: str) -> str:
        free = around(text)
        wanted = ["right", "up"] if "right" in text.split("Goal: ")[1].split(".")[0] else ["down"]
        return next(word for word in wanted if free[word] in ("free", "goal"))

    with made("CliffWalking-v1") as environment:
        assert walked(environment, way, 1) == -13


def test_a_passenger_is_driven_by_the_ways_that_are_told() -> None:
    ways = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
    with made("Taxi-v4") as environment:
        drawn = environment.describer(AGENT).briefing(AGENT).split("The map:\n")[1].splitlines()

        def towards(start: tuple[int, int], goal: tuple[int, int]) -> str:
            queue, known = deque([(start, "")]), {start}
            while queue:
                (row, column), first = queue.popleft()
                if (row, column) == goal:
                    return first
                for way, (down, right) in ways.items():
                    there = row + down, column + right
                    wall = drawn[1 + row][1 + 2 * column + right] == "|"
                    if 0 <= there[0] < 5 and 0 <= there[1] < 5 and not wall and there not in known:
                        known.add(there)
                        queue.append((there, first or way))
            raise AssertionError("there is no way")

        def drive(text: str) -> str:
            inside = "in the taxi" in text
            goal = text.split("Destination: " if inside else "Passenger: ")[1]
            if "; here)" in goal.split(")")[0] + ")":
                return "dropoff" if inside else "pickup"
            way = towards(cell(text), cell(goal))
            assert way in text.split("Open ways: ")[1]
            return way

        returns = [walked(environment, drive, seed) for seed in range(10)]
    assert min(returns) > 0


class Cliff(gymnasium.Env[Any, Any]):
    """Observations and actions as CliffWalking in JAX has them: arrays of one number."""

    observation_space = spaces.Box(0, 47, (1,), np.int32)
    action_space = spaces.Box(0, 3, (1,), np.int32)


def test_the_worlds_in_jax_are_read_from_arrays() -> None:
    family = GymnasiumFamily()
    spec = next(each for each in family.specs() if each.id == "tabular/CliffWalking-v0")
    describer = Environment(spec, adapt(Cliff()), family).describer(AGENT)
    text = describer.text(AGENT, np.array([25], np.int32))
    assert text.splitlines()[0] == "You are at row 3, column 2. Goal: 1 down, 10 right."
    assert around(text) == {"up": "free", "down": "cliff", "left": "free", "right": "free"}
    assert describer.briefing(AGENT).endswith("0 is up, 1 is right, 2 is down, 3 is left.")
