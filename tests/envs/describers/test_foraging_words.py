"""Level-based foraging in words, facts and pictures of what each sees."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lbforaging")

from gym_gui import envs
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.envs import Environment


@contextmanager
def placed(task: str, food: Any, players: Any, **kwargs: Any) -> Iterator[tuple[Environment, Any]]:
    """An environment in which everything stands where it is wanted, and what agents see then."""
    environment = envs.make(task, render_mode="rgb_array", env_kwargs=kwargs)
    try:
        environment.adapter.reset(seed=1)
        game: Any = environment.env
        game.field[:] = 0
        for row, column, level in food:
            game.field[row, column] = level
        for player, (row, column, level) in zip(game.players, players, strict=True):
            player.position, player.level = (row, column), level
        names = environment.adapter.possible_agents
        yield environment, dict(zip(names, game.test_make_gym_obs(), strict=True))
    finally:
        environment.close()


def told(environment: Environment, seen: Any, agent: str, mode: Any = "egocentric") -> list[str]:
    return environment.describer(agent).text(agent, seen[agent], mode).splitlines()


def test_who_sees_the_field_is_told_places_and_names() -> None:
    with placed("Foraging-8x8-2p-2f-v3", [(3, 3, 2), (5, 6, 3)], [(4, 3, 1), (0, 7, 2)]) as (
        environment,
        seen,
    ):
        assert told(environment, seen, "agent_0") == [
            "You: level 1, in row 5, column 4.",
            "Food of level 2: 1 up.",
            "Food of level 3: 3 right, 1 down.",
            "agent_1 (level 2): 4 right, 4 up.",
        ]
        facts = set(map(str, environment.describer("agent_0").facts("agent_0", seen["agent_0"])))
        things = {"food(0, -1, 2)", "food(3, 1, 3)", "player(4, -4, 2)", "who(agent_1, 4, -4)"}
        assert facts == {"level(1)", "at(5, 4)", *things}
        assert environment.pictures("agent_0") == ("egocentric", "whole")


def test_who_sees_little_is_told_what_is_near() -> None:
    task, food, players = "Foraging-2s-8x8-2p-2f-v3", [(3, 3, 2), (6, 6, 3)], [(4, 4, 1), (6, 5, 2)]
    with placed(task, food, players) as (environment, seen):
        assert told(environment, seen, "agent_0") == [
            "You: level 1.",
            "Food of level 2: 1 left, 1 up.",
            "Food of level 3: 2 right, 2 down.",
            "agent_1 (level 2): 1 right, 2 down.",
        ]
        assert told(environment, seen, "agent_1") == [
            "You: level 2.",
            "Food of level 3: 1 right.",
            "agent_0 (level 1): 1 left, 2 up.",
        ]
        assert environment.pictures("agent_0") == ("egocentric",)


def test_an_own_picture_shows_what_is_observed_and_no_more() -> None:
    """At the upper edge the window reaches farther for players than for food."""
    task, food, players = "Foraging-2s-8x8-2p-2f-v3", [(3, 1, 2), (2, 2, 1)], [(0, 1, 1), (4, 1, 2)]
    with placed(task, food, players) as (environment, seen):
        assert "agent_1 (level 2): 4 down." in told(environment, seen, "agent_0")
        assert len(told(environment, seen, "agent_0")) == 3  # the food three rows down is not seen
        # The vector says where the field ends, since its places are counted from there.
        assert told(environment, seen, "agent_0")[0] == (
            "You: level 1. The field ends after 0 more cells up. The field ends after 1 more cell left."
        )
        assert "edge(up, 0)" in map(str, environment.describer("agent_0").facts("agent_0", seen["agent_0"]))
        picture = environment.seat_picture("agent_0", seen["agent_0"])
        assert picture is not None and picture.shape == (256, 256, 3)

        def look(row: int, column: int) -> Any:
            return picture[row * 51 + 4, column * 51 + 40]

        assert look(3, 1).tolist() == [170] * 3 and look(2, 0).tolist() == [255] * 3
        assert (picture[4 * 51 + 5 : 4 * 51 + 46, 51 + 5 : 51 + 46] != 170).any()
        shown = environment.show("agent_0", seen["agent_0"], PromptInputs(image=True, frame="egocentric"))
        assert shown.image


def test_levels_that_are_not_observed_are_not_told() -> None:
    places = [(3, 3, 2)], [(4, 3, 1), (0, 7, 2)]
    with placed("Foraging-8x8-2p-2f-v3", *places, observe_agent_levels=False) as (environment, seen):
        assert told(environment, seen, "agent_0")[-1] == "agent_1: 4 right, 4 up."
        assert told(environment, seen, "agent_0")[0] == "You: in row 5, column 4."
        assert environment.pictures("agent_0") == ("egocentric",)


def test_what_counts_is_said_once() -> None:
    with placed("Foraging-8x8-2p-2f-coop-v3", [], [(4, 3, 1), (0, 7, 2)]) as (environment, seen):
        briefing = environment.describer("agent_0").briefing("agent_0")
        assert "after 50 steps at the latest" in briefing and "add up to its level" in briefing
        assert told(environment, seen, "agent_0")[-1] == "You see no food."
        assert np.isfinite(seen["agent_0"]).all()
