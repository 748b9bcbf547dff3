"""What stands around the library while it learns: reports, checkpoints, films."""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from mosaic_worker.checkpoint import PolicyDescription, read_description, save_checkpoint
from mosaic_worker.failures import described, one_line
from mosaic_worker.learning.film import CannotFilm
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_report import TrainingReport, moment, versions
from mosaic_worker.learning.training_state import write_state
from mosaic_worker.plain_files import read_file
from mosaic_worker.training import TrainingRun
from xuance_worker.algorithms import Acting, Algorithm
from xuance_worker.config import TeamConfig
from xuance_worker.convert import network_of, playing_weights
from xuance_worker.moments import Moments
from xuance_worker.plan import Plan
from xuance_worker.policy import WORKER, joint_policy
from xuance_worker.state import state_of
from xuance_worker.team import EVALUATION

_PACKAGES = ("xuance", "torch", "gymnasium", "numpy", "safetensors")


class Session:
    """One training.

    Args:
        algorithm: Which.
        config: Every setting.
        plan: Who sees and does what.
        settings: What the library was told.
        agents: The library's agents.
        moments: Statistics of observations by agent; empty where they are not normalised.
        run: The run folder.
        scalars: TensorBoard's writer.
        step: Steps so far.

    Attributes:
        step: Environment steps so far, over all copies.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        config: TeamConfig,
        plan: Plan,
        settings: Mapping[str, Any],
        agents: Any,
        moments: Mapping[str, Moments],
        run: TrainingRun,
        scalars: Any,
        step: int,
    ) -> None:
        self._algorithm, self._config, self._plan, self._settings = algorithm, config, plan, settings
        self._agents, self._moments, self._run = agents, moments, run
        self._acting: Acting = algorithm.acting["continuous" if plan.bounded else "discrete"]
        self.step = self._reported = self._filmed = step
        self._report = TrainingReport(run, scalars, step)
        # By steps, not by time: a run with the same seed writes the same rows.
        self._every = max(config.num_envs, min(1000, config.total_steps // 100))
        self._filming, self._good = config.video_every > 0, True

    def played(self, copies: int, finished: list[tuple[Mapping[str, float], int]]) -> None:
        """Every copy was stepped; episodes that ended with it.

        Raises:
            TrainingFailed: A return is no finite number.
        """
        self.step += copies
        for returns, length in finished:
            total = sum(returns.values())
            if not math.isfinite(total):
                raise TrainingFailed(
                    f"an episode's return is no finite number at step {self.step:,}; the rewards of "
                    f"{self._config.env_id} are wrong"
                )
            self._report.episode(self.step, total, length, returns)

    def updated(self, told: Mapping[str, Any]) -> None:
        """The library has learnt; report it, and look whether it is still sane.

        Raises:
            TrainingFailed: A loss is no finite number.
        """
        losses: dict[str, float] = {}
        for name, value in told.items():
            if isinstance(value, (int, float)) or hasattr(value, "item"):
                losses[f"losses/{name.replace(' ', '_')}"] = float(value)
        for name, value in losses.items():
            if not math.isfinite(value):
                self._good = False
                raise TrainingFailed(
                    f"{name} is no finite number any more at step {self.step:,}; lower the learning rate. "
                    "The last good policy was kept"
                )
        if losses and self.step - self._reported >= self._every:
            self._reported = self.step
            self._report.metrics(self.step, losses)

    def advance(self) -> bool:
        """Hear commands; may not return for as long as the training is paused.

        Returns:
            Whether to go on.
        """
        self._run.advance(self.step, self.save)
        if self._filming and self.step - self._filmed >= self._config.video_every:
            self._film()
        return not self._run.stop_requested

    # -- checkpoints ---------------------------------------------------------------------

    def save(self) -> None:
        """Keep policy and state.

        Raises:
            TrainingFailed: The weights are no finite numbers any more; what is there stays.
            OSError: The folder cannot be written.
        """
        self.save_policy()
        moments = {key: self._moments[key].state() for key in self._plan.keys if self._moments}
        values = {
            "algorithm": self._algorithm.name,
            "step": self.step,
            "config": self._config.model_dump(mode="json"),
            "moments": moments,
        }
        write_state(self._run.folder, state_of(self._agents, values))

    def save_policy(self, result: float | None = None, seeds: tuple[int, ...] = ()) -> None:
        """Keep the policy alone, with what its evaluation found; raises as :meth:`save`."""
        description = self._described(result, seeds)
        save_checkpoint(self._run.folder, description, safetensors.torch.save(self._weights()))

    def _weights(self) -> dict[str, Tensor]:
        weights = playing_weights(self._acting, self._agents.policy.state_dict(), self._plan)
        if not all(bool(tensor.isfinite().all()) for tensor in weights.values()):
            self._good = False
            raise TrainingFailed(f"the weights are no finite numbers any more at step {self.step:,}")
        return weights

    def _described(self, result: float | None = None, seeds: tuple[int, ...] = ()) -> PolicyDescription:
        plan, parts = self._plan, []
        for agent in plan.agents:
            network = network_of(self._acting, self._settings, plan, plan.key_of(agent))
            normalize = self._moments[agent].step() if self._moments else None
            parts.append(plan.part(agent, network, normalize))
        return PolicyDescription.joint(
            parts,
            worker=_launched_as(self._run.folder),
            algorithm=self._algorithm.name,
            env_id=self._config.env_id,
            seed=self._config.seed,
            total_steps=self.step,
            mean_return=result,
            evaluation_seeds=seeds,
            config=self._config.model_dump(mode="json"),
            versions=versions(_PACKAGES),
            trained_at=moment(),
        )

    def keep_last_good(self) -> None:
        """After a failure: the policy as it is, unless it is spoilt, then what is on disk."""
        if self._good and self.step > self._on_disk():
            with contextlib.suppress(TrainingFailed, OSError):
                self.save_policy()

    def _on_disk(self) -> int:
        try:
            return read_description(self._run.folder).total_steps
        except Exception:  # none, or none that can be read
            return -1

    def reason(self, error: Exception) -> str:
        """A failure out of foreign code, in one sentence."""
        words = one_line(error)
        if "nan" in words.lower():
            self._good = False
            return (
                f"the network's output is no finite number any more at step {self.step:,}; lower the "
                "learning rate. The last good policy was kept"
            )
        return f"{self._config.env_id} or the library raised {described(error, ['xuance_worker'])}"

    # -- films ---------------------------------------------------------------------------

    def film_finished(self) -> None:
        """Film the policy as it came out, where films are wanted and none shows it yet."""
        if self._filming and self._filmed < self.step:
            self._film()

    def _film(self) -> None:
        self._filmed = self.step
        try:
            policy = joint_policy(self._described(), self._weights())
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
