"""Worker that plays a trained policy in any slot whose spaces fit the policy."""

from __future__ import annotations

from cleanrl_worker.policy import Policy
from mosaic_worker import rng
from mosaic_worker.playing.checkpoint_worker import CheckpointWorker


class CleanRLWorker(CheckpointWorker):
    """Plays checkpoints of ``cleanrl_worker.train`` and ``cleanrl_worker.importing``."""

    name = "cleanrl_worker"
    settings = (*CheckpointWorker.settings, "preprocess")  # the host also has this setting, and applies it

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint, or the part of a joint policy that plays ``agent``."""
        return Policy.load(checkpoint, agent)

    def stream_of(self, component: int) -> int:
        """Return the number of the random stream from which a component of the action is drawn."""
        return rng.bits_of(0, component) if component else 0
