"""What is said of rewards in the particle worlds, against what the worlds pay."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.envs import Environment

STILL = 0


def made(task: str, **env_kwargs: Any) -> Environment:
    environment = envs.make(task, env_kwargs=env_kwargs)
    environment.adapter.reset(seed=5)
    return environment


def apart(a: Any, b: Any) -> float:
    return float(np.linalg.norm(np.subtract(a, b)))


def rest(environment: Environment) -> dict[str, float]:
    """Rewards of all agents for a step in which none moves."""
    for body in environment.env.world.agents:
        body.state.p_vel = np.zeros(2)
    agents = environment.adapter.get_current_agents()
    return dict(environment.adapter.step(dict.fromkeys(agents, STILL)).rewards)


@pytest.mark.parametrize("ratio", [0.5, 0.2])
def test_shares_of_a_landmarks_cost_and_of_a_bump(ratio: float) -> None:
    environment = made("mpe2/simple_spread_v3", local_ratio=ratio, N=3)
    world, said = environment.env.world, environment.describer("agent_0").game("agent_0")
    share = float(re.findall(r"costs all of you ([\d.]+) x how far", said)[0])
    bump = float(re.findall(r"each of the two ([\d.]+)\.", said)[0])
    assert (share, bump) == (pytest.approx(1 - ratio), pytest.approx(ratio))
    for body, place in zip(world.agents, ((0, 0), (0.9, 0.9), (-0.9, 0.9)), strict=True):
        body.state.p_pos = np.array(place, dtype=float)
    far = sum(
        min(apart(mark.state.p_pos, body.state.p_pos) for body in world.agents) for mark in world.landmarks
    )
    assert rest(environment)["agent_0"] == pytest.approx(-share * far, rel=1e-3)
    world.agents[1].state.p_pos = world.agents[0].state.p_pos + 0.2
    before = sum(min(apart(m.state.p_pos, b.state.p_pos) for b in world.agents) for m in world.landmarks)
    paid = rest(environment)
    assert paid["agent_0"] == pytest.approx(-share * before - bump, abs=0.15)
    assert paid["agent_0"] - paid["agent_2"] == pytest.approx(-bump)


@pytest.mark.parametrize("ratio", [0.5, 0.2])
def test_whose_distance_costs_whom_what(ratio: float) -> None:
    environment = made("mpe2/simple_reference_v3", local_ratio=ratio)
    first, second = environment.env.world.agents
    said = environment.describer("agent_0").game("agent_0")
    other, own = (
        float(n)
        for n in re.findall(r"you ([\d.]+) x how far the other is .* and ([\d.]+) x how far you are", said)[0]
    )
    others = apart(first.goal_a.state.p_pos, first.goal_b.state.p_pos)
    mine = apart(second.goal_a.state.p_pos, second.goal_b.state.p_pos)
    assert first.goal_a is second
    assert rest(environment)["agent_0"] == pytest.approx(-other * others - own * mine, rel=1e-3)


@pytest.mark.parametrize(("task", "times"), [("mpe2/simple_tag_v3", 1), ("mpe2/simple_world_comm_v3", 2)])
def test_what_leaving_the_world_costs(task: str, times: int) -> None:
    environment = made(task)
    said = environment.describer("agent_0").game("agent_0")
    scenario, world = environment.env.scenario, environment.env.world
    body = next(each for each in world.agents if each.name == "agent_0")
    body.state.p_pos = np.zeros(2)

    def cost(x: float) -> float:
        body.state.p_pos = np.array([x, 0.0])
        for food in getattr(world, "food", ()):
            food.state.p_pos = body.state.p_pos + np.array([0.0, 0.5])
        for each in world.agents:
            if each is not body:
                each.state.p_pos = body.state.p_pos + np.array([0.0, 5.0])
        return -float(scenario.reward(body, world))

    inside = cost(0.0)
    assert cost(0.9999) - inside == pytest.approx(times, abs=0.01)
    assert cost(1.5) - inside == pytest.approx(times * np.exp(1), rel=1e-3)
    assert cost(9.0) - inside == pytest.approx(times * 10, rel=1e-3)
    formula = "e^(2 x distance - 2)" if times == 1 else "2 x e^(2 x distance - 2)"
    assert f"up to {times}, further out {formula}, never more than {times * 10}." in said
    if times == 2:
        assert inside == pytest.approx(0.05 * 0.5, rel=1e-3)
        assert "each step costs 0.05 x your distance to the nearest" in said


def test_what_alice_wins_and_loses() -> None:
    environment = made("mpe2/simple_crypto_v3")
    said = environment.describer("alice_0").game("alice_0")
    goal = int(np.argmax(environment.env.world.agents[0].goal_a.color))
    wrong = (goal + 1) % 4
    adapter = environment.adapter
    paid = []
    for eve, bob in ((goal, goal), (wrong, goal), (goal, wrong)):
        words = {"eve_0": eve, "bob_0": bob, "alice_0": 0}
        paid.append(adapter.step(words).rewards["alice_0"])
    assert paid == pytest.approx([0, 2, -2])
    assert "You gain 2 by eve_0 being wrong, and lose 2 by bob_0 being wrong." in said
