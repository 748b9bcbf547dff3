"""Worker that plays a trained or imported policy in any slot whose spaces fit the policy."""

from __future__ import annotations

from mosaic_worker.playing.checkpoint_worker import CheckpointWorker
from sb3_worker.policy import Policy


class SB3Worker(CheckpointWorker):
    """Plays checkpoints of ``sb3_worker.train`` and ``sb3_worker.importing``."""

    name = "sb3_worker"
    other_way = ", or import a .zip with: mosaic policies add FILE --env"

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint; a policy of this worker has one agent."""
        return Policy.load(checkpoint)
