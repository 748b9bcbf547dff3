"""Stores values of a training over its steps, and reduces them to the points of a plot.

The module does not use Qt: a thread reduces a million points, and the window draws the result.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

POINTS: Final = 320
"""Number of points of a curve. A plot of usual width cannot show more."""
_FIRST: Final = 1024

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve that is ready to be drawn.

    Attributes:
        steps: Steps of the points.
        values: Smoothed mean of the values at each point.
        low: One standard deviation below each mean, over the values at the point.
        high: One standard deviation above each mean.
        last: The last value, not smoothed.
        count: Number of values that the curve was made from.
    """

    steps: Array
    values: Array
    low: Array
    high: Array
    last: float
    count: int

    @property
    def span(self) -> tuple[float, float]:
        """First and last step of the curve."""
        return float(self.steps[0]), float(self.steps[-1])


class SeriesStore:
    """All series of one run by name. One thread adds values and another reads them."""

    def __init__(self) -> None:
        self._series: dict[str, _Growing] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the series that have a value, in the order of their first values."""
        with self._lock:
            return tuple(self._series)

    def count(self, name: str) -> int:
        """Return the number of values in a series."""
        with self._lock:
            series = self._series.get(name)
            return series.size if series is not None else 0

    def add(self, name: str, steps: Iterable[float], values: Iterable[float]) -> None:
        """Add values to a series, without those that are not finite."""
        x = np.fromiter(steps, np.float64)
        y = np.fromiter(values, np.float64)
        good = np.isfinite(y)
        if good.any():
            with self._lock:
                self._series.setdefault(name, _Growing()).extend(x[good], y[good])

    def adopt(self, other: SeriesStore, names: Iterable[str]) -> None:
        """Replace series by the series of the same names in another store, if that store has them."""
        with self._lock, other._lock:
            self._series.update({name: other._series[name] for name in names if name in other._series})

    def curve(self, name: str, smoothing: float = 0.0, points: int = POINTS) -> Curve | None:
        """Return a series as a curve, or ``None`` before its first value.

        Args:
            name: Name of the series.
            smoothing: 0 for none, to 0.99: the weight of earlier values in an exponential moving average over
                the curve's points, as in TensorBoard.
            points: Largest number of points.
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
        # These are views. Their contents no longer change, as growing creates new arrays.
        return self._x[: self.size], self._y[: self.size]


def _grown(old: Array, size: int, room: int) -> Array:
    result = np.empty(room)
    result[:size] = old[:size]
    return result


def reduce(steps: Array, values: Array, smoothing: float, points: int = POINTS) -> Curve:
    """Return the curve of some values, with one point for each interval of equal length along the steps.

    Values with a smaller step than an earlier value (from a run that continued from a checkpoint) are sorted
    in.
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
    # The curve begins and ends with the run's first and last step.
    places[0], places[-1] = x[0], x[-1]
    middle = _smoothed(means, smoothing)
    # Centered, so that squares of large numbers with small differences keep their precision.
    centre = float(y.mean())
    squares = _smoothed(np.add.reduceat((y - centre) ** 2, starts) / counts, smoothing)
    spread = np.sqrt(np.maximum(squares - (middle - centre) ** 2, 0.0))
    return Curve(places, middle, middle - spread, middle + spread, float(values[-1]), len(values))


def _stretches(x: Array, points: int) -> NDArray[np.intp]:
    """Return the index at which each interval begins."""
    if len(x) <= points:
        return np.arange(len(x))
    edges = np.linspace(float(x[0]), float(x[-1]), points + 1)[:-1]
    return np.unique(np.minimum(np.searchsorted(x, edges), len(x) - 1))


def _smoothed(values: Array, weight: float) -> Array:
    """Return the exponential moving average without bias towards the start."""
    if weight <= 0 or len(values) < 2:
        return values
    result = np.empty_like(values)
    mean = total = 0.0
    for index, value in enumerate(values):
        mean = weight * mean + (1 - weight) * value
        total = weight * total + (1 - weight)
        result[index] = mean / total
    return result
