"""What plays is the network that has learnt: its answers are held against those of torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from test_cleanrl_play import box, discrete
from torch_networks import network_of

from cleanrl_worker.architecture import Encoding
from cleanrl_worker.policy import Policy
from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.learning.torch_weights import arrays_of
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.spaces import Space

POINT = Space("Box", np.dtype(np.float32), (2,), np.full(2, -9.0), np.full(2, 9.0))
NVEC, STARTS = np.array([2, 3], np.int64), np.array([5, 0], np.int64)
PAIR = Space("MultiDiscrete", np.dtype(np.int64), (2,), nvec=NVEC, starts=STARTS)


def image(*shape: int) -> Space:
    return Space("Box", np.dtype(np.uint8), shape, np.zeros(shape), np.full(shape, 255))


def encoded(sees: Space) -> dict[str, Any]:
    return {"encoder": Encoding.of(sees.shape, sees.dtype == np.uint8).to_json()}


ACTOR = {"type": "actor_critic", "hidden": [12, 9], "activation": "tanh"}
LSTM = {**ACTOR, "type": "actor_critic_lstm", "lstm_size": 7}
VALUES = {"type": "q_network", "hidden": [12, 9], "activation": "relu", "epsilon": 0.1}
CASES: dict[str, tuple[Space, Space, dict[str, Any]]] = {
    "vectors": (box(4), discrete(5, start=2), ACTOR),
    "bytes": (image(6), discrete(5), ACTOR),
    "no critic": (box(4), discrete(5), {**ACTOR, "type": "actor"}),
    "several choices": (box(2, 3), PAIR, ACTOR),
    "real numbers": (box(4), POINT, ACTOR),
    "grid worlds": (image(7, 7, 3), discrete(5), ACTOR),
    "channels first": (image(1, 7, 5), discrete(5), ACTOR),
    "large images": (image(36, 40, 3), discrete(5), ACTOR),
    "stacks of images": (image(4, 36, 36, 3), POINT, ACTOR),
    "memory": (box(4), discrete(5), LSTM),
    "memory of images": (image(7, 7, 3), POINT, LSTM),
    "values": (box(4), discrete(5), VALUES),
    "values of images": (image(36, 36, 3), discrete(5), VALUES),
    "distributions of values": (
        box(4),
        discrete(5),
        {**VALUES, "type": "categorical_q_network", "atoms": 11, "v_min": -2.0, "v_max": 3.0},
    ),
    "a deterministic actor": (
        box(4),
        POINT,
        {"type": "deterministic_actor", "hidden": [12, 9], "activation": "relu", "critics": 1, "noise": 0.1},
    ),
    "a Gaussian actor": (
        box(4),
        POINT,
        {"type": "gaussian_actor", "hidden": [12, 9], "activation": "relu", "critics": 2},
    ),
}


def both(case: str) -> tuple[Policy, Any]:
    sees, does, network = CASES[case]
    told = PolicyDescription("cleanrl_worker", "ppo", "Probe-v0", sees, does, {**network, **encoded(sees)})
    module = network_of(told)
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weights in module.named_parameters():
            inputs = weights.shape[-2] if weights.dim() == 3 else math.prod(weights.shape[1:])
            spread = 0.1 if "bias" in name or "logstd" in name else 1.5 / math.sqrt(inputs)
            weights.normal_(0.0, spread, generator=chance)
    return Policy.of(told, arrays_of(module.state_dict())), module


def observations(sees: Space) -> np.ndarray:
    rng = np.random.default_rng(2)
    if sees.dtype == np.uint8:
        most = 11 if len(sees.shape) > 1 and math.prod(sees.shape) < 3_000 else 256
        return rng.integers(most, size=(BATCH, *sees.shape), dtype=np.uint8)
    return rng.normal(size=(BATCH, *sees.shape)).astype(np.float32)


@pytest.mark.parametrize("name", CASES)
def test_it_says_what_the_network_says(name: str) -> None:
    policy, module = both(name)
    sees, does, network = CASES[name]
    rows = observations(sees)
    memory = np.random.default_rng(3).normal(size=(BATCH, policy.memory)).astype(np.float32)
    found = policy.choose(rows, memory=memory if policy.memory else None)
    tensor = torch.from_numpy(rows)
    values: Any = None
    with torch.inference_mode():
        if "actor_critic" in network["type"] or network["type"] == "actor":
            said = module(tensor, torch.from_numpy(memory)) if policy.memory else module(tensor)
            outputs, values = said[0], said[1]
            if policy.memory:
                np.testing.assert_allclose(found.memory, said[2].numpy(), rtol=1e-4, atol=1e-4)
        elif "q_network" in network["type"]:
            outputs = module(tensor)
            if outputs.dim() == 3:
                outputs = (outputs.softmax(-1) * torch.linspace(-2, 3, 11)).sum(-1)
            values = outputs.amax(-1)
        else:
            said = module.actor(tensor)
            outputs = said[0].tanh() if isinstance(said, tuple) else said
            values = module.critics(tensor, outputs).amin(0)
    outputs = outputs.numpy()
    if does.kind == "Discrete":
        expected = outputs.argmax(1) + does.start
    elif does.kind == "MultiDiscrete":
        expected = np.stack([outputs[:, :2].argmax(1) + 5, outputs[:, 2:].argmax(1)], 1)
    else:
        scale = 1.0 if "actor_critic" in network["type"] else 9.0
        expected = np.clip(outputs[:, :2] * scale, -9.0, 9.0)
    np.testing.assert_allclose(found.actions, expected, rtol=1e-4, atol=1e-4)
    assert len(np.unique(np.asarray(found.actions), axis=0)) > 1
    assert (found.values is None) == (values is None)
    if values is not None:
        np.testing.assert_allclose(found.values, values.numpy(), rtol=1e-3, atol=1e-3)
