"""The life of a training that a library or an algorithm carries out: reports, checkpoints, films, the end.

A worker derives from :class:`Training` and says what its algorithm has learnt; the rest is here. Only
workers that learn with torch need this, and torch and safetensors, to be there.
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
from mosaic_worker.learning.training_state import Beginning, State, write_state
from mosaic_worker.plain_files import read_file
from mosaic_worker.playing.network_policy import NetworkPolicy, read_weights
from mosaic_worker.training import TENSORBOARD, TrainingRun

_REPORTS = 100
"""Reports of a whole training, where its library does not say when it has learnt."""


class Training(ABC):
    """One training; a worker says what its algorithm has learnt.

    Args:
        algorithm: Its name.
        config: Every setting.
        run: The run folder.
        scalars: TensorBoard's log.
        restored: State of the training that goes on.

    Attributes:
        step: Environment steps so far.
        begun: Those that it had when it began or was resumed.
        report: Records episodes and metrics.
    """

    policies: ClassVar[Type[NetworkPolicy]]
    """What plays its policies; the package of its worker is that worker's id."""
    versions_of: ClassVar[Tuple[str, ...]]
    """Packages whose versions its policies name."""
    evaluation: ClassVar[PolicyEvaluation]
    """How its policies play."""
    foreign: ClassVar[bool] = True
    """Whether a library carries it out, which may raise anything."""
    rate: ClassVar[str] = "learning_rate"
    """The setting to lower where numbers grow without bound."""

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
        """Learn to the end, or until ``run.stop_requested``; calls :meth:`go_on` after every update.

        Raises:
            TrainingFailed: A number is no finite one any more, or the environment raised.
        """

    @abstractmethod
    def weights(self) -> Mapping[str, Tensor]:
        """What playing needs, by parameter name."""

    @abstractmethod
    def parts(self) -> Sequence[PolicyPart]:
        """What the :meth:`weights` asked for just before play: one part, or one for each agent of a joint
        policy."""

    @abstractmethod
    def state(self) -> State:
        """What going on needs beside the policy, the ``algorithm``, its ``config`` and the ``step``."""

    # -- the life cycle --------------------------------------------------------------------

    def train(self) -> bool:
        """Begin, learn, evaluate.

        Returns:
            Whether it is all done, the evaluation too.

        Raises:
            TrainingFailed: A number is not finite any more, or the environment raised.
            OSError: The folder cannot be written.
        """
        self._settings.start(self.run, self.algorithm, self.step)
        try:
            self.learn()
        except TrainingFailed:
            self.keep_last_good()
            raise
        except (OSError, MemoryError, ConfigError):
            raise
        except Exception as error:  # foreign code may raise anything: the environment's, or torch's on NaN
            if not self.foreign:
                raise
            self.keep_last_good()
            raise TrainingFailed(self.reason(error)) from error
        return finish(self.run, self, self.mean_return, self._settings.env_id, self.policies.worker)

    def mean_return(self, go_on: Callable[[], bool]) -> float:
        """Mean return of the policy that was kept; asks ``go_on`` before every step."""
        # From disk, so that what was kept is proven to load and play.
        policy = self.policies.whole(*read_weights(self.run.folder))
        return self.evaluation.mean_return(policy, self._settings.env_id, go_on)

    def go_on(self) -> bool:
        """Hear commands and film where it is time; does not return while the training is paused.

        Returns:
            Whether to go on.
        """
        self.run.advance(self.step, self.save)
        if self.film_due():
            self.film()
        return not self.run.stop_requested

    # -- reports ---------------------------------------------------------------------------

    @property
    def report_every(self) -> int:
        """Steps between two reports; by steps, not by time: the same seed writes the same rows."""
        return max(self._settings.num_envs, min(1000, self._settings.total_steps // _REPORTS))

    def episode(self, total: float, length: int, agents: Optional[Mapping[str, float]] = None) -> None:
        """An episode has ended.

        Args:
            total: Its return.
            length: Its steps.
            agents: The return of each, of several.

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
        """Look whether an update is sane.

        Args:
            losses: By the name they are reported under.
            unchecked: Part of the names that may be anything.

        Raises:
            TrainingFailed: One is no finite number; names it.
        """
        for name, value in losses.items():
            if not math.isfinite(value) and not (unchecked and unchecked in name):
                self._good = False
                raise TrainingFailed(
                    f"{name} is no finite number any more at step {self.step:,}; lower {self.rate}. "
                    f"{self.kept_words()}"
                )

    # -- checkpoints -----------------------------------------------------------------------

    def save(self) -> None:
        """Keep policy and state.

        Raises:
            TrainingFailed: The weights are no finite numbers any more; what is there stays.
            OSError: The folder cannot be written.
        """
        self.save_policy()
        state = self.state()
        state.values.update(
            algorithm=self.algorithm, config=self._settings.model_dump(mode="json"), step=self.step
        )
        write_state(self.run.folder, state)

    def save_policy(self, result: Optional[float] = None, seeds: Tuple[int, ...] = ()) -> None:
        """Keep the policy alone, with what its evaluation found; raises as :meth:`save`."""
        self.keep(*self.policy(), result, seeds)

    def keep(
        self,
        description: PolicyDescription,
        weights: Mapping[str, Tensor],
        result: Optional[float] = None,
        seeds: Tuple[int, ...] = (),
    ) -> None:
        """Write a policy into the run folder, with what its evaluation found."""
        about = replace(description, mean_return=result, evaluation_seeds=seeds)
        save_checkpoint(self.run.folder, about, safetensors.torch.save(dict(weights)))

    def policy(self) -> Tuple[PolicyDescription, Dict[str, Tensor]]:
        """What has been learnt: its description, and copies of the weights on the CPU.

        Raises:
            TrainingFailed: They are no finite numbers any more.
        """
        weights = copies(self.weights())
        for name, tensor in weights.items():
            if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
                self._good = False
                raise TrainingFailed(
                    f"the weights are no finite numbers any more at step {self.step:,} ({name}); "
                    f"lower {self.rate}"
                )
        return self.described(), weights

    def described(self) -> PolicyDescription:
        """``policy.json`` of the policy as it is now."""
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
        """The id of this worker: a trainer says it, as there may be copies with other ids."""
        try:
            return str(json.loads(read_file(self.run.folder / "train.json"))["worker"])
        except (OSError, ValueError, KeyError, TypeError):
            return self.policies.worker

    # -- failures --------------------------------------------------------------------------

    def keep_last_good(self) -> None:
        """After a failure: the policy as it is, unless it is spoilt, then what is on disk."""
        if self._good and self.step > self.step_on_disk():
            with suppress(TrainingFailed, OSError):
                self.save_last_good()

    def save_last_good(self) -> None:
        """Keep what a failure left."""
        self.save_policy()

    def step_on_disk(self) -> int:
        """Training steps of the policy in the run folder; -1 if there is no policy that can be read."""
        try:
            return read_description(self.run.folder).total_steps
        except Exception:  # whatever a file that is none provokes
            return -1

    def kept_words(self) -> str:
        """What there is of the policy after a failure."""
        return "The last good policy was kept"

    def reason(self, error: Exception) -> str:
        """A failure out of foreign code, in one sentence."""
        if "nan" in one_line(error).lower():
            self._good = False
            return (
                f"the network's output is no finite number any more at step {self.step:,}; lower "
                f"{self.rate}. {self.kept_words()}"
            )
        return f"{self._settings.env_id} raised {described(error, [self.policies.worker])}"

    # -- films -----------------------------------------------------------------------------

    def film_due(self) -> bool:
        """Whether it is time for the next film."""
        return self._filming and self.step - self._filmed >= self._settings.video_every

    def film_finished(self) -> None:
        """Film the policy as it came out, where films are wanted and none shows it yet."""
        if self._filming and self._filmed < self.step:
            self.film()

    def film(self) -> None:
        """Film an episode of the policy as it is now."""
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
        """Say why there are no films."""
        self._filming = False
        self.run.warn(f"no videos: {error}")


def device_of(asked: str, *, worthwhile: bool = False) -> str:
    """Where a network learns, ``cpu`` or ``cuda``.

    Args:
        asked: ``auto``, ``cpu`` or ``cuda``.
        worthwhile: Whether ``auto`` takes a GPU where there is one.

    Raises:
        ConfigError: There is no GPU, and one was asked for.
    """
    there = asked != "cpu" and torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise ConfigError("device is cuda, but torch finds no GPU here; set it to auto or cpu")
    return "cuda" if there and (asked == "cuda" or worthwhile) else "cpu"


@contextmanager
def tensorboard(run: TrainingRun, start: Beginning) -> Generator[Any, None, None]:
    """TensorBoard's log in a run folder, without what a killed training wrote after its last checkpoint."""
    from torch.utils.tensorboard import SummaryWriter  # pyright: ignore[reportPrivateImportUsage]

    scalars: Any = SummaryWriter(str(run.folder / TENSORBOARD), purge_step=start.purge_step)
    with closing(scalars):
        yield scalars
