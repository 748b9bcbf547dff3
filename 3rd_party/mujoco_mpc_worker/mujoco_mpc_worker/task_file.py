"""Reads a task file, which defines a reward by weighted terms and bounds; the file contains only data."""

# MuJoCo has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

import difflib
import json
import math
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import mujoco
import numpy as np

from mosaic_worker.plain_files import read_file
from mosaic_worker.worker import LoadError
from mujoco_mpc_worker.rewards import Array, Constants, Flags, Reward, StepRewards, Steps

_OURS = Path(__file__).parent / "tasks"
"""Folder of task files for tasks whose own reward is unsuitable for planning."""
_LARGEST = 1_000_000
"""Largest size of a file, in bytes."""
_AXES = {"x": 0, "y": 1, "z": 2}
_FRAMES = {"position": mujoco.mjtSensor.mjSENS_FRAMEPOS, "velocity": mujoco.mjtSensor.mjSENS_FRAMELINVEL}
_OBJECTS = {
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "site": mujoco.mjtObj.mjOBJ_SITE,
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
}
_PLACES = {f"{kind}_{what}": (kind, what) for kind in _OBJECTS for what in _FRAMES}
_SOURCES = ("qpos", "qvel", "sensor", *_PLACES)
_TERM = (*_SOURCES, "axis", "from", "target", "weight", "norm", "width", "name")
_BOUND = (*_SOURCES, "axis", "from", "low", "high", "name")

Norm = Callable[[Array, float], Array]
_NORMS: Mapping[str, Norm] = {
    "linear": lambda x, width: x.sum(-1),
    "quadratic": lambda x, width: np.square(x).sum(-1) / 2,
    "abs": lambda x, width: np.abs(x).sum(-1),
    "l2": lambda x, width: np.sqrt(np.square(x).sum(-1)),
    "smooth_abs": lambda x, width: np.sqrt(np.square(x).sum(-1) + width**2) - width,
}
Read = Callable[[Steps], Array]


class _Source(NamedTuple):
    """Measured value that a term or a bound reads, (…, numbers)."""

    kind: str
    name: str
    axis: str
    origin: str
    where: str


class _Term(NamedTuple):
    source: _Source
    target: Array
    weight: float
    norm: str
    width: float


class _Bound(NamedTuple):
    source: _Source
    low: float
    high: float


def task_file_for(task: str) -> str:
    """Return the worker's own file for an environment's module, ``hopper_v5``; empty if there is none."""
    path = _OURS / f"{task}.toml"
    return str(path) if path.is_file() else ""


class Task:
    """A reward for planning, read from a file.

    Args:
        path: Path of a TOML file, or of a JSON file if it ends in ``.json``.

    Raises:
        LoadError: The file cannot be read, or has an invalid key; the message names the key.
    """

    def __init__(self, path: str) -> None:
        self._file = Path(path).name
        table = _read(Path(path))
        self._known(table, ("terms", "bounds", "control_cost", "alive", "reward"), "")
        self._terms = [self._term(each, f"terms[{i}]") for i, each in enumerate(self._tables(table, "terms"))]
        self._bounds = [
            self._bound(each, f"bounds[{i}]") for i, each in enumerate(self._tables(table, "bounds"))
        ]
        self._control_cost = self._number(table, "control_cost", "", 0.0)
        self._alive = self._number(table, "alive", "", 0.0)
        self._own = self._number(table, "reward", "", 0.0)
        if not self._terms:
            raise self._wrong("terms", "there is none, so all plans would be equally good")

    def measure(self, spec: Any) -> None:
        """Add sensors to a model for all quantities that the file reads, before the model is compiled."""
        for source in self._sources():
            if source.kind not in _PLACES:
                continue
            kind, what = _PLACES[source.kind]
            for name in filter(None, (source.name, source.origin)):
                if self._sensor_name(kind, what, name) not in [each.name for each in spec.sensors]:
                    sensor = spec.add_sensor()
                    sensor.name, sensor.type = self._sensor_name(kind, what, name), _FRAMES[what]
                    sensor.objtype, sensor.objname = _OBJECTS[kind], name

    def check_names(self, model: Any) -> None:
        """Check the file's names against a model.

        Raises:
            LoadError: The model does not have a name; the message lists its names.
        """
        for source in self._sources():
            for name in filter(None, (source.name, source.origin)):
                self._numbered(model, source, name)

    def reward(self, model: Any, own: Reward | None) -> Reward:
        """Return the reward of steps.

        Args:
            model: Model that :meth:`measure` has prepared.
            own: The environment's own reward, or ``None`` if unknown.

        Raises:
            LoadError: The file uses the environment's reward, which is unknown.
        """
        added = self._added(model)
        if not self._own:
            return added
        if own is None:
            raise self._wrong("reward", "the environment's own reward is not known: leave this key out")

        def paid(steps: Steps, constants: Constants) -> StepRewards:
            (theirs, ends), (ours, over) = own(steps, constants), added(steps, constants)
            return StepRewards(self._own * theirs + ours, ends | over)

        return paid

    def _added(self, model: Any) -> Reward:
        """Return the reward that the file's own keys define."""
        terms = [(self._reader(model, term.source), term) for term in self._terms]
        bounds = [(self._reader(model, bound.source), bound) for bound in self._bounds]

        def paid(steps: Steps, _: Constants) -> StepRewards:
            reward: Array = self._alive - self._control_cost * np.square(steps.action).sum(-1)
            ends: Flags = np.zeros(reward.shape, np.bool_)
            for read, term in terms:
                off = read(steps) - term.target
                reward = reward - term.weight * _NORMS[term.norm](off, term.width)
            for read, bound in bounds:
                x = read(steps)
                ends = ends | ((x < bound.low) | (x > bound.high)).any(-1)
            return StepRewards(reward, ends)

        for read, term in terms:
            self._fits(model, read, term)
        return paid

    def _fits(self, model: Any, read: Read, term: _Term) -> None:
        qpos, qvel, action = np.zeros(int(model.nq)), np.zeros(int(model.nv)), np.zeros(int(model.nu))
        count = read(Steps(qpos, qpos, qvel, action, 1.0, np.zeros(int(model.nsensordata)))).size
        if term.target.size not in (1, count):
            raise self._wrong(
                f"{term.source.where}.target",
                f"has {term.target.size} numbers, and {term.source.name} has {count}",
            )

    def _sources(self) -> Iterable[_Source]:
        return [each.source for each in (*self._terms, *self._bounds)]

    @staticmethod
    def _sensor_name(kind: str, what: str, name: str) -> str:
        return f"task file: {what} of {kind} {name}"

    def _numbered(self, model: Any, source: _Source, name: str) -> int:
        """Return the number of a joint, sensor, body, site or geom in a model."""
        kind = _PLACES.get(source.kind, ("joint" if source.kind in ("qpos", "qvel") else "sensor", ""))[0]
        what = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        number = int(mujoco.mj_name2id(model, what, name))
        if number >= 0:
            return number
        count = {"joint": model.njnt, "sensor": model.nsensor, "geom": model.ngeom, "site": model.nsite}
        found = [mujoco.mj_id2name(model, what, i) for i in range(int(count.get(kind, model.nbody)))]
        has = ", ".join(each for each in found if each and not each.startswith("task file:"))
        raise self._wrong(
            f"{source.where}.{source.kind}", f"the model has no {kind} {name!r}; it has {has or 'none'}"
        )

    def _reader(self, model: Any, source: _Source) -> Read:
        number = self._numbered(model, source, source.name)
        if source.kind in ("qpos", "qvel"):
            kind = int(model.jnt_type[number])
            if kind not in (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)):
                raise self._wrong(
                    f"{source.where}.{source.kind}",
                    f"joint {source.name!r} moves in several ways: use body_position or body_velocity",
                )
            at = int((model.jnt_qposadr if source.kind == "qpos" else model.jnt_dofadr)[number])
            return (
                (lambda s: s.qpos[..., at : at + 1])
                if source.kind == "qpos"
                else (lambda s: s.qvel[..., at : at + 1])
            )
        places = self._measured(model, source, source.name)
        if not source.origin:
            return lambda s: s.sensors[..., places]
        less = self._measured(model, source, source.origin)
        if len(less) != len(places):
            raise self._wrong(
                f"{source.where}.from",
                f"{source.origin} has {len(less)} numbers, but {source.name} has {len(places)}",
            )
        return lambda s: s.sensors[..., places] - s.sensors[..., less]

    def _measured(self, model: Any, source: _Source, name: str) -> list[int]:
        """Return the indices of a source's measurements among all sensor data."""
        kind, what = _PLACES.get(source.kind, ("", ""))
        sensor = model.sensor(self._sensor_name(kind, what, name) if kind else name)
        first, size = int(sensor.adr[0]), int(sensor.dim[0])
        if not source.axis:
            return list(range(first, first + size))
        if _AXES[source.axis] >= size:
            raise self._wrong(f"{source.where}.axis", f"{name} has {size} numbers")
        return [first + _AXES[source.axis]]

    def _term(self, table: Mapping[str, Any], where: str) -> _Term:
        self._known(table, _TERM, where)
        norm = table.get("norm", "quadratic")
        if not isinstance(norm, str) or norm not in _NORMS:
            raise self._wrong(f"{where}.norm", f"is {norm!r}; norms are {', '.join(_NORMS)}")
        target = table.get("target", 0.0)
        numbers = cast("list[Any]", target) if isinstance(target, list) else [target]
        if not numbers or not all(map(_is_number, numbers)):
            raise self._wrong(f"{where}.target", f"must be a number or a list of them, not {target!r}")
        width = self._number(table, "width", where, 0.1)
        if width <= 0:
            raise self._wrong(f"{where}.width", f"must be above 0, not {width:g}")
        return _Term(
            self._source(table, where),
            np.array(numbers, np.float64),
            self._number(table, "weight", where, 1.0),
            norm,
            width,
        )

    def _bound(self, table: Mapping[str, Any], where: str) -> _Bound:
        self._known(table, _BOUND, where)
        low = self._number(table, "low", where, -math.inf)
        high = self._number(table, "high", where, math.inf)
        if not low < high or (math.isinf(low) and math.isinf(high)):
            raise self._wrong(where, "needs low, high or both, with low below high")
        return _Bound(self._source(table, where), low, high)

    def _source(self, table: Mapping[str, Any], where: str) -> _Source:
        named = [key for key in _SOURCES if key in table]
        if len(named) != 1:
            raise self._wrong(where, f"must name one of {', '.join(_SOURCES)}, not {len(named)} of them")
        (kind,) = named
        for key in (kind, "axis", "from"):
            if key in table and not isinstance(table[key], str):
                raise self._wrong(f"{where}.{key}", f"must be a name, not {table[key]!r}")
        axis, origin = str(table.get("axis", "")), str(table.get("from", ""))
        if axis and axis not in _AXES:
            raise self._wrong(f"{where}.axis", f"must be x, y or z, not {axis!r}")
        if kind in ("qpos", "qvel") and (axis or origin):
            raise self._wrong(where, "axis and from are for positions, but a joint has one number")
        return _Source(kind, str(table[kind]), axis, origin, where)

    def _tables(self, table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        given: Any = table.get(key, [])
        if not isinstance(given, list) or not all(
            isinstance(each, dict) for each in cast("list[Any]", given)
        ):
            raise self._wrong(key, f"must be a list of tables: [[{key}]]")
        return cast("list[Mapping[str, Any]]", given)

    def _number(self, table: Mapping[str, Any], key: str, where: str, default: float) -> float:
        value = table.get(key, default)
        if key in table and not _is_number(value):
            raise self._wrong(f"{where}.{key}".lstrip("."), f"must be a number, not {value!r}")
        return float(value)

    def _known(self, table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                fix = f"did you mean {near[0]}?" if near else f"known keys are {', '.join(known)}"
                raise self._wrong(f"{where}.{key}".lstrip("."), f"is not known; {fix}")

    def _wrong(self, where: str, says: str) -> LoadError:
        return LoadError(f"{self._file}: {where}: {says}")


def _is_number(value: Any) -> bool:
    # The comparison excludes NaN, infinity and integers too large for a float.
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    )


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = read_file(path, links=True, limit=_LARGEST).decode("utf-8-sig")
        table: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise LoadError(f"the task file {path} cannot be read: {error.strerror}") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # these include TOMLDecodeError, JSONDecodeError and invalid UTF-8
        raise LoadError(f"{path.name} is neither TOML nor JSON: {error}") from error
    if not isinstance(table, dict):
        raise LoadError(f"{path.name}: must be a table with terms, not {type(table).__name__}")
    return cast("Mapping[str, Any]", table)
