"""Predictive control on MuJoCo beside the learning workers: who plans, and how it is set.

The planner itself runs in a process of its own, ``3rd_party/mujoco_mpc_worker``; it does not learn, and no
orchestrator of trainings knows it.
"""

from __future__ import annotations

from typing import Any, Final

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry

WORKER_ID: Final = "mujoco_mpc_worker"


class MuJoCoMPCController:
    """Seats the planner in slots of MuJoCo's environments.

    Attributes:
        definition: The planner's worker, as its manifest describes it.
    """

    def __init__(self) -> None:
        find_workers([WORKER_ID])
        self.definition: WorkerTypeDefinition = WorkerTypeRegistry.require(WORKER_ID)

    def assignment(self, **settings: Any) -> WorkerAssignment:
        """A slot's player that plans.

        Args:
            settings: As ``mosaic workers show mujoco_mpc_worker`` lists them: ``planner="cem"``.

        Raises:
            UsageError: One is unknown (the nearest is named) or its value is none of its values.
        """
        self.definition.check_settings(settings, "the planner")
        return WorkerAssignment(WORKER_ID, self.definition.kind.value, settings)
