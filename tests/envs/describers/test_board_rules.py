"""What is said of what games of boards and cards pay, against games that are played to their end."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gym_gui import envs

GAMES = (
    "tictactoe_v3",
    "connect_four_v3",
    "open_spiel/tic_tac_toe",
    "open_spiel/checkers",
    "open_spiel/breakthrough",
)


@pytest.mark.parametrize("task", [*GAMES, "open_spiel/kuhn_poker", "open_spiel/leduc_poker"])
def test_returns_are_within_what_is_told(task: str) -> None:
    environment, rng = envs.make(task), np.random.default_rng(0)
    adapter = environment.adapter
    said = environment.describer(adapter.possible_agents[0]).game(adapter.possible_agents[0])
    found = re.search(r"paid from (-?\d+) to (\d+)", said)
    low, high = (int(found[1]), int(found[2])) if found else (-1, 1)
    assert found or "Winning pays 1, losing costs 1, a draw pays nothing." in said
    told = environment.describer(adapter.possible_agents[0]).briefing(adapter.possible_agents[0])
    limit = re.search(r"A game ends after (\d+) moves at the latest", told)
    assert bool(limit) is task.startswith("open_spiel/")
    seen: set[float] = set()
    for seed in range(4 if task.endswith("checkers") else 30):
        adapter.reset(seed=seed)
        totals, moves = dict.fromkeys(adapter.possible_agents, 0.0), 0
        while agents := adapter.get_current_agents():
            mask = adapter.action_mask(agents[0])
            step = adapter.step({agents[0]: int(rng.choice(np.flatnonzero(mask)))})
            moves += 1
            for agent, reward in step.rewards.items():
                totals[agent] += reward
        assert limit is None or moves <= int(limit[1])
        seen |= set(totals.values())
    assert min(seen) >= low and max(seen) <= high
    assert found or seen <= {-1.0, 0.0, 1.0}
    environment.close()
