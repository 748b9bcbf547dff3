"""Handles reports, checkpoints, requests and videos of a training for its algorithm."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import torch
from torch import Tensor

from cleanrl_worker.config.base import TrainingConfig
from cleanrl_worker.environments import EVALUATION, observation_kind
from cleanrl_worker.games import Games
from cleanrl_worker.joint_copies import Finished
from cleanrl_worker.joint_environments import JointEnvironments
from cleanrl_worker.policy import WORKER, Policy
from cleanrl_worker.registry import algorithm as algorithm_of
from cleanrl_worker.registry import load
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.checkpoint import PolicyPart
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.film import CannotFilm
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_cycle import Training, device_of
from mosaic_worker.learning.training_report import AgentReturns, Scalars
from mosaic_worker.learning.training_state import State
from mosaic_worker.training import TrainingRun


class Learner(Protocol):
    """An algorithm's networks and training state.

    ``network()`` describes the network, as ``network`` of ``policy.json`` with a ``type`` that the registry
    knows; an algorithm with several networks has ``networks()``, by group.
    """

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights for playing, by parameter name."""
        ...

    def state(self) -> State:
        """Return all that resuming needs: networks, optimizers, generators, a replay buffer."""
        ...


class Session(Training):
    """One training, as seen by its algorithm.

    Args:
        algorithm: Name of the algorithm.
        config: Settings of the training.
        environments: Environments to train in.
        run: Run that receives reports and passes on requests.
        scalars: TensorBoard log.
        restored: State of the training that is resumed.

    Attributes:
        device: Device of the networks.
        restored: State of the training that is resumed, with the content of :meth:`Learner.state`.
        folder: The run folder.
        learner: The latest learner; ``None`` before the first update.
    """

    policies = Policy
    versions_of = ("torch", "gymnasium", "numpy", "safetensors")
    evaluation = EVALUATION
    foreign = False

    def __init__(
        self,
        algorithm: str,
        config: TrainingConfig,
        environments: Environments | JointEnvironments | Games,
        run: TrainingRun,
        scalars: Scalars | None = None,
        restored: State | None = None,
    ) -> None:
        # One thread: two threads do not speed up small matrices, and sums must not depend on the machine's
        # load.
        torch.set_num_threads(1)
        super().__init__(algorithm, config, run, scalars, restored)
        self._config, self._environments = config, environments
        self.folder = run.folder
        self.device = _device(config, environments)
        self.restored = restored
        self.learner: Learner | None = None
        self._filmed = int(restored.values["session"].get("filmed", 0)) if restored else 0

    def learn(self) -> None:
        """Run the algorithm.

        Raises:
            TrainingFailed: A number is not finite, or the environment raised.
        """
        train = load(algorithm_of(self.algorithm).train)
        try:
            self.learner = train(self._config, self._environments, self)
        except TrainingFailed as error:
            raise TrainingFailed(f"after step {self.step:,}: {error}") from error
        if not self._environments.exact:
            self.run.warn("some episodes could not be resumed and were restarted")

    def episodes(self, step: int, finished: Iterable[tuple[float, int]]) -> None:
        """Report finished episodes: return and length of each."""
        for total, length in finished:
            self.report.episode(step, total, length)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Report numbers by TensorBoard name, with episode statistics and the speed."""
        self.report.metrics(step, values)

    def advance(self, step: int, learner: Learner) -> bool:
        """Handle requests after an update; this does not return while the training is paused.

        Returns:
            Whether to continue.

        Raises:
            TrainingFailed: A weight is not finite.
            OSError: The folder cannot be written.
        """
        self.step, self.learner = step, learner
        return self.go_on()

    # -- current policy --------------------------------------------------------------

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights for playing."""
        assert self.learner is not None
        return self.learner.weights()

    def parts(self) -> Sequence[PolicyPart]:
        """Return the agents that the policy plays, with their spaces and network."""
        learner: Any = self.learner
        environments = self._environments
        assert not isinstance(environments, JointEnvironments)
        preprocessing = tuple(environments.preprocessing)
        return (
            PolicyPart(
                environments.agents,
                describe(environments.raw_observation_space),
                describe(environments.action_space),
                learner.network(),
                preprocessing,
                describe(input_space(environments)),
            ),
        )

    def state(self) -> State:
        """Return the state of the learner, the environments and this session."""
        assert self.learner is not None
        state = self.learner.state()
        state.values |= {"environments": self._environments.state(self.step), "session": self._kept()}
        return state

    def _kept(self) -> dict[str, Any]:
        """Return the state of this session, to resume from."""
        return {**self.report.state(), "filmed": self._filmed}

    def worker_id(self) -> str:
        """Return the package of this worker as its id, because a policy may be played only by a worker with
        its id.
        """
        return WORKER

    def save_after_failure(self) -> None:
        """After a failure, save the network of the last update unless it is not finite."""
        if self.learner is not None:
            with suppress(TrainingFailed):
                self.save_policy()

    # -- videos -----------------------------------------------------------------------------

    def film_due(self) -> bool:
        """Return whether a multiple of ``video_every`` was passed since the last video."""
        every = self._config.video_every
        return every > 0 and self.step // every > self._filmed // every

    def not_filmed(self, error: CannotFilm) -> None:
        """Warn that there is no video of this step, and why."""
        self.run.warn(f"no video at step {self.step}: {error}")


class JointSession(Session):
    """A training of several agents, as seen by its algorithm."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        environments = args[2]
        assert isinstance(environments, JointEnvironments)
        self._joint = environments
        told: dict[str, Any] = self.restored.values["session"] if self.restored else {}
        self._returns = AgentReturns(environments.agents, environments.teams, told.get("agents", {}))

    def finished(self, step: int, episodes: Iterable[Finished]) -> None:
        """Report finished episodes by agent; the sum over agents is reported as the return."""
        for episode in episodes:
            self._returns.add(episode.returns)
            self.report.episode(step, sum(episode.returns.values()), episode.length, episode.returns)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Report numbers as :meth:`Session.metrics`, with mean returns by agent and by team."""
        super().metrics(step, {**values, **self._returns.metrics()})

    def _kept(self) -> dict[str, Any]:
        return {**super()._kept(), "agents": self._returns.state()}

    def parts(self) -> Sequence[PolicyPart]:
        learner: Any = self.learner
        networks = learner.networks()
        views = self._joint.views.values()
        parts = [view.part(agent, networks[view.group.name]) for view in views for agent in view.group.agents]
        return sorted(parts, key=lambda part: self._joint.agents.index(part.agents[0]))


def input_space(environments: Environments | Games) -> Any:
    """Return the Gymnasium space of the policy's input, after all preprocessing."""
    from mosaic_worker.preprocessing import Pipeline

    return Pipeline(environments.preprocessing, environments.raw_observation_space).input_space


def _device(config: TrainingConfig, environments: Environments | JointEnvironments | Games) -> torch.device:
    """Return a GPU if the settings ask for it, or if there is one and observations are images."""
    shown = environments.views.values() if isinstance(environments, JointEnvironments) else (environments,)
    images = any(observation_kind(each.observation_space) == "image" for each in shown)
    return torch.device(device_of(config.device, worthwhile=images))
