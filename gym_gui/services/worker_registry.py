"""The workers there are, with their state, and the worker that a slot asks for."""

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
    """The worker behind an assignment.

    Attributes:
        definition: What the registry knows of it.
        settings: Its default settings, overridden by those of the slot.
    """

    definition: WorkerTypeDefinition
    settings: dict[str, Any]


class WorkerCatalog:
    """What people and the engine ask about workers.

    Args:
        registry: Where definitions are kept; filled by discovery when the catalog is made.
    """

    def __init__(self, registry: type[WorkerTypeRegistry] = WorkerTypeRegistry) -> None:
        self.registry = registry
        self._found = discover(registry)

    def refresh(self) -> None:
        """Look for workers again."""
        self._found = discover(self.registry)

    def statuses(self) -> list[WorkerStatus]:
        """State of every worker, by id: installed, missing something, or broken.

        Asks the interpreters of workers that have their own, about 50 ms each.
        """
        listed = [status_of(found) for found in self._found]
        met = {status.worker_id for status in listed}
        listed += [check_installed(d) for d in self.registry.all() if d.type_id not in met]
        return sorted(listed, key=lambda status: status.worker_id)

    def status(self, worker_id: str) -> WorkerStatus:
        """State of one worker, under any accepted name.

        Raises:
            UsageError: It is unknown or its manifest is broken.
        """
        return check_installed(self.registry.require(worker_id))

    def require_installed(self, worker_id: str) -> WorkerTypeDefinition:
        """A worker that can start here.

        Raises:
            UsageError: It is unknown or broken.
            MissingDependencyError: Something it needs is not installed; carries the line.
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
        """The worker that an assignment names.

        Raises:
            UsageError: It is unknown, broken, or of another type than the assignment says.
        """
        definition, defaults = self.registry.resolve(assignment.worker_id)
        if definition.kind.value != assignment.worker_type:
            raise UsageError(
                f"worker {definition.type_id} is of type {definition.kind.value}, "
                f"not {assignment.worker_type}",
                fix=f"Write type: {definition.kind.value}, or name another worker",
            )
        return ResolvedWorker(definition, {**defaults, **assignment.settings})
