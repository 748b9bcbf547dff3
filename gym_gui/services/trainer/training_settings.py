"""Settings of a training, checked against what its worker says of them, without importing it.

A worker lays a ``train_schema.json`` beside its ``worker.toml`` (``[train] schema``): per
algorithm its title, what it learns from, and a JSON Schema of each setting. A ``type`` is what a command line
can carry: ``integer``, ``number``, ``boolean``, ``string``, ``array``, and ``null`` beside another.
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
"""Of four frames as most algorithms are shown them: few observations are larger."""

_SCHEMA_MAKER = "python -m mosaic_worker.learning.training_schema"
_TYPES = frozenset({"integer", "number", "boolean", "string", "array", "null"})
"""What a command line can carry."""


@dataclass(frozen=True)
class AlgorithmSchema:
    """One algorithm and its settings.

    Attributes:
        name: As it is asked for.
        title: As people know it.
        description: One sentence.
        actions: Kinds of action it learns: ``discrete``, ``multi_discrete``, ``continuous``; empty: not said.
        observations: Kinds of observation it learns from: ``vector``, ``image``; empty: not said.
        masks: Whether it never plays what an action mask forbids.
        recurrent: Whether it remembers earlier observations of the episode.
        paradigms: How agents may take turns where it learns, in :class:`SteppingParadigm`'s words; for one
            agent alone ``SINGLE_AGENT``; empty: not said.
        properties: JSON Schema of each setting, in the order a form shows them.
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
        """Every setting that has a default, with it."""
        return {name: spec["default"] for name, spec in self.properties.items() if "default" in spec}

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """What a form shows; what is said to be in no group is shown on request."""
        return tuple(Setting(name, {"x-group": "more", **spec}) for name, spec in self.properties.items())

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
            return f"it learns {either(self.actions)} actions, and those here are {action}"
        if observation in ("vector", "image") and self.observations and observation not in self.observations:
            return (
                f"it learns from {either(self.observations)} observations, and those here are {observation}"
            )
        return ""

    def learns_for(self, paradigm: SteppingParadigm | None) -> bool:
        """Whether it learns for as many agents as act where turns are taken so, as far as that is known."""
        return paradigm is None or not self.paradigms or paradigm.name in self.paradigms

    @property
    def for_one(self) -> bool:
        """Whether it learns for one agent alone."""
        return self.paradigms == (SteppingParadigm.SINGLE_AGENT.name,)

    def remembered_mb(self, settings: Mapping[str, Any]) -> int:
        """The most that its replay buffer takes in MB, of observations up to :data:`IMAGE_BYTES`.

        Args:
            settings: Those that were given.

        Returns:
            0 for an algorithm that has none.
        """
        size = {**self.defaults, **settings}.get("buffer_size", 0)
        # Each step is kept with the observation that it led to.
        return math.ceil(size * 2 * IMAGE_BYTES / 2**20) if isinstance(size, int | float) else 0

    def unknown(self, name: str) -> str:
        """What is wrong with the name of a setting; names the nearest, empty where there is one."""
        return "" if name in self.properties else str(self._unknown(name))

    def find(self, name: str) -> Mapping[str, Any]:
        """The schema of a setting.

        Raises:
            UnknownNameError: There is none of that name; names the nearest.
        """
        found = self.properties.get(name)
        if found is None:
            raise self._unknown(name)
        return found

    def _unknown(self, name: str) -> UnknownNameError:
        return UnknownNameError(f"setting of {self.name}", name, self.properties)


def read_schemas(definition: WorkerTypeDefinition) -> dict[str, AlgorithmSchema]:
    """The settings of each algorithm of a worker; empty where the worker does not say.

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
    raise UsageError(f"{path} {problem}", fix=f"Make it anew: {_SCHEMA_MAKER} {definition.module_path}")


def usual_algorithm(definition: WorkerTypeDefinition, paradigm: SteppingParadigm | None) -> str:
    """The algorithm of a worker that is used where the user names none; raises as :func:`read_schemas`.

    Returns:
        The worker's first algorithm that learns for as many agents as there are; where there is none, its
        first; empty where it has no algorithm.
    """
    names = definition.train.algorithms if definition.train is not None else ()
    schemas = read_schemas(definition)
    fitting = (name for name in names if name in schemas and schemas[name].learns_for(paradigm))
    return next(fitting, next(iter(names), ""))


def agents_incompatibility(
    algorithm: str, schemas: Mapping[str, AlgorithmSchema], env_id: str, paradigm: SteppingParadigm | None
) -> str:
    """Why an algorithm learns for another number of agents than an environment has.

    Args:
        algorithm: Its name.
        schemas: All algorithms of its worker, by name.
        env_id: The environment.
        paradigm: How its agents take turns, where that is known.

    Returns:
        A sentence without a full stop that names those of the worker that learn there; empty where it
        does, or does not say.
    """
    schema = schemas.get(algorithm)
    if schema is None or schema.learns_for(paradigm):
        return ""
    turns = "at once" if paradigm is SteppingParadigm.SIMULTANEOUS else "in turn"
    if paradigm is SteppingParadigm.SINGLE_AGENT:
        wrong = f"{algorithm} learns for several agents, and {env_id} has one"
    elif schema.for_one:
        wrong = f"{algorithm} learns for one agent, and {env_id} has several that act {turns}"
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
            raise ValueError(f"{name}: {key} is of no type that a form knows: {spec.get('type')!r}")
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
