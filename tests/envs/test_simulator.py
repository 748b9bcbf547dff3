"""What is handed out of a simulator: everything that the next steps follow from, as plain data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from gym_gui import envs
from gym_gui.controllers.engine.bound_operator import read_slots
from gym_gui.core.errors import MissingDependencyError
from gym_gui.core.experiment.prompt_inputs import PromptInputs
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


SWING_UP = """
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.spaces import Box
from gymnasium.wrappers import TimeLimit

class CartPole(MujocoEnv):
    metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"], "render_fps": 50}

    def __init__(self, **kwargs):
        super().__init__(__file__.replace(".py", ".xml"), 2, Box(-10, 10, (4,), np.float64), **kwargs)

    def _get_obs(self):
        return np.concatenate([self.data.qpos, self.data.qvel])

    def reset_model(self):
        self.set_state(np.array([0, 3.1]), np.zeros(2))
        return self._get_obs()

    def step(self, action):
        self.do_simulation(action, self.frame_skip)
        return self._get_obs(), float(-abs(self.data.qpos[1])), False, False, {}

def make(**kwargs):
    return TimeLimit(CartPole(**kwargs), 20)
"""
CART_POLE = """
<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="x" type="slide" axis="1 0 0"/><geom type="box" size=".2 .1 .1"/>
    <body><joint name="pole" axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 0 0 1"/></body>
  </body>
</worldbody><actuator><motor joint="x" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>
"""


@pytest.mark.parametrize("registered", [False, True])
def test_environments_of_ones_own_have_theirs_and_show_plans(
    registered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"swing_up_{registered}"
    (tmp_path / f"{name}.py").write_text(SWING_UP)
    (tmp_path / f"{name}.xml").write_text(CART_POLE)
    monkeypatch.syspath_prepend(tmp_path)
    task = f"{name}:make"
    if registered:
        task = "tests/SwingUp-v0"
        gymnasium.register(task, entry_point=f"{name}:CartPole", max_episode_steps=20)
    try:
        environment = envs.make(task, render_mode="rgb_array")
    except MissingDependencyError as error:
        pytest.skip(str(error))
    finally:
        gymnasium.registry.pop("tests/SwingUp-v0", None)
    environment.adapter.reset(seed=0)
    assert environment.simulator is not None
    about = environment.simulator.description()
    # What is planned for is known of Gymnasium's tasks alone, whatever a module is called.
    assert about["task"] == f"{name}:CartPole" and 'name="pole"' in about["model"]
    assert environment.simulator.state()[2] == 3.1
    plain, drawn = environment.picture(), environment.picture([[[-0.5, 0.0, 0.0], [0.5, 0.0, 0.3]]])
    assert plain is not None and drawn is not None and (np.asarray(plain) != np.asarray(drawn)).any()
    environment.close()


@pytest.mark.parametrize(("task", "has"), [("Hopper-v5", True), ("CartPole-v1", False)])
def test_it_is_offered_where_there_is_one(task: str, has: bool) -> None:
    environment = envs.make(task)
    (slot,) = read_slots(environment).values()
    assert ("state" in slot.offers) is has
    assert bool(environment.simulator) is has
    environment.close()
