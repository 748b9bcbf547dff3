"""Network layers in NumPy, for policies at play.

A process that plays with these layers needs no torch. It starts in a sixth of the time and uses a
fifth of the memory.

Each row of a batch is a column here: vectors are float32 (features, COLUMNS), images (channels, height,
width, COLUMNS). BLAS may use another kernel at the edges of a matrix, so the last bits of a result may
depend on the column. Therefore the outer :data:`MARGIN` columns hold no rows, and a row gets the same
bits in any column and beside any other rows.
"""

# numpy annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.playing.full_batches import BATCH

MARGIN = 8
"""Number of empty columns on each side. OpenBLAS 0.3.31 needs 8 for its Haswell code, which most AMD
processors use too, and none for its Nehalem, Sandy Bridge and Skylake-X code."""
COLUMNS = BATCH + 2 * MARGIN
_LARGEST_IMAGE = 1 << 22
"""Largest number of values in one image within a network; 80 images of this size take 1.3 GB."""
_PROBES = 16

Columns = NDArray[Any]
"""float32 (…, COLUMNS)."""
Layer = Callable[[Columns], Columns]


class WeightMismatch(ValueError):
    """The weights do not fit the network in their description.

    Attributes:
        name: Name of the array.
        found: Shape of the array; ``None`` if there is no array of that name.
        wanted: Shape that the network needs; ``None`` if the network has no such array.
    """

    def __init__(
        self, name: str, found: Optional[Tuple[int, ...]], wanted: Optional[Tuple[int, ...]]
    ) -> None:
        self.name, self.found, self.wanted = name, found, wanted
        if wanted is None:
            words = f"such a network has no {name}"
        elif found is None:
            words = f"{name}, of shape {wanted}, is missing"
        else:
            words = f"{name} has shape {found} where {wanted} is needed"
        super().__init__(f"the weights do not fit their description: {words}")


class Weights:
    """Arrays of a network by parameter name.

    Args:
        arrays: Float32 arrays by name.
        prefix: Prefix that :meth:`take` puts before a name.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> None:
        self.arrays, self._prefix = arrays, prefix
        self._taken: Set[str] = set()

    def under(self, prefix: str) -> Weights:
        """Return the weights whose names begin with ``prefix`` and a period, named without this prefix."""
        part = Weights(self.arrays, f"{self._prefix}{prefix}.")
        part._taken = self._taken
        return part

    def take(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Return one array and mark it as used.

        Args:
            name: Name of the array, without the prefix.
            shape: Shape that the network needs.

        Raises:
            WeightMismatch: There is no array of this name and shape.
            ValueError: The array holds a value that is no finite float32 number.
        """
        full = f"{self._prefix}{name}"
        self._taken.add(full)
        found = self.arrays.get(full)
        if found is None or found.shape != shape:
            raise WeightMismatch(full, None if found is None else found.shape, shape)
        if found.dtype != np.float32 or not np.isfinite(found).all():
            raise ValueError(f"the weights {full} are not all finite float32 numbers")
        return np.ascontiguousarray(found)

    def check(self, *ignored: str) -> None:
        """Check that all arrays were used.

        Args:
            ignored: Prefixes of the names of arrays that are not needed for playing.

        Raises:
            WeightMismatch: An array was not used; the message names the first one.
        """
        for name in sorted(self.arrays.keys() - self._taken):
            if not name.startswith(ignored):
                raise WeightMismatch(name, self.arrays[name].shape, None)


class _ShapeRecorder(Weights):
    """Records the shapes passed to :meth:`take`, which returns zeros that take no memory."""

    def __init__(self, prefix: str = "") -> None:
        super().__init__({}, prefix)
        self.shapes: Dict[str, Tuple[int, ...]] = {}

    def under(self, prefix: str) -> Weights:
        part = _ShapeRecorder(f"{self._prefix}{prefix}.")
        part.shapes = self.shapes
        return part

    def take(self, name: str, *shape: int) -> NDArray[np.float32]:
        self.shapes[f"{self._prefix}{name}"] = shape
        return np.broadcast_to(np.float32(0), shape)


def parameter_shapes(build: Callable[[Weights], object]) -> Dict[str, Tuple[int, ...]]:
    """Return the shape of each array of a network by its name.

    Args:
        build: Makes the network from its weights.
    """
    asked = _ShapeRecorder()
    build(asked)
    return asked.shapes


class ColumnBuffer:
    """Buffer for the rows of a batch, reused for each batch.

    Args:
        shape: Shape of one row.

    Attributes:
        columns: float32 (*shape, COLUMNS); each column except the margins holds a row of the batch.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self.columns: Columns = np.zeros((*shape, COLUMNS), np.float32)
        self._middle = self.columns[..., MARGIN : MARGIN + BATCH]

    def fill(self, rows: NDArray[Any]) -> Columns:
        """Fill the buffer with ``rows`` (N, *shape), N at most :data:`BATCH`, then zeros; return it."""
        shaped = rows.reshape(len(rows), *self.columns.shape[:-1])
        self._middle[..., : len(rows)] = np.moveaxis(shaped, 0, -1)
        self._middle[..., len(rows) :] = 0
        return self.columns


def rows_of(columns: NDArray[Any]) -> NDArray[Any]:
    """Convert columns (…, COLUMNS) to the rows of the batch, (BATCH, …)."""
    return np.moveaxis(columns[..., MARGIN : MARGIN + BATCH], -1, 0)


# -- layers --------------------------------------------------------------------------------


def chain(layers: Sequence[Layer]) -> Layer:
    """Return a layer that applies ``layers`` one after the other."""

    def forward(x: Columns) -> Columns:
        for layer in layers:
            x = layer(x)
        return x

    return forward


def linear(weights: Weights, inputs: int, outputs: int, *, bias: bool = True) -> Layer:
    """Return an affine layer, (inputs, COLUMNS) to (outputs, COLUMNS).

    Args:
        weights: Holds ``weight`` (outputs, inputs) and, with ``bias``, ``bias`` (outputs,).
        inputs: Number of inputs.
        outputs: Number of outputs.
        bias: Whether a number is added to each output.
    """
    multiplied = matmul_with(weights.take("weight", outputs, inputs))
    added = weights.take("bias", outputs)[:, None] if bias else None

    def forward(x: Columns) -> Columns:
        y = multiplied(x)
        if added is not None:
            y += added
        return y

    return forward


def perceptron(
    weights: Weights, widths: Sequence[int], activation: str, *, activate_output: bool = False
) -> Layer:
    """Return affine layers with an activation between them, and optionally after the last one.

    Args:
        weights: Holds the layers by their index, as ``torch.nn.Sequential`` counts them.
        widths: Width of the input and of the output of each layer.
        activation: A key of :data:`ACTIVATIONS`.
        activate_output: Whether an activation follows the last layer.
    """
    found: List[Layer] = []
    for place, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        found += [linear(weights.under(str(2 * place)), inputs, outputs), ACTIVATIONS[activation]]
    return chain(found if activate_output else found[:-1])


def convolution(
    weights: Weights,
    inputs: int,
    outputs: int,
    kernel: Tuple[int, int],
    stride: Tuple[int, int] = (1, 1),
    *,
    padding: int = 0,
    bias: bool = True,
) -> Layer:
    """Return a convolution, (inputs, H, W, COLUMNS) to (outputs, …, COLUMNS).

    Args:
        weights: Holds ``weight`` (outputs, inputs, *kernel) and, with ``bias``, ``bias`` (outputs,).
        inputs: Number of input channels.
        outputs: Number of output channels.
        kernel: Height and width of the kernel.
        stride: Vertical and horizontal stride.
        padding: Number of zeros around the image on every side.
        bias: Whether a number is added to each output.
    """
    matrix = weights.take("weight", outputs, inputs, *kernel).reshape(outputs, -1)
    multiplied = matmul_with(matrix)
    added = weights.take("bias", outputs)[:, None] if bias else None
    padded = pad(padding, padding, padding, padding) if padding else ACTIVATIONS["identity"]

    def forward(x: Columns) -> Columns:
        seen: Any = np.lib.stride_tricks.sliding_window_view(padded(x), kernel, axis=(1, 2))  # pyright: ignore[reportCallIssue, reportArgumentType]
        seen = seen[:, :: stride[0], :: stride[1]].transpose(1, 2, 0, 4, 5, 3)
        high, wide = seen.shape[:2]
        y = np.empty((high, wide, outputs, COLUMNS), np.float32)
        # One product per position of the image, so that a row of the batch has the same column in each.
        # One line of positions at a time, because overlapping windows take many times the image's memory.
        for line in range(high):
            y[line] = multiplied(np.ascontiguousarray(seen[line]).reshape(wide, -1, COLUMNS))
        if added is not None:
            y += added
        return y.transpose(2, 0, 1, 3)

    return forward


def pad(left: int, right: int, top: int, bottom: int) -> Layer:
    """Return a layer that pads images (channels, H, W, COLUMNS) with zeros.

    Raises:
        ValueError: (from the layer) a padded image is larger than a network may have.
    """
    sides = ((0, 0), (top, bottom), (left, right), (0, 0))

    def forward(x: Columns) -> Columns:
        channels, high, wide, _ = x.shape
        if channels * (high + top + bottom) * (wide + left + right) > _LARGEST_IMAGE:
            raise ValueError(f"a layer pads images of {wide} x {high} by {left}, {right}, {top} and {bottom}")
        return np.pad(x, sides)

    return forward


def layer_norm(weights: Weights, shape: Sequence[int], eps: float = 1e-5) -> Layer:
    """Return a layer that normalizes the features of each row (Ba, Kiros and Hinton, 2016).

    It gives them mean 0 and variance 1, then scales and shifts them.

    Args:
        weights: Holds ``weight`` and ``bias``, both of ``shape``.
        shape: Shape of the normalized features: the last axes before the columns.
        eps: Added to the variance.
    """
    scale, shift = (weights.take(name, *shape)[..., None] for name in ("weight", "bias"))
    axes = tuple(range(-1 - len(shape), -1))

    def forward(x: Columns) -> Columns:
        centered = x - x.mean(axis=axes, keepdims=True)
        variance = (centered * centered).mean(axis=axes, keepdims=True)
        return centered / np.sqrt(variance + np.float32(eps)) * scale + shift

    return forward


def flatten(x: Columns) -> Columns:
    """Reshape (…, COLUMNS) to (features, COLUMNS)."""
    return np.ascontiguousarray(x).reshape(-1, x.shape[-1])


def matmul_with(matrix: NDArray[np.float32]) -> Layer:
    """Return a layer that multiplies (…, inputs, COLUMNS) by ``matrix``, equal columns to equal bits.

    If the first call finds that equal columns give different bits, all products are computed column by
    column.
    """
    equal: List[bool] = []

    def product(x: Columns) -> Columns:
        if not equal:
            equal.append(_columns_bit_equal(matrix))
        return matrix @ x if equal[0] else matmul_by_column(matrix, x)

    return product


def _columns_bit_equal(matrix: NDArray[np.float32]) -> bool:
    # Two orders of summing few numbers often give the same bits, so several columns are tried.
    columns = np.random.default_rng(0).normal(size=(_PROBES, matrix.shape[1], 1)).astype(np.float32)
    found = (matrix @ np.repeat(columns, COLUMNS, axis=2))[..., MARGIN : MARGIN + BATCH]
    return bool((found == found[..., :1]).all())


def matmul_by_column(matrix: NDArray[np.float32], x: Columns) -> Columns:
    """Multiply (…, inputs, COLUMNS) by ``matrix`` column by column: slow, with the same bits everywhere."""
    found = [np.ascontiguousarray(x[..., place, None]) for place in range(x.shape[-1])]
    return np.concatenate([matrix @ column for column in found], axis=-1)


# -- memory --------------------------------------------------------------------------------


_Gates = Tuple[Layer, Layer, Columns, Columns]
"""Layers that multiply the input and the hidden state, and the biases of both."""


class RecurrentLayers:
    """Layers of ``LSTM`` or ``GRU`` cells, computed as in torch.

    Sources: long short-term memory (Hochreiter and Schmidhuber, 1997), gated recurrent units
    (Cho et al., 2014).

    Args:
        weights: Holds ``weight_ih``, ``weight_hh``, ``bias_ih`` and ``bias_hh``, each with the rows of
            all gates.
        cell: ``LSTM`` or ``GRU``.
        inputs: Number of inputs.
        size: Number of outputs, and size of each part of a layer's memory.
        layers: Number of stacked layers.
        numbered: Whether the names end with the number of the layer, for example ``_l0``.

    Attributes:
        memory_size: Size of the memory of an episode: hidden states of all layers, then cell states.
    """

    def __init__(
        self, weights: Weights, cell: str, inputs: int, size: int, layers: int = 1, *, numbered: bool = True
    ) -> None:
        gates, self._parts = {"LSTM": (4, 2), "GRU": (3, 1)}[cell]
        self._size, self._layers = size, layers
        self.memory_size = self._parts * layers * size
        self._weights: List[_Gates] = []
        for layer in range(layers):
            end = f"_l{layer}" if numbered else ""
            width = size if layer else inputs
            self._weights.append(
                (
                    matmul_with(weights.take(f"weight_ih{end}", gates * size, width)),
                    matmul_with(weights.take(f"weight_hh{end}", gates * size, size)),
                    weights.take(f"bias_ih{end}", gates * size)[:, None],
                    weights.take(f"bias_hh{end}", gates * size)[:, None],
                )
            )

    def step(self, x: Columns, memory: Columns) -> Tuple[Columns, Columns]:
        """Do one step and return the output (size, COLUMNS) and the memory (memory_size, COLUMNS)."""
        before = memory.reshape(self._parts, self._layers, self._size, -1)
        after = np.empty_like(before)
        move = self._lstm if self._parts == 2 else self._gru
        for layer in range(self._layers):
            x = move(self._weights[layer], x, before[:, layer], after[:, layer])
        return x, after.reshape(memory.shape)

    @staticmethod
    def _lstm(weights: _Gates, x: Columns, before: Columns, after: Columns) -> Columns:
        of_input, of_hidden, first, second = weights
        gates = (of_input(x) + first) + (of_hidden(np.ascontiguousarray(before[0])) + second)
        into, forget, content, out = np.split(gates, 4)
        after[1] = sigmoid(forget) * before[1] + sigmoid(into) * np.tanh(content)
        after[0] = sigmoid(out) * np.tanh(after[1])
        return np.ascontiguousarray(after[0])

    @staticmethod
    def _gru(weights: _Gates, x: Columns, before: Columns, after: Columns) -> Columns:
        of_input, of_hidden, first, second = weights
        hidden = np.ascontiguousarray(before[0])
        from_input, from_hidden = of_input(x) + first, of_hidden(hidden) + second
        (reset, update, new), (reset_h, update_h, new_h) = np.split(from_input, 3), np.split(from_hidden, 3)
        kept = sigmoid(update + update_h)
        content = np.tanh(new + sigmoid(reset + reset_h) * new_h)
        after[0] = (1 - kept) * content + kept * hidden
        return np.ascontiguousarray(after[0])


# -- activations ---------------------------------------------------------------------------


def sigmoid(x: Columns) -> Columns:
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def softmax(x: Columns, axis: int) -> Columns:
    """Return the softmax of ``x`` along an axis."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


_erf = np.frompyfunc(math.erf, 1, 1)


def _relu(x: Columns) -> Columns:
    return np.maximum(x, 0)


def _elu(x: Columns) -> Columns:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _leaky_relu(x: Columns) -> Columns:
    return np.where(x > 0, x, x * np.float32(0.01))


def _gelu(x: Columns) -> Columns:
    error: Any = _erf(x / math.sqrt(2.0))
    return (0.5 * x * (1 + error.astype(np.float64))).astype(np.float32)


def _silu(x: Columns) -> Columns:
    return x * sigmoid(x)


def _softplus(x: Columns) -> Columns:
    return np.logaddexp(np.float32(0), x)


def _identity(x: Columns) -> Columns:
    return x


ACTIVATIONS: Mapping[str, Layer] = {
    "tanh": np.tanh,
    "relu": _relu,
    "elu": _elu,
    "leaky_relu": _leaky_relu,
    "gelu": _gelu,
    "silu": _silu,
    "sigmoid": sigmoid,
    "softplus": _softplus,
    "identity": _identity,
}
"""Activation functions by their names in ``policy.json``."""
