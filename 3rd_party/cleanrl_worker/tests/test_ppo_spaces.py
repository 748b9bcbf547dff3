"""PPO learns every kind of action and observation, and what is kept plays as what was trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import probes  # noqa: F401  # registers the environments
import pytest
from gymnasium import spaces

from cleanrl_worker.config.ppo import PPOConfig
from cleanrl_worker.environments import EVALUATION, preprocessing_for
from cleanrl_worker.policy import Policy
from cleanrl_worker.train import main
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import check_steps

SMALL = [
    "--num-envs=4", "--num-steps=32", "--hidden", "16", "--learning-rate=5e-3", "--total-steps=2048",
    "--num-minibatches=4", "--update-epochs=4",
]  # fmt: skip


def trained(tmp_path: Path, env_id: str, *more: str, algo: str = "ppo") -> Policy:
    """A policy that was trained and kept as a person would."""
    args = [f"--algo={algo}", f"--env-id=probes:{env_id}", f"--out={tmp_path}", *SMALL, *more]
    assert main(args) == 0
    return Policy.load(tmp_path)


def plays(policy: Policy, env_id: str) -> float:
    return float(np.mean(EVALUATION.episode_returns(policy, f"probes:{env_id}", range(40))))


def test_of_several_parts_those_that_are_numbers_are_learnt_from() -> None:
    inside = spaces.Dict(image=spaces.Box(0, 9, (2, 2), np.uint8), mission=spaces.Text(9))
    steps = preprocessing_for(PPOConfig(), spaces.Dict(observation=inside, option=spaces.Discrete(3)))
    assert steps == check_steps([{"step": "keep", "keys": ["observation/image", "option"]}, "flatten"])


def test_real_numbers_are_hit(tmp_path: Path) -> None:
    policy = trained(tmp_path, "Target-v0", "--num-envs=16", "--ent-coef=0", "--total-steps=8192")
    assert plays(policy, "Target-v0") > -0.2  # -1.0 for always zero
    choice = policy.choose(np.array([[0.5], [9e9]], np.float32))
    assert choice.actions.shape == (2, 2, 1)
    assert choice.actions.dtype == np.float32
    assert (np.abs(choice.actions) <= 2.0).all()
    assert choice.actions[0, :, 0] == pytest.approx([0.5, -0.5], abs=0.15)


def test_components_are_learnt_each(tmp_path: Path) -> None:
    policy = trained(tmp_path, "Combination-v0")
    assert plays(policy, "Combination-v0") == 2.0
    assert policy.choose(np.array([[-1.0], [1.0]], np.float32)).actions.tolist() == [[5, 2], [6, 2]]


@pytest.mark.parametrize(
    ("env_id", "encoder", "more"),
    [
        pytest.param("Picture-v0", "small_cnn", (), marks=pytest.mark.full),
        ("Picture-v0", "small_cnn", ("--frame-stack=2",)),
        pytest.param(
            *("BigPicture-v0", "nature_cnn"),
            ("--total-steps=768", "--learning-rate=1e-3", "--num-steps=16"),
            marks=pytest.mark.full,
        ),
    ],
)
def test_images_are_understood(tmp_path: Path, env_id: str, encoder: str, more: tuple[str, ...]) -> None:
    policy = trained(tmp_path, env_id, *more)
    assert policy.description.network["encoder"]["kind"] == encoder
    assert plays(policy, env_id) > 0.9


def test_a_minigrid_image_is_selected_by_itself() -> None:
    environments = Environments(PPOConfig(env_id="MiniGrid-Empty-5x5-v0", num_envs=1))
    assert environments.preprocessing == [{"step": "select", "key": "image"}]
    assert environments.observation_space.shape == (7, 7, 3)
    assert environments.begin().observations.dtype == np.uint8
    environments.close()


def test_several_entries_of_an_observation_are_learnt_from_as_one_vector() -> None:
    minigrid = "MiniGrid-Empty-5x5-v0"
    environments = Environments(PPOConfig(env_id=minigrid, num_envs=1, select="image, direction"))
    assert environments.preprocessing == [
        {"step": "keep", "keys": ["image", "direction"]},
        {"step": "flatten"},
    ]
    assert environments.observation_space.shape == (4 + 7 * 7 * 3,)
    environments.close()


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({"env_id": "FrozenLake-v1"}, ["one_hot"]),
        ({"env_id": "Blackjack-v1"}, ["flatten"]),
        ({"env_id": "CartPole-v1", "frame_stack": 4}, ["frame_stack"]),
        ({"env_id": "CartPole-v1", "normalize_observations": True}, ["normalize"]),
    ],
)
def test_observations_become_vectors(settings: dict[str, Any], steps: list[str]) -> None:
    environments = Environments(PPOConfig(num_envs=2, **settings))
    seen = environments.begin()
    assert [step["step"] for step in environments.preprocessing] == steps
    assert seen.observations.shape == (2, *environments.observation_space.shape)
    environments.close()


def test_statistics_of_observations_and_rewards_travel_with_the_policy(tmp_path: Path) -> None:
    scaled = ("--normalize-observations", "--normalize-rewards")
    policy = trained(tmp_path, "Faraway-v0", *scaled)
    (step,) = policy.description.preprocessing
    assert step["step"] == "normalize"
    assert step["mean"][0] == pytest.approx(5000.5, abs=0.1)
    assert policy.description.shown_space.dtype == np.float32
    assert plays(policy, "Faraway-v0") == 1000.0


def test_images_are_not_normalised() -> None:
    with pytest.raises(ConfigError, match="normalize_observations is only for vectors"):
        Environments(PPOConfig(env_id="MiniGrid-Empty-5x5-v0", normalize_observations=True))


def test_actions_out_of_bounds_never_reach_the_environment() -> None:
    environments = Environments(PPOConfig(env_id="Target-v0", num_envs=2))
    environments.begin()
    transition = environments.step(np.full((2, 2, 1), 1e9, np.float32))  # the environment asserts
    assert transition.rewards.tolist() == pytest.approx([-4.0, -4.0])  # both numbers were 2
    environments.close()


def test_the_true_last_observation_is_reached_and_masks_with_it() -> None:
    environments = Environments(PPOConfig(env_id="TwoSteps-v0", num_envs=2))
    environments.begin()
    environments.step(np.zeros(2, np.int64))
    transition = environments.step(np.ones(2, np.int64))
    assert transition.terminated.all()
    assert transition.finished == ((0.0, 2), (0.0, 2))
    assert transition.seen.observations.tolist() == [[-1.0], [-1.0]]
    assert transition.reached.observations.tolist() == [[0.0], [0.0]]
    environments.close()
    masked = Environments(PPOConfig(env_id="MaskedBandit-v0", num_envs=2))
    assert masked.begin().masks is not None
    reached = masked.step(np.array([2, 3])).reached
    assert reached.masks is not None
    assert reached.masks.tolist() == [[False, False, True, True]] * 2
    masked.close()


def test_copies_in_processes_are_the_same_copies(tmp_path: Path) -> None:
    args = ["--env-id=CartPole-v1", *SMALL, "--total-steps=512"]
    assert main([*args, f"--out={tmp_path / 'a'}"]) == 0
    assert main([*args, f"--out={tmp_path / 'b'}", "--async-envs"]) == 0
    first, second = ((tmp_path / n / "model.safetensors").read_bytes() for n in "ab")
    assert first == second
