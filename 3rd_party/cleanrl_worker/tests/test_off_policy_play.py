"""Policies of DQN, C51, DDPG, TD3 and SAC at play: the same in any batch, sampled as they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from torch_networks import network_in

from cleanrl_worker.architecture import Encoding
from cleanrl_worker.main import CleanRLWorker
from cleanrl_worker.off_policy_networks import ActionValues, ActorAndCritics
from cleanrl_worker.policy import Policy
from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Actions, Batch, Invalid, LoadError, Slot

ROWS = 200
LOW, HIGH = np.array([-2.0, 10.0, 0.0], np.float32), np.array([6.0, 30.0, 1.0], np.float32)
BOX = Space("Box", np.dtype(np.float32), (3,), LOW, HIGH)
DISCRETE = Space("Discrete", np.dtype(np.int64), n=4, start=10)
NAMES = ("dqn", "c51", "dqn_image", "ddpg", "td3", "sac")


def seen_by(name: str) -> Space:
    if name == "dqn_image":
        return Space("Box", np.dtype(np.uint8), (7, 7, 3), np.zeros((7, 7, 3)), np.full((7, 7, 3), 255))
    return Space("Box", np.dtype(np.float32), (5,), np.full(5, -np.inf), np.full(5, np.inf))


def keep(name: str, folder: Path, hidden: tuple[int, ...] = (32, 33)) -> Path:
    """A policy whose weights are drawn, and large, so that its choices differ."""
    sees = seen_by(name)
    encoding = Encoding.of(sees.shape, sees.dtype == np.uint8)
    if name in ("ddpg", "td3", "sac"):
        critics = 1 if name == "ddpg" else 2
        module: Any = ActorAndCritics(encoding, 3, hidden, gaussian=name == "sac", critics=critics)
        network, does = {**module.to_json(), "noise": 0.3}, BOX
    else:
        atoms = 21 if name == "c51" else 1
        module, does = ActionValues(encoding, hidden, 4, atoms), DISCRETE
        network = {"type": "q_network", **module.to_json(), "epsilon": 0.25}
        if name == "c51":
            network |= {"type": "categorical_q_network", "atoms": atoms, "v_min": -3.0, "v_max": 3.0}
    module.initialise(torch.Generator().manual_seed(1))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(3.0)
    description = PolicyDescription("cleanrl_worker", name.split("_")[0], "Somewhere-v0", sees, does, network)
    save_checkpoint(folder, description, safetensors.torch.save(dict(module.state_dict())))
    return folder


def worker_for(name: str, folder: Path, **more: Any) -> tuple[CleanRLWorker, Slot]:
    deterministic = more.pop("deterministic", None)
    does = BOX if name in ("ddpg", "td3", "sac") else DISCRETE
    settings = {"checkpoint": str(folder), **more}
    slot = Slot(0, "agent_0", "Somewhere-v0", seen_by(name), does, settings, deterministic=deterministic)
    worker = CleanRLWorker()
    worker.load(slot)
    return worker, slot


def observations_for(name: str, count: int = ROWS) -> np.ndarray:
    rng = np.random.default_rng(5)
    if name == "dqn_image":
        return rng.integers(0, 11, (count, 7, 7, 3), np.uint8)
    return rng.normal(size=(count, 5)).astype(np.float32)


def ask(
    worker: CleanRLWorker, slot: Slot, rows: Any, observations: Any, masks: Any = None, seed: int = 2**63
) -> Actions:
    rows = np.asarray(rows)
    seeds = (rows // 50).astype(np.uint64) + np.uint64(seed)
    legal = None if masks is None else masks[rows]
    numbers = rows.tolist()
    return worker.select_actions(
        Batch(slot, numbers, numbers, (rows % 50).tolist(), seeds, observations[rows], legal)
    )


@pytest.mark.parametrize("deterministic", [None, False])
@pytest.mark.parametrize(
    ("name", "hidden"),
    [*((name, (32, 33)) for name in NAMES), *((name, (7, 6)) for name in ("dqn", "td3", "sac"))],
)
def test_any_split_and_order_gives_equal_bits(
    name: str, hidden: tuple[int, ...], deterministic: bool | None, tmp_path: Path
) -> None:
    worker, slot = worker_for(name, keep(name, tmp_path, hidden), deterministic=deterministic)
    observations, rng = observations_for(name), np.random.default_rng(6)
    masks = None
    if slot.action_space.kind == "Discrete":
        masks = rng.random((ROWS, 4)) < 0.6
        masks[np.arange(ROWS), rng.integers(4, size=ROWS)] = True
    whole = ask(worker, slot, np.arange(ROWS), observations, masks)
    if masks is not None:
        chosen = np.asarray(whole.actions) - 10
        assert masks[np.arange(ROWS), chosen].all()
        assert set(chosen.tolist()) == {0, 1, 2, 3}
    for largest in (1, 3, 65, 150):
        order, begin = rng.permutation(ROWS), 0
        while begin < ROWS:
            rows = order[begin : begin + int(rng.integers(1, largest + 1))]
            part = ask(worker, slot, rows, observations, masks)
            assert np.asarray(part.actions).tobytes() == np.asarray(whole.actions)[rows].tobytes()
            assert np.asarray(part.values).tobytes() == np.asarray(whole.values)[rows].tobytes()
            begin += len(rows)


@pytest.mark.parametrize("name", ["ddpg", "td3", "sac"])
@pytest.mark.parametrize("deterministic", [None, False])
def test_actions_are_within_the_bounds_and_reach_far(
    name: str, deterministic: bool | None, tmp_path: Path
) -> None:
    worker, slot = worker_for(name, keep(name, tmp_path), deterministic=deterministic)
    actions = np.asarray(ask(worker, slot, np.arange(ROWS), observations_for(name)).actions)
    assert (actions.shape, actions.dtype) == ((ROWS, 3), np.dtype(np.float32))
    assert (actions >= LOW).all()
    assert (actions <= HIGH).all()
    assert (np.ptp(actions, axis=0) > 0.2 * (HIGH - LOW)).all()


def test_sampling_takes_a_random_action_now_and_then(tmp_path: Path) -> None:
    name, count = "dqn", 8_000
    folder = keep(name, tmp_path)
    observations = np.repeat(observations_for(name, 1), count, axis=0)
    best = Policy.load(folder).choose(observations[:1]).actions[0]
    worker, slot = worker_for(name, folder, deterministic=False)
    drawn = np.asarray(ask(worker, slot, np.arange(count), observations).actions)
    shares = np.bincount(drawn - 10, minlength=4) / count
    expected = np.full(4, 0.25 / 4)
    expected[best - 10] += 0.75
    np.testing.assert_allclose(shares, expected, atol=0.015)


@pytest.mark.parametrize(("name", "spread"), [("td3", 0.3), ("sac", None)])
def test_sampled_actions_have_the_spread_that_is_said(
    name: str, spread: float | None, tmp_path: Path
) -> None:
    folder = keep(name, tmp_path)
    module: Any = network_in(folder)
    observations = np.repeat(observations_for(name, 1) * 0.05, 8_000, axis=0)
    with torch.no_grad():
        said = module.actor(torch.from_numpy(observations[:1]))
    worker, slot = worker_for(name, folder, deterministic=False)
    actions = np.asarray(ask(worker, slot, np.arange(8_000), observations).actions, np.float64)
    units = (actions - LOW) / (HIGH - LOW) * 2.0 - 1.0
    if spread is None:
        mean, log_std = (x[0].numpy() for x in said)
        within = np.abs(np.arctanh(np.clip(units, -1 + 1e-6, 1 - 1e-6)) - mean) < np.exp(log_std)
        np.testing.assert_allclose(within.mean(axis=0), 0.6827, atol=0.03)
    else:
        inside = np.abs(said[0].numpy()) < 0.4  # noise that is not cut off at the bounds
        assert inside.any()
        np.testing.assert_allclose(units.std(axis=0)[inside], spread, atol=0.03)


@pytest.mark.parametrize("name", ["dqn", "sac"])
def test_policy_seeds_change_samples_alone(name: str, tmp_path: Path) -> None:
    folder, observations = keep(name, tmp_path), observations_for(name, 100)

    def play(deterministic: bool | None, seed: int) -> bytes:
        worker, slot = worker_for(name, folder, deterministic=deterministic)
        return np.asarray(ask(worker, slot, np.arange(100), observations, seed=seed).actions).tobytes()

    assert play(False, 42) == play(False, 42) != play(False, 7)
    assert play(None, 42) == play(None, 7)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_comes_with_each_action(name: str, tmp_path: Path) -> None:
    folder, observations = keep(name, tmp_path), observations_for(name, 64)
    choices = Policy.load(folder).choose(observations)
    module: Any = network_in(folder)
    with torch.no_grad():
        if name in ("ddpg", "td3", "sac"):
            units = (choices.actions - LOW) / (HIGH - LOW) * 2.0 - 1.0
            inputs = torch.from_numpy(observations), torch.from_numpy(units.astype(np.float32))
            expected = module.critics(*inputs).amin(0)
        elif name == "c51":
            logits = module(torch.from_numpy(observations))
            expected = (logits.softmax(-1) * torch.linspace(-3, 3, 21)).sum(-1).amax(-1)
        else:
            expected = module(torch.from_numpy(observations)).amax(-1)
    np.testing.assert_allclose(choices.values, expected.numpy(), atol=1e-3)


def test_what_cannot_be_decided_is_invalid_and_harms_no_neighbor(tmp_path: Path) -> None:
    for name in ("c51", "sac"):
        worker, slot = worker_for(name, keep(name, tmp_path / name))
        observations = observations_for(name, 4)
        clean = ask(worker, slot, np.arange(4), observations)
        observations[1, 0] = np.nan
        answer = ask(worker, slot, np.arange(4), observations)
        assert isinstance(answer.actions[1], Invalid)
        assert "finite" in answer.actions[1].reason
        for i in (0, 2, 3):
            np.testing.assert_array_equal(answer.actions[i], clean.actions[i])


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("dqn", {"epsilon": 1.5}, "its epsilon is 1.5, not from 0 to 1"),
        ("dqn", {"epsilon": "x"}, "its epsilon is 'x', not a finite number"),
        ("dqn", {"activation": "elu"}, "its activation is unknown: 'elu'"),
        ("dqn", {"hidden": [10**9]}, "hidden widths"),
        ("dqn", {"hidden": [32, 34]}, "do not fit their description"),
        ("dqn", {"type": "deterministic_actor"}, "gives continuous actions, but its actions are a Discrete"),
        ("c51", {"atoms": 10**9}, "its atoms is 1000000000"),
        ("c51", {"v_max": None}, "its v_max is None"),
        ("td3", {"critics": 0}, "its critics is 0"),
        ("td3", {"noise": None}, "its noise is None"),
        ("sac", {"type": "q_network"}, "values discrete actions, but its actions are a Box"),
    ],
)
def test_a_strange_network_is_refused_in_one_line(
    name: str, changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = keep(name, tmp_path) / "policy.json"
    data = json.loads(path.read_text())
    data["network"] |= changes
    path.write_text(json.dumps(data))
    with pytest.raises(LoadError, match=words) as caught:
        Policy.load(tmp_path)
    assert "\n" not in str(caught.value)
