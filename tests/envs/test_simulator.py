"""What is handed out of a simulator: everything that the next steps follow from, as plain data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.controllers.lineup import read_slots
from gym_gui.core.prompt_inputs import PromptInputs
from gym_gui.envs.simulator import as_json

mujoco: Any = pytest.importorskip("mujoco")
STATE = PromptInputs(state=True)


def test_from_the_state_alone_the_same_steps_follow() -> None:
    environment = envs.make("Hopper-v5")
    adapter = environment.adapter
    (agent,) = adapter.possible_agents
    adapter.reset(seed=4)
    rng = np.random.default_rng(0)
    for _ in range(5):
        adapter.step({agent: rng.uniform(-1, 1, 3).astype(np.float32)})
    state = environment.show(agent, None, STATE).state

    assert environment.simulator is not None
    about = json.loads(as_json(environment.simulator.description()))
    assert about["engine"] == "mujoco"
    assert about["version"] == mujoco.__version__
    assert about["task"] == "hopper_v5"
    assert about["constants"]["healthy_z_range"] == [0.7, "Infinity"]
    model = mujoco.MjModel.from_xml_string(about["model"])
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, np.array(state), mujoco.mjtState.mjSTATE_INTEGRATION)
    action = np.array([0.3, -0.5, 0.9], np.float32)
    adapter.step({agent: action})
    data.ctrl[:] = action
    mujoco.mj_step(model, data, nstep=about["frame_skip"])
    np.testing.assert_array_equal(data.qpos, environment.env.data.qpos)
    np.testing.assert_array_equal(data.qvel, environment.env.data.qvel)
    environment.close()


@pytest.mark.parametrize(("task", "has"), [("Hopper-v5", True), ("CartPole-v1", False)])
def test_it_is_offered_where_there_is_one(task: str, has: bool) -> None:
    environment = envs.make(task)
    (slot,) = read_slots(environment).values()
    assert ("state" in slot.offers) is has
    assert bool(environment.simulator) is has
    environment.close()
