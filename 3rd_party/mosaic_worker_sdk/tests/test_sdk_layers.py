"""Layers that play compute what torch's do, and each column of a batch alike."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.layers import (
    ACTIVATIONS,
    ColumnBuffer,
    RecurrentLayers,
    Weights,
    convolution,
    flatten,
    layer_norm,
    linear,
    matmul_by_column,
    matmul_with,
    pad,
    parameter_shapes,
    perceptron,
    rows_of,
    softmax,
)

torch = pytest.importorskip("torch")
nn = torch.nn


def weights_of(module: Any) -> Weights:
    return Weights({name: tensor.numpy() for name, tensor in module.state_dict().items()})


def same(ours: Any, module: Any, rows: np.ndarray) -> None:
    """What our layer makes of rows is what torch's makes of them, to the last bits but a few."""
    with torch.inference_mode():
        theirs = module(torch.from_numpy(rows)).numpy()
    found = rows_of(ours(ColumnBuffer(rows.shape[1:]).fill(rows)))[: len(rows)]
    np.testing.assert_allclose(found, theirs, rtol=2e-5, atol=2e-5)


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


MODULES = {
    "linear": (lambda: nn.Linear(5, 3), lambda w: linear(w, 5, 3), (5,)),
    "no bias": (lambda: nn.Linear(5, 3, bias=False), lambda w: linear(w, 5, 3, bias=False), (5,)),
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(4, 33), nn.Tanh(), nn.Linear(33, 17), nn.Tanh(), nn.Linear(17, 2)),
        lambda w: perceptron(w, (4, 33, 17, 2), "tanh"),
        (4,),
    ),
    "perceptron to its last activation": (
        lambda: nn.Sequential(nn.Linear(4, 9), nn.ReLU()),
        lambda w: perceptron(w, (4, 9), "relu", activate_output=True),
        (4,),
    ),
    "convolution": (
        lambda: nn.Conv2d(3, 8, (3, 2), (2, 1)),
        lambda w: convolution(w, 3, 8, (3, 2), (2, 1)),
        (3, 9, 7),
    ),
    "padded": (
        lambda: nn.Conv2d(2, 4, 3, padding=2, bias=False),
        lambda w: convolution(w, 2, 4, (3, 3), padding=2, bias=False),
        (2, 5, 6),
    ),
    "flattened": (lambda: nn.Flatten(), lambda w: flatten, (2, 3, 4)),
    "normalised": (lambda: nn.LayerNorm(12), lambda w: layer_norm(w, (12,)), (12,)),
    "normalised images": (lambda: nn.LayerNorm([3, 4]), lambda w: layer_norm(w, (3, 4)), (2, 3, 4)),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_layer_computes_what_torch_does(name: str) -> None:
    make, ours, shape = MODULES[name]
    module = make()
    weights = weights_of(module)
    layer = ours(weights)
    weights.check()
    same(layer, module, drawn(BATCH, *shape))
    same(layer, module, drawn(3, *shape))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_torchs(name: str) -> None:
    theirs = {"elu": nn.ELU, "gelu": nn.GELU, "silu": nn.SiLU, "relu": nn.ReLU, "leaky_relu": nn.LeakyReLU}
    module = theirs.get(name) or getattr(nn, name.capitalize())
    with np.errstate(all="ignore"):
        same(ACTIVATIONS[name], module(), drawn(BATCH, 7) * 20)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", ["LSTM", "GRU"])
def test_a_memory_is_torchs_over_several_steps(cell: str, layers: int) -> None:
    module = getattr(nn, cell)(5, 6, layers)
    weights = weights_of(module)
    ours = RecurrentLayers(weights, cell, 5, 6, layers)
    weights.check()
    memory = ColumnBuffer((ours.memory_size,)).columns
    state: Any = None
    for step in range(4):
        rows = drawn(BATCH, 5) * (step + 1)
        with torch.inference_mode():
            expected, state = module(torch.from_numpy(rows)[None], state)
        out, memory = ours.step(ColumnBuffer((5,)).fill(rows), memory)
        np.testing.assert_allclose(rows_of(out), expected[0].numpy(), atol=2e-6)
    parts = state if isinstance(state, tuple) else (state,)
    kept = torch.stack(parts).permute(2, 0, 1, 3).reshape(BATCH, -1).numpy()
    np.testing.assert_allclose(rows_of(memory), kept, atol=2e-6)


def test_probabilities_are_torchs() -> None:
    rows = drawn(BATCH, 4, 9)
    found = rows_of(softmax(ColumnBuffer((4, 9)).fill(rows), 1))
    np.testing.assert_allclose(found, torch.from_numpy(rows).softmax(-1).numpy(), atol=1e-6)


def test_what_does_not_fit_is_named() -> None:
    arrays = {"a.weight": drawn(3, 4), "a.bias": drawn(3), "critic.weight": drawn(1)}
    for inputs, outputs, words in (
        (4, 2, r"a.weight has shape \(3, 4\) where \(2, 4\)"),
        (5, 3, "is needed"),
    ):
        with pytest.raises(ValueError, match=words):
            linear(Weights(arrays).under("a"), inputs, outputs)
    with pytest.raises(ValueError, match=r"b\.weight, of shape \(3, 4\), is missing"):
        linear(Weights(arrays).under("b"), 4, 3)
    weights = Weights(arrays)
    linear(weights.under("a"), 4, 3)
    weights.check("critic.")
    with pytest.raises(ValueError, match=r"such a network has no critic\.weight"):
        weights.check()
    with pytest.raises(ValueError, match="not all finite"):
        linear(Weights({"weight": np.array([[np.inf]], np.float32)}), 1, 1, bias=False)


def test_a_width_that_only_the_description_names_takes_no_memory() -> None:
    with pytest.raises(ValueError, match="is needed"):
        linear(Weights({"weight": drawn(3, 4)}), 65_536, 2**20)
    asked = parameter_shapes(lambda weights: perceptron(weights.under("net"), (65_536, 2**20, 3), "relu"))
    assert asked == {
        "net.0.weight": (2**20, 65_536),
        "net.0.bias": (2**20,),
        "net.2.weight": (3, 2**20),
        "net.2.bias": (3,),
    }


_ALIKE = """
import numpy as np
from mosaic_worker.playing import layers
from mosaic_worker.playing.layers import ColumnBuffer, matmul_with, rows_of

def slow(matrix, x):
    raise AssertionError(f"{matrix.shape} is multiplied a column at a time")

layers.matmul_by_column = slow
rng = np.random.default_rng(1)
for inputs in (1, 2, 7, 8, 9, 20, 33, 64, 129, 400):
    for outputs in (1, 2, 3, 8, 12, 15, 16, 17, 31, 64, 128):
        matrix = rng.normal(size=(outputs, inputs)).astype(np.float32)
        product = matmul_with(matrix)
        rows = rng.normal(size=(64, inputs)).astype(np.float32)
        whole = rows_of(product(ColumnBuffer((inputs,)).fill(rows))).copy()
        for _ in range(3):
            order = rng.permutation(64)
            found = rows_of(product(ColumnBuffer((inputs,)).fill(rows[order])))
            assert found.tobytes() == np.ascontiguousarray(whole[order]).tobytes(), (inputs, outputs)
"""


@pytest.mark.parametrize("core", ["", "Haswell", "Sandybridge", "Nehalem", "SkylakeX"])
def test_a_row_has_the_same_bits_wherever_it_stands(core: str) -> None:
    """In the code of OpenBLAS for other processors too, where this one runs it."""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **({"OPENBLAS_CORETYPE": core} if core else {})}
    ended = subprocess.run(
        [sys.executable, "-c", _ALIKE], env=env, capture_output=True, text=True, check=False
    )
    if ended.returncode < 0:
        pytest.skip(f"this processor does not run {core}")
    assert ended.returncode == 0, ended.stderr


def test_padding_that_fills_the_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="pads images of 4 x 3 by 4194304"):
        pad(1 << 22, 0, 0, 1)(ColumnBuffer((1, 3, 4)).columns)


def test_a_product_by_column_is_the_product() -> None:
    matrix, columns = drawn(5, 9), ColumnBuffer((9,)).fill(drawn(40, 9))
    np.testing.assert_allclose(matmul_by_column(matrix, columns), matrix @ columns, rtol=1e-5, atol=1e-5)
    images = np.stack([columns, columns * 2])
    np.testing.assert_allclose(matmul_by_column(matrix, images), matrix @ images, rtol=1e-5, atol=1e-5)
    assert matmul_with(matrix)(columns).shape == (5, columns.shape[1])
