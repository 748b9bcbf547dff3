"""What is said of rewards in Box2D, against what they pay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui import envs

pytest.importorskip("Box2D")
AGENT = "agent_0"


def test_a_step_of_the_lander_pays_what_is_told() -> None:
    environment = envs.make("LunarLander-v3")
    said = environment.describer(AGENT).game(AGENT)
    assert "pays 100 x how much nearer to the pad, slower and (in radians) more upright" in said
    assert "main engine costs 0.3 x its thrust, of a side engine 0.03 x" in said

    def worth(seen: Any) -> float:
        x, y, right, up, tilt, _, first, second = np.asarray(seen, np.float64)
        return float(-100 * (np.hypot(x, y) + np.hypot(right, up) + abs(tilt)) + 10 * (first + second))

    cost, last, over = {0: 0.0, 1: 0.03, 2: 0.3, 3: 0.03}, 0.0, False
    before = environment.adapter.reset(seed=3)[AGENT]
    for action in [0, 1, 2, 3] * 60:
        step = environment.adapter.step({AGENT: action})
        last, over = step.rewards[AGENT], step.terminated[AGENT]
        if over:
            break
        seen = step.observations[AGENT]
        assert last == pytest.approx(worth(seen) - worth(before) - cost[action], abs=1e-3)
        before = seen
    assert over and last == -100
    environment.close()


def test_a_step_of_the_walker_pays_what_is_told() -> None:
    environment = envs.make("BipedalWalker-v3")
    said, game = environment.describer(AGENT).game(AGENT), environment.env
    environment.adapter.reset(seed=3)
    hull, action = game.hull, np.array([0.5, -1.0, 0.0, 0.2], np.float32)
    for _ in range(5):
        far, tilt = hull.position.x, abs(hull.angle)
        step = environment.adapter.step({AGENT: action})
        forward = 130 * (hull.position.x - far) / 30
        upright = 5 * (tilt - abs(hull.angle))
        assert step.rewards[AGENT] == pytest.approx(forward + upright - 0.028 * 1.7, abs=1e-3)
    assert "each motor costs 0.028 x its force" in said
    environment.close()
