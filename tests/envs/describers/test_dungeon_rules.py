"""What is said of rewards in NetHack and MiniHack, against what they pay."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui import envs
from gym_gui.envs import Environment

pytest.importorskip("minihack")
AGENT = "agent_0"


def made(task: str, **env_kwargs: Any) -> tuple[Environment, str]:
    environment = envs.make(task, env_kwargs=env_kwargs)
    said = environment.describer(AGENT).game(AGENT)
    environment.adapter.reset(seed=1)
    return environment, said


@pytest.mark.parametrize("penalty", [-0.01, -0.2])
def test_an_action_without_time_costs_what_is_told(penalty: float) -> None:
    environment, said = made("MiniHack-Room-5x5-v0", penalty_step=penalty)
    try:
        action_space: Any = environment.adapter.action_space(AGENT)
        paid = {
            round(environment.adapter.step({AGENT: action}).rewards[AGENT], 6)
            for action in range(action_space.n)
        }
        assert penalty in paid
        assert f"An action in which no time passes pays {penalty}. " in said
    finally:
        environment.close()


def test_what_winning_pays_is_told() -> None:
    for win, lose, told in ((1, 0, "Reaching it pays 1. "), (5, -2, "Reaching it pays 5, dying -2. ")):
        environment, said = made("MiniHack-Room-5x5-v0", reward_win=win, reward_lose=lose)
        environment.close()
        assert told in said
    environment, said = made("MiniHack-ExploreMaze-Easy-v0")
    environment.close()
    assert "Reaching it pays" not in said


def test_a_penalty_of_every_action_is_told() -> None:
    environment, said = made("MiniHack-Room-5x5-v0", penalty_mode="always", penalty_step=-0.5)
    try:
        assert environment.adapter.step({AGENT: 0}).rewards[AGENT] == pytest.approx(-0.5)
        assert "Every action pays -0.5. " in said
    finally:
        environment.close()
