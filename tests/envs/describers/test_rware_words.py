"""The robotic warehouse in words, facts and pictures of what each robot sees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("rware")

from gym_gui import envs
from gym_gui.envs import Environment


@contextmanager
def placed(**kwargs: Any) -> Iterator[tuple[Environment, Any]]:
    """The first robot beside shelves, of which the lowest is asked for; the second under the uppermost."""
    environment = envs.make("rware-tiny-2ag-v2", render_mode="rgb_array", env_kwargs=kwargs)
    try:
        environment.adapter.reset(seed=1)
        game: Any = environment.env
        by_place = {(shelf.y, shelf.x): shelf for shelf in game.shelfs}
        for robot, (row, column), way in zip(game.agents, ((4, 0), (3, 1)), ("RIGHT", "DOWN"), strict=True):
            robot.y, robot.x, robot.dir, robot.carrying_shelf = row, column, type(robot.dir)[way], None
        game.request_queue[:] = [by_place[5, 1]]
        game._recalc_grid()
        idle = environment.env.msg_bits and [0, 1, 1]
        acts = dict.fromkeys(environment.adapter.possible_agents, idle or 0)
        yield environment, environment.adapter.step(acts).observations
    finally:
        environment.close()


def told(environment: Environment, seen: Any, agent: str, mode: Any = "egocentric") -> list[str]:
    return environment.describer(agent).text(agent, seen[agent], mode).splitlines()


def test_a_robot_is_told_what_is_around_it() -> None:
    with placed() as (environment, seen):
        assert told(environment, seen, "agent_0") == [
            "You are in row 5, column 1, on a corridor, facing right.",
            "You carry no shelf.",
            "Shelves that are asked for: 1 right, 1 down.",
            "Other shelves: 1 right, 1 up; 1 right.",
            "A robot: 1 right, 1 up, facing down.",
        ]
        assert told(environment, seen, "agent_0", "visible_teammates")[-1].startswith(
            "agent_1: 1 right, 1 up"
        )
        under = told(environment, seen, "agent_1")
        assert under[0] == "You are in row 4, column 2, where a shelf can stand, facing down."
        assert under[1] == "You stand under a shelf that is not asked for; you carry none."


def test_the_same_as_facts() -> None:
    with placed() as (environment, seen):
        facts = set(map(str, environment.describer("agent_0").facts("agent_0", seen["agent_0"])))
        assert facts == {
            *("at(4, 0)", "facing(right)", "corridor", "robot(1, -1, down)", "asked_for(1, 1)"),
            *("shelf(1, -1)", "shelf(1, 0)", "shelf(1, 1)"),
        }


def test_a_load_is_told_to_who_carries_it_alone() -> None:
    with placed() as (environment, _):
        seen = environment.adapter.step({"agent_0": 0, "agent_1": 4}).observations
        assert told(environment, seen, "agent_1")[1] == "You carry a shelf that is not asked for."
        assert "carr" not in told(environment, seen, "agent_0")[-1]
        picture = environment.seat_picture("agent_0", seen["agent_0"])
        assert picture is not None and picture.shape == (94, 94, 3)
        whole = environment.picture()
        assert whole is not None
        # The robot in the cell above and to the right: orange for the other, red in the whole picture.
        assert picture[20, 2 * 31 + 10].tolist() == [255, 140, 0]
        assert whole[3 * 31 + 20, 31 + 10].tolist() == [255, 0, 0]
        assert environment.pictures("agent_0") == ("egocentric",)
        assert picture[40, 5].tolist() == [170, 170, 170]  # left of column 1 is nothing


def test_wider_views_scaled_places_and_bits_are_read_too() -> None:
    with placed(sensor_range=2, normalised_coordinates=True, msg_bits=2) as (environment, seen):
        lines = told(environment, seen, "agent_0")
        assert lines[0].startswith("You are in row 5, column 1, on a corridor")
        assert lines[-1] == "A robot: 1 right, 1 up, facing down, sending 1 1."
        assert "2 right, 2 up" in lines[-2] and not environment.action_meanings("agent_0")


def test_the_plan_is_told_once() -> None:
    with placed() as (environment, _):
        lines = environment.describer("agent_0").briefing("agent_0").splitlines()
        assert "....GG...." in lines and lines.count(".XX....XX.") == 8
        assert (
            "- toggle load: lift the shelf that you stand under, or put down the one that you carry" in lines
        )
