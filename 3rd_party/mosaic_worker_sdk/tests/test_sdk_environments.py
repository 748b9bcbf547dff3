"""Environments that workers train in: Gymnasium's, registered by a module, made by a user's factory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import gymnasium
import pytest

from mosaic_worker.environments import make_environment
from mosaic_worker.learning.single_env import make_prepared
from mosaic_worker.learning.training_command import ConfigError

MODULE = """
import gymnasium
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv

class Upright(CartPoleEnv):
    pass

def plain():
    return CartPoleEnv()

def nothing():
    return 3

class Masked(CartPoleEnv):
    def action_masks(self):
        return [True, self.state[0] > 9]

class Beside(gymnasium.Env):
    observation_space = gymnasium.spaces.Dict(
        observation=gymnasium.spaces.Box(-1, 1, (2, 2)), action_mask=gymnasium.spaces.MultiBinary(2)
    )
    action_space = gymnasium.spaces.Discrete(2)

    def seen(self):
        return {"observation": np.zeros((2, 2), np.float32), "action_mask": np.array([True, False])}

    def reset(self, **_):
        return self.seen(), {}

    def step(self, action):
        return self.seen(), 0.0, False, False, {}

gymnasium.register("SdkPole-v0", CartPoleEnv)
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "sdk_poles.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    gymnasium.registry.pop("SdkPole-v0", None)  # others list what is registered
    sys.modules.pop("sdk_poles", None)


@pytest.mark.parametrize(
    ("env_id", "kind"),
    [
        ("CartPole-v1", "CartPoleEnv"),
        ("sdk_poles:SdkPole-v0", "CartPoleEnv"),
        ("sdk_poles:plain", "CartPoleEnv"),
        ("sdk_poles:Upright", "Upright"),
    ],
)
def test_each_name_makes_its_environment(env_id: str, kind: str) -> None:
    env = make_environment(env_id)
    assert type(env.unwrapped).__name__ == kind and env.render_mode is None
    env.close()


def test_legal_actions_that_a_method_tells_are_in_the_info() -> None:
    env = make_environment("sdk_poles:Masked")
    _, first = env.reset(seed=0)
    _, _, _, _, second = env.step(0)
    assert [info["action_mask"].tolist() for info in (first, second)] == [[True, False]] * 2
    assert "action_mask" not in make_environment("CartPole-v1").reset(seed=0)[1]


def test_whoever_can_draw_is_told_to() -> None:
    assert make_environment("sdk_poles:Upright", "rgb_array").render_mode == "rgb_array"
    assert make_environment("CartPole-v1", "rgb_array").render_mode == "rgb_array"
    assert make_environment("sdk_poles:plain", "rgb_array").render_mode is None


@pytest.mark.parametrize(
    ("env_id", "error", "words"),
    [
        ("sdk_poles:nothing", ValueError, "gave a int, not a Gymnasium environment"),
        ("sdk_poles:missing", gymnasium.error.NameNotFound, "missing"),
        ("sdk_no_such:plain", ImportError, "sdk_no_such"),
    ],
)
def test_what_makes_none_is_named(env_id: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make_environment(env_id)


_NOT_INSTALLED = """
import subprocess
import sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "gym_gui":
            raise ModuleNotFoundError("No module named 'gym_gui'", name="gym_gui")

sys.meta_path.insert(0, Absent)
from mosaic_worker.environments import make_parallel_environment
print(*make_parallel_environment("simple_spread_v3").possible_agents)
"""


def test_mosaic_lies_around_the_sdk_where_it_is_not_installed() -> None:
    """As in an interpreter of a worker's own."""
    done = subprocess.run([sys.executable, "-c", _NOT_INSTALLED], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["agent_0", "agent_1", "agent_2"], done.stderr


def test_a_prepared_environment_tells_legal_actions_in_its_info_and_shows_what_steps_make() -> None:
    with closing(make_prepared("sdk_poles:Beside", [{"step": "flatten"}])) as env:
        seen, info = env.reset()
        assert env.observation_space.shape == seen.shape == (4,)
        assert info["action_mask"].tolist() == [True, False]
        assert env.step(0)[4]["action_mask"].tolist() == [True, False]


def test_an_environment_that_mosaic_registers_is_made_by_its_name() -> None:
    with closing(make_prepared("Skills/MiniGrid-DoorKey-5x5-v0")) as env:
        assert "option" in env.observation_space.spaces


def test_what_cannot_be_made_or_prepared_is_said() -> None:
    with pytest.raises(ConfigError, match="environment 'Nowhere-v0' cannot be made"):
        make_prepared("Nowhere-v0")
    with pytest.raises(ConfigError, match="observations of CartPole-v1 cannot be prepared"):
        make_prepared("CartPole-v1", [{"step": "grayscale"}])
