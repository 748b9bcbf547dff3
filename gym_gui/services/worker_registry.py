"""Catalog of the known workers with their installation state, and of the worker that a slot uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gym_gui.core.config import WorkerAssignment
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.status import WorkerStatus, check_installed, status_of

__all__ = [
    "ResolvedWorker",
    "WorkerCatalog",
    "WorkerTypeDefinition",
    "WorkerTypeRegistry",
]


@dataclass(frozen=True)
class ResolvedWorker:
    """Worker of an assignment, with its settings.

    Attributes:
        definition: The worker's definition in the registry.
        settings: The worker's default settings, overridden by those of the slot.
    """

    definition: WorkerTypeDefinition
    settings: dict[str, Any]


class WorkerCatalog:
    """Lists the known workers with their installation state, for the window and the engine.

    Args:
        registry: Registry of the definitions. Creating the catalog fills it by discovery.
    """

    def __init__(self, registry: type[WorkerTypeRegistry] = WorkerTypeRegistry) -> None:
        self.registry = registry
        self._found = discover(registry)

    def refresh(self) -> None:
        """Discover the workers again."""
        self._found = discover(self.registry)

    def statuses(self) -> list[WorkerStatus]:
        """Return the state of every worker, sorted by id: installed, missing something, or broken.

        This starts the interpreter of each worker that has its own, which takes about 50 ms each.
        """
        listed = [status_of(found) for found in self._found]
        met = {status.worker_id for status in listed}
        listed += [check_installed(d) for d in self.registry.all() if d.type_id not in met]
        return sorted(listed, key=lambda status: status.worker_id)

    def status(self, worker_id: str) -> WorkerStatus:
        """Return the state of one worker, by its id or an alias.

        Raises:
            UsageError: The worker is unknown or its manifest is broken.
        """
        return check_installed(self.registry.require(worker_id))

    def require_installed(self, worker_id: str) -> WorkerTypeDefinition:
        """Return a worker's definition after a check that the worker can start here.

        Raises:
            UsageError: The worker is unknown or broken.
            MissingDependencyError: A requirement is not installed. The error contains the install command.
        """
        definition = self.registry.require(worker_id)
        status = check_installed(definition)
        if status.state == "installed":
            return definition
        what = f"what worker {definition.type_id} needs ({status.reason})"
        if status.install:
            raise MissingDependencyError(what, status.install)
        raise UsageError(f"worker {definition.type_id} cannot start: {status.reason}")

    def resolve(self, assignment: WorkerAssignment) -> ResolvedWorker:
        """Return the worker that an assignment names, with its settings.

        Raises:
            UsageError: The worker is unknown, broken, or of another type than the assignment says.
        """
        definition, defaults = self.registry.resolve(assignment.worker_id)
        if definition.kind.value != assignment.worker_type:
            raise UsageError(
                f"worker {definition.type_id} is of type {definition.kind.value}, "
                f"not {assignment.worker_type}",
                fix=f"Write type: {definition.kind.value}, or name another worker",
            )
        return ResolvedWorker(definition, {**defaults, **assignment.settings})
