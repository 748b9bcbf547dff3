"""Files of the library's own ``model.save`` are imported and play as they do there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import QRDQN, TQC, TRPO, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecEnv,
    VecFrameStack,
    VecNormalize,
    VecTransposeImage,
)

from mosaic_worker.checkpoint import read_checkpoint
from mosaic_worker.learning.evaluation import stacked
from mosaic_worker.preprocessing import Pipeline
from sb3_worker.environments import make_environment
from sb3_worker.importing import main
from sb3_worker.policy import Choices, Policy

SMALL: dict[str, Any] = {"learning_rate": 5e-3, "seed": 1, "device": "cpu"}
ROLLOUT: dict[str, Any] = {**SMALL, "n_steps": 32}
REPLAY: dict[str, Any] = {**SMALL, "learning_starts": 20, "buffer_size": 500, "batch_size": 32}


def bring(file: Path, env_id: str, out: Path, *more: str) -> Policy:
    assert main([str(file), "--env-id", env_id, "--out", str(out), *more]) == 0
    return Policy.load(out)


def rows_of(space: Any, count: int) -> Any:
    """``count`` observations, stacked."""
    space.seed(3)
    rows = [space.sample() for _ in range(count)]
    if space.dtype == np.uint8:  # noise alone looks the same to a network
        rows = [(row * (i / count)).astype(np.uint8) for i, row in enumerate(rows)]
    if isinstance(rows[0], dict):
        return {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    return np.stack(rows)


def spread(model: Any) -> Any:
    """The same model with weights so large that it does this here and that there."""
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for weights in model.policy.parameters():
            weights.normal_(0.0, 0.3, generator=generator)
    return model


def wild(env_id: str, *steps: str) -> Any:
    """Observations of an environment, infinite bounds drawn as well."""
    env = make_environment(env_id)
    return rows_of(env.observation_space, 1000)


CASES: dict[str, tuple[Callable[..., Any], str, str, dict[str, Any]]] = {
    "ppo": (PPO, "MlpPolicy", "CartPole-v1", {**ROLLOUT, "batch_size": 32}),
    "ppo relu": (
        PPO,
        "MlpPolicy",
        "CartPole-v1",
        {
            **ROLLOUT,
            "batch_size": 32,
            "policy_kwargs": {"net_arch": {"pi": [32, 16], "vf": [8]}, "activation_fn": torch.nn.ReLU},
        },
    ),
    "ppo continuous": (PPO, "MlpPolicy", "Pendulum-v1", {**ROLLOUT, "batch_size": 32}),
    "ppo gsde": (PPO, "MlpPolicy", "Pendulum-v1", {**ROLLOUT, "batch_size": 32, "use_sde": True}),
    "ppo several": (PPO, "MlpPolicy", "sb3_probes:Places-v0", {**ROLLOUT, "batch_size": 32}),
    "ppo switches": (PPO, "MlpPolicy", "sb3_probes:Switches-v0", {**ROLLOUT, "batch_size": 32}),
    "ppo cnn": (PPO, "CnnPolicy", "sb3_probes:Pictures-v0", {**ROLLOUT, "batch_size": 32, "n_epochs": 1}),
    "ppo apart": (
        PPO,
        "MlpPolicy",
        "CartPole-v1",
        {**ROLLOUT, "batch_size": 32, "policy_kwargs": {"share_features_extractor": False}},
    ),
    "a2c": (A2C, "MlpPolicy", "CartPole-v1", ROLLOUT),
    "trpo": (TRPO, "MlpPolicy", "CartPole-v1", {**ROLLOUT, "batch_size": 32}),
    "maskable_ppo": (MaskablePPO, "MlpPolicy", "CartPole-v1", {**ROLLOUT, "batch_size": 32}),
    "dqn": (DQN, "MlpPolicy", "CartPole-v1", REPLAY),
    "qrdqn": (QRDQN, "MlpPolicy", "CartPole-v1", {**REPLAY, "policy_kwargs": {"n_quantiles": 7}}),
    "sac": (SAC, "MlpPolicy", "Pendulum-v1", REPLAY),
    "sac gsde": (SAC, "MlpPolicy", "Pendulum-v1", {**REPLAY, "use_sde": True}),
    "td3": (TD3, "MlpPolicy", "Pendulum-v1", {**REPLAY, "policy_kwargs": {"net_arch": [32]}}),
    "ddpg": (DDPG, "MlpPolicy", "Pendulum-v1", REPLAY),
    "tqc": (TQC, "MlpPolicy", "Pendulum-v1", {**REPLAY, "policy_kwargs": {"net_arch": [32]}}),
}


@pytest.mark.parametrize("name", list(CASES))
def test_an_imported_policy_acts_as_it_does_in_the_library(name: str, tmp_path: Path) -> None:
    algorithm, policy, env_id, arguments = CASES[name]
    model = algorithm(policy, make_environment(env_id), **arguments)
    spread(model.learn(32)).save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", env_id, tmp_path / "p")
    assert ours.description.algorithm == name.partition(" ")[0]
    observations = wild(env_id)
    shown = observations.transpose(0, 3, 1, 2) if "cnn" in name else observations
    theirs, _ = model.predict(observations, deterministic=True)
    chosen = ours.choose(shown)
    assert chosen.ok.all()
    if ours.description.action_space.kind == "Box":
        np.testing.assert_allclose(chosen.actions, theirs, rtol=1e-3, atol=1e-4)
    else:
        np.testing.assert_array_equal(chosen.actions, theirs)
    assert len(np.unique(theirs, axis=0)) > 1


def test_a_dict_of_observations_is_taken_whole(tmp_path: Path) -> None:
    env_id = "sb3_probes:Dashboard-v0"
    model = spread(PPO("MultiInputPolicy", gym.make(env_id), **ROLLOUT, batch_size=32).learn(32))
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", env_id, tmp_path / "p")
    observations = wild(env_id)
    theirs, _ = model.predict(observations, deterministic=True)
    np.testing.assert_array_equal(ours.choose(observations).actions, theirs)
    assert len(np.unique(theirs)) > 1


def same_actions(model: Any, ours: Policy, env_id: str, rounds: int = 200) -> set[tuple[int, ...]]:
    """What the library does on raw observations, and ours has to do as well."""
    env = gym.make(env_id)
    stream = Pipeline(ours.description.preprocessing, env.observation_space).stream()
    env.observation_space.seed(3)
    done: set[tuple[int, ...]] = set()
    for _ in range(rounds):
        raw = env.observation_space.sample()
        theirs, _ = model.predict(raw, deterministic=True)
        (mine,) = ours.choose(stacked([stream.apply(raw)])).actions
        np.testing.assert_array_equal(mine, theirs)
        done.add(tuple(np.ravel(theirs).tolist()))
    return done


def test_a_dict_with_an_image_is_taken_whole(tmp_path: Path) -> None:
    env_id = "sb3_probes:Cockpit-v0"
    model = spread(PPO("MultiInputPolicy", gym.make(env_id), **ROLLOUT, batch_size=32).learn(32))
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", env_id, tmp_path / "p")
    assert [(s["step"], s["key"]) for s in ours.description.preprocessing] == [("transpose", "view")]
    assert len(same_actions(model, ours, env_id)) > 1


def test_statistics_of_the_entries_of_a_dict_come_along(tmp_path: Path) -> None:
    env_id = "sb3_probes:Cockpit-v0"
    venv = VecNormalize(DummyVecEnv([lambda: gym.make(env_id)]), norm_obs_keys=["place"])
    model = spread(PPO("MultiInputPolicy", venv, **ROLLOUT, batch_size=32).learn(32))
    model.save(tmp_path / "model.zip")
    venv.save(str(tmp_path / "statistics.pkl"))
    more = ("--vecnormalize", str(tmp_path / "statistics.pkl"))
    ours = bring(tmp_path / "model.zip", env_id, tmp_path / "p", *more)
    assert {(s["step"], s["key"]) for s in ours.description.preprocessing} == {
        ("transpose", "view"),
        ("normalize", "place"),
    }
    space = gym.make(env_id).observation_space
    raw = space.sample()
    shown = Pipeline(ours.description.preprocessing, space).stream().apply(raw)
    np.testing.assert_allclose(shown["place"], venv.normalize_obs(raw)["place"], rtol=1e-6, atol=1e-6)


class Own(BaseFeaturesExtractor):
    """A user's own, which a zip holds as code."""

    def __init__(self, observation_space: Any, width: int = 16) -> None:
        super().__init__(observation_space, width)
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.ReLU(), torch.nn.Linear(12, width))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.net(observations))


LAYERS = [
    {"layer": "linear", "size": 12, "name": "net.0"},
    "relu",
    {"layer": "linear", "size": 16, "name": "net.2"},
    "tanh",
]


@pytest.mark.parametrize("algorithm", [PPO, DQN])
def test_an_extractor_of_ones_own_is_taken_by_its_description(algorithm: Any, tmp_path: Path) -> None:
    more = ROLLOUT | {"batch_size": 32} if algorithm is PPO else REPLAY
    kwargs = {"features_extractor_class": Own, "activation_fn": torch.nn.SiLU, "net_arch": [8]}
    model = spread(algorithm("MlpPolicy", "CartPole-v1", policy_kwargs=kwargs, **more).learn(32))
    with torch.no_grad():  # what tanh leaves is small beside the biases
        for name, weights in model.policy.named_parameters():
            weights.mul_(0.0 if name.endswith("bias") else 4.0)
    model.save(tmp_path / "model.zip")
    (tmp_path / "layers.json").write_text(json.dumps({"features_extractor": LAYERS}))
    described = ("--describe", str(tmp_path / "layers.json"))
    ours = bring(tmp_path / "model.zip", "CartPole-v1", tmp_path / "p", *described)
    assert len(same_actions(model, ours, "CartPole-v1")) > 1


def test_a_device_among_the_arguments_of_a_policy_is_passed_over(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "CartPole-v1", **ROLLOUT, batch_size=32)
    model.policy_kwargs["device"] = torch.device("cpu")
    model.save(tmp_path / "model.zip")
    bring(tmp_path / "model.zip", "CartPole-v1", tmp_path / "p")


def stacked_and_normalized(env_id: str, normalize_first: bool) -> VecEnv:
    env: VecEnv = make_vec_env(env_id, 2, seed=0)
    if normalize_first:
        return VecFrameStack(VecNormalize(env), 3)
    return VecNormalize(VecFrameStack(env, 3))


def statistics_of(env: Any) -> VecNormalize:
    while not isinstance(env, VecNormalize):
        env = env.venv
    return env


@pytest.mark.parametrize(
    ("algorithm", "env_id", "arguments", "normalize_first"),
    [
        pytest.param(PPO, "CartPole-v1", {**ROLLOUT, "batch_size": 32}, False, marks=pytest.mark.full),
        (PPO, "CartPole-v1", {**ROLLOUT, "batch_size": 32}, True),
        # Replay buffers of the library cannot have the statistics inside.
        (DQN, "CartPole-v1", REPLAY, False),
        (SAC, "Pendulum-v1", REPLAY, False),
    ],
)
def test_statistics_and_frames_come_along(
    algorithm: Any, env_id: str, arguments: dict[str, Any], normalize_first: bool, tmp_path: Path
) -> None:
    """Some episodes in the library's wrappers, and the same raw frames here."""
    env = stacked_and_normalized(env_id, normalize_first)
    model = algorithm("MlpPolicy", env, **arguments).learn(64)
    model.save(tmp_path / "model.zip")
    statistics_of(env).save(str(tmp_path / "statistics.pkl"))
    extra = ("--vecnormalize", str(tmp_path / "statistics.pkl"), "--frame-stack", "3")
    ours = bring(tmp_path / "model.zip", env_id, tmp_path / "p", *extra)
    assert {step["step"] for step in ours.description.preprocessing} == {"normalize", "frame_stack"}

    single: VecEnv = DummyVecEnv([lambda: gym.make(env_id)])
    kept = (
        VecNormalize.load(str(tmp_path / "statistics.pkl"), VecFrameStack(single, 3))
        if (not normalize_first)
        else VecFrameStack(VecNormalize.load(str(tmp_path / "statistics.pkl"), single), 3)
    )
    statistics_of(kept).training = False
    raw_env = gym.make(env_id)
    stream = Pipeline(ours.description.preprocessing, raw_env.observation_space).stream()
    single.seed(5)
    theirs, raw = kept.reset(), raw_env.reset(seed=5)[0]
    episodes = 0
    for _ in range(250):
        shown = stream.apply(raw)
        np.testing.assert_allclose(np.ravel(shown), theirs[0], rtol=1e-6, atol=1e-6)
        action, _ = model.predict(theirs, deterministic=True)
        chosen = ours.choose(np.asarray(shown)[None])
        np.testing.assert_allclose(chosen.actions, action, rtol=1e-4, atol=1e-4)
        theirs, _, done, _ = kept.step(action)
        raw, _, terminated, truncated, _ = raw_env.step(action[0])
        assert bool(done[0]) == (terminated or truncated)
        if done[0]:
            # The library resets by itself, without a seed; both go on from a common one.
            single.seed(7)
            theirs, raw = kept.reset(), raw_env.reset(seed=7)[0]
            stream.reset()
            episodes += 1
    assert episodes


def test_stacked_pictures_are_turned_and_joined_as_in_the_library(tmp_path: Path) -> None:
    env_id = "sb3_probes:Pictures-v0"
    env = VecTransposeImage(VecFrameStack(DummyVecEnv([lambda: gym.make(env_id)]), 2))
    model = PPO("CnnPolicy", env, **ROLLOUT, batch_size=32, n_epochs=1).learn(32)
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", env_id, tmp_path / "p")
    assert [s["step"] for s in ours.description.preprocessing] == ["transpose", "frame_stack"]
    raw_env = gym.make(env_id)
    env.seed(3)
    theirs, raw = env.reset(), raw_env.reset(seed=3)[0]
    stream = Pipeline(ours.description.preprocessing, raw_env.observation_space).stream()
    for _ in range(9):
        shown = stream.apply(raw)
        np.testing.assert_array_equal(shown, theirs[0])
        action, _ = model.predict(theirs, deterministic=True)
        np.testing.assert_array_equal(ours.choose(shown[None]).actions, action)
        theirs, raw = env.step(action)[0], raw_env.step(action[0])[0]


def test_masks_forbid_as_in_the_library(tmp_path: Path) -> None:
    model = MaskablePPO("MlpPolicy", "Acrobot-v1", **ROLLOUT)
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", "Acrobot-v1", tmp_path / "p")
    observations = wild("Acrobot-v1")
    masks = np.random.default_rng(0).random((1000, 3)) < 0.5
    masks[np.arange(1000), np.random.default_rng(1).integers(3, size=1000)] = True
    theirs, _ = model.predict(observations, deterministic=True, action_masks=masks)
    np.testing.assert_array_equal(ours.choose(observations, masks).actions, theirs)


def test_a_recurrent_policy_remembers_as_in_the_library(tmp_path: Path) -> None:
    model = RecurrentPPO(
        "MlpLstmPolicy", "CartPole-v1", **ROLLOUT, batch_size=32, policy_kwargs={"lstm_hidden_size": 16}
    ).learn(64)
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", "CartPole-v1", tmp_path / "p")
    generator = np.random.default_rng(0)
    state, memory = None, np.zeros((10, ours.memory), np.float32)
    begins = np.ones(10, bool)
    for _ in range(100):
        observations = generator.normal(size=(10, 4)).astype(np.float32)
        memory[begins] = 0
        theirs, state = model.predict(observations, state, begins, deterministic=True)
        chosen: Choices = ours.choose(observations, memory=memory)
        np.testing.assert_array_equal(chosen.actions, theirs)
        assert chosen.memory is not None
        memory = chosen.memory
        np.testing.assert_allclose(memory[:, :16], state[0][0], rtol=1e-5, atol=1e-6)
        begins = generator.random(10) < 0.1


def test_samples_follow_the_distribution_of_the_library(tmp_path: Path) -> None:
    model = PPO("MlpPolicy", "Acrobot-v1", **ROLLOUT, batch_size=32).learn(128)
    with torch.no_grad():
        model.policy.action_net.weight.mul_(20)
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", "Acrobot-v1", tmp_path / "p")
    observation = np.array([[0.5, -0.5, 0.2, 0.9, 1.0, -2.0]], np.float32)
    seen, _ = model.policy.obs_to_tensor(observation)
    expected = model.policy.get_distribution(seen).distribution.probs[0].detach().numpy()
    uniforms = np.random.default_rng(0).random((2, 20_000))
    drawn = ours.choose(np.repeat(observation, 20_000, 0), draws=lambda j: uniforms[j]).actions
    np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 20_000, expected, atol=0.015)


@pytest.mark.parametrize("squashed", [False, True])
def test_samples_of_continuous_actions_follow_the_library(squashed: bool, tmp_path: Path) -> None:
    arguments: dict[str, Any] = REPLAY if squashed else {**ROLLOUT, "batch_size": 32}
    model = (SAC if squashed else PPO)("MlpPolicy", "Pendulum-v1", **arguments).learn(32)
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", "Pendulum-v1", tmp_path / "p")
    observations = np.repeat(np.array([[0.3, 0.9, 0.5]], np.float32), 20_000, 0)
    uniforms = np.random.default_rng(0).random((1, 20_000))
    mine = ours.choose(observations, draws=lambda j: uniforms[j]).actions[:, 0]
    theirs = model.predict(observations, deterministic=False)[0][:, 0]
    for q in (0.1, 0.5, 0.9):
        assert np.quantile(mine, q) == pytest.approx(np.quantile(theirs, q), abs=0.06)


def test_a_value_based_policy_explores_where_it_samples(tmp_path: Path) -> None:
    model = DQN("MlpPolicy", "CartPole-v1", **REPLAY, exploration_final_eps=0.4).learn(200)
    model.save(tmp_path / "model.zip")
    ours = bring(tmp_path / "model.zip", "CartPole-v1", tmp_path / "p")
    observations = np.repeat(np.array([[0.1, 0.2, 0.0, -0.1]], np.float32), 20_000, 0)
    uniforms = np.random.default_rng(0).random((2, 20_000))
    best = int(ours.choose(observations[:1]).actions[0])
    others = (ours.choose(observations, draws=lambda j: uniforms[j]).actions != best).mean()
    assert others == pytest.approx(0.2, abs=0.02)


def test_what_is_written_says_where_it_came_from(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "model.zip"
    PPO("MlpPolicy", "CartPole-v1", **ROLLOUT, batch_size=32).learn(64).save(file)
    bring(file, "CartPole-v1", tmp_path / "p", "--licence", "MIT", "--algorithm", "PPO")
    said = json.loads(capsys.readouterr().out)
    description, _ = read_checkpoint(tmp_path / "p")
    assert (said["algorithm"], said["total_steps"], said["env_id"]) == ("ppo", 64, "CartPole-v1")
    assert said["sha256"] == description.weights_sha256
    assert (description.worker, description.seed, description.licence) == ("sb3_worker", 1, "MIT")
    assert description.origin["kind"] == "imported"
    assert description.origin["format"] == "sb3_zip"
    assert description.config["n_steps"] == 32
    assert main([str(file), "--env-id", "CartPole-v1", "--out", str(tmp_path / "p")]) == 2
    assert "already holds a policy" in capsys.readouterr().err
