"""HighwayEnv in words: the numbers of its observations in metres and seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("highway_env")

from gym_gui import envs
from gym_gui.envs import Environment


@contextmanager
def opened(task: str, **config: Any) -> Iterator[Environment]:
    environment = envs.make(task, env_kwargs={"config": config} if config else None)
    try:
        yield environment
    finally:
        environment.close()


def told(environment: Environment, seen: Any, agent: str = "agent_0") -> list[str]:
    return environment.describer(agent).text(agent, seen[agent]).splitlines()


def test_cars_are_told_where_they_are() -> None:
    with opened("highway-fast-v0") as environment:
        environment.adapter.reset(seed=3)
        game = environment.env
        own, other = game.vehicle, game.road.vehicles[1]
        game.road.vehicles[2:] = []
        own.position, own.speed, own.heading = np.array([100.0, 4.0]), 25.0, 0.0
        other.position, other.speed, other.heading = np.array([130.0, 8.0]), 20.0, 0.0
        seen = {"agent_0": game.observation_type.observe()}
        assert told(environment, seen) == [
            "You: in lane 2 from the left, 4 m to the right of the middle of lane 1, 100 m along the road, "
            "at 25 m/s",
            "Car 1: 30 m ahead, 4 m to the right, 5 m/s slower",
        ]


def test_a_crossing_is_told_as_on_a_map_and_to_each_its_own() -> None:
    with opened("intersection-multi-agent-v2") as environment:
        seen = environment.adapter.reset(seed=1)
        first = environment.env.controlled_vehicles[0]
        for agent, car in zip(seen, environment.env.controlled_vehicles, strict=True):
            x, y = car.position
            side, way = "right" if x >= 0 else "left", "down" if y >= 0 else "up"
            assert told(environment, seen, agent)[0].startswith(
                f"You: {abs(x):.3g} m {side}, {abs(y):.3g} m {way}"
            )
        assert f"{first.speed:.0f} m/s towards -90°" in told(environment, seen)[0]


def test_a_place_to_park_is_told_beside_where_one_is() -> None:
    with opened("parking-v0") as environment:
        seen = environment.adapter.reset(seed=3)
        own, place = told(environment, seen)
        goal = environment.env.controlled_vehicles[0].goal
        assert own.startswith("You: 0 m right, 0 m down, 0 m/s")
        assert place.startswith(f"Your place: {abs(goal.position[0]):.3g} m ")


def test_collisions_are_told_by_speed_and_lane() -> None:
    with opened("two-way-v0") as environment:
        environment.adapter.reset(seed=1)
        grid = np.zeros((3, 3, 5), np.float32)
        grid[:, 0] = 1
        grid[1, 1, 2:4], grid[1, 1, 1], grid[2, 2, 0] = 1, 0.5, 1
        assert told(environment, {"agent_0": grid}) == [
            "slower: left lane not there, your lane free, right lane free",
            "at your speed: left lane not there, your lane hit in 2 to 3 s and close in 1 s, right lane free",
            "faster: left lane not there, your lane free, right lane hit in 0 s",
        ]


def test_ground_is_drawn_with_what_is_ahead_at_the_top() -> None:
    with opened("racetrack-v0") as environment:
        environment.adapter.reset(seed=1)
        grid = np.zeros((2, 12, 12), np.float32)
        grid[1, :, 6], grid[0, 9, 6] = 1, 1
        rows = told(environment, {"agent_0": grid})
        assert rows[2] == "######C#####" and rows[5] == "######A#####" and rows[0] == "######.#####"
        assert environment.describer("agent_0").can_say("agent_0")


def test_other_observations_are_told_as_any() -> None:
    with opened("highway-fast-v0", observation={"type": "LidarObservation", "cells": 4}) as environment:
        seen = environment.adapter.reset(seed=1)
        assert len(told(environment, seen)) >= 1 and environment.describer("agent_0").can_say("agent_0")


@pytest.mark.parametrize(
    "task", ["exit-v1", "intersection-v1", "lane-keeping-v0", "u-turn-v1", "roundabout-v1"]
)
def test_what_is_said_is_short_and_the_same_twice(task: str) -> None:
    with opened(task) as environment:
        adapter, describer = environment.adapter, environment.describer("agent_0")
        seen = adapter.reset(seed=2)
        said = describer.text("agent_0", seen["agent_0"])
        assert said and len(said) < 1500 and said == describer.text("agent_0", seen["agent_0"])
        assert environment.summary in describer.briefing("agent_0")
