"""The worker plays what was trained: in batches of any make-up, masked, sampled or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from torch_networks import network_in, network_of

from cleanrl_worker.environments import EVALUATION
from cleanrl_worker.main import CleanRLWorker
from cleanrl_worker.policy import Policy
from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Actions, Batch, Invalid, LoadError, Slot

ROWS = 300
SHIPPED = Path(__file__).resolve().parents[3] / "docs" / "examples" / "checkpoints" / "ppo_cartpole"


def box(*shape: int) -> Space:
    return Space("Box", np.dtype(np.float32), shape, np.full(shape, -np.inf), np.full(shape, np.inf))


def discrete(n: int, start: int = 0) -> Space:
    return Space("Discrete", np.dtype(np.int64), n=n, start=start)


def keep(folder: Path, sees: Space, does: Space, hidden: tuple[int, ...] = (64, 64)) -> Path:
    written = {"type": "mlp", "hidden": list(hidden), "activation": "tanh"}
    description = PolicyDescription("cleanrl_worker", "ppo", "CartPole-v1", sees, does, written)
    network: Any = network_of(description)
    network.initialise(torch.Generator().manual_seed(1))
    with torch.no_grad():
        for parameter in network.parameters():  # spread the tiny initial logits
            parameter.mul_(3.0)
    save_checkpoint(folder, description, safetensors.torch.save(network.state_dict()))
    return folder


def slot_of(
    folder: Path, sees: Space, does: Space, *, deterministic: bool | None = None, **settings: Any
) -> Slot:
    settings = {"checkpoint": str(folder), **settings}
    return Slot(0, "agent_0", "CartPole-v1", sees, does, settings, deterministic=deterministic)


def ask(worker: CleanRLWorker, slot: Slot, rows: Any, observations: Any, masks: Any = None) -> Actions:
    rows = np.asarray(rows)
    return worker.select_actions(
        Batch(
            slot,
            rows.tolist(),
            rows.tolist(),
            (rows % 50).tolist(),
            (rows // 50).astype(np.uint64) + np.uint64(2**63),
            observations[rows],
            None if masks is None else masks[rows],
        )
    )


@pytest.mark.parametrize("deterministic", [None, False])
@pytest.mark.parametrize(
    ("inputs", "actions", "hidden"), [(4, 2, (64, 64)), (1, 7, (16,)), (147, 18, (128, 33, 64))]
)
def test_any_split_and_order_gives_equal_bits(
    tmp_path: Path, inputs: int, actions: int, hidden: tuple[int, ...], deterministic: bool | None
) -> None:
    sees, does = box(inputs), discrete(actions)
    slot = slot_of(keep(tmp_path / "p", sees, does, hidden), sees, does, deterministic=deterministic)
    worker = CleanRLWorker()
    worker.load(slot)
    rng = np.random.default_rng(5)
    observations = rng.normal(size=(ROWS, inputs)).astype(np.float32)
    masks = rng.random((ROWS, actions)) < 0.6
    masks[np.arange(ROWS), rng.integers(actions, size=ROWS)] = True
    whole = ask(worker, slot, np.arange(ROWS), observations, masks)
    assert len(set(np.asarray(whole.actions).tolist())) == actions
    assert masks[np.arange(ROWS), whole.actions].all()
    for largest in (1, 3, 64, 65, 200):
        order, begin = rng.permutation(ROWS), 0
        while begin < ROWS:
            rows = order[begin : begin + int(rng.integers(1, largest + 1))]
            part = ask(worker, slot, rows, observations, masks)
            np.testing.assert_array_equal(part.actions, whole.actions[rows])
            assert np.asarray(part.values).tobytes() == np.asarray(whole.values[rows]).tobytes()
            begin += len(rows)


def test_sampling_follows_the_policy_and_argmax_its_mode(tmp_path: Path) -> None:
    sees, does = box(2), discrete(4, start=10)
    checkpoint = keep(tmp_path / "p", sees, does)
    observations = np.tile(np.array([[1.5, -2.0]], np.float32), (20_000, 1))
    network_logits = network_in(checkpoint)(torch.from_numpy(observations[:1]))[0]
    expected = network_logits.softmax(-1)[0].detach().numpy()
    worker = CleanRLWorker()
    sampling = slot_of(checkpoint, sees, does, deterministic=False)
    worker.load(sampling)
    drawn = np.asarray(ask(worker, sampling, np.arange(20_000), observations).actions) - 10
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 20_000, expected, atol=0.015)
    for deterministic in (None, True):
        slot = slot_of(checkpoint, sees, does, deterministic=deterministic)
        chosen = ask(worker, slot, np.arange(5), observations).actions
        assert set(np.asarray(chosen).tolist()) == {10 + int(expected.argmax())}


def test_what_cannot_be_decided_is_invalid_and_harms_no_neighbor(tmp_path: Path) -> None:
    sees, does = box(2), discrete(3)
    slot = slot_of(keep(tmp_path / "p", sees, does), sees, does)
    worker = CleanRLWorker()
    worker.load(slot)
    observations = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    masks = np.ones((4, 3), np.bool_)
    clean = ask(worker, slot, np.arange(4), observations, masks)
    observations[1, 0] = np.nan
    masks[2] = False
    answer = ask(worker, slot, np.arange(4), observations, masks)
    assert answer.actions[1] == Invalid("the observation holds a value that is no finite number")
    assert answer.actions[2] == Invalid("no action is legal")
    assert [answer.actions[0], answer.actions[3]] == [clean.actions[0], clean.actions[3]]
    assert np.isfinite(answer.values).all()


def test_a_link_group_reads_its_file_once(tmp_path: Path) -> None:
    sees, does = box(4), discrete(2)
    checkpoint = keep(tmp_path / "p", sees, does)
    worker = CleanRLWorker()
    assert worker.load(slot_of(checkpoint, sees, does)) == "ppo:CartPole-v1"
    (checkpoint / "policy.json").unlink()
    slot = Slot(1, "agent_1", "CartPole-v1", sees, does, {"checkpoint": str(checkpoint)})
    worker.load(slot)
    assert len(np.asarray(ask(worker, slot, np.arange(2), np.zeros((2, 4), np.float32)).actions)) == 2


@pytest.mark.parametrize(
    ("sees", "does", "settings", "words"),
    [
        (box(6), discrete(2), {}, r"observations of Box\(4,\), but slot .* has Box\(6,\)"),
        (discrete(16), discrete(2), {}, r"observations of Box\(4,\), but slot .* has Discrete\(16\)"),
        (box(4), discrete(3), {}, r"actions of Discrete\(2\), but slot .* has Discrete\(3\)"),
        (box(4), discrete(2, start=1), {}, r"has Discrete\(2, start=1\)"),
        (box(4), box(1), {}, r"has Box\(1,\)"),
        (box(4), discrete(2), {"algorithm": "dqn"}, "trained with ppo, not dqn"),
        (box(4), discrete(2), {"checkpoint_agent": "green_0"}, "holds no agent 'green_0'"),
        (box(4), discrete(2), {"checkpoint": ""}, "needs the setting 'checkpoint'.*mosaic train"),
        (box(4), discrete(2), {"chekpoint": "x"}, "Did you mean 'checkpoint'"),
    ],
)
def test_a_policy_that_does_not_fit_its_slot_is_refused(
    tmp_path: Path, sees: Space, does: Space, settings: dict[str, Any], words: str
) -> None:
    checkpoint = keep(tmp_path / "p", box(4), discrete(2))
    with pytest.raises(LoadError, match=words):
        CleanRLWorker().load(slot_of(checkpoint, sees, does, **settings))


def test_algorithm_may_be_named(tmp_path: Path) -> None:
    checkpoint = keep(tmp_path / "p", box(4), discrete(2))
    slot = slot_of(checkpoint, box(4), discrete(2), algorithm="PPO", checkpoint_agent="agent_0")
    assert CleanRLWorker().load(slot).startswith("ppo:")


def test_the_shipped_checkpoint_balances_the_pole() -> None:
    policy = Policy.load(SHIPPED)
    assert np.mean(EVALUATION.episode_returns(policy, "CartPole-v1", range(20))) >= 475.0
    assert sum(p.stat().st_size for p in SHIPPED.iterdir()) < 100_000
