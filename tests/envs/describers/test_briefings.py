"""What agents are told before their first episode, which is asked of environments that were not begun."""

from __future__ import annotations

import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError

TASKS = (
    *("CartPole-v1", "FrozenLake-v1", "Taxi-v4", "Blackjack-v1", "LunarLander-v3", "HalfCheetah-v5"),
    *("MiniGrid-DoorKey-8x8-v0", "MiniGrid-Dynamic-Obstacles-8x8-v0", "BabyAI-BossLevel-v0"),
    *(f"MosaicMultiGrid-{each}-2v2-IndAgObs-v1" for each in ("S", "BB", "AF", "C")),
    *("chess_v6", "connect_four_v3", "tictactoe_v3", "rps_v2", "go_v5", "hanabi_v5", "pursuit_v5"),
    *("leduc_holdem_v4", "texas_holdem_v4", "texas_holdem_no_limit_v6", "knights_archers_zombies_v11"),
    *(f"mpe2/simple_{each}_v3" for each in ("adversary", "crypto", "spread", "tag", "world_comm")),
    *("open_spiel/checkers", "open_spiel/leduc_poker", "open_spiel/liars_dice"),
    *("CrafterReward-v1", "MiniHack-KeyRoom-S5-v0", "NetHackScore-v0"),
)


@pytest.mark.parametrize("task", [*TASKS, pytest.param("TextWorld/Small-v0", marks=pytest.mark.full)])
def test_they_are_the_same_before_and_after_the_first_reset(task: str) -> None:
    try:
        environment = envs.make(task)
    except MissingDependencyError as missing:
        pytest.skip(str(missing))
    try:
        agents = environment.adapter.possible_agents
        before = {agent: environment.describer(agent).briefing(agent) for agent in agents}
        environment.adapter.reset(seed=3)
        assert {agent: environment.describer(agent).briefing(agent) for agent in agents} == before
    finally:
        environment.close()
