"""Wrappers that apply the preprocessing steps of :mod:`mosaic_worker.preprocessing`; most are Gymnasium's."""

# Gymnasium's wrappers are typed only in part.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import operator
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import (
    DtypeObservation,
    FlattenObservation,
    FrameStackObservation,
    GrayscaleObservation,
    NormalizeObservation,
    RescaleObservation,
    ResizeObservation,
    TransformObservation,
)
from numpy.typing import NDArray

Env = Any


class Playback(gymnasium.Env):  # type: ignore[type-arg]  # generic only in later versions
    """An environment whose next observation the caller sets.

    Attributes:
        shown: The next observation.
    """

    def __init__(self, observation_space: Any) -> None:
        self.observation_space = observation_space
        self.action_space = spaces.Discrete(1)
        self.shown: Any = None

    def reset(self, **_: Any) -> Tuple[Any, Dict[str, Any]]:
        """Return the next observation; the seed is ignored because nothing is random."""
        return self.shown, {}

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Return the next observation."""
        return self.shown, 0.0, False, False, {}


def apply(env: Env, step: Mapping[str, Any]) -> Env:
    """Wrap an environment so that one preprocessing step is applied to its observations.

    Args:
        env: A ``gymnasium.Env``.
        step: A step as returned by :func:`mosaic_worker.preprocessing.check_steps`.

    Raises:
        ValueError: The step does not fit the observation space; Gymnasium may also raise
            ``TypeError`` or other exceptions.
    """
    if step["step"] != "select" and step.get("key"):
        return OnEntry(env, step)
    return _APPLY[step["step"]](env, step)


class OnEntry(gymnasium.Wrapper):  # type: ignore[type-arg]
    """Applies a preprocessing step to one entry of a ``Dict``; the other entries stay unchanged.

    Args:
        env: A ``gymnasium.Env``.
        step: The step; its ``key`` names the entry.

    Raises:
        ValueError: There is no such entry, or the step does not fit it.
    """

    def __init__(self, env: Env, step: Mapping[str, Any]) -> None:
        super().__init__(env)
        self._path = _path_to(env.observation_space, step["key"])
        entry = functools.reduce(operator.getitem, self._path, env.observation_space)
        # The wrapper of the step wraps an environment whose observations are this entry.
        self._entry = apply(Playback(entry), {key: value for key, value in step.items() if key != "key"})
        after = _with(env.observation_space.spaces, self._path, self._entry.observation_space)
        self.observation_space = _dict_of(after)

    def reset(self, **keywords: Any) -> Tuple[Any, Dict[str, Any]]:
        observation, info = self.env.reset(**keywords)
        self._entry.unwrapped.shown = functools.reduce(operator.getitem, self._path, observation)
        return _with(observation, self._path, self._entry.reset()[0]), info

    def step(self, action: Any) -> Tuple[Any, Any, bool, bool, Dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._entry.unwrapped.shown = functools.reduce(operator.getitem, self._path, observation)
        shown = _with(observation, self._path, self._entry.step(0)[0])
        return shown, reward, terminated, truncated, info


def _path_to(space: Any, key: str) -> List[str]:
    """Return the names that lead to a nested entry; a name may itself contain a slash, as after the step
    ``keep``.
    """
    path: List[str] = []
    rest = key
    while rest:
        known: List[str] = list(space.spaces) if isinstance(space, spaces.Dict) else []
        name = rest if rest in known else rest.partition("/")[0]
        if name not in known:
            raise ValueError(f"there is no entry {key!r}; the entries are: {', '.join(known) or 'none'}")
        path.append(name)
        space, rest = space[name], "" if name == rest else rest.partition("/")[2]
    return path


def _with(entries: Mapping[str, Any], path: Sequence[str], value: Any) -> Dict[str, Any]:
    """Return a copy of ``entries`` in which ``value`` replaces the value at ``path``."""
    first, rest = path[0], path[1:]
    return {**entries, first: _with(entries[first], rest, value) if rest else value}


def _dict_of(entries: Mapping[str, Any]) -> Any:
    """Return a ``Dict`` space made from the mapping of spaces that :func:`_with` returned."""
    return spaces.Dict(
        {key: _dict_of(space) if type(space) is dict else space for key, space in entries.items()}
    )


def _transform(env: Env, function: Callable[[Any], Any], space: Any) -> Env:
    return TransformObservation(env, function, space)


def _box(env: Env) -> Any:
    space = env.observation_space
    if not isinstance(space, spaces.Box):
        raise ValueError(f"it takes a Box, not a {type(space).__name__}")
    return space


def _select(env: Env, step: Mapping[str, Any]) -> Env:
    space, key = env.observation_space, step["key"]
    if not isinstance(space, (spaces.Dict, spaces.Tuple)):
        raise ValueError("it takes a Dict or a Tuple; leave this step out")
    known: List[Any] = list(space.spaces) if isinstance(space, spaces.Dict) else list(range(len(space)))
    if key not in known:
        raise ValueError(f"it has no {key!r}; it has {', '.join(map(str, known))}")
    return _transform(env, lambda seen: seen[key], space[key])


def _keep(env: Env, step: Mapping[str, Any]) -> Env:
    paths = {path: path.split("/") for path in step["keys"]}
    kept: Dict[str, Any] = {}
    for path, keys in paths.items():
        space = env.observation_space
        for depth, key in enumerate(keys):
            if not isinstance(space, spaces.Dict):
                raise ValueError(f"{'/'.join(keys[:depth]) or 'it'} is no Dict and has no entry {key!r}")
            if key not in space.spaces:
                raise ValueError(
                    f"there is no entry {path!r}; the entries are: {', '.join(map(str, space.spaces))}"
                )
            space = space[key]
        kept[path] = space

    def entries(seen: Any) -> Dict[str, Any]:
        return {path: functools.reduce(operator.getitem, keys, seen) for path, keys in paths.items()}

    return _transform(env, entries, spaces.Dict(kept))


def _flatten(env: Env, _: Mapping[str, Any]) -> Env:
    if isinstance(env.observation_space, spaces.Box) and len(env.observation_space.shape) == 1:
        return env
    try:
        numbers = bool(env.observation_space.is_np_flattenable)
    except NotImplementedError:  # a custom space's
        numbers = False
    if not numbers:
        raise ValueError("some of its entries cannot be converted to numbers; select the others first")
    return FlattenObservation(env)


def _one_hot(env: Env, step: Mapping[str, Any]) -> Env:
    space, sizes = env.observation_space, step["sizes"]
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        if sizes is not None:
            raise ValueError("the space defines its number of values; leave 'sizes' out")
        return FlattenObservation(env)
    shape: Tuple[int, ...] = _box(env).shape
    if not shape or space.dtype.kind not in "iu":
        raise ValueError("it takes whole numbers")
    if sizes is None or len(sizes) != shape[-1]:
        given = "none are given" if sizes is None else f"{len(sizes)} are given"
        raise ValueError(f"'sizes' needs one number for each of its {shape[-1]} channels; {given}")
    values = [np.arange(size, dtype=space.dtype) for size in sizes]

    def spread(seen: NDArray[Any]) -> NDArray[np.uint8]:
        parts = [seen[..., i : i + 1] == known for i, known in enumerate(values)]
        return np.concatenate(parts, axis=-1).astype(np.uint8)

    return _transform(env, spread, spaces.Box(0, 1, (*shape[:-1], sum(sizes)), np.uint8))


def _grayscale(env: Env, step: Mapping[str, Any]) -> Env:
    return GrayscaleObservation(env, keep_dim=step["keep_dim"])


def _resize(env: Env, step: Mapping[str, Any]) -> Env:
    height, width = step["shape"]
    if step["method"] == "opencv":
        return ResizeObservation(env, (height, width))
    space = _box(env)
    bytes_only = space.dtype == np.uint8 and (space.low == 0).all() and (space.high == 255).all()
    if len(space.shape) not in (2, 3) or not bytes_only:
        raise ValueError("it takes an image of bytes from 0 to 255, height by width (by channels)")
    shape = (height, width, *space.shape[2:])
    return _transform(env, area_resize(space.shape, (height, width)), spaces.Box(0, 255, shape, np.uint8))


def area_resize(before: Sequence[int], after: Tuple[int, int]) -> Callable[[NDArray[np.uint8]], Any]:
    """Return a function that resizes images by averaging areas, rounding halves up.

    Every intermediate number is an integer below 2**53, so the result is the same bit by bit on any
    machine (which no image library promises).

    Args:
        before: Shape of the input image: height, width and any further axes.
        after: Height and width of the output image.
    """
    down, across = _overlaps(before[0], after[0]), _overlaps(before[1], after[1])
    area = before[0] * before[1]

    def resize(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        rows = np.tensordot(down, image.astype(np.float64), (1, 0))
        sums = np.moveaxis(np.tensordot(across, rows, (1, 1)), 0, 1)
        return np.ascontiguousarray((sums.astype(np.int64) + area // 2) // area).astype(np.uint8)

    return resize


def _overlaps(before: int, after: int) -> NDArray[np.float64]:
    """Return the share of each input pixel in each output pixel along one axis, shape (after, before).

    The unit is 1/after of an input pixel.
    """
    new, old = np.arange(after)[:, None] * before, np.arange(before)[None, :] * after
    return np.clip(np.minimum(new + before, old + after) - np.maximum(new, old), 0, None).astype(np.float64)


def _transpose(env: Env, step: Mapping[str, Any]) -> Env:
    space, axes = _box(env), step["axes"]
    if len(axes) != len(space.shape):
        raise ValueError(f"it has {len(space.shape)} axes and 'axes' names {len(axes)}")
    turned = spaces.Box(space.low.transpose(axes), space.high.transpose(axes), dtype=space.dtype.type)
    return _transform(env, lambda seen: seen.transpose(axes), turned)


def _frame_stack(env: Env, step: Mapping[str, Any]) -> Env:
    axis, size = step["axis"], step["size"]
    single = env.observation_space
    if axis is not None:
        dimensions = len(_box(env).shape)
        if not -dimensions <= axis < dimensions:
            raise ValueError(f"it has no axis {axis}; it has {dimensions}")
    stacked = FrameStackObservation(env, size, padding_type=step["padding"])
    if axis is None:
        return stacked
    low, high = (np.concatenate([bound] * size, axis) for bound in (single.low, single.high))
    joined = spaces.Box(low, high, dtype=single.dtype.type)
    return _transform(stacked, lambda seen: np.concatenate(list(seen), axis), joined)


def _rescale(env: Env, step: Mapping[str, Any]) -> Env:
    space = _box(env)
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        raise ValueError("its bounds are infinite; use normalize")
    if (space.low == space.high).any():
        raise ValueError("some of its lower and upper bounds are equal, so it cannot be rescaled")
    if step["low"] >= step["high"]:
        raise ValueError(f"'low' ({step['low']:g}) must be less than 'high' ({step['high']:g})")
    if space.dtype.kind != "f":
        env = DtypeObservation(env, np.float32)
    return RescaleObservation(env, np.float64(step["low"]), np.float64(step["high"]))


def _normalize(env: Env, step: Mapping[str, Any]) -> Env:
    space = _box(env)
    mean, var = np.asarray(step["mean"], np.float64), np.asarray(step["var"], np.float64)
    for name, numbers in (("mean", mean), ("var", var)):
        if numbers.shape not in (space.shape, ()):
            raise ValueError(f"{name!r} is of shape {numbers.shape}, observations of {space.shape}")
    normalized = NormalizeObservation(env, step["epsilon"])
    # The statistics are those of the training; later observations do not change them.
    normalized.update_running_mean = False
    normalized.obs_rms.mean, normalized.obs_rms.var = mean, var
    clip = step["clip"]
    if clip is None:
        return normalized
    bounds = spaces.Box(-clip, clip, space.shape, np.float32)
    return _transform(normalized, lambda seen: np.clip(seen, bounds.low, bounds.high), bounds)


def _append(env: Env, step: Mapping[str, Any]) -> Env:
    space, values = _box(env), np.asarray(step["values"], np.float32)
    if len(space.shape) != 1 or values.ndim != 1:
        raise ValueError("it takes a vector and a list of numbers to append")
    # A bound that float32 cannot represent becomes infinite, which excludes no float32 observation.
    low, high = (np.concatenate([np.float32(bound), values]) for bound in (space.low, space.high))

    def appended(seen: NDArray[Any]) -> NDArray[np.float32]:
        return np.concatenate([np.asarray(seen, np.float32), values])

    return _transform(env, appended, spaces.Box(low, high, dtype=np.float32))


def _dtype(env: Env, step: Mapping[str, Any]) -> Env:
    dtype = np.dtype(step["dtype"])
    space = env.observation_space
    if isinstance(space, spaces.Box) and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if space.low.min() < limits.min or space.high.max() > limits.max:
            raise ValueError(f"{dtype} cannot hold its bounds")
    return DtypeObservation(env, dtype.type)


_APPLY: Dict[str, Callable[[Env, Mapping[str, Any]], Env]] = {
    "select": _select,
    "keep": _keep,
    "flatten": _flatten,
    "one_hot": _one_hot,
    "grayscale": _grayscale,
    "resize": _resize,
    "transpose": _transpose,
    "frame_stack": _frame_stack,
    "rescale": _rescale,
    "normalize": _normalize,
    "append": _append,
    "dtype": _dtype,
}
