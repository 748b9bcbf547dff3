"""Creates the services that the window and the command line use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gym_gui.services.store import Store

if TYPE_CHECKING:
    from gym_gui.services.operator import MultiOperatorService, OperatorLauncher
    from gym_gui.services.policies.policy_library import PolicyLibrary
    from gym_gui.services.worker_orchestrator import WorkerDispatcher, WorkerOrchestrator
    from gym_gui.services.worker_registry import WorkerCatalog
    from gym_gui.workers.registry import WorkerTypeRegistry


class Services:
    """The services of one program. Each property creates its service on first use.

    The module of a service is imported on first use too, so that a command that lists policies loads no
    environment.

    Attributes:
        store: The folders of the program.
    """

    def __init__(self, store: Store, registry: type[WorkerTypeRegistry] | None) -> None:
        self.store = store
        self._registry = registry

    @cached_property
    def workers(self) -> WorkerCatalog:
        """Catalog of the workers. Workers are discovered when it is created."""
        from gym_gui.services.worker_registry import WorkerCatalog

        return WorkerCatalog() if self._registry is None else WorkerCatalog(self._registry)

    @cached_property
    def policies(self) -> PolicyLibrary:
        """Library of the trained policies, including imported ones."""
        from gym_gui.services.policies.policy_library import PolicyLibrary

        return PolicyLibrary(self.store)

    def new_operators(self, launcher: OperatorLauncher) -> MultiOperatorService:
        """Return a service that starts operators with ``launcher``."""
        from gym_gui.services.operator import MultiOperatorService

        return MultiOperatorService(launcher)

    def new_orchestrator(self, dispatcher: WorkerDispatcher | None = None) -> WorkerOrchestrator:
        """Return an orchestrator that selects workers and submits trainings to a dispatcher."""
        from gym_gui.services.worker_orchestrator import WorkerOrchestrator

        return WorkerOrchestrator(self.workers.registry, dispatcher)


def bootstrap_default_services(
    *, store: Store | None = None, registry: type[WorkerTypeRegistry] | None = None
) -> Services:
    """Return the services of a program. This starts nothing and creates no folder.

    Args:
        store: The folders to use; by default, the platform's.
        registry: Registry of workers, filled by discovery; by default, the program's own.
    """
    return Services(store or Store(), registry)
