"""Answers for images and real numbers do not depend on what else is in the batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from torch_networks import network_of

from cleanrl_worker.architecture import Encoding
from cleanrl_worker.main import CleanRLWorker
from cleanrl_worker.policy import Policy
from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, LoadError, Slot


def image(*shape: int) -> Space:
    return Space("Box", np.dtype(np.uint8), shape, np.zeros(shape), np.full(shape, 255))


def box(low: float, high: float, *shape: int) -> Space:
    return Space("Box", np.dtype(np.float32), shape, np.full(shape, low), np.full(shape, high))


DISCRETE = Space("Discrete", np.dtype(np.int64), n=5, start=2)
SEVERAL = Space(
    "MultiDiscrete", np.dtype(np.int64), (3,), nvec=np.array([2, 3, 4]), starts=np.array([0, 1, 0])
)
CASES = {
    "grid": (image(7, 7, 3), DISCRETE),
    "atari": (image(4, 84, 84), DISCRETE),
    "color frames": (image(2, 40, 36, 3), SEVERAL),
    "force": (box(-9, 9, 3), box(-1.5, 2.0, 2)),
    "several": (box(-9, 9, 2, 2), SEVERAL),
}


def keep(folder: Path, sees: Space, does: Space) -> Path:
    encoding = Encoding.of(sees.shape, sees.dtype == np.uint8)
    network = {
        "type": "actor_critic", "encoder": encoding.to_json(), "hidden": [32], "activation": "tanh",
    }  # fmt: skip
    description = PolicyDescription("cleanrl_worker", "ppo", "Some-v0", sees, does, network)
    module: Any = network_of(description)
    module.initialise(torch.Generator().manual_seed(4))
    with torch.no_grad():
        for name, parameter in module.named_parameters():  # spread the tiny initial outputs
            if name.startswith("actor"):
                parameter.mul_(20.0)
    save_checkpoint(folder, description, safetensors.torch.save(module.state_dict()))
    return folder


@pytest.mark.parametrize("deterministic", [None, pytest.param(False, marks=pytest.mark.full)])
@pytest.mark.parametrize("case", CASES)
def test_any_split_and_order_gives_equal_bits(case: str, deterministic: bool | None, tmp_path: Path) -> None:
    sees, does = CASES[case]
    checkpoint = {"checkpoint": str(keep(tmp_path, sees, does))}
    slot = Slot(0, "agent_0", "Some-v0", sees, does, checkpoint, deterministic=deterministic)
    worker, rng, count = CleanRLWorker(), np.random.default_rng(8), 130
    worker.load(slot)
    numbers = rng.integers(0, 11 if case == "grid" else 256, (count, *sees.shape))
    numbers = numbers if sees.dtype == np.uint8 else numbers / 25 - 5
    observations = numbers.astype(sees.dtype)

    def ask(rows: Any) -> Any:
        rows = np.asarray(rows)
        seeds = rows.astype(np.uint64) + np.uint64(2**63)
        return worker.select_actions(
            Batch(slot, rows.tolist(), rows.tolist(), (rows % 7).tolist(), seeds, observations[rows])
        )

    whole = ask(np.arange(count))
    if case != "grid" or deterministic is False:  # noise in a grid looks all the same to a new network
        assert len(np.unique(np.asarray(whole.actions).reshape(count, -1), axis=0)) > 2
    for largest in (1, 5, 64):
        order = rng.permutation(count)
        for begin in range(0, count if largest > 1 else 20, largest):
            rows = order[begin : begin + largest]
            part = ask(rows)
            assert np.asarray(part.actions).tobytes() == np.asarray(whole.actions)[rows].tobytes()
            assert np.asarray(part.values).tobytes() == np.asarray(whole.values)[rows].tobytes()


def test_samples_of_real_numbers_follow_the_policy(tmp_path: Path) -> None:
    sees, does = box(-9, 9, 3), box(-50, 50, 2)
    checkpoint = keep(tmp_path, sees, does)
    slot = Slot(0, "agent_0", "Some-v0", sees, does, {"checkpoint": str(checkpoint)}, deterministic=False)
    worker, count = CleanRLWorker(), 4000
    worker.load(slot)
    seen = np.tile(np.array([[1.0, -2.0, 0.5]], np.float32), (count, 1))
    numbers = list(range(count))
    batch = Batch(slot, numbers, numbers, [0] * count, np.arange(count, dtype=np.uint64), seen)
    actions = worker.select_actions(batch).actions
    mode = Policy.load(checkpoint).choose(seen[:1]).actions[0]
    assert actions.mean(axis=0) == pytest.approx(mode, abs=0.06)
    assert actions.std(axis=0) == pytest.approx([1.0, 1.0], abs=0.05)
    assert abs(np.corrcoef(actions.T)[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("trained", "given", "words"),
    [
        (box(-1, 1, 2), box(-2, 2, 2), r"Box\(2,\) from -1.0 to 1.0, but slot .* Box\(2,\) from -2.0 to 2.0"),
        (
            SEVERAL,
            DISCRETE,
            r"MultiDiscrete\(\[2, 3, 4\], start=\[0, 1, 0\]\), but .* Discrete\(5, start=2\)",
        ),
    ],
)
def test_other_actions_are_refused(trained: Space, given: Space, words: str, tmp_path: Path) -> None:
    sees = box(-9, 9, 3)
    checkpoint = {"checkpoint": str(keep(tmp_path, sees, trained))}
    with pytest.raises(LoadError, match=words):
        CleanRLWorker().load(Slot(0, "agent_0", "Some-v0", sees, given, checkpoint))
