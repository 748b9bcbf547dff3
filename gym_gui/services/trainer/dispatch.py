"""From the design documents' ``WorkerOrchestrator.submit_run`` to the daemon: an adapter.

MOSAIC's own commands and window ask a :class:`~gym_gui.services.trainer.client.TrainerClient` themselves.
"""

from __future__ import annotations

from dataclasses import replace

from gym_gui.core.enums import SteppingParadigm
from gym_gui.services.store import Store
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from gym_gui.workers.definition import WorkerTypeDefinition


class TrainerDispatcher:
    """Hands what a :class:`WorkerOrchestrator` has chosen to the daemon, which is started when needed.

    Args:
        store: Where things live.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def launch(
        self, *, worker_type: WorkerTypeDefinition, config: UnifiedRunConfig, paradigm: SteppingParadigm
    ) -> str:
        """Queue a run and return its id.

        Raises:
            UsageError: It cannot be carried out as it is.
            MosaicError: The daemon could not be started, or has gone.
        """
        from gym_gui.services.trainer.client import (
            TrainerClient,  # gRPC, which a start of ours can do without
        )

        client = await TrainerClient.connect(self._store)
        try:
            return await client.submit(replace(config, worker_type=worker_type.type_id))
        finally:
            await client.close()
