"""What plays is the library's own network: its answers are held against those of the library's objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.utils import obs_as_tensor
from test_sb3_play import box, discrete, image, several

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.learning.torch_weights import arrays_of
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError
from sb3_worker.library_network import build, tensors_of
from sb3_worker.network import Network
from sb3_worker.policy import Policy, from_zero

POINT = box(2, low=-2.0, high=3.0)
BITS = Space("MultiBinary", np.dtype(np.int8), (3,))
BOTH = Space("Dict", spaces={"camera": image(3, 36, 40), "speed": box(4)})
LAYERS = ("flatten", {"layer": "linear", "size": 9}, "gelu")
IMAGES = ({"layer": "conv", "channels": 4, "kernel": 3, "stride": 2, "padding": 1}, "elu", "flatten")

CASES: dict[str, tuple[str, Space, Space, dict[str, Any]]] = {
    "ppo": ("actor_critic", box(4), discrete(5, start=2), {}),
    "ppo, widths apart": ("actor_critic", box(4), discrete(3), {"net_arch": {"pi": [9], "vf": [7, 5]}}),
    "ppo, no hidden layer": ("actor_critic", box(4), discrete(3), {"net_arch": []}),
    "ppo, several choices": ("actor_critic", box(4), several(2, 3), {"activation": "silu"}),
    "ppo, bits": ("actor_critic", box(4), BITS, {}),
    "ppo, real": ("actor_critic", box(4), POINT, {"options": {"log_std_init": -1.0}}),
    "ppo, gSDE": ("actor_critic", box(4), POINT, {"options": {"use_sde": True, "squash_output": True}}),
    "ppo, gSDE, expln": (
        "actor_critic",
        box(4),
        POINT,
        {"options": {"use_sde": True, "use_expln": True, "full_std": False}},
    ),
    "ppo, images": ("actor_critic", image(3, 40, 36), discrete(3), {"features": "nature_cnn"}),
    "ppo, images apart": (
        "actor_critic",
        image(1, 36, 36),
        discrete(3),
        {"features": "nature_cnn", "options": {"share_features_extractor": False, "features_dim": 32}},
    ),
    "ppo, images as vectors": ("actor_critic", image(3, 8, 8), discrete(3), {}),
    "ppo, cells": ("actor_critic", discrete(6), discrete(3), {}),
    "ppo, counts": ("actor_critic", several(3, 4), discrete(3), {}),
    "ppo, both": (
        "actor_critic",
        BOTH,
        discrete(3),
        {"features": "combined", "options": {"cnn_output_dim": 16}},
    ),
    "ppo, own layers": ("actor_critic", box(2, 3), discrete(3), {"features": "described", "layers": LAYERS}),
    "ppo, own layers along the last axis": (
        "actor_critic",
        box(2, 3),
        discrete(3),
        {"features": "described", "layers": ({"layer": "linear", "size": 5}, "relu", "flatten")},
    ),
    "ppo, own convolutions": (
        "actor_critic",
        image(3, 9, 8),
        discrete(3),
        {"features": "described", "layers": IMAGES},
    ),
    "masked ppo": ("maskable_actor_critic", box(4), discrete(5), {}),
    "recurrent ppo": (
        "recurrent_actor_critic",
        box(4),
        discrete(5),
        {"options": {"lstm_hidden_size": 8, "n_lstm_layers": 2}},
    ),
    "dqn": ("dqn", box(4), discrete(5), {}),
    "dqn, images": ("dqn", image(3, 36, 36), discrete(3), {"features": "nature_cnn"}),
    "qrdqn": ("qrdqn", box(4), discrete(5), {"options": {"n_quantiles": 7}}),
    "td3": ("td3", box(4), POINT, {}),
    "td3, widths": ("td3", box(4), POINT, {"net_arch": {"pi": [8], "qf": [9]}}),
    "sac": ("sac", box(4), POINT, {}),
    "sac, gSDE": ("sac", box(4), POINT, {"options": {"use_sde": True, "clip_mean": 0.7}}),
    "tqc": ("tqc", box(4), POINT, {"net_arch": [32]}),
}


def both(name: str, spread: float = 0.3) -> tuple[Policy, Any]:
    """The policy, and the library's object with the same weights."""
    family, sees, does, more = CASES[name]
    network = Network(family, sees, from_zero(does), **more)
    module = build(network)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(0.0, spread, generator=generator)
    told = PolicyDescription("sb3_worker", "ppo", "Probe-v0", sees, does, network.to_json())
    return Policy.of(told, arrays_of(tensors_of(module))), module


def observations(space: Space, count: int = BATCH) -> Any:
    rng = np.random.default_rng(4)
    if space.kind == "Dict":
        return {path: observations(leaf, count) for path, leaf in space.leaves}
    if space.kind == "Discrete":
        return rng.integers(space.n, size=count)
    if space.kind == "MultiDiscrete":
        return np.stack([rng.integers(n, size=count) for n in np.asarray(space.nvec)], 1)
    if space.dtype == np.uint8:
        return rng.integers(256, size=(count, *space.shape), dtype=np.uint8)
    return rng.normal(size=(count, *space.shape)).astype(np.float32)


@pytest.mark.parametrize("name", CASES)
def test_it_acts_as_the_library_does(name: str) -> None:
    policy, module = both(name, 1.0 if "recurrent" in name else 0.3)
    family, sees, does, _ = CASES[name]
    seen = observations(sees)
    found = policy.choose(seen)
    assert found.ok.all()
    more = {"state": None, "episode_start": np.ones(BATCH, bool)} if policy.memory else {}
    expected, _ = module.predict(seen, deterministic=True, **more)
    if does.kind in ("Discrete", "MultiDiscrete"):
        expected = expected + (does.start if does.kind == "Discrete" else 0)
    np.testing.assert_allclose(found.actions, expected, rtol=1e-4, atol=1e-4)
    assert len(np.unique(np.asarray(found.actions), axis=0)) > 1
    if "actor_critic" in family and not policy.memory:
        with torch.inference_mode():
            values = module.predict_values(obs_as_tensor(seen, "cpu"))[:, 0].numpy()
        np.testing.assert_allclose(found.values, values, rtol=1e-3, atol=1e-3)
    else:
        assert found.values is None or family in ("dqn", "qrdqn")


@pytest.mark.parametrize("name", ["ppo, real", "ppo, gSDE", "ppo, gSDE, expln", "sac", "sac, gSDE", "tqc"])
def test_it_draws_with_the_spread_of_the_library(name: str) -> None:
    policy, module = both(name, 0.1)
    one = observations(CASES[name][1], 1)
    drawn = np.random.default_rng(2)
    many = np.repeat(one, 4_000, axis=0)
    found = policy.choose(many, draws=lambda _: drawn.random(4_000)).actions
    with torch.no_grad():
        tensor = torch.as_tensor(many)
        if "ppo" in name:
            if "gSDE" in name:  # the matrix of the noise is drawn for each row
                module.reset_noise(4_000)
            theirs = module.get_distribution(tensor).get_actions()
        else:
            if "gSDE" in name:
                module.actor.reset_noise(4_000)
            theirs = module.actor(tensor, deterministic=False)
    expected = theirs.numpy()
    if "squash" in str(CASES[name][3]) or "ppo" not in name:
        expected = module.unscale_action(expected)
    expected = np.clip(expected, -2.0, 3.0)
    np.testing.assert_allclose(found.mean(axis=0), expected.mean(axis=0), atol=0.12)
    np.testing.assert_allclose(found.std(axis=0), expected.std(axis=0), rtol=0.08)


def test_a_memory_moves_as_the_library_moves_it() -> None:
    policy, module = both("recurrent ppo")
    state: Any = None
    memory = None
    for step in range(5):
        seen = observations(CASES["recurrent ppo"][1]) * (step + 1)
        choices = policy.choose(seen, memory=memory)
        memory = choices.memory
        starts = np.full(BATCH, step == 0)
        expected, state = module.predict(seen, state=state, episode_start=starts, deterministic=True)
        np.testing.assert_array_equal(choices.actions, expected + 0)


def test_weights_of_a_deeper_network_are_refused(tmp_path: Path) -> None:
    family, sees, does, _ = CASES["ppo"]
    deep = Network(family, sees, from_zero(does), net_arch=[64, 64])
    told = PolicyDescription(
        "sb3_worker",
        "ppo",
        "Probe-v0",
        sees,
        does,
        Network(family, sees, from_zero(does), net_arch=[64]).to_json(),
    )
    with pytest.raises(Exception, match=r"such a network has no mlp_extractor\.policy_net\.2"):
        Policy.of(told, arrays_of(tensors_of(build(deep))))


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (
            Network("td3", box(4), discrete(2)),
            "gives actions of a Box, but its action space is a Discrete",
        ),
        (Network("dqn", box(4), POINT), "gives actions of a Discrete, but its action space is a Box"),
        (Network("actor_critic", BOTH, discrete(2)), "flatten features, but its observations are a Dict"),
        (Network("actor_critic", box(4), POINT, options={"squash_output": True}), "squashes actions"),
        (Network("actor_critic", discrete(10**13), discrete(2)), r"needed|is missing"),
        (
            Network("sac", box(4), POINT, options={"use_sde": True, "clip_mean": 10**400}),
            "wrong type|missing",
        ),
    ],
)
def test_a_description_that_cannot_be_played_is_refused(network: Network, words: str) -> None:
    sees, does = network.observation_space, network.action_space
    told = PolicyDescription("sb3_worker", "ppo", "Probe-v0", sees, does, network.to_json())
    with pytest.raises(LoadError, match=words):
        Policy.of(told, {})
