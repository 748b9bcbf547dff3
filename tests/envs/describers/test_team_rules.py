"""What is said of rules and rewards in pursuit, multiwalker, and knights, archers, zombies."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment


def made(task: str, **env_kwargs: Any) -> Environment:
    environment = envs.make(task, env_kwargs=env_kwargs)
    environment.adapter.reset(seed=2)
    return environment


def rest(environment: Environment, action: int) -> dict[str, float]:
    """Rewards of all agents in one round in which none moves."""
    paid: dict[str, float] = {}
    for _ in range(len(environment.adapter.possible_agents)):
        agents = environment.adapter.get_current_agents()
        step = environment.adapter.step(dict.fromkeys(agents, action))
        for agent, reward in step.rewards.items():
            paid[agent] = paid.get(agent, 0.0) + reward
        if len(agents) > 1:
            break
    return paid


@pytest.mark.parametrize("urgency", [-0.1, -0.7])
def test_a_step_of_pursuit_costs_what_is_told(urgency: float) -> None:
    environment = made("pursuit_v5", urgency_reward=urgency, tag_reward=0.0, freeze_evaders=True)
    stay = environment.action_meanings("pursuer_0").index("noop")
    paid = rest(environment, stay)
    assert paid["pursuer_1"] == pytest.approx(urgency)
    said = environment.describer("pursuer_0").game("pursuer_0")
    assert f"and every step {urgency:g} to all" in said


def test_what_is_shared_in_pursuit_is_told() -> None:
    for shared in (True, False):
        environment = made("pursuit_v5", shared_reward=shared, tag_reward=5.0, urgency_reward=0.0, n_catch=9)
        paid = rest(environment, environment.action_meanings("pursuer_0").index("noop"))
        said = environment.describer("pursuer_0").game("pursuer_0")
        assert ("each of you is paid the mean" in said) is shared
        if shared:
            assert len({round(each, 6) for each in paid.values()}) == 1


@pytest.mark.parametrize("killable", [True, False])
def test_who_can_be_taken_out_is_told(killable: bool) -> None:
    environment = made(
        "knights_archers_zombies_v11", killable_archers=killable, max_cycles=77, line_death=True
    )
    said = environment.describer("archer_0").briefing("archer_0")
    assert ("A zombie that touches you takes you out" in said) is killable
    assert "alking over the edge" in said and "A game ends after 77 steps at the latest." in said
    game = environment.env
    from pettingzoo.butterfly.knights_archers_zombies.src.zombie import Zombie

    zombie = Zombie(np.random.default_rng(0))
    zombie.rect.center = game.agent_map["archer_0"].rect.center
    game.zombie_list.add(zombie)
    game.do_zombie_turn()
    assert game.agent_map["archer_0"].is_alive is not killable
    plain = made("knights_archers_zombies_v11")
    assert "edge takes" not in plain.describer("archer_0").game("archer_0")


def test_how_many_arrows_fly_is_told() -> None:
    said = made("knights_archers_zombies_v11", max_arrows=4).describer("archer_0").game("archer_0")
    assert "if fewer than 4 are in flight" in said


@pytest.mark.parametrize("shared", [True, False])
def test_what_walkers_are_paid_is_told(shared: bool) -> None:
    pytest.importorskip("Box2D")
    environment = made("multiwalker_v9", shared_reward=shared, forward_reward=2.0)
    said, game = environment.describer("walker_0").game("walker_0"), environment.env.env
    agents = environment.adapter.possible_agents
    far, tilt = game.package.position.x, [abs(each.hull.angle) for each in game.walkers]
    step = environment.adapter.step({agent: np.zeros(4, np.float32) for agent in agents})
    forward = float(re.findall(r"pays all ([\d.]+) x", said)[0]) * (game.package.position.x - far)
    paid = [
        forward + 5 * (before - abs(each.hull.angle)) for before, each in zip(tilt, game.walkers, strict=True)
    ]
    expected = [float(np.mean(paid))] * len(paid) if shared else paid
    assert [step.rewards[agent] for agent in agents] == pytest.approx(expected, abs=0.02)
    assert ("each of you is paid the mean" in said) is shared
