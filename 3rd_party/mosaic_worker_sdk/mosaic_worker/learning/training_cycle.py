"""Base class of a training, which handles reports, checkpoints, videos, evaluation and failures.

A worker derives from :class:`Training` and defines how its algorithm learns. Only workers that learn with
torch need this module, torch and safetensors.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import Any, Callable, ClassVar, Dict, Generator, Mapping, Optional, Sequence, Tuple, Type

import safetensors.torch
import torch
from torch import Tensor

from mosaic_worker.checkpoint import PolicyDescription, PolicyPart, read_description, save_checkpoint
from mosaic_worker.failures import described, one_line
from mosaic_worker.learning.evaluation import finish
from mosaic_worker.learning.film import CannotFilm
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation
from mosaic_worker.learning.torch_weights import arrays_of, copies
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed
from mosaic_worker.learning.training_report import Scalars, TrainingReport, moment, versions
from mosaic_worker.learning.training_settings import TrainingSettings
from mosaic_worker.learning.training_state import State, TrainingStart, write_state
from mosaic_worker.plain_files import read_file
from mosaic_worker.playing.network_policy import NetworkPolicy, read_weights
from mosaic_worker.training import TENSORBOARD, TrainingRun

_REPORTS = 100
"""Number of reports of a whole training if its library does not report after each update."""


class Training(ABC):
    """A training; a worker's subclass defines the algorithm, its weights and its state.

    Args:
        algorithm: Name of the algorithm.
        config: All settings.
        run: Writes the reports to the run folder.
        scalars: Log for TensorBoard; ``None`` for no log.
        restored: State of an earlier training to continue; ``None`` for a new training.

    Attributes:
        step: Environment steps so far.
        begun: Environment steps at the beginning of this process; 0 for a new training.
        report: Records episodes and metrics.
    """

    policies: ClassVar[Type[NetworkPolicy]]
    """Class that plays the policies of this training; its package is the worker's id."""
    versions_of: ClassVar[Tuple[str, ...]]
    """Packages whose versions are recorded with a policy."""
    evaluation: ClassVar[PolicyEvaluation]
    """Evaluates the policies and records videos of them."""
    foreign: ClassVar[bool] = True
    """Whether a third-party library carries out the training, which may raise any exception."""
    rate: ClassVar[str] = "learning_rate"
    """Name of the setting to lower if numbers are no longer finite."""

    def __init__(
        self,
        algorithm: str,
        config: TrainingSettings,
        run: TrainingRun,
        scalars: Optional[Scalars] = None,
        restored: Optional[State] = None,
    ) -> None:
        self.algorithm, self.run = algorithm, run
        self._settings = config
        self.begun = 0 if restored is None else restored.step
        self.step = self._filmed = self.begun
        told: Mapping[str, Any] = {} if restored is None else restored.values.get("session", {})
        self.report = TrainingReport(
            run, scalars, self.begun, told.get("returns", ()), told.get("lengths", ())
        )
        self._filming, self._good = config.video_every > 0, True

    # -- what a worker says ----------------------------------------------------------------

    @abstractmethod
    def learn(self) -> None:
        """Learn until the end, or until ``run.stop_requested``; call :meth:`go_on` after every update.

        Raises:
            TrainingFailed: A number is no longer finite, or the environment raised an exception.
        """

    @abstractmethod
    def weights(self) -> Mapping[str, Tensor]:
        """Return the tensors that the policy needs at play, by parameter name."""

    @abstractmethod
    def parts(self) -> Sequence[PolicyPart]:
        """Return the parts of the policy for the last :meth:`weights`: one part, or one per agent of a joint
        policy.
        """

    @abstractmethod
    def state(self) -> State:
        """Return the state for a continuation, besides the policy, ``algorithm``, ``config`` and ``step``."""

    # -- the life cycle --------------------------------------------------------------------

    def train(self) -> bool:
        """Train, save the policy, and evaluate it.

        Returns:
            Whether training and evaluation were completed; ``False`` if they were stopped.

        Raises:
            TrainingFailed: A number is no longer finite, or the environment raised an exception.
            OSError: The folder cannot be written.
        """
        self._settings.start(self.run, self.algorithm, self.step)
        try:
            self.learn()
        except TrainingFailed:
            self.save_after_failure()
            raise
        except (OSError, MemoryError, ConfigError):
            raise
        except Exception as error:  # third-party code may raise anything, for example torch on NaN
            if not self.foreign:
                raise
            self.save_after_failure()
            raise TrainingFailed(self.reason(error)) from error
        return finish(self.run, self, self.mean_return, self._settings.env_id, self.policies.worker)

    def mean_return(self, go_on: Callable[[], bool]) -> float:
        """Return the mean return of the saved policy; call ``go_on`` before every step."""
        # The policy is read from disk, which proves that the saved policy can be loaded and played.
        policy = self.policies.whole(*read_weights(self.run.folder))
        return self.evaluation.mean_return(policy, self._settings.env_id, go_on)

    def go_on(self) -> bool:
        """Report progress, handle requests and record a due video; this does not return while the training is
        paused.

        Returns:
            Whether the training continues.
        """
        self.run.advance(self.step, self.save)
        if self.film_due():
            self.film()
        return not self.run.stop_requested

    # -- reports ---------------------------------------------------------------------------

    @property
    def report_every(self) -> int:
        """Steps between two reports; counted in steps, not in time, so that the same seed writes the same
        rows.
        """
        return max(self._settings.num_envs, min(1000, self._settings.total_steps // _REPORTS))

    def episode(self, total: float, length: int, agents: Optional[Mapping[str, float]] = None) -> None:
        """Report the end of an episode.

        Args:
            total: Return of the episode.
            length: Number of steps.
            agents: Return of each agent, if there are several.

        Raises:
            TrainingFailed: The return is no finite number.
        """
        if not math.isfinite(total):
            raise TrainingFailed(
                f"an episode's return is no finite number at step {self.step:,}; the rewards of "
                f"{self._settings.env_id} are wrong"
            )
        self.report.episode(self.step, total, length, agents)

    def check_losses(self, losses: Mapping[str, float], unchecked: str = "") -> None:
        """Check that the losses of an update are finite.

        Args:
            losses: Losses by the name under which they are reported.
            unchecked: Losses with this text in their names are not checked; empty to check all.

        Raises:
            TrainingFailed: A loss is not finite; the message names the loss.
        """
        for name, value in losses.items():
            if not math.isfinite(value) and not (unchecked and unchecked in name):
                self._good = False
                raise TrainingFailed(
                    f"{name} is no longer finite at step {self.step:,}; lower {self.rate}. "
                    f"{self.kept_words()}"
                )

    # -- checkpoints -----------------------------------------------------------------------

    def save(self) -> None:
        """Save the policy and the state of the training.

        Raises:
            TrainingFailed: The weights are no longer finite; the files in the folder stay as they are.
            OSError: The folder cannot be written.
        """
        self.save_policy()
        state = self.state()
        state.values.update(
            algorithm=self.algorithm, config=self._settings.model_dump(mode="json"), step=self.step
        )
        write_state(self.run.folder, state)

    def save_policy(self, result: Optional[float] = None, seeds: Tuple[int, ...] = ()) -> None:
        """Save only the policy, with the result of its evaluation; raises as :meth:`save` does."""
        self.write_policy(*self.policy(), result, seeds)

    def write_policy(
        self,
        description: PolicyDescription,
        weights: Mapping[str, Tensor],
        result: Optional[float] = None,
        seeds: Tuple[int, ...] = (),
    ) -> None:
        """Write a policy and the result of its evaluation into the run folder."""
        about = replace(description, mean_return=result, evaluation_seeds=seeds)
        save_checkpoint(self.run.folder, about, safetensors.torch.save(dict(weights)))

    def policy(self) -> Tuple[PolicyDescription, Dict[str, Tensor]]:
        """Return the description of the current policy and copies of its weights on the CPU.

        Raises:
            TrainingFailed: The weights are no longer finite.
        """
        weights = copies(self.weights())
        for name, tensor in weights.items():
            if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
                self._good = False
                raise TrainingFailed(
                    f"the weights are no longer finite at step {self.step:,} ({name}); lower {self.rate}"
                )
        return self.described(), weights

    def described(self) -> PolicyDescription:
        """Return the content of ``policy.json`` for the current policy."""
        config = self._settings
        return PolicyDescription.joint(
            self.parts(),
            worker=self.worker_id(),
            algorithm=self.algorithm,
            env_id=config.env_id,
            seed=config.seed,
            total_steps=self.step,
            config=config.model_dump(mode="json"),
            versions=versions(self.versions_of),
            trained_at=moment(),
        )

    def worker_id(self) -> str:
        """Return the id of this worker from ``train.json``, because a copy of the worker has another id than
        its package.
        """
        try:
            return str(json.loads(read_file(self.run.folder / "train.json"))["worker"])
        except (OSError, ValueError, KeyError, TypeError):
            return self.policies.worker

    # -- failures --------------------------------------------------------------------------

    def save_after_failure(self) -> None:
        """After a failure, save the current policy if it is good and newer than the saved one."""
        if self._good and self.step > self.step_on_disk():
            with suppress(TrainingFailed, OSError):
                self.save_last_good()

    def save_last_good(self) -> None:
        """Save the policy of a failed training."""
        self.save_policy()

    def step_on_disk(self) -> int:
        """Return the training steps of the policy in the run folder; -1 if there is no readable policy."""
        try:
            return read_description(self.run.folder).total_steps
        except Exception:  # a damaged file may cause any exception
            return -1

    def kept_words(self) -> str:
        """Return a sentence on the saved policy for the message of a failure."""
        return "The last good policy was kept"

    def reason(self, error: Exception) -> str:
        """Describe an exception of third-party code in one sentence."""
        if "nan" in one_line(error).lower():
            self._good = False
            return (
                f"the network's output is no longer finite at step {self.step:,}; lower "
                f"{self.rate}. {self.kept_words()}"
            )
        return f"{self._settings.env_id} raised {described(error, [self.policies.worker])}"

    # -- films -----------------------------------------------------------------------------

    def film_due(self) -> bool:
        """Return whether the next video of the policy is due."""
        return self._filming and self.step - self._filmed >= self._settings.video_every

    def film_finished(self) -> None:
        """Record a video of the final policy, unless videos are off or the last video already shows this
        policy.
        """
        if self._filming and self._filmed < self.step:
            self.film()

    def film(self) -> None:
        """Record a video of an episode with the current policy."""
        self._filmed = self.step
        config, folder = self._settings, self.run.folder
        try:
            description, weights = self.policy()
            whole = self.policies.whole(description, arrays_of(weights))
            made = self.evaluation.film(whole, config.env_id, folder, self.step, config.seed)
            self.run.filmed(self.step, made)
        except CannotFilm as error:
            self.not_filmed(error)

    def not_filmed(self, error: CannotFilm) -> None:
        """Warn that no video can be recorded, and record no more videos."""
        self._filming = False
        self.run.warn(f"no videos: {error}")


def device_of(asked: str, *, worthwhile: bool = False) -> str:
    """Return the device on which a network learns, ``cpu`` or ``cuda``.

    Args:
        asked: ``auto``, ``cpu`` or ``cuda``.
        worthwhile: Whether ``auto`` uses a GPU if there is one.

    Raises:
        ConfigError: ``cuda`` was requested, but there is no GPU.
    """
    there = asked != "cpu" and torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise ConfigError("device is cuda, but torch finds no GPU here; set it to auto or cpu")
    return "cuda" if there and (asked == "cuda" or worthwhile) else "cpu"


@contextmanager
def tensorboard(run: TrainingRun, start: TrainingStart) -> Generator[Any, None, None]:
    """Open TensorBoard's log in a run folder, without the entries of a killed training after its last
    checkpoint.
    """
    from torch.utils.tensorboard import SummaryWriter  # pyright: ignore[reportPrivateImportUsage]

    scalars: Any = SummaryWriter(str(run.folder / TENSORBOARD), purge_step=start.purge_step)
    with closing(scalars):
        yield scalars
