"""What stands around an algorithm while it learns: reports, checkpoints, commands, films."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import safetensors.torch
import torch
from torch import Tensor

from cleanrl_worker.config.base import ConfigError, TrainingConfig
from cleanrl_worker.environments import observation_kind
from cleanrl_worker.games import Games
from cleanrl_worker.joint_copies import Finished
from cleanrl_worker.joint_environments import JointEnvironments
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.checkpoint import PolicyDescription, PolicyPart, save_checkpoint
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.training_command import TrainingFailed
from mosaic_worker.learning.training_report import RECENT, Scalars, TrainingReport, moment, versions
from mosaic_worker.learning.training_state import State, write_state
from mosaic_worker.training import TrainingRun

WORKER = "cleanrl_worker"
_PACKAGES = ("torch", "gymnasium", "numpy", "safetensors")


class Learner(Protocol):
    """What an algorithm has learnt so far.

    What the weights are (``network`` of ``policy.json``, its ``type`` named in the registry) is what
    ``network()`` says; where several networks are learnt, ``networks()`` by group.
    """

    def weights(self) -> Mapping[str, Tensor]:
        """What playing needs, by parameter name."""
        ...

    def state(self) -> State:
        """What going on needs: all networks, optimizers, generators, a replay buffer."""
        ...


class Session:
    """One training, as its algorithm sees it.

    Args:
        algorithm: Its name.
        config: Every setting.
        environments: What it trains in.
        run: Where it reports to and hears commands from.
        scalars: TensorBoard's log.
        restored: State of the training that is resumed.

    Attributes:
        device: Where networks live.
        step: Environment steps so far.
        restored: State of the training that is resumed, of what :meth:`Learner.state` gave.
        folder: The run folder.
        learner: The learner last seen; ``None`` before the first update.
    """

    def __init__(
        self,
        algorithm: str,
        config: TrainingConfig,
        environments: Environments | JointEnvironments | Games,
        run: TrainingRun,
        scalars: Scalars | None = None,
        restored: State | None = None,
    ) -> None:
        # One thread: small matrices gain nothing from two, and sums must not depend on the machine's load.
        torch.set_num_threads(1)
        self._algorithm, self._config, self._environments = algorithm, config, environments
        self.folder = run.folder
        self._run = run
        self.device = _device(config, environments)
        self.restored = restored
        told: dict[str, Any] = restored.values["session"] if restored else {}
        self.step = restored.step if restored else 0
        self.learner: Learner | None = None
        recent = told.get("returns", ()), told.get("lengths", ())
        self._report = TrainingReport(run, scalars, self.step, *recent)
        self._filmed = int(told.get("filmed", 0))

    def episodes(self, step: int, finished: Iterable[tuple[float, int]]) -> None:
        """Report episodes that ended: return and length of each."""
        for total, length in finished:
            self._report.episode(step, total, length)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Report numbers by TensorBoard name, and with them how episodes go and the speed."""
        self._report.metrics(step, values)

    def advance(self, step: int, learner: Learner) -> bool:
        """Call this after every update; may not return for as long as the training is paused.

        Returns:
            Whether to go on.

        Raises:
            TrainingFailed: The weights are no finite numbers any more.
            OSError: The folder cannot be written.
        """
        self.step, self.learner = step, learner
        self._run.advance(step, self.save)
        every = self._config.video_every
        if every and step // every > self._filmed // every:
            self._film(step, learner)
        return not self._run.stop_requested

    def save(self) -> None:
        """Keep the policy as it is now, and what going on needs.

        Raises:
            TrainingFailed: The weights are no finite numbers any more.
            OSError: The folder cannot be written.
        """
        self.save_policy()
        assert self.learner is not None
        state = self.learner.state()
        state.values |= {
            "algorithm": self._algorithm,
            "config": self._config.model_dump(mode="json"),
            "step": self.step,
            "environments": self._environments.state(self.step),
            "session": self._kept(),
        }
        write_state(self._run.folder, state)

    def _kept(self) -> dict[str, Any]:
        """Of this session, to go on from."""
        return {
            "returns": list(self._report.returns),
            "lengths": list(self._report.lengths),
            "filmed": self._filmed,
        }

    def save_policy(self, result: float | None = None, seeds: tuple[int, ...] = ()) -> None:
        """Keep the policy alone, with what its evaluation gave.

        Raises:
            TrainingFailed: The weights are no finite numbers any more.
            OSError: The folder cannot be written.
        """
        assert self.learner is not None
        description = self.describe(self.learner, result, seeds)
        weights = finite_weights(self.learner)
        save_checkpoint(self._run.folder, description, safetensors.torch.save(weights))

    def describe(
        self, learner: Any, mean_return: float | None = None, seeds: tuple[int, ...] = ()
    ) -> PolicyDescription:
        """``policy.json`` of the policy as it is now."""
        config = self._config
        return PolicyDescription.joint(
            self._parts(learner),
            worker=WORKER,
            algorithm=self._algorithm,
            env_id=config.env_id,
            seed=config.seed,
            total_steps=self.step,
            mean_return=mean_return,
            evaluation_seeds=seeds,
            config=config.model_dump(mode="json"),
            versions=versions(_PACKAGES),
            trained_at=moment(),
        )

    def film_finished(self) -> None:
        """Film the policy as it came out, where films are wanted and none shows it yet."""
        if self._config.video_every and self._filmed < self.step and self.learner is not None:
            self._film(self.step, self.learner)

    def _parts(self, learner: Any) -> Sequence[PolicyPart]:
        """What the policy plays."""
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

    def _film(self, step: int, learner: Learner) -> None:
        from cleanrl_worker.environments import EVALUATION
        from cleanrl_worker.policy import load_policy
        from mosaic_worker.learning.film import CannotFilm

        self._filmed = step
        try:
            policy = load_policy(self.describe(learner), finite_weights(learner))
            self._run.filmed(
                step, EVALUATION.film(policy, self._config.env_id, self._run.folder, step, self._config.seed)
            )
        except CannotFilm as error:
            self._run.warn(f"no video at step {step}: {error}")


class JointSession(Session):
    """A training of several agents, as its algorithm sees it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        environments = args[2]
        assert isinstance(environments, JointEnvironments)
        self._joint = environments
        told: dict[str, Any] = self.restored.values["session"] if self.restored else {}
        recent = told.get("agents", {})
        self._returns = {agent: deque(recent.get(agent, ()), RECENT) for agent in environments.agents}

    def finished(self, step: int, episodes: Iterable[Finished]) -> None:
        """Report episodes that ended, agent by agent; what they made together is the return."""
        for episode in episodes:
            for agent, total in episode.returns.items():
                self._returns[agent].append(total)
            self._report.episode(step, sum(episode.returns.values()), episode.length, episode.returns)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """As :meth:`Session.metrics`, with mean returns of agents and, of several teams, of each."""
        means = {agent: sum(found) / len(found) for agent, found in self._returns.items() if found}
        told = {f"agents/{agent}": mean for agent, mean in means.items()}
        if means and len(self._joint.teams) > 1:
            told |= {
                f"teams/{team}": sum(means[agent] for agent in agents)
                for team, agents in self._joint.teams.items()
            }
        super().metrics(step, {**values, **told})

    def _kept(self) -> dict[str, Any]:
        return {**super()._kept(), "agents": {agent: list(found) for agent, found in self._returns.items()}}

    def _parts(self, learner: Any) -> Sequence[PolicyPart]:
        networks = learner.networks()
        views = self._joint.views.values()
        parts = [view.part(agent, networks[view.group.name]) for view in views for agent in view.group.agents]
        return sorted(parts, key=lambda part: self._joint.agents.index(part.agents[0]))


def input_space(environments: Environments | Games) -> Any:
    """Gymnasium space of what the policy is shown, after the normalisation too."""
    from mosaic_worker.preprocessing import Pipeline

    return Pipeline(environments.preprocessing, environments.raw_observation_space).input_space


def finite_weights(learner: Learner) -> dict[str, Tensor]:
    """Copies of the weights, on the CPU.

    Raises:
        TrainingFailed: They are no finite numbers any more.
    """
    weights = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in learner.weights().items()}
    if not all(bool(tensor.isfinite().all()) for tensor in weights.values()):
        raise TrainingFailed("the weights are no finite numbers any more; lower learning_rate")
    return weights


def _device(config: TrainingConfig, environments: Environments | JointEnvironments | Games) -> torch.device:
    """A GPU when it is asked for, or when there is one and images are worth the way there."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device is cuda, but this machine shows no GPU to torch. Set device to auto or cpu")
    shown = environments.views.values() if isinstance(environments, JointEnvironments) else (environments,)
    images = any(observation_kind(each.observation_space) == "image" for each in shown)
    wanted = config.device == "cuda" or (config.device == "auto" and images and torch.cuda.is_available())
    return torch.device("cuda" if wanted else "cpu")
