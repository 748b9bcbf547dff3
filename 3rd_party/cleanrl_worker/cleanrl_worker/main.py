"""The worker: plays a trained policy in any slot whose spaces fit it."""

from __future__ import annotations

from cleanrl_worker.policy import Policy
from mosaic_worker import rng
from mosaic_worker.playing.checkpoint_worker import CheckpointWorker


class CleanRLWorker(CheckpointWorker):
    """Plays checkpoints of ``cleanrl_worker.train`` and ``cleanrl_worker.importing``."""

    name = "cleanrl_worker"
    settings = (*CheckpointWorker.settings, "preprocess")  # the host's too, which applies it

    def read(self, checkpoint: str, agent: str = "") -> Policy:
        """Read a checkpoint, or an agent's part of it."""
        return Policy.load(checkpoint, agent)

    def stream_of(self, component: int) -> int:
        """Which stream of random numbers a component of the action is drawn from."""
        return rng.bits_of(0, component) if component else 0
