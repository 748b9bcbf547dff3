"""Describes the preprocessing of observations for a policy as a list of steps, and applies the steps.

A trained policy gets the same kind of observations in every environment, because its ``policy.json`` lists
the steps that were applied to observations in training:

>>> steps = check_steps([{"step": "select", "key": "image"}, {"step": "frame_stack", "size": 4}])
>>> [step["step"] for step in steps]
['select', 'frame_stack']

Training applies the steps to its environment (:func:`wrap`). A slot applies them to the stream of
observations that its agent gets (:class:`Pipeline`). Both use the same wrappers, which are Gymnasium's where
Gymnasium has one. A stream wraps an environment whose next observation the caller sets.

============= ================================================ =================================
step          options                                          does
============= ================================================ =================================
``select``    ``key``                                          one entry of a ``Dict`` or ``Tuple``
``keep``      ``keys``: entries, inner ones as ``a/b``         only these of a ``Dict``, in one of theirs
``flatten``                                                    everything in one vector
``one_hot``   ``sizes``: values per channel, for an array      a 1 among 0s for each whole number
``grayscale`` ``keep_dim`` (false)                             uint8 RGB to one channel
``resize``    ``shape``: [height, width]; ``method`` (area)    uint8 image to another size
``transpose`` ``axes`` ([2, 0, 1])                             other order of axes: HWC to CHW
``frame_stack`` ``size``; ``padding`` (reset, or zero);        the last observations, in a new first
              ``axis`` (null)                                  axis, or joined along ``axis``
``rescale``   ``low`` (0), ``high`` (1)                        from the space's bounds to these
``normalize`` ``mean``, ``var``; ``epsilon`` (1e-8);           float32 (x - mean) / sqrt(var +
              ``clip`` (null)                                  epsilon), within ±clip
``append``    ``values``                                       a vector and these numbers behind it
``dtype``     ``dtype``                                        another element type
============= ================================================ =================================

All steps but ``select`` and ``keep`` also take a ``key``: the entry of a ``Dict`` to which the step is
applied (a nested entry as ``a/b``). The other entries stay unchanged.

Gymnasium is imported only when steps are applied.
"""

from __future__ import annotations

import difflib
import math
import warnings
from typing import Any, Callable, Dict, Hashable, List, Mapping, NamedTuple, Sequence, cast

import numpy as np

Step = Dict[str, Any]
"""A complete step: its name under ``"step"``, and all its options."""


class PreprocessingError(ValueError):
    """Steps are invalid or cannot be applied; the message is one sentence."""


# -- checking ----------------------------------------------------------------------------


def check_steps(steps: Any) -> List[Step]:
    """Check steps and return them with all options filled in.

    Args:
        steps: A list of mappings; a step without options may be given as its name.

    Raises:
        PreprocessingError: A step or option is unknown, or a value is invalid.
    """
    if isinstance(steps, (str, bytes)) or not isinstance(steps, Sequence):
        raise PreprocessingError(f"preprocessing is a list of steps, not {steps!r:.60}")
    given = cast("Sequence[Any]", steps)
    return [_check_step(step, f"preprocessing step {i}") for i, step in enumerate(given, 1)]


def _check_step(given: Any, where: str) -> Step:
    written: Dict[str, Any] = {"step": given} if isinstance(given, str) else {}
    if isinstance(given, Mapping):
        written = {str(key): value for key, value in cast("Mapping[Any, Any]", given).items()}
    name = written.pop("step", None)
    if not isinstance(name, str):
        raise PreprocessingError(
            f'{where} must have its name under "step", as in {{"step": "flatten"}}, not {given!r:.60}'
        )
    if name not in _OPTIONS:
        raise PreprocessingError(f"{where}: there is no step {name!r}{_nearest(name, list(_OPTIONS))}")
    options = options_of(name)
    for key in written:
        if key not in options:
            raise PreprocessingError(f"{where} ({name}) has no option {key!r}{_nearest(key, list(options))}")
    full: Step = {"step": name}
    for key, option in options.items():
        value = written.get(key, option.default)
        if option is ENTRY and value is None:
            continue
        if value is _NEEDED:
            raise PreprocessingError(f"{where} ({name}) needs {key!r}")
        try:
            full[key] = option.check(value)
        except (ValueError, TypeError) as error:
            raise PreprocessingError(f"{where} ({name}): {key} {error}") from None
    return full


_OF_SUPERSUIT = {
    "color_reduction": "grayscale",
    "frame_stack": "frame_stack",
    "resize": "resize",
    "dtype": "dtype",
    "flatten": "flatten",
    "normalize_obs": "rescale",
    "agent_indicator": "append",
}
"""Names of SuperSuit's observation wrappers without their version, and the equivalent steps."""


def _nearest(word: str, known: Sequence[str]) -> str:
    stem, _, version = word.rpartition("_v")
    if version.isdigit() and stem in _OF_SUPERSUIT and _OF_SUPERSUIT[stem] in known:
        return f"; SuperSuit's {word} is {_OF_SUPERSUIT[stem]!r} here"
    close = difflib.get_close_matches(word.lower(), known, 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def _key(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError(f"must be a name, or an index into a Tuple, not {value!r:.60}")
    return value


def _entry(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"must be the name of an entry, not {value!r:.60}")
    return value


def _paths(value: Any) -> List[str]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not value:
        raise ValueError(f"must be a list of names, not {value!r:.60}")
    names = cast("Sequence[Any]", value)
    if not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"must be a list of names, not {value!r:.60}")
    if len(set(names)) < len(names):
        raise ValueError("must name each entry once")
    return list(names)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r:.60}")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"must be a whole number, not {value!r:.60}")
    return int(value)


def _count(value: Any) -> int:
    number = _integer(value)
    if not 1 <= number <= 4096:
        raise ValueError(f"must be between 1 and 4096, not {number}")
    return number


def _list_of(check: Callable[[Any], int], length: int = 0) -> Callable[[Any], List[int]]:
    def checked(value: Any) -> List[int]:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not value:
            raise ValueError(f"must be a list of whole numbers, not {value!r:.60}")
        numbers = [check(v) for v in cast("Sequence[Any]", value)]
        if length and len(numbers) != length:
            raise ValueError(f"must be {length} whole numbers, not {len(numbers)}")
        return numbers

    return checked


def _maybe(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else check(value)


def _axes(value: Any) -> List[int]:
    axes = _list_of(_integer)(value)
    if sorted(axes) != list(range(len(axes))):
        raise ValueError(f"must name every axis from 0 once, not {axes}")
    return axes


def _one_of(*words: str) -> Callable[[Any], str]:
    def checked(value: Any) -> str:
        if value not in words:
            raise ValueError(f"must be {' or '.join(words)}, not {value!r:.60}")
        return str(value)

    return checked


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise ValueError(f"must be a number, not {value!r:.60}")
    number = float(value)  # pyright: ignore[reportUnknownArgumentType]
    if not math.isfinite(number):
        raise ValueError(f"must be finite, not {number}")
    return number


def _positive(value: Any) -> float:
    number = _number(value)
    if number <= 0:
        raise ValueError(f"must be more than 0, not {number:g}")
    return number


def _numbers(value: Any) -> Any:
    """Check numbers of an observation's shape and return nested lists; JSON keeps each float64 exactly."""
    try:
        array = np.asarray(value, np.float64)
    except (ValueError, TypeError):
        raise ValueError("must be numbers, in lists of the observation's shape") from None
    if not array.size or not np.isfinite(array).all():
        raise ValueError("must be finite numbers")
    return array.tolist()


def _variances(value: Any) -> Any:
    checked = _numbers(value)
    if (np.asarray(checked) < 0).any():
        raise ValueError("must not be negative")
    return checked


def _dtype(value: Any) -> str:
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise ValueError(f"is no element type: {value!r:.60}") from None
    if dtype.kind not in "iufb":
        raise ValueError(f"must be a type of numbers, not {dtype}")
    return dtype.name


_NEEDED = object()


class _Option(NamedTuple):
    """One option of a step: the check of its value, its default, and its JSON Schema for forms."""

    check: Callable[[Any], Any]
    default: Any
    schema: Dict[str, Any]


def _option(
    check: Callable[[Any], Any],
    kind: Any,
    title: str,
    meaning: str = "",
    default: Any = _NEEDED,
    **limits: Any,
) -> _Option:
    about = {"description": meaning} if meaning else {}
    return _Option(check, default, {"type": kind, "title": title, **about, **limits})


_ONE_TO_MANY: Dict[str, Any] = {"minimum": 1, "maximum": 4096}
_COUNTS: Dict[str, Any] = {"type": "integer", **_ONE_TO_MANY}
_MEANINGS: Dict[str, str] = {
    "select": "one entry of a Dict or Tuple",
    "keep": "only some entries of a Dict",
    "flatten": "the whole observation as one vector",
    "one_hot": "a one-hot vector for each integer",
    "grayscale": "an RGB image as one channel",
    "resize": "an image of another size",
    "transpose": "another order of axes: height, width, channels to channels first",
    "frame_stack": "the last observations stacked",
    "rescale": "scaled from the space's bounds to low and high",
    "normalize": "minus the mean, divided by the standard deviation",
    "append": "a vector followed by these numbers",
    "dtype": "another element type",
}
_OPTIONS: Dict[str, Dict[str, _Option]] = {
    "select": {
        "key": _option(_key, ["string", "integer"], "Entry", "Name of the entry, or its index in a Tuple")
    },
    "keep": {
        "keys": _option(
            _paths,
            "array",
            "Entries",
            "Names of entries; a nested entry as observation/image",
            items={"type": "string"},
        )
    },
    "flatten": {},
    "one_hot": {
        "sizes": _option(
            _maybe(_list_of(_count)),
            ["array", "null"],
            "Sizes",
            "For an array: number of values of each channel",
            None,
            items=_COUNTS,
        )
    },
    "grayscale": {
        "keep_dim": _option(
            _flag, "boolean", "Keep the axis", "Keep the axis of the single remaining channel", default=False
        )
    },
    "resize": {
        "shape": _option(
            _list_of(_count, 2), "array", "Height, width", "In pixels", items=_COUNTS, minItems=2, maxItems=2
        ),
        "method": _option(
            _one_of("area", "opencv"),
            "string",
            "Method",
            "area gives the same bytes on every machine; opencv is Gymnasium's method",
            "area",
            enum=["area", "opencv"],
        ),
    },
    "transpose": {
        "axes": _option(
            _axes, "array", "Axes", "Axes in their new order", [2, 0, 1], items={"type": "integer"}
        )
    },
    "frame_stack": {
        "size": _option(_count, "integer", "Size", "Number of observations, the newest last", **_ONE_TO_MANY),
        "padding": _option(
            _one_of("reset", "zero"),
            "string",
            "Begins with",
            "Copies of the first observation, or zeros",
            "reset",
            enum=["reset", "zero"],
        ),
        "axis": _option(
            _maybe(_integer),
            ["integer", "null"],
            "Joined along",
            "Axis along which observations are joined; none: a new first axis",
            None,
        ),
    },
    "rescale": {
        "low": _option(_number, "number", "Low", default=0.0),
        "high": _option(_number, "number", "High", default=1.0),
    },
    "normalize": {
        "mean": _option(_numbers, "array", "Mean"),
        "var": _option(_variances, "array", "Variance"),
        "epsilon": _option(_positive, "number", "Epsilon", "Added to the variance", 1e-8, exclusiveMinimum=0),
        "clip": _option(
            _maybe(_positive), ["number", "null"], "Clip", "Largest absolute value; none: no limit", None
        ),
    },
    "append": {"values": _option(_numbers, "array", "Numbers")},
    "dtype": {"dtype": _option(_dtype, "string", "Element type", "NumPy's name, for example float32")},
}
STEPS = tuple(_OPTIONS)
"""Names of all steps."""
ENTRY = _option(
    _maybe(_entry),
    ["string", "null"],
    "Entry",
    "Entry of a Dict, nested: observation/image; other entries stay unchanged. None: the whole observation",
    None,
)


def options_of(name: str) -> Dict[str, _Option]:
    """Return the options of a step, including ``key``, the entry to which the step is applied."""
    own = _OPTIONS[name]
    return own if name in ("select", "keep") else {**own, "key": ENTRY}


def step_schema(name: str) -> Dict[str, Any]:
    """Return the options of a step as a JSON Schema, from which forms are made.

    Args:
        name: One of :data:`STEPS`.

    Returns:
        A schema whose ``title`` is the step's name and whose ``description`` says what the step returns.

    Raises:
        KeyError: There is no such step.
    """
    options = options_of(name)
    return {
        "type": "object",
        "title": name,
        "description": _MEANINGS[name],
        "properties": {
            key: option.schema if option.default is _NEEDED else {**option.schema, "default": option.default}
            for key, option in options.items()
        },
        "required": [key for key, option in options.items() if option.default is _NEEDED],
    }


# -- applying ----------------------------------------------------------------------------


def wrap(env: Any, steps: Any) -> Any:
    """Wrap an environment so that ``steps`` are applied to its observations, for training.

    Args:
        env: A ``gymnasium.Env``.
        steps: See :func:`check_steps`; if there are no steps, ``env`` itself is returned.

    Raises:
        PreprocessingError: The steps do not fit its observation space.
    """
    checked = check_steps(steps)
    if not checked:
        return env
    from mosaic_worker import observation_wrappers

    for i, step in enumerate(checked, 1):
        before = env.observation_space
        try:
            with warnings.catch_warnings():
                # A Box warns when its bounds become float32, which the author of the step has chosen.
                warnings.filterwarnings("ignore", ".*precision lowered by casting")
                env = observation_wrappers.apply(env, step)
        except (ValueError, TypeError, KeyError, IndexError, ImportError, AssertionError) as error:
            words = " ".join(str(error).split()) or type(error).__name__
            raise PreprocessingError(
                f"preprocessing step {i} ({step['step']}) does not fit {_short(before)}: {words}"
            ) from error
        except Exception as error:  # Gymnasium's exceptions, without importing Gymnasium here
            words = " ".join(str(error).split())
            raise PreprocessingError(f"preprocessing step {i} ({step['step']}): {words}") from error
    return env


def _short(space: Any) -> str:
    words = " ".join(str(space).split())
    return words if len(words) <= 120 else f"{words[:119]}…"


class Pipeline:
    """Preprocessing steps for the observations of one slot.

    Args:
        steps: See :func:`check_steps`.
        observation_space: The slot's observation space: a Gymnasium space, or a description of one.

    Attributes:
        steps: The steps with all options filled in.
        input_space: Gymnasium space of the observations after the steps.

    Raises:
        PreprocessingError: The steps do not fit the space.
    """

    def __init__(self, steps: Any, observation_space: Any) -> None:
        from mosaic_worker import gymnasium_spaces

        self.steps = check_steps(steps)
        self._space = gymnasium_spaces.build(observation_space)
        self.input_space: Any = self._space
        if self.steps:
            self.input_space = self._played_back().observation_space

    def of(self, agent: str) -> Pipeline:
        """Return the pipeline for an agent that the slot plays; this class returns itself.

        A subclass for joint policies may return another pipeline.
        """
        return self

    def stream(self) -> Stream:
        """Return a new stream; each agent in each episode needs its own."""
        return Stream(self._played_back() if self.steps else None)

    def _played_back(self) -> Any:
        from mosaic_worker import observation_wrappers

        return wrap(observation_wrappers.Playback(self._space), self.steps)


class Stream:
    """Applies the steps to the successive observations of one agent."""

    def __init__(self, env: Any) -> None:
        self._env, self._begun = env, False
        self._source = None if env is None else env.unwrapped

    def reset(self) -> None:
        """Begin an episode: the next observation is its first."""
        self._begun = False

    def apply(self, observation: Any) -> Any:
        """Return the next observation after preprocessing."""
        if self._source is None:
            return observation
        self._source.shown = observation
        if self._begun:
            return self._env.step(0)[0]
        self._begun = True
        return self._env.reset()[0]


def describe_steps(steps: Any) -> str:
    """Return the steps as one line of text, for example ``select image, frame_stack 4``."""
    return ", ".join(_describe(step) for step in check_steps(steps))


def _describe(step: Mapping[str, Any]) -> str:
    name = str(step["step"])
    shown: Dict[str, Hashable] = {
        "select": step.get("key"),
        "keep": " and ".join(step.get("keys") or ()),
        "resize": "x".join(map(str, step.get("shape") or ())),
        "frame_stack": step.get("size"),
        "append": " ".join(f"{number:g}" for number in step.get("values") or ()),
        "dtype": step.get("dtype"),
    }
    value = shown.get(name)
    entry = f" of {step['key']}" if name != "select" and step.get("key") else ""
    return f"{name}{entry}" if value is None or value == "" else f"{name} {value}{entry}"
