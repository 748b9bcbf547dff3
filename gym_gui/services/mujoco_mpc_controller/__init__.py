"""Assigns the MuJoCo predictive-control planner to slots and checks its settings.

The planner runs in a process of its own, ``3rd_party/mujoco_mpc_worker``. It does not learn, so the
orchestrator of trainings does not use it.
"""

from __future__ import annotations

from typing import Any, Final

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry

WORKER_ID: Final = "mujoco_mpc_worker"


class MuJoCoMPCController:
    """Assigns the planner to slots of MuJoCo environments.

    Attributes:
        definition: The planner's worker as described by its manifest.
    """

    def __init__(self) -> None:
        find_workers([WORKER_ID])
        self.definition: WorkerTypeDefinition = WorkerTypeRegistry.require(WORKER_ID)

    def assignment(self, **settings: Any) -> WorkerAssignment:
        """Return an assignment of the planner to a slot.

        Args:
            settings: Settings such as ``planner="cem"``. ``mosaic workers show mujoco_mpc_worker`` lists
                them.

        Raises:
            UsageError: A setting is unknown or has an invalid value. The message names the nearest setting.
        """
        self.definition.check_settings(settings, "the planner")
        return WorkerAssignment(WORKER_ID, self.definition.kind.value, settings)
