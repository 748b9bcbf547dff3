"""Checks settings of a training against the worker's schema, without importing the worker.

A worker has a ``train_schema.json`` beside its ``worker.toml`` (``[train] schema``). For each algorithm, the
schema contains the title, the supported spaces, and a JSON Schema of each setting. A setting's ``type`` must
fit on a command line: ``integer``, ``number``, ``boolean``, ``string``, ``array``, or one of these with
``null``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.patterns import either
from gym_gui.workers.settings.settings_check import first_problem, nearest
from gym_gui.workers.settings.settings_schema import Setting
from gym_gui.workers.settings.settings_text import normal, value_of_text

IMAGE_BYTES = 84 * 84 * 4
"""Bytes of four frames of 84 x 84 pixels, the input of most algorithms. Few observations are larger."""

_SCHEMA_MAKER = "python -m mosaic_worker.learning.training_schema"
_TYPES = frozenset({"integer", "number", "boolean", "string", "array", "null"})
"""Types of JSON Schema that fit on a command line."""


@dataclass(frozen=True)
class AlgorithmSchema:
    """Training algorithm of a worker, with the schemas of its settings.

    Attributes:
        name: Name in requests.
        title: Name shown to people.
        description: Description in one sentence.
        actions: Supported kinds of action: ``discrete``, ``multi_discrete``, ``continuous``; empty if
            unknown.
        observations: Supported kinds of observation: ``vector``, ``image``; empty if unknown.
        masks: Whether it never plays an action that an action mask forbids.
        recurrent: Whether it remembers earlier observations of the episode.
        paradigms: Names of the supported :class:`SteppingParadigm` values; only ``SINGLE_AGENT`` for one
            agent; empty if unknown.
        properties: JSON Schema of each setting, in the order of a form.
    """

    name: str
    title: str = ""
    description: str = ""
    actions: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()
    masks: bool = False
    recurrent: bool = False
    paradigms: tuple[str, ...] = ()
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    @property
    def defaults(self) -> dict[str, Any]:
        """Default of each setting that has one."""
        return {name: spec["default"] for name, spec in self.properties.items() if "default" in spec}

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Settings for a form. Those without a group are shown on request."""
        return tuple(Setting(name, {"x-group": "more", **spec}) for name, spec in self.properties.items())

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked settings, with whole numbers as integers.

        Raises:
            UsageError: A setting is unknown (the message names the nearest), of the wrong type, or out of
                range.
        """
        return {name: _checked(name, value, self.find(name)) for name, value in settings.items()}

    def checked_texts(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return the checked settings from typed texts such as ``"3e-4"``, ``"64,64"`` or ``"none"``."""
        return self.checked({name: value_of_text(text, self.find(name)) for name, text in texts.items()})

    def incompatibility(self, action: str = "", observation: str = "") -> str:
        """Return why the algorithm cannot learn in an environment; empty if no reason is known.

        Args:
            action: Kind of the actions, if known, in the words of the schema or of ``worker.toml``.
            observation: Kind of the observations, if known. Kinds other than ``vector`` and ``image`` are
                not checked, because the worker's preprocessing may convert them.
        """
        action = "continuous" if action == "box" else action
        if action and self.actions and action not in self.actions:
            return f"it learns {either(self.actions)} actions, but here they are {action}"
        if observation in ("vector", "image") and self.observations and observation not in self.observations:
            return f"it learns from {either(self.observations)} observations, but here they are {observation}"
        return ""

    def learns_for(self, paradigm: SteppingParadigm | None) -> bool:
        """Return whether the algorithm learns with a paradigm. Unknown cases count as true."""
        return paradigm is None or not self.paradigms or paradigm.name in self.paradigms

    @property
    def for_one(self) -> bool:
        """Whether the algorithm learns only for a single agent."""
        return self.paradigms == (SteppingParadigm.SINGLE_AGENT.name,)

    def remembered_mb(self, settings: Mapping[str, Any]) -> int:
        """Return the largest memory in MB of the replay buffer, for observations up to :data:`IMAGE_BYTES`.

        Args:
            settings: Settings that the user has given.

        Returns:
            The memory in MB; 0 for an algorithm without a replay buffer.
        """
        size = {**self.defaults, **settings}.get("buffer_size", 0)
        # Each step is stored with its next observation.
        return math.ceil(size * 2 * IMAGE_BYTES / 2**20) if isinstance(size, int | float) else 0

    def unknown(self, name: str) -> str:
        """Return an error text that names the nearest setting if a name is unknown; else an empty text."""
        return "" if name in self.properties else str(self._unknown(name))

    def find(self, name: str) -> Mapping[str, Any]:
        """Return the schema of a setting.

        Raises:
            UnknownNameError: The setting is unknown. The message names the nearest.
        """
        found = self.properties.get(name)
        if found is None:
            raise self._unknown(name)
        return found

    def _unknown(self, name: str) -> UnknownNameError:
        return UnknownNameError(f"setting of {self.name}", name, self.properties)


def read_schemas(definition: WorkerTypeDefinition) -> dict[str, AlgorithmSchema]:
    """Return the schema of each algorithm of a worker; empty if the worker has none.

    Raises:
        UsageError: The schema file is invalid. The message names the file.
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
        problem = f"is not a train schema ({error})"
    raise UsageError(f"{path} {problem}", fix=f"Generate it again: {_SCHEMA_MAKER} {definition.module_path}")


def usual_algorithm(definition: WorkerTypeDefinition, paradigm: SteppingParadigm | None) -> str:
    """Return the default algorithm of a worker for a paradigm. Raises like :func:`read_schemas`.

    Returns:
        The worker's first algorithm that learns for the paradigm, else its first algorithm; empty if it
        has none.
    """
    names = definition.train.algorithms if definition.train is not None else ()
    schemas = read_schemas(definition)
    fitting = (name for name in names if name in schemas and schemas[name].learns_for(paradigm))
    return next(fitting, next(iter(names), ""))


def agents_incompatibility(
    algorithm: str, schemas: Mapping[str, AlgorithmSchema], env_id: str, paradigm: SteppingParadigm | None
) -> str:
    """Return why an algorithm does not learn for the number of agents in an environment.

    Args:
        algorithm: Name of the algorithm.
        schemas: All algorithms of its worker, by name.
        env_id: Id of the environment.
        paradigm: How its agents take turns, if known.

    Returns:
        A sentence without a full stop that also names the worker's fitting algorithms; empty if the
        algorithm fits or no conflict is known.
    """
    schema = schemas.get(algorithm)
    if schema is None or schema.learns_for(paradigm):
        return ""
    turns = "at once" if paradigm is SteppingParadigm.SIMULTANEOUS else "in turn"
    if paradigm is SteppingParadigm.SINGLE_AGENT:
        wrong = f"{algorithm} learns for several agents, but {env_id} has one"
    elif schema.for_one:
        wrong = f"{algorithm} learns for one agent, but {env_id} has several that act {turns}"
    else:
        wrong = f"{algorithm} does not learn for agents that act {turns}, as those of {env_id} do"
    others = [each.name for each in schemas.values() if each.learns_for(paradigm)]
    return f"{wrong}; these learn there: {', '.join(others)}" if others else wrong


def _schema(name: str, given: Mapping[str, Any]) -> AlgorithmSchema:
    properties = {key: dict(spec) for key, spec in given["properties"].items()}
    for key, spec in properties.items():
        said = spec.get("type", ())
        types = {said} if isinstance(said, str) else set(said)
        if not types or types - _TYPES:
            raise ValueError(f"{name}: {key} has a type that no form supports: {spec.get('type')!r}")
    return AlgorithmSchema(
        name=name,
        title=str(given.get("title", name)),
        description=str(given.get("description", "")),
        actions=tuple(given.get("actions", ())),
        observations=tuple(given.get("observations", ())),
        masks=bool(given.get("masks", False)),
        recurrent=bool(given.get("recurrent", False)),
        paradigms=tuple(given.get("paradigms", ())),
        properties=properties,
    )


def _checked(name: str, value: Any, spec: Mapping[str, Any]) -> Any:
    value = normal(value, spec)
    if wrong := first_problem(spec, value, name):
        raise UsageError(wrong, fix=nearest(spec, value))
    return value
