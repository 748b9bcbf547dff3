"""A scripted manager and scripted skills on the real field: how they play, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mosaic_multigrid")

from gym_gui.core.paradigms import Option
from gym_gui.envs import Environment, make
from mosaic_worker.worker import LoadError

ENV_ID = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
NewSeat = Callable[..., Any]


def seat(environment: Environment, agent: str, behavior: str, new_seat: NewSeat) -> Any:
    adapter = environment.adapter
    return new_seat(
        adapter.observation_space(agent),
        adapter.action_space(agent),
        behavior,
        agent_id=agent,
        env_id=environment.spec.id,
        action_meanings=environment.action_meanings(agent),
        options=environment.option_names(agent),
    )


def play(team: str, others: str, seeds: range, new_seat: NewSeat) -> tuple[list[int], list[str]]:
    """Goals of ``team``, on two levels, less those of the others in each match; and what managers chose."""
    own = [f"{team}_{i}" for i in range(2)]
    environment = make(ENV_ID).with_manager(agents=own)
    adapter = environment.adapter
    behaviors = {
        agent: "soccer_manager" if agent.endswith("/goal") else "soccer_skills" if agent in own else others
        for agent in adapter.possible_agents
    }
    seats = {agent: seat(environment, agent, behavior, new_seat) for agent, behavior in behaviors.items()}
    margins: list[int] = []
    chosen: list[str] = []
    for seed in seeds:
        seen, step = adapter.reset(seed=seed), 0
        while not adapter.is_episode_done():
            asked = list(adapter.get_current_agents())
            actions = {
                agent: int(
                    seats[agent].act(seen[agent], seed, step, 8 * seed + k, adapter.action_mask(agent))
                )
                for k, agent in enumerate(asked)
            }
            chosen += [
                environment.action_meanings(a)[n]
                for a, n in actions.items()
                if behaviors[a] == "soccer_manager"
            ]
            seen, step = adapter.step(actions).observations, step + 1
        goals = environment.env.team_scores
        margins.append((goals[1] - goals[2]) * (1 if team == "green" else -1))
    return margins, chosen


@pytest.mark.parametrize("team", ["green", "blue"])
def test_managers_over_skills_beat_random_players(team: str, new_seat: NewSeat) -> None:
    margins, chosen = play(team, "random", range(8), new_seat)
    assert sum(margin > 0 for margin in margins) >= 7 and min(margins) >= 0
    assert {"fetch", "score", "search"} <= set(chosen)


def test_they_play_as_the_flat_chasers_do(new_seat: NewSeat) -> None:
    margins, _ = play("green", "soccer_chaser", range(16), new_seat)
    assert 3 <= sum(margin > 0 for margin in margins) <= 13


def test_the_same_match_is_played_again(new_seat: NewSeat) -> None:
    assert play("blue", "random", range(2), new_seat) == play("blue", "random", range(2), new_seat)


NOOP, LEFT, RIGHT, FORWARD, PICKUP, DROP = range(6)
WALL, BALL, AGENT, GREEN, BLUE = 2, 6, 10, 1, 2


def view(**cells: tuple[int, int, int]) -> dict[str, Any]:
    """An open view; ``front`` is the cell ahead, ``own`` what is carried."""
    image = np.ones((3, 3, 3), np.int64)
    image[..., 1:] = 0
    for name, cell in cells.items():
        image[{"front": (1, 1), "far": (1, 0), "own": (1, 2)}[name]] = cell
    return {"image": image, "direction": 0, "mission": "maximize reward"}


@pytest.mark.parametrize(
    ("cells", "can", "chosen"),
    [
        ({"own": (BALL, 0, 0)}, ["pass(green_1)", "score"], "score"),
        ({"own": (BALL, 0, 0), "front": (AGENT, BLUE, 0)}, ["pass(green_1)", "score"], "pass(green_1)"),
        ({"far": (BALL, 0, 0)}, ["fetch", "defend", "search"], "fetch"),
        ({"far": (AGENT, GREEN, 100)}, ["defend", "search"], "defend"),
        ({}, ["defend", "search"], "search"),
    ],
)
def test_what_the_manager_wants(
    cells: dict[str, tuple[int, int, int]], can: list[str], chosen: str, new_seat: NewSeat
) -> None:
    environment = make(ENV_ID).with_manager(agents=["green_0"])
    manager = seat(environment, "green_0/goal", "soccer_manager", new_seat)
    names = environment.action_meanings("green_0/goal")
    assert names[manager.act(view(**cells), 0, 0, 7, np.array([name in can for name in names]))] == chosen


@pytest.mark.parametrize(
    ("option", "cells", "moves"),
    [
        ("pass(green_1)", {"own": (BALL, 0, 0)}, {DROP}),
        ("score", {"own": (BALL, 0, 0)}, {FORWARD}),
        ("fetch", {"front": (BALL, 0, 0)}, {PICKUP}),
        ("fetch", {"front": (AGENT, BLUE, 100)}, {PICKUP}),
        ("fetch", {"far": (BALL, 0, 0)}, {FORWARD}),
        ("defend", {"front": (AGENT, BLUE, 100)}, {PICKUP}),
        ("defend", {}, {LEFT, RIGHT}),  # its goal is behind it
        ("search", {}, {LEFT, RIGHT, FORWARD}),
    ],
)
def test_how_options_are_carried_out(
    option: str, cells: dict[str, tuple[int, int, int]], moves: set[int], new_seat: NewSeat
) -> None:
    environment = make(ENV_ID).with_manager(agents=["green_0"])
    player = seat(environment, "green_0", "soccer_skills", new_seat)
    number = environment.option_names("green_0").index(option)
    assert player.act({"observation": view(**cells), "option": number}, 0, 0, 7) in moves


@pytest.mark.parametrize("behavior", ["soccer_manager", "soccer_skills"])
def test_what_does_not_fit_is_refused(behavior: str, new_seat: NewSeat) -> None:
    agent = "green_0/goal" if behavior == "soccer_manager" else "green_0"
    with pytest.raises(LoadError, match="needs a slot with a manager of MosaicMultiGrid soccer"):
        seat(make(ENV_ID), "green_0", behavior, new_seat)
    odd = make(ENV_ID).with_manager([Option("fetch"), Option("dribble", ("left",))])
    with pytest.raises(LoadError, match=r"no skill for the option 'dribble\(left\)'"):
        seat(odd, agent, behavior, new_seat)
