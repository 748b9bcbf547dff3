"""Layers of networks that play, in NumPy.

A process that plays needs no torch for them: it starts in a sixth of the time and keeps a fifth of the
memory.

Each row of a batch is a column here: vectors are float32 (features, COLUMNS), images (channels, height,
width, COLUMNS). BLAS may use another kernel at the edges of a matrix, so that the last bits depend on the
column. The outer :data:`MARGIN` columns hold no rows: a row gets the same bits at any place, and whatever
stands beside it.
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
"""Columns that stay empty on either side. OpenBLAS 0.3.31 needs 8 for its Haswell code, which most processors
of AMD use too, and none for its Nehalem, Sandy Bridge and Skylake-X code."""
COLUMNS = BATCH + 2 * MARGIN
_LARGEST_IMAGE = 1 << 22
"""Numbers of one image within a network; 80 of them take 1.3 GB."""
_PROBES = 16

Columns = NDArray[Any]
"""float32 (…, COLUMNS)."""
Layer = Callable[[Columns], Columns]


class WeightMismatch(ValueError):
    """Weights are not those of the network that their description asks for.

    Attributes:
        name: Of the array.
        found: Its shape; ``None`` where there is none of that name.
        wanted: The shape that the network needs; ``None`` where it needs none.
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
    """The arrays of a network by parameter name.

    Args:
        arrays: Float32, by name.
        prefix: Of the names that :meth:`take` is asked for.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> None:
        self.arrays, self._prefix = arrays, prefix
        self._taken: Set[str] = set()

    def under(self, prefix: str) -> Weights:
        """Those whose names begin with ``prefix`` and a full stop, by what follows."""
        part = Weights(self.arrays, f"{self._prefix}{prefix}.")
        part._taken = self._taken
        return part

    def take(self, name: str, *shape: int) -> NDArray[np.float32]:
        """One array.

        Args:
            name: Its name.
            shape: The shape that the network needs.

        Raises:
            WeightMismatch: There is none of that shape.
            ValueError: It holds what is no finite float32 number.
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
        """See that nothing is left over.

        Args:
            ignored: Beginnings of names that playing does not need.

        Raises:
            WeightMismatch: Something is; names the first.
        """
        for name in sorted(self.arrays.keys() - self._taken):
            if not name.startswith(ignored):
                raise WeightMismatch(name, self.arrays[name].shape, None)


class _ShapeRecorder(Weights):
    """Records the shapes that are asked for; gives zeros that take no memory."""

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
    """The shape of each array that a network takes, by its name.

    Args:
        build: Makes the network of its weights.
    """
    asked = _ShapeRecorder()
    build(asked)
    return asked.shapes


class ColumnBuffer:
    """Room for the rows of a batch, used again for each.

    Args:
        shape: Of one row.

    Attributes:
        columns: float32 (*shape, COLUMNS), a row of the batch in each column of the middle.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self.columns: Columns = np.zeros((*shape, COLUMNS), np.float32)
        self._middle = self.columns[..., MARGIN : MARGIN + BATCH]

    def fill(self, rows: NDArray[Any]) -> Columns:
        """The columns, with ``rows`` (N, *shape) in the first N, at most :data:`BATCH`, and zeros behind."""
        shaped = rows.reshape(len(rows), *self.columns.shape[:-1])
        self._middle[..., : len(rows)] = np.moveaxis(shaped, 0, -1)
        self._middle[..., len(rows) :] = 0
        return self.columns


def rows_of(columns: NDArray[Any]) -> NDArray[Any]:
    """What columns (…, COLUMNS) say of the rows of the batch, (BATCH, …)."""
    return np.moveaxis(columns[..., MARGIN : MARGIN + BATCH], -1, 0)


# -- layers --------------------------------------------------------------------------------


def chain(layers: Sequence[Layer]) -> Layer:
    """Layers one after the other."""

    def forward(x: Columns) -> Columns:
        for layer in layers:
            x = layer(x)
        return x

    return forward


def linear(weights: Weights, inputs: int, outputs: int, *, bias: bool = True) -> Layer:
    """An affine layer, (inputs, COLUMNS) to (outputs, COLUMNS).

    Args:
        weights: Holds ``weight`` (outputs, inputs) and, with ``bias``, ``bias`` (outputs,).
        inputs: Numbers that it takes.
        outputs: Numbers that it gives.
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
    """Affine layers with an activation in between, and after the last one too where asked for.

    Args:
        weights: Holds the layers under their places, as ``torch.nn.Sequential`` counts them.
        widths: Of the input and of what each layer gives.
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
    """A convolution, (inputs, H, W, COLUMNS) to (outputs, …, COLUMNS).

    Args:
        weights: Holds ``weight`` (outputs, inputs, *kernel) and, with ``bias``, ``bias`` (outputs,).
        inputs: Channels that it takes.
        outputs: Channels that it gives.
        kernel: Height and width of what one output looks at.
        stride: Steps between two outputs, down and across.
        padding: Zeros around the image, on every side.
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
        # A product for each place of the image: a row's column is the same in all of them. A line of places
        # at a time, as what they see overlaps and takes many times the image's memory.
        for line in range(high):
            y[line] = multiplied(np.ascontiguousarray(seen[line]).reshape(wide, -1, COLUMNS))
        if added is not None:
            y += added
        return y.transpose(2, 0, 1, 3)

    return forward


def pad(left: int, right: int, top: int, bottom: int) -> Layer:
    """Zeros around images, (channels, H, W, COLUMNS).

    Raises:
        ValueError: When it is called: an image becomes larger than any that a network takes.
    """
    sides = ((0, 0), (top, bottom), (left, right), (0, 0))

    def forward(x: Columns) -> Columns:
        channels, high, wide, _ = x.shape
        if channels * (high + top + bottom) * (wide + left + right) > _LARGEST_IMAGE:
            raise ValueError(f"a layer pads images of {wide} x {high} by {left}, {right}, {top} and {bottom}")
        return np.pad(x, sides)

    return forward


def layer_norm(weights: Weights, shape: Sequence[int], eps: float = 1e-5) -> Layer:
    """Features of each row with mean 0 and variance 1, then scaled (Ba, Kiros and Hinton, 2016).

    Args:
        weights: Holds ``weight`` and ``bias``, both of ``shape``.
        shape: Of what is normalised: the last axes before the columns.
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
    """(…, COLUMNS) to (features, COLUMNS)."""
    return np.ascontiguousarray(x).reshape(-1, x.shape[-1])


def matmul_with(matrix: NDArray[np.float32]) -> Layer:
    """The product with (…, inputs, COLUMNS), with the same bits for equal columns.

    Where the first call finds that equal columns get different bits, products are made column by column.
    """
    equal: List[bool] = []

    def product(x: Columns) -> Columns:
        if not equal:
            equal.append(_columns_bit_equal(matrix))
        return matrix @ x if equal[0] else matmul_by_column(matrix, x)

    return product


def _columns_bit_equal(matrix: NDArray[np.float32]) -> bool:
    # Two orders of adding up few numbers often agree: several columns are tried.
    columns = np.random.default_rng(0).normal(size=(_PROBES, matrix.shape[1], 1)).astype(np.float32)
    found = (matrix @ np.repeat(columns, COLUMNS, axis=2))[..., MARGIN : MARGIN + BATCH]
    return bool((found == found[..., :1]).all())


def matmul_by_column(matrix: NDArray[np.float32], x: Columns) -> Columns:
    """The product with (…, inputs, COLUMNS), a column at a time: slow, and alike for each."""
    found = [np.ascontiguousarray(x[..., place, None]) for place in range(x.shape[-1])]
    return np.concatenate([matrix @ column for column in found], axis=-1)


# -- memory --------------------------------------------------------------------------------


_Gates = Tuple[Layer, Layer, Columns, Columns]
"""Products with input and hidden state, and what is added to each."""


class RecurrentLayers:
    """Layers of a long short-term memory (``LSTM``; Hochreiter and Schmidhuber, 1997) or of gated recurrent
    units (``GRU``; Cho et al., 2014), as torch computes them.

    Args:
        weights: Holds ``weight_ih``, ``weight_hh``, ``bias_ih`` and ``bias_hh``, gates one below the other.
        cell: ``LSTM`` or ``GRU``.
        inputs: Numbers that it takes.
        size: Numbers that it gives, and that each part of a layer's memory has.
        layers: How many layers follow one another.
        numbered: Whether names end with the layer, as ``_l0``.

    Attributes:
        memory_size: Numbers that it remembers of an episode: hidden states of all layers, then cells.
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
        """Output (size, COLUMNS) and memory (memory_size, COLUMNS) after one step."""
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
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def softmax(x: Columns, axis: int) -> Columns:
    """Probabilities along an axis."""
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
"""What may follow a layer, by its name in ``policy.json``."""
