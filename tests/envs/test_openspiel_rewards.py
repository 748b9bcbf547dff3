"""What OpenSpiel's players earn, and when their game ends, is what the game itself says."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from gym_gui.envs import list_specs, make


@pytest.mark.parametrize(
    "game",
    [
        "tic_tac_toe",
        "connect_four",
        "leduc_poker",
        "goofspiel",
        "coop_box_pushing",
        "laser_tag",
        "oshi_zumo",
        "matrix_rps",
        "pig",
        "blackjack",
        "2048",
        "kuhn_poker",
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_returns_are_the_games_own(game: str, seed: int) -> None:
    environment = make(f"open_spiel/{game}")
    adapter = environment.adapter
    random = np.random.default_rng(seed)
    adapter.reset(seed=seed)
    returns: dict[str, float] = defaultdict(float)
    for _ in range(2000):
        if adapter.is_episode_done():
            break
        (agent,) = adapter.get_current_agents()
        action = int(random.choice(np.flatnonzero(adapter.action_mask(agent))))
        for name, reward in adapter.step({agent: action}).rewards.items():
            returns[name] += reward
    expected = environment.env.game_state.returns()
    assert [returns[agent] for agent in adapter.possible_agents] == pytest.approx(expected)


@pytest.mark.parametrize(
    "game",
    [
        "kuhn_poker",
        "leduc_poker",
        "goofspiel",
        "coin_game",
        "coop_box_pushing",
        "tic_tac_toe",
        "lewis_signaling",
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_games_last_until_their_own_end(game: str, seed: int) -> None:
    environment = make(f"open_spiel/{game}")
    adapter = environment.adapter
    random = np.random.default_rng(seed)
    adapter.reset(seed=seed)
    truncated: set[str] = set()
    while not adapter.is_episode_done():
        (agent,) = adapter.get_current_agents()
        action = int(random.choice(np.flatnonzero(adapter.action_mask(agent))))
        result = adapter.step({agent: action})
        truncated |= {name for name, flag in result.truncated.items() if flag}
    assert environment.env.game_state.is_terminal()
    assert not truncated


def test_parameters_and_text() -> None:
    environment = make("open_spiel/hex", render_mode="ansi", env_kwargs={"config": {"board_size": 3}})
    environment.adapter.reset(seed=0)
    assert environment.adapter.action_space("player_0").n == 9
    assert environment.adapter.render().count(".") == 9


def test_only_games_that_can_be_played_are_listed() -> None:
    ids = {spec.id for spec in list_specs("openspiel")}
    assert "open_spiel/chess" in ids
    assert not any("mfg" in env_id for env_id in ids)
