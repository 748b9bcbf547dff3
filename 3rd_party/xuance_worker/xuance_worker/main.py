"""The worker: plays a trained or imported policy of a team, one agent in each slot, without XuanCe."""

from __future__ import annotations

from mosaic_worker.playing.checkpoint_worker import CheckpointWorker
from xuance_worker.policy import Policy


class XuanceWorker(CheckpointWorker):
    """Plays checkpoints of ``xuance_worker.train`` and ``xuance_worker.importing``."""

    name = "xuance_worker"
    other_way = ", or take over a .pth of XuanCe's with: mosaic policies add FILE --env"

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint, or one agent's part of it."""
        return Policy.load(checkpoint, agent)
