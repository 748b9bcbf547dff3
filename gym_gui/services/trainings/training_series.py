"""Values of a training over its steps, kept as arrays and brought down to what a plot can show.

Nothing here knows Qt: a million points are reduced in a thread, and the window draws the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

POINTS: Final = 320
"""Points of a curve; a plot of usual width shows no more."""
_FIRST: Final = 1024

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve as it is drawn.

    Attributes:
        steps: Where its points lie.
        values: Their heights: means of the values there, smoothed.
        low: One standard deviation below them, over what each point was made of.
        high: One above.
        last: The last value that came, not smoothed.
        count: Values it was made of.
    """

    steps: Array
    values: Array
    low: Array
    high: Array
    last: float
    count: int

    @property
    def span(self) -> tuple[float, float]:
        """First and last step."""
        return float(self.steps[0]), float(self.steps[-1])


class SeriesStore:
    """Every series of one run by name. Filled in one thread, read from another."""

    def __init__(self) -> None:
        self._series: dict[str, _Growing] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """Series that have a value, in the order in which they came."""
        with self._lock:
            return tuple(self._series)

    def count(self, name: str) -> int:
        """Values of a series."""
        with self._lock:
            series = self._series.get(name)
            return series.size if series is not None else 0

    def add(self, name: str, steps: Iterable[float], values: Iterable[float]) -> None:
        """More values of a series; such as are not finite are left out."""
        x = np.fromiter(steps, np.float64)
        y = np.fromiter(values, np.float64)
        good = np.isfinite(y)
        if good.any():
            with self._lock:
                self._series.setdefault(name, _Growing()).extend(x[good], y[good])

    def adopt(self, other: SeriesStore, names: Iterable[str]) -> None:
        """Have these series of another store, where it has them."""
        with self._lock, other._lock:
            self._series.update({name: other._series[name] for name in names if name in other._series})

    def curve(self, name: str, smoothing: float = 0.0, points: int = POINTS) -> Curve | None:
        """A series as it is drawn; ``None`` before its first value.

        Args:
            name: The series.
            smoothing: 0 for none, to 0.99: the weight of what was before in an exponential
                moving average over the curve's points, as TensorBoard has it.
            points: At most so many.
        """
        with self._lock:
            series = self._series.get(name)
            if series is None:
                return None
            x, y = series.whole()
        return reduce(x, y, smoothing, points)


class _Growing:
    """Two arrays that grow by doubling."""

    def __init__(self) -> None:
        self.size = 0
        self._x, self._y = np.empty(_FIRST), np.empty(_FIRST)

    def extend(self, x: Array, y: Array) -> None:
        wanted = self.size + len(x)
        if wanted > len(self._x):
            room = max(wanted, 2 * len(self._x))
            self._x, self._y = _grown(self._x, self.size, room), _grown(self._y, self.size, room)
        self._x[self.size : wanted] = x
        self._y[self.size : wanted] = y
        self.size = wanted

    def whole(self) -> tuple[Array, Array]:
        # Views: what is in them does not change any more, growing makes new arrays.
        return self._x[: self.size], self._y[: self.size]


def _grown(old: Array, size: int, room: int) -> Array:
    result = np.empty(room)
    result[:size] = old[:size]
    return result


def reduce(steps: Array, values: Array, smoothing: float, points: int = POINTS) -> Curve:
    """The curve of some values: a point for every stretch of equal length along the steps.

    Values whose step is smaller than one before (a run that went on from a checkpoint) are
    sorted in.
    """
    if np.any(steps[1:] < steps[:-1]):
        order = np.argsort(steps, kind="stable")
        x, y = steps[order], values[order]
    else:
        x, y = steps, values
    starts = _stretches(x, points)
    counts = np.diff(np.append(starts, len(x)))
    means = np.add.reduceat(y, starts) / counts
    places = np.add.reduceat(x, starts) / counts
    # The ends of the line are the ends of the run.
    places[0], places[-1] = x[0], x[-1]
    middle = _smoothed(means, smoothing)
    # Around a centre, so that squares of large numbers that hardly differ keep their digits.
    centre = float(y.mean())
    squares = _smoothed(np.add.reduceat((y - centre) ** 2, starts) / counts, smoothing)
    spread = np.sqrt(np.maximum(squares - (middle - centre) ** 2, 0.0))
    return Curve(places, middle, middle - spread, middle + spread, float(values[-1]), len(values))


def _stretches(x: Array, points: int) -> NDArray[np.intp]:
    """Where each stretch begins."""
    if len(x) <= points:
        return np.arange(len(x))
    edges = np.linspace(float(x[0]), float(x[-1]), points + 1)[:-1]
    return np.unique(np.minimum(np.searchsorted(x, edges), len(x) - 1))


def _smoothed(values: Array, weight: float) -> Array:
    """Exponential moving average without a bias towards the start."""
    if weight <= 0 or len(values) < 2:
        return values
    result = np.empty_like(values)
    mean = total = 0.0
    for index, value in enumerate(values):
        mean = weight * mean + (1 - weight) * value
        total = weight * total + (1 - weight)
        result[index] = mean / total
    return result
