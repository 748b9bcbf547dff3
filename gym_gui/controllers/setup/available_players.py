"""Lists the players that a user can choose: workers and trained policies.

Call these functions in a thread.
"""

from __future__ import annotations

from gym_gui.services.policies.policy_catalog import PolicyFile
from gym_gui.services.policies.policy_library import PolicyLibrary
from gym_gui.services.store import Store
from gym_gui.workers.discovery import known_workers
from gym_gui.workers.registry import WorkerTypeDefinition
from gym_gui.workers.status import WorkerStatus, check_installed

Workers = tuple[list[WorkerTypeDefinition], list[WorkerStatus]]


def find_workers() -> Workers:
    """Return the worker types from their manifests, and the installation status of each."""
    workers = [worker for worker in known_workers() if worker.type_id != "test_worker"]
    return workers, [check_installed(worker) for worker in workers]


def find_policies(store: Store) -> list[PolicyFile]:
    """Return the trained policies of the library."""
    return PolicyLibrary(store).files()
