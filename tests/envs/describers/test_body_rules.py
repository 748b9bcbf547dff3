"""What is said of rewards in MuJoCo, against what they pay."""

from __future__ import annotations

import numpy as np
import pytest

from gym_gui import envs

pytest.importorskip("mujoco")
AGENT = "agent_0"


@pytest.mark.parametrize("weights", [(1.0, 0.1), (2.5, 0.4)])
def test_a_step_of_the_cheetah_pays_what_is_told(weights: tuple[float, float]) -> None:
    forward, force = weights
    environment = envs.make(
        "HalfCheetah-v5", env_kwargs={"forward_reward_weight": forward, "ctrl_cost_weight": force}
    )
    said = environment.describer(AGENT).game(AGENT)
    environment.adapter.reset(seed=1)
    action = np.array([0.5, -1.0, 0.0, 0.2, 0.0, 0.0], np.float32)
    step = environment.adapter.step({AGENT: action})
    speed = step.infos[AGENT]["x_velocity"]
    assert step.rewards[AGENT] == pytest.approx(forward * speed - force * float(np.sum(action**2)), abs=1e-4)
    assert f"pays {forward:g} x the speed along the x-axis and costs {force:g} x the squares" in said
    environment.close()


def test_what_a_hopper_is_paid_for_standing_is_told() -> None:
    environment = envs.make("Hopper-v5", env_kwargs={"healthy_reward": 3.0})
    assert "Every step that the game goes on pays 3." in environment.describer(AGENT).game(AGENT)
    environment.close()
