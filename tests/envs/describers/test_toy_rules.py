"""What is said of rules and rewards in toy text, against the transitions that the worlds keep."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui import envs
from gym_gui.envs import Environment

AGENT = "agent_0"


def made(task: str, **env_kwargs: Any) -> tuple[Environment, str]:
    """An environment at its beginning, and what is said of it."""
    environment = envs.make(task, env_kwargs=env_kwargs)
    said = environment.describer(AGENT).briefing(AGENT)
    environment.adapter.reset(seed=1)
    return environment, said


def act(environment: Environment, word: str) -> tuple[float, bool]:
    step = environment.adapter.step({AGENT: environment.action_meanings(AGENT).index(word)})
    return step.rewards[AGENT], step.terminated[AGENT]


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        ((1, 0, 0), "The goal pays 1 and a hole 0; both end the game. Against the edge"),
        ((5, -2, -0.5), "The goal pays 5 and a hole -2; both end the game. Every other step pays -0.5."),
    ],
)
def test_the_lakes_rewards_are_those_it_was_made_with(schedule: tuple[float, ...], told: str) -> None:
    environment, said = made("FrozenLake-v1", is_slippery=False, reward_schedule=schedule)
    assert told in said and "slippery" not in said
    goal, hole, ice = schedule
    for way in ("right", "right"):
        assert act(environment, way) == (ice, False)
    environment.env.s = 14
    assert act(environment, "right") == (goal, True)
    environment.adapter.reset(seed=1)
    environment.env.s = 1
    assert act(environment, "down") == (hole, True)


def test_the_cliff_leads_back_and_the_goal_ends() -> None:
    environment, said = made("CliffWalking-v1")
    assert act(environment, "right") == (-100, False) and environment.env.s == 36
    environment.env.s = 35
    assert act(environment, "down") == (-1, True)
    assert "costs 100 and leads back to the start. The game ends at the goal." in said


def test_where_a_passenger_can_be_let_out() -> None:
    environment, said = made("Taxi-v4")
    env = environment.env
    env.s = env.encode(0, 0, 4, 1)  # at R with the passenger, who wants to G
    assert act(environment, "dropoff") == (-1, False)
    assert list(env.decode(env.s))[2] == 0
    env.s = env.encode(2, 2, 4, 1)
    assert act(environment, "dropoff") == (-10, False)
    env.s = env.encode(0, 4, 4, 1)
    assert act(environment, "dropoff") == (20, True)
    assert "pays 20 and ends the game; at another stand they only get out." in said


def test_how_fickle_a_passenger_is() -> None:
    for chance in (0.3, 0.8):
        _, said = made("Taxi-v4", fickle_passenger=True, fickle_probability=chance)
        assert f"may want to go elsewhere, with probability {chance}." in said
    assert "elsewhere" not in made("Taxi-v4")[1]


def test_what_an_ace_and_a_ten_are_worth() -> None:
    for kwargs, reward, told in (
        ({"sab": True}, 1, "your first two cards win, unless the dealer has such two as well."),
        ({"sab": False, "natural": True}, 0, "as your first two cards is rewarded with 1.5."),
        ({"sab": False, "natural": False}, 0, "a draw with 0."),
    ):
        environment, said = made("Blackjack-v1", **kwargs)
        env = environment.env
        env.player, env.dealer = [1, 10], [10, 5, 6]
        assert act(environment, "stick") == (reward, True)
        assert told in said
    assert "first two" not in said
    environment, _ = made("Blackjack-v1", sab=False, natural=True)
    environment.env.player, environment.env.dealer = [1, 10], [10, 9]
    assert act(environment, "stick") == (1.5, True)


@pytest.mark.parametrize("task", ["FrozenLake-v1", "CartPole-v1"])
def test_the_limit_is_the_one_it_was_made_with(task: str) -> None:
    environment, said = made(task, max_episode_steps=3)
    assert "A game ends after 3 steps at the latest." in said and environment.max_episode_steps == 3
    first = environment.action_meanings(AGENT)[0]
    steps = [environment.adapter.step({AGENT: 0}) for _ in range(3)]
    assert first and [step.truncated[AGENT] for step in steps] == [False, False, True]
