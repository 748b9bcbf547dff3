"""The worker: plays a trained policy in any slot whose spaces fit the policy."""

from __future__ import annotations

from cleanrl_worker.policy import Policy
from mosaic_worker import rng
from mosaic_worker.playing.checkpoint_worker import CheckpointWorker


class CleanRLWorker(CheckpointWorker):
    """Plays checkpoints of ``cleanrl_worker.train`` and ``cleanrl_worker.importing``."""

    name = "cleanrl_worker"
    settings = (*CheckpointWorker.settings, "preprocess")  # also a setting of the host, which applies it

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint, or one agent's part of it."""
        return Policy.load(checkpoint, agent)

    def stream_of(self, component: int) -> int:
        """Return the number of the random stream from which a component of the action is drawn."""
        return rng.bits_of(0, component) if component else 0
