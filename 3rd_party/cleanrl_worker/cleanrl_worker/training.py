"""A whole training: environments, algorithm, TensorBoard log, checkpoints, evaluation."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import safetensors.torch
from torch.utils.tensorboard import SummaryWriter  # pyright: ignore[reportPrivateImportUsage]  # its documented name

from cleanrl_worker.checkpoint import PolicyDescription, save_checkpoint
from cleanrl_worker.config import PPOConfig
from cleanrl_worker.environments import Environments, TrainingFailed
from cleanrl_worker.evaluate import EVALUATION_SEEDS, mean_return
from cleanrl_worker.network import ActorCritic
from cleanrl_worker.policy import Policy
from cleanrl_worker.ppo import Update, train
from cleanrl_worker.progress import Progress, Stop
from mosaic_worker.spaces import Space

__all__ = ["Training", "TrainingFailed"]

_PACKAGES = ("torch", "gymnasium", "numpy", "safetensors")


class Training:
    """Trains one policy into one folder.

    Args:
        algorithm: Its name, for the record.
        config: Every setting.
        folder: Where policy and log go; it exists.
        checkpoint_every: Seconds between two checkpoints.
        progress: Who is told.
    """

    def __init__(
        self, algorithm: str, config: PPOConfig, folder: Path, checkpoint_every: float, progress: Progress
    ) -> None:
        self._algorithm = algorithm
        self._config = config
        self._folder = folder
        self._checkpoint_every = checkpoint_every
        self._progress = progress
        self._began = self._saved_at = time.monotonic()
        self._said_at = -progress.every_s

    def run(self, stop: Stop) -> None:
        """Train to the end, or until ``stop`` is requested or the reader of progress is gone.

        Raises:
            ConfigError: The environment cannot be trained in.
            TrainingFailed: A number is not finite any more, or the environment raised.
            OSError: The folder cannot be written.
        """
        config = self._config
        with contextlib.closing(Environments(config.env_id, config.num_envs)) as environments:
            self._progress.start(self._algorithm, config, str(self._folder))
            self._began = self._saved_at = time.monotonic()
            last: Update | None = None
            with contextlib.closing(SummaryWriter(str(self._folder))) as writer:

                def on_update(update: Update) -> bool:
                    nonlocal last
                    last = update
                    self._log(writer, update)
                    if time.monotonic() - self._saved_at >= self._checkpoint_every:
                        self._save(environments, update)
                    return not (stop.requested or self._progress.lost)

                try:
                    train(config, environments, on_update)
                except TrainingFailed:
                    # The network of the last update is still whole, or refused by _save.
                    if last is not None:
                        with contextlib.suppress(TrainingFailed):
                            self._save(environments, last)
                    raise
            assert last is not None  # PPOConfig grants at least one update
            self._finish(environments, last, stop)

    def _finish(self, environments: Environments, last: Update, stop: Stop) -> None:
        """Keep the final policy, and say how good it is unless in a hurry to stop."""
        self._save(environments, last)
        completed = last.step == self._config.num_updates * self._config.batch_size
        result: float | None = None
        if completed and not (stop.requested or self._progress.lost):
            # From disk, so that what was kept is proven to load and play.
            result = mean_return(Policy.load(self._folder), self._config.env_id)
            self._save(environments, last, result)
        status = "completed" if completed else "stopped"
        wall_s = time.monotonic() - self._began
        self._progress.done(status, last.step, result, wall_s, str(self._folder))

    def _log(self, writer: SummaryWriter, update: Update) -> None:
        now = time.monotonic()
        for name, value in update.metrics.items():
            writer.add_scalar(name, value, update.step)  # pyright: ignore[reportUnknownMemberType]  # untyped in torch
        if now - self._said_at >= self._progress.every_s:
            self._said_at = now
            recent = float(np.mean(update.recent_returns)) if update.recent_returns else None
            self._progress.progress(update.step, self._config.total_steps, recent, now - self._began)

    def _save(self, environments: Environments, update: Update, result: float | None = None) -> None:
        weights = _serialise(update.network)
        description = PolicyDescription(
            algorithm=self._algorithm,
            env_id=self._config.env_id,
            observation_space=_box(environments),
            action_space=_discrete(environments),
            hidden=self._config.hidden,
            seed=self._config.seed,
            total_steps=update.step,
            mean_return=result,
            evaluation_seeds=() if result is None else EVALUATION_SEEDS,
            config=dataclasses.asdict(self._config),
            versions={"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
            trained_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        save_checkpoint(self._folder, description, weights)
        self._saved_at = time.monotonic()
        self._progress.checkpoint(update.step, str(self._folder))


def _serialise(network: ActorCritic) -> bytes:
    state = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    if not all(bool(tensor.isfinite().all()) for tensor in state.values()):
        raise TrainingFailed("the weights are no finite numbers any more; lower learning_rate")
    return safetensors.torch.save(state)


def _box(environments: Environments) -> Space:
    space = environments.observation_space
    return Space("Box", space.dtype, tuple(space.shape), space.low, space.high)


def _discrete(environments: Environments) -> Space:
    space = environments.action_space
    return Space("Discrete", np.dtype(space.dtype), n=int(space.n), start=int(space.start))
