"""Registry of all known worker types."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, ClassVar

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.experiment import aliases
from gym_gui.workers.definition import (
    ImportSpec,
    LaunchSpec,
    ResourceLimits,
    Source,
    TrainSpec,
    WorkerInputs,
    WorkerTypeDefinition,
)

__all__ = [
    "ImportSpec",
    "LaunchSpec",
    "ResourceLimits",
    "Source",
    "TrainSpec",
    "WorkerInputs",
    "WorkerTypeDefinition",
    "WorkerTypeRegistry",
]


_WHERE_WORKERS_GO = (
    "Put its folder (with a worker.toml) into the workers folder; `mosaic workers list` shows all workers"
)


class WorkerTypeRegistry:
    """Registry of all available worker types, shared by the whole process."""

    _types: ClassVar[dict[str, WorkerTypeDefinition]] = {}
    _aliases: ClassVar[dict[str, str]] = {}
    _broken: ClassVar[dict[str, str]] = {}
    _find_rest: ClassVar[tuple[Callable[[], object], ...]] = ()
    _lock: ClassVar[threading.RLock] = threading.RLock()

    @classmethod
    def register(
        cls, definition: WorkerTypeDefinition, *, find_rest: Callable[[], object] | None = None
    ) -> None:
        """Add a worker type to the registry.

        Args:
            definition: The worker type.
            find_rest: Registers the other worker types, if no search for them has run yet. It is called
                when a caller requests an unregistered type, or all types.

        Raises:
            UsageError: The id or an alias is already the name of another worker.
        """
        with cls._lock:
            names = (definition.type_id, *definition.aliases)
            for name in names:
                owner = cls._canonical(name)
                if owner in cls._types:
                    raise UsageError(
                        f"worker name {name!r} is taken by {owner}{_where(cls._types[owner])}",
                        fix=f"Rename {definition.type_id}{_where(definition)}, or remove one of the two",
                    )
            cls._types[definition.type_id] = definition
            cls._aliases.update(dict.fromkeys(definition.aliases, definition.type_id))
            cls._broken.pop(definition.type_id, None)
            cls._find_rest = cls._find_rest if find_rest is None else (find_rest,)

    @classmethod
    def fill(cls, find: Callable[[], object]) -> None:
        """Search for worker types if none are registered; other threads wait for the end of the search.

        Args:
            find: Registers the worker types.
        """
        with cls._lock:
            if not cls._types:
                find()

    @classmethod
    @contextmanager
    def at_once(cls) -> Generator[None]:
        """Hold the registry's lock while several types are registered, so that other threads wait."""
        with cls._lock:
            yield

    @classmethod
    def complete(cls) -> None:
        """Run the searches for worker types that have not run yet."""
        with cls._lock:
            finders, cls._find_rest = cls._find_rest, ()
            for find in finders:
                find()

    @classmethod
    def unregister(cls, type_id: str) -> None:
        """Remove a worker type; an unknown id is ignored."""
        with cls._lock:
            definition = cls._types.pop(type_id, None)
            for alias in definition.aliases if definition else ():
                cls._aliases.pop(alias, None)

    @classmethod
    def mark_broken(cls, name: str, reason: str) -> None:
        """Store the reason why a discovered worker cannot be used."""
        with cls._lock:
            cls._broken[name] = reason

    @classmethod
    def get(cls, type_id: str) -> WorkerTypeDefinition | None:
        """Return the definition with this id or alias; ``None`` if there is none."""
        with cls._lock:
            found = cls._types.get(cls._canonical(type_id))
            if found is None and cls._find_rest:
                cls.complete()
                found = cls._types.get(cls._canonical(type_id))
            return found

    @classmethod
    def _canonical(cls, name: str) -> str:
        if name in cls._types:
            return name
        return cls._aliases.get(name) or aliases.WORKER_IDS.get(name, name)

    @classmethod
    def resolve(cls, name: str) -> tuple[WorkerTypeDefinition, dict[str, Any]]:
        """Return a worker and its default settings for an id, an alias or an older spelling.

        Settings come from the worker's defaults and from the spelling: ``passive_worker`` is
        ``operators_worker`` with ``behavior: noop``.

        Raises:
            UsageError: As in :meth:`require`.
        """
        definition = cls.require(name)
        # A worker's own id may be an old spelling, which then implies no behavior.
        behavior = "" if name == definition.type_id else aliases.BEHAVIORS.get(name, "")
        implied = {"behavior": behavior} if behavior else {}
        return definition, definition.with_defaults(implied)

    @classmethod
    def require(cls, type_id: str) -> WorkerTypeDefinition:
        """Return the definition with this id or alias.

        Raises:
            UnknownNameError: There is no such worker; the message names the nearest one, or how to add
                workers.
            UsageError: The worker's manifest is broken; the message says why.
        """
        definition = cls.get(type_id)
        if definition is not None:
            return definition
        with cls._lock:
            full = aliases.WORKER_IDS.get(type_id, type_id)
            reason = cls._broken.get(full)
            known = [*cls._types, *cls._aliases]
            known += [name for name, target in aliases.WORKER_IDS.items() if target in cls._types]
        if reason is not None:
            raise UsageError(f"worker {full!r} cannot be used: {reason}")
        if full in aliases.NO_WORKERS:
            raise UsageError(f"{full} is no worker here", fix=aliases.NO_WORKERS[full])
        # The name of one of MOSAIC's own workers that is absent is no misspelling of another name.
        near = [] if full in aliases.WORKER_TYPES else _near(type_id, known)
        hint = f"Did you mean {near[0]!r}?" if near else _WHERE_WORKERS_GO
        raise UnknownNameError("worker", type_id, near, hint=hint)

    @classmethod
    def all(cls) -> tuple[WorkerTypeDefinition, ...]:
        """Return all definitions in the order of their ids."""
        cls.complete()
        return cls.registered()

    @classmethod
    def registered(cls) -> tuple[WorkerTypeDefinition, ...]:
        """Return the definitions registered so far in the order of their ids, without reading files."""
        with cls._lock:
            return tuple(cls._types[type_id] for type_id in sorted(cls._types))

    @classmethod
    def find_compatible(
        cls,
        paradigm: SteppingParadigm,
        env_type: str,
        action_space: str | None = None,
        *,
        observation_space: str | None = None,
        agents: int | None = None,
        env_id: str = "",
    ) -> list[WorkerTypeDefinition]:
        """Return the workers that can train in an environment with these properties, by id."""
        return [
            definition
            for definition in cls.all()
            if not definition.capabilities.incompatibilities(
                env_id=env_id,
                paradigm=paradigm,
                env_type=env_type,
                action_space=action_space,
                observation_space=observation_space,
                agents=agents,
            )
        ]

    @classmethod
    @contextmanager
    def isolated(cls, *, empty: bool = True) -> Generator[type[WorkerTypeRegistry]]:
        """Give a test a registry of its own, and restore the registry afterwards.

        Args:
            empty: Whether to start with nothing registered.
        """
        with cls._lock:
            before = (cls._types, cls._aliases, cls._broken, cls._find_rest)
            cls._types, cls._aliases, cls._broken, cls._find_rest = (
                ({}, {}, {}, ()) if empty else (dict(before[0]), dict(before[1]), dict(before[2]), before[3])
            )
        try:
            yield cls
        finally:
            with cls._lock:
                cls._types, cls._aliases, cls._broken, cls._find_rest = before


def _near(name: str, known: list[str]) -> list[str]:
    """Return the known name that is nearest, compared without the last part, which is mostly ``_worker``."""
    stems: dict[str, str] = {}
    for candidate in known:
        stems.setdefault(_stem(candidate), candidate)
    return [stems[stem] for stem in difflib.get_close_matches(_stem(name), stems, n=1, cutoff=0.6)]


def _stem(name: str) -> str:
    return name.rpartition("_")[0] or name


def _where(definition: WorkerTypeDefinition) -> str:
    return f" ({definition.folder})" if definition.folder else ""
