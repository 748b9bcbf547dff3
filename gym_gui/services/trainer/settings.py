"""Settings of a training, checked against what its worker says of them, without importing it.

A worker lays a ``train_schema.json`` beside its ``worker.toml`` (``[train] schema``): per
algorithm its title, what it learns from, and a JSON Schema of each setting. The part of JSON
Schema that is understood: ``type`` (``integer``, ``number``, ``boolean``, ``string``, ``array`` of one
of them, and ``null`` beside another), ``enum``, ``minimum``, ``maximum``, ``exclusiveMinimum``,
``exclusiveMaximum``, ``minItems``, ``maxItems``, ``default``.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.services.trainer.settings_text import value_of_text
from gym_gui.workers.definition import WorkerTypeDefinition

IMAGE_BYTES = 84 * 84 * 4
"""Of four frames as most algorithms are shown them: few observations are larger."""

_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
    "array": "a list",
    "null": "none",
}
_BOUNDS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("minimum", "at least", lambda value, bound: value >= bound),
    ("exclusiveMinimum", "more than", lambda value, bound: value > bound),
    ("maximum", "at most", lambda value, bound: value <= bound),
    ("exclusiveMaximum", "less than", lambda value, bound: value < bound),
)


def _nothing() -> dict[str, Mapping[str, Any]]:
    return {}


@dataclass(frozen=True)
class AlgorithmSchema:
    """One algorithm and what it can be told.

    Attributes:
        name: As it is asked for.
        title: As people know it.
        description: One sentence.
        actions: Kinds of action it learns: ``discrete``, ``multi_discrete``, ``continuous``; empty: not said.
        observations: Kinds of observation it learns from: ``vector``, ``image``; empty: not said.
        masks: Whether it never plays what an action mask forbids.
        recurrent: Whether it remembers earlier observations of the episode.
        properties: JSON Schema of each setting, in the order a form shows them.
    """

    name: str
    title: str = ""
    description: str = ""
    actions: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()
    masks: bool = False
    recurrent: bool = False
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=_nothing)

    @property
    def defaults(self) -> dict[str, Any]:
        """Every setting that has a default, with it."""
        return {name: spec["default"] for name, spec in self.properties.items() if "default" in spec}

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, whole numbers as such.

        Raises:
            UsageError: One is unknown (names the nearest), of the wrong type, or out of range.
        """
        return {name: _checked(name, value, self.find(name)) for name, value in settings.items()}

    def checked_texts(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """As :meth:`checked`, from what a person typed: ``"3e-4"``, ``"64,64"``, ``"none"``."""
        return self.checked({name: value_of_text(text, self.find(name)) for name, text in texts.items()})

    def incompatibility(self, action: str = "", observation: str = "") -> str:
        """Why it cannot learn in an environment; empty where it can, or it is not known.

        Args:
            action: Kind of its actions, if known, in the schema's words or those of ``worker.toml``.
            observation: Kind of its observations, if known; what is neither ``vector`` nor ``image`` is
                left to the worker, whose preprocessing may make one of it.
        """
        action = "continuous" if action == "box" else action
        if action and self.actions and action not in self.actions:
            return f"it learns {_either(self.actions)} actions, and those here are {action}"
        if observation in ("vector", "image") and self.observations and observation not in self.observations:
            return (
                f"it learns from {_either(self.observations)} observations, and those here are {observation}"
            )
        return ""

    def remembered_mb(self, settings: Mapping[str, Any]) -> int:
        """The most that its replay buffer takes in MB, of observations up to :data:`IMAGE_BYTES`.

        Args:
            settings: Those that were given.

        Returns:
            0 for an algorithm that has none.
        """
        size = {**self.defaults, **settings}.get("buffer_size", 0)
        # Each step is kept with the observation that it led to.
        return math.ceil(size * 2 * IMAGE_BYTES / 2**20) if _is(size, "number") else 0

    def find(self, name: str) -> Mapping[str, Any]:
        """The schema of a setting.

        Raises:
            UnknownNameError: There is none of that name; names the nearest.
        """
        found = self.properties.get(name)
        if found is None:
            raise UnknownNameError(f"setting of {self.name}", name, self.properties)
        return found


def read_schemas(definition: WorkerTypeDefinition) -> dict[str, AlgorithmSchema]:
    """What each algorithm of a worker can be told; empty where the worker does not say.

    Raises:
        UsageError: Its schema cannot be used; names the file.
    """
    path = None if definition.train is None else definition.train.schema
    if path is None:
        return {}
    try:
        data = json.loads(path.read_bytes())
        algorithms: Mapping[str, Mapping[str, Any]] = data["algorithms"]
        return {name: _schema(name, given) for name, given in algorithms.items()}
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"is no train schema ({error})"
    raise UsageError(f"{path} {problem}", fix=f"Make it anew: python -m {definition.module_path}.schema")


def _schema(name: str, given: Mapping[str, Any]) -> AlgorithmSchema:
    properties = {key: dict(spec) for key, spec in given["properties"].items()}
    for key, spec in properties.items():
        unknown = set(_types(spec)) - set(_KINDS)
        if unknown or not _types(spec):
            raise ValueError(f"{name}: {key} is of no type that a form knows: {spec.get('type')!r}")
    return AlgorithmSchema(
        name=name,
        title=str(given.get("title", name)),
        description=str(given.get("description", "")),
        actions=tuple(given.get("actions", ())),
        observations=tuple(given.get("observations", ())),
        masks=bool(given.get("masks", False)),
        recurrent=bool(given.get("recurrent", False)),
        properties=properties,
    )


def _types(spec: Mapping[str, Any]) -> tuple[str, ...]:
    given = spec.get("type", ())
    return (given,) if isinstance(given, str) else tuple(given)


def _checked(name: str, value: Any, spec: Mapping[str, Any]) -> Any:
    types = _types(spec)
    kind: str | None = next((kind for kind in types if _is(value, kind)), None)
    if kind is None:
        raise UsageError(f"{name} is {_shown(value)}, but must be {wanted(spec)}")
    if kind == "null":
        return value
    if "enum" in spec and value not in spec["enum"]:
        near = difflib.get_close_matches(str(value), [str(option) for option in spec["enum"]], 1)
        fix = f"Did you mean {near[0]}?" if near else ""
        raise UsageError(f"{name} is {_shown(value)}, but must be {wanted(spec)}", fix=fix)
    if kind == "array":
        return _checked_items(name, value, spec)
    if kind in ("integer", "number"):
        value = int(value) if kind == "integer" else value
        if not all(fits(value, spec[key]) for key, _, fits in _BOUNDS if key in spec):
            raise UsageError(f"{name} is {_shown(value)}, but must be {wanted(spec)}")
    return value


def _checked_items(name: str, values: Sequence[Any], spec: Mapping[str, Any]) -> list[Any]:
    fewest, most = spec.get("minItems", 0), spec.get("maxItems", math.inf)
    if not fewest <= len(values) <= most:
        bound = f"at least {fewest}" if len(values) < fewest else f"at most {most}"
        raise UsageError(f"{name} has {len(values)} entries, but must have {bound}")
    each = cast("Mapping[str, Any]", spec.get("items", {"type": "number"}))
    return [_checked(f"{name}[{i}]", value, each) for i, value in enumerate(values)]


def _is(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return False
        return kind == "number" or float(value).is_integer()
    return isinstance(value, {"boolean": bool, "string": str, "array": (list, tuple)}.get(kind, ()))


def wanted(spec: Mapping[str, Any]) -> str:
    """In words, what a setting may be: ``a number, more than 0 and at most 1``."""
    if "enum" in spec:
        words = _either([str(option) for option in spec["enum"]])
    else:
        words = " or ".join(_KINDS[kind] for kind in _types(spec) if kind != "null")
        bounds = [f"{said} {spec[key]:,g}" for key, said, _ in _BOUNDS if key in spec]
        words += f", {' and '.join(bounds)}" if bounds else ""
        if "array" in _types(spec) and "items" in spec:
            words += f", each {wanted(spec['items'])}"
    return f"{words}, or none" if "null" in _types(spec) else words


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str) if isinstance(value, (bool, list, tuple)) else str(value)
    text = "none" if value is None else text
    return repr(text) if isinstance(value, str) else text if len(text) < 60 else f"{text[:59]}…"
