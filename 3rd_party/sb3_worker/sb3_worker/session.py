"""What happens between the library's loop and the run folder: reports, checkpoints, films, commands."""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from mosaic_worker import gymnasium_spaces
from mosaic_worker.checkpoint import PolicyDescription, read_description, save_checkpoint
from mosaic_worker.failures import described, one_line
from mosaic_worker.learning.film import CannotFilm
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_report import TrainingReport, moment, versions
from mosaic_worker.learning.training_state import write_state
from mosaic_worker.plain_files import read_file
from mosaic_worker.preprocessing import Pipeline
from mosaic_worker.spaces import Space
from mosaic_worker.training import TrainingRun
from sb3_worker.config import OffPolicyConfig, TrainingConfig
from sb3_worker.environments import EVALUATION
from sb3_worker.network import Network, write_weights
from sb3_worker.policy import WORKER, Policy
from sb3_worker.state import state_of

_PACKAGES = ("stable-baselines3", "sb3-contrib", "torch", "gymnasium", "numpy", "safetensors")
_NAMES = {"train/learning_rate": "charts/learning_rate", "rollout/exploration_rate": "charts/epsilon"}
_SKIPPED = ("train/n_updates", "train/learning_rate")


class Session(BaseCallback):
    """The library calls it at every step; it reports, saves, and says when to stop.

    Args:
        name: The algorithm's.
        config: Every setting.
        run: The run folder.
        scalars: TensorBoard's writer.
        model: The library's algorithm object.
        normalizer: Its ``VecNormalize``, or ``None``.
        network: What its policy is.
        spaces: Of a slot: observations, actions.
        steps: Preprocessing.
    """

    def __init__(
        self,
        name: str,
        config: TrainingConfig,
        run: TrainingRun,
        scalars: Any,
        model: Any,
        normalizer: Any,
        network: Network,
        spaces: tuple[Space, Space],
        steps: list[dict[str, Any]],
    ) -> None:
        super().__init__()
        self._name, self._config, self._run = name, config, run
        self._trained, self._normalizer, self._network = model, normalizer, network
        self._spaces, self._steps = spaces, steps
        # The library's own reports go nowhere; its numbers are taken from here.
        self._log = Logger(None, [])
        model.set_logger(self._log)
        self._off_policy = isinstance(config, OffPolicyConfig)
        # By steps, not by time: a run with the same seed writes the same rows.
        self._every = max(config.num_envs, min(1000, config.total_steps // 100))
        self._reported = self._filmed = int(model.num_timesteps)
        self._report = TrainingReport(run, scalars, int(model.num_timesteps))
        self._good = True
        self._filming = config.video_every > 0

    @property
    def step(self) -> int:
        """Environment steps so far."""
        return int(self._trained.num_timesteps)

    # -- the library's calls -------------------------------------------------------------

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            episode = info.get("episode")
            if episode is not None:
                total, length = float(episode["r"]), int(episode["l"])
                if not math.isfinite(total):
                    raise TrainingFailed(
                        f"an episode's return is no finite number at step {self.step:,}; the rewards of "
                        f"{self._config.env_id} are wrong"
                    )
                self._report.episode(self.step, total, length)
        if self._off_policy and self.step - self._reported >= self._every:
            self.updated()
        if self._filming and self.step - self._filmed >= self._config.video_every:
            self._film()
        self._run.advance(self.step, self.save)
        return not self._run.stop_requested

    def _on_rollout_start(self) -> None:
        if not self._off_policy and self.step > self._reported:
            self.updated()

    def updated(self) -> None:
        """Report the last update, and look whether it is still sane.

        Raises:
            TrainingFailed: A loss is no finite number.
        """
        self._reported = self.step
        said: dict[str, Any] = {k: v for k, v in self._log.name_to_value.items() if not isinstance(v, str)}
        losses = {
            name.replace("train/", "losses/"): float(value)
            for name, value in said.items()
            if name.startswith("train/") and name not in _SKIPPED
        }
        for name, value in losses.items():
            if not math.isfinite(value) and name != "losses/explained_variance":
                self._good = False
                raise TrainingFailed(
                    f"{name} is no finite number any more at step {self.step:,}; lower learning_rate. "
                    "The last good policy was kept"
                )
        values = {_NAMES[name]: float(value) for name, value in said.items() if name in _NAMES}
        self._report.metrics(self.step, {**values, **losses})

    # -- checkpoints ---------------------------------------------------------------------

    def save(self) -> None:
        """Keep policy and state.

        Raises:
            TrainingFailed: The weights are no finite numbers any more; what is there stays.
            OSError: The folder cannot be written.
        """
        self.save_policy()
        settings = self._config.model_dump(mode="json")
        write_state(self._run.folder, state_of(self._name, settings, self._trained, self._normalizer))

    def save_policy(self, result: float | None = None, seeds: tuple[int, ...] = ()) -> None:
        """Keep the policy alone, with what its evaluation found."""
        try:
            weights = write_weights(self._trained.policy)
        except ValueError as error:
            raise TrainingFailed(f"the weights are spoilt at step {self.step:,} ({error})") from error
        sees, does = self._spaces
        steps = [*self._steps, *self._statistics()]
        shown = gymnasium_spaces.describe(Pipeline(steps, sees).input_space)
        description = PolicyDescription(
            worker=_launched_as(self._run.folder),
            algorithm=self._name,
            env_id=self._config.env_id,
            observation_space=sees,
            action_space=does,
            network=self._network.to_json(),
            preprocessing=tuple(steps),
            input_space=None if shown == sees else shown,
            seed=self._config.seed,
            total_steps=self.step,
            mean_return=result,
            evaluation_seeds=seeds,
            config=self._config.model_dump(mode="json"),
            versions=versions(_PACKAGES),
            trained_at=moment(),
        )
        save_checkpoint(self._run.folder, description, weights)

    def keep_last_good(self) -> None:
        """After a failure: the policy as it is, unless it is spoilt, then what is on disk."""
        if self._good and self.step > self._on_disk():
            with contextlib.suppress(TrainingFailed, OSError):
                self.save_policy()

    def reason(self, error: Exception) -> str:
        """A failure out of foreign code, in one sentence."""
        words = one_line(error)
        if "nan" in words.lower():
            self._good = False
            return (
                f"the network's output is no finite number any more at step {self.step:,}; lower "
                "learning_rate. The last good policy was kept"
            )
        return f"{self._config.env_id} raised {described(error, ['sb3_worker'])}"

    def _on_disk(self) -> int:
        try:
            return read_description(self._run.folder).total_steps
        except Exception:  # none, or none that can be read
            return -1

    def _statistics(self) -> list[dict[str, Any]]:
        if self._normalizer is None or not self._config.normalize_observations:
            return []
        found = self._normalizer.obs_rms
        return [
            {
                "step": "normalize",
                "mean": found.mean.tolist(),
                "var": found.var.tolist(),
                "epsilon": float(self._normalizer.epsilon),
                "clip": float(self._normalizer.clip_obs),
            }
        ]

    def film_finished(self) -> None:
        """Film the policy as it came out, where films are wanted and none shows it yet."""
        if self._filming and self._filmed < self.step:
            self._film()

    def _film(self) -> None:
        self._filmed = self.step
        try:
            self.save_policy()
            policy = Policy.load(self._run.folder)
            folder, seed = self._run.folder, self._config.seed
            self._run.filmed(self.step, EVALUATION.film(policy, self._config.env_id, folder, self.step, seed))
        except CannotFilm as error:
            self._filming = False
            self._run.warn(f"no videos: {error}")


def _launched_as(folder: Path) -> str:
    """The id of this worker: a trainer says it, as there may be copies with other ids."""
    try:
        return str(json.loads(read_file(folder / "train.json"))["worker"])
    except (OSError, ValueError, KeyError, TypeError):
        return WORKER
