"""Worker that plays a trained or imported policy of a team, one agent in each slot, without XuanCe."""

from __future__ import annotations

from mosaic_worker.playing.checkpoint_worker import CheckpointWorker
from xuance_worker.policy import Policy


class XuanceWorker(CheckpointWorker):
    """Plays checkpoints of ``xuance_worker.train`` and ``xuance_worker.importing``."""

    name = "xuance_worker"
    other_way = ", or import a .pth of XuanCe with: mosaic policies add FILE --env"

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint, or the part of a joint policy that plays ``agent``."""
        return Policy.load(checkpoint, agent)
