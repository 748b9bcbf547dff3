"""Worker that plays a trained or imported policy in any slot whose spaces fit, without importing Ray."""

from __future__ import annotations

from mosaic_worker.playing.checkpoint_worker import CheckpointWorker
from ray_worker.policy import Policy


class RayWorker(CheckpointWorker):
    """Plays checkpoints of ``ray_worker.train`` and ``ray_worker.importing``."""

    name = "ray_worker"
    other_way = ", or import a checkpoint of RLlib with: mosaic policies add FOLDER --worker ray_worker --env"

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint, or the part of a joint policy that plays ``agent``."""
        return Policy.load(checkpoint, agent)
