"""Checkpoints come back as they were, and whatever is wrong with one is said in a sentence."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from torch_networks import network_of

from cleanrl_worker.policy import Policy
from mosaic_worker.checkpoint import PolicyDescription, read_checkpoint, save_checkpoint
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError

FOLDER = Path(__file__).resolve().parents[1]


def box(*shape: int) -> Space:
    return Space("Box", np.dtype(np.float32), shape, np.full(shape, -np.inf), np.full(shape, np.inf))


def describe(inputs: int = 4, actions: int = 2, hidden: tuple[int, ...] = (8,)) -> PolicyDescription:
    action_space = Space("Discrete", np.dtype(np.int64), n=actions)
    network = {"type": "mlp", "hidden": list(hidden), "activation": "tanh"}
    return PolicyDescription(
        "cleanrl_worker", "ppo", "CartPole-v1", box(inputs), action_space, network, seed=3
    )


def weigh(description: PolicyDescription, seed: int = 0) -> bytes:
    network: Any = network_of(description)
    network.initialise(torch.Generator().manual_seed(seed))
    return safetensors.torch.save(network.state_dict())


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "policy"
    save_checkpoint(folder, describe(), weigh(describe()))
    return folder


def test_round_trip_by_folder_description_or_weights(kept: Path) -> None:
    for name in ("", "policy.json", "model.safetensors"):
        description, weights = read_checkpoint(kept / name)
        assert weights == weigh(describe())
        assert description.to_json() == {
            **describe().to_json(),
            "weights": {"file": "model.safetensors", "sha256": description.weights_sha256},
        }
        Policy.load(kept / name)
    assert sorted(p.name for p in kept.iterdir()) == ["model.safetensors", "policy.json"]


def edit(folder: Path, **changes: Any) -> None:
    path = folder / "policy.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def rehash(folder: Path, weights: bytes) -> None:
    """Weights of our choice, with a description that vouches for them."""
    save_checkpoint(folder, describe(), weights)


def truncate(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def with_nan() -> bytes:
    state = safetensors.torch.load(weigh(describe()))
    state["actor.0.bias"][0] = float("nan")
    return safetensors.torch.save(state)


NETWORK = {"type": "actor_critic", "hidden": [8], "activation": "tanh"}
ENCODER = {"kind": "mlp", "shape": [4], "layout": "", "scale": 1.0}
BAD = {
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "has no model.safetensors"),
    "no description": (lambda f: (f / "policy.json").unlink(), "holds no policy.json"),
    "truncated weights": (truncate, "damaged"),
    "other weights": (
        lambda f: (f / "model.safetensors").write_bytes(weigh(describe(), 9)),
        "sha256 differs",
    ),
    "truncated description": (lambda f: (f / "policy.json").write_text('{"format_ver'), "cannot be used"),
    "not JSON": (lambda f: (f / "policy.json").write_bytes(b"\x80\x04\xff"), "cannot be used"),
    "a list": (lambda f: (f / "policy.json").write_text("[1]"), "wrong type"),
    "nested deeply": (lambda f: (f / "policy.json").write_text("[" * 99_999), "cannot be used"),
    "no seed": (lambda f: edit(f, evaluation=None), "wrong type"),
    "later format": (lambda f: edit(f, format_version=99), "format_version is 99"),
    "preprocessing without options": (lambda f: edit(f, preprocessing=["grayscale"]), "an object is needed"),
    "unknown network": (
        lambda f: edit(f, network={"type": "cnn", "activation": "relu", "hidden": [1]}),
        "unknown kind",
    ),
    "another worker": (lambda f: edit(f, worker="sb3_worker"), "is for sb3_worker"),
    "an encoder of another shape": (
        lambda f: edit(f, network=NETWORK | {"encoder": ENCODER | {"shape": [9]}}),
        r"takes \(9,\), its input space has \(4,\)",
    ),
    "an encoder that is none": (
        lambda f: edit(f, network=NETWORK | {"encoder": ENCODER | {"kind": "transformer"}}),
        "encoder has an unknown kind",
    ),
    "a layout that cannot be": (
        lambda f: edit(f, network=NETWORK | {"encoder": ENCODER | {"layout": "hwc"}}),
        "lays",
    ),
    "a memory without an LSTM": (
        lambda f: edit(f, network=NETWORK | {"lstm_size": 8}),
        "unknown kind",
    ),
    "a network without a type": (lambda f: edit(f, network={}), "'type' is missing"),
    "absurd widths": (
        lambda f: edit(f, network={"type": "mlp", "activation": "tanh", "hidden": [10**9]}),
        "hidden widths",
    ),
    "another space": (lambda f: edit(f, input_space={"kind": "Sphere"}), "unknown space kind"),
    "a discrete observation": (
        lambda f: edit(f, input_space={"kind": "Discrete", "n": 3, "start": 0, "dtype": "int64"}),
        "needs a Box",
    ),
    "text for actions": (
        lambda f: edit(f, action_space={"kind": "MultiBinary", "shape": [3], "dtype": "int8"}),
        "a kind that no algorithm learns: MultiBinary",
    ),
    "an action more": (
        lambda f: edit(f, action_space={"kind": "Discrete", "n": 3, "start": 0, "dtype": "int64"}),
        re.escape("actor.2.weight has shape (2, 8) where (3, 8) is needed"),
    ),
    "garbage vouched for": (lambda f: rehash(f, b"\x80\x04N."), "no safetensors file"),
    "NaN weights": (lambda f: rehash(f, with_nan()), "not all finite"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_checkpoint_is_refused_in_one_line(kept: Path, name: str) -> None:
    spoil, words = BAD[name]
    spoil(kept)
    with pytest.raises(LoadError, match=words) as caught:
        Policy.load(kept)
    assert "\n" not in str(caught.value)


def test_a_missing_checkpoint_says_how_to_train_one(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"does not exist.*mosaic train"):
        Policy.load(tmp_path / "nowhere")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(LoadError, match="is no checkpoint"):
        Policy.load(tmp_path / "notes.txt")


class Bomb:
    """Unpickling it makes a folder."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".zip", ".pkl", ".ckpt", ".safetensors"])
def test_a_pickle_never_runs(tmp_path: Path, suffix: str) -> None:
    mark, path = tmp_path / "ran", tmp_path / f"model{suffix}"
    payload = pickle.dumps(Bomb(mark))
    if suffix in (".zip", ".pt"):
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w") as archive:
            archive.writestr("archive/data.pkl", payload)
        payload = memory.getvalue()
    path.write_bytes(payload)
    if suffix == ".safetensors":
        save_checkpoint(tmp_path, describe(), payload)
    with pytest.raises(LoadError):
        Policy.load(path)
    assert not mark.exists()
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()  # so the bomb is a real one


def test_playing_needs_no_torch_and_learning_no_compiler(kept: Path) -> None:
    code = (
        "import sys; from mosaic_worker.checkpoint import read_checkpoint; "
        f"read_checkpoint({str(kept)!r}); "
        "assert not {'torch', 'gymnasium'} & set(sys.modules), 'heavy'; "
        "import cleanrl_worker.main; from cleanrl_worker.policy import Policy; "
        f"import numpy as np; Policy.load({str(kept)!r}).choose(np.zeros((1, 4), np.float32)); "
        "assert not {'torch', 'gymnasium', 'tensorboard', 'sympy'} & set(sys.modules), 'heavy'; "
        "import torch; from cleanrl_worker.algorithms.adam import Adam; "
        "rate = torch.nn.Parameter(torch.ones(2)); rate.sum().backward(); "
        "Adam([rate], 0.1, 1e-8).step(); Adam([rate], 0.1, 1e-8, fused=True).step(); "
        "assert not {'torch._dynamo', 'sympy'} & set(sys.modules), 'a compiler'"
    )
    path = os.pathsep.join([str(FOLDER), str(FOLDER.parent / "mosaic_worker_sdk")])
    ended = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, check=False)
    assert ended.returncode == 0
