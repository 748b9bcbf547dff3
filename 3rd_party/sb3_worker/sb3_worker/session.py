"""Connects the library's training loop to the run folder: reports, requests, checkpoints."""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from torch import Tensor

from mosaic_worker import gymnasium_spaces
from mosaic_worker.checkpoint import PolicyPart
from mosaic_worker.learning.training_cycle import Training
from mosaic_worker.learning.training_state import State
from mosaic_worker.preprocessing import Pipeline
from mosaic_worker.spaces import Space
from mosaic_worker.training import TrainingRun
from sb3_worker.config import OffPolicyConfig, TrainingConfig
from sb3_worker.environments import EVALUATION
from sb3_worker.library_network import tensors_of
from sb3_worker.network import Network
from sb3_worker.policy import Policy
from sb3_worker.state import state_of

_NAMES = {"train/learning_rate": "charts/learning_rate", "rollout/exploration_rate": "charts/epsilon"}
_SKIPPED = ("train/n_updates", "train/learning_rate")


class Session(Training):
    """A training that runs the library's loop.

    Args:
        algorithm: The algorithm's name.
        config: Settings of the training.
        run: The run folder.
        scalars: TensorBoard's writer.
        restored: State of the training that is resumed.
        model: The library's algorithm object.
        normalizer: Its ``VecNormalize``, or ``None``.
        network: Description of the policy's network.
        spaces: Observation and action space of a slot.
        steps: Preprocessing steps.
    """

    policies = Policy
    versions_of = ("stable-baselines3", "sb3-contrib", "torch", "gymnasium", "numpy", "safetensors")
    evaluation = EVALUATION

    def __init__(
        self,
        algorithm: str,
        config: TrainingConfig,
        run: TrainingRun,
        scalars: Any,
        restored: State | None,
        model: Any,
        normalizer: Any,
        network: Network,
        spaces: tuple[Space, Space],
        steps: list[dict[str, Any]],
    ) -> None:
        super().__init__(algorithm, config, run, scalars, restored)
        self._config = config
        self._model, self._normalizer, self._network = model, normalizer, network
        self._spaces, self._steps = spaces, steps
        # The library's own reports are discarded; this session reports their numbers.
        self._log = Logger(None, [])
        model.set_logger(self._log)
        self._off_policy = isinstance(config, OffPolicyConfig)
        self._reported = self.step

    def learn(self) -> None:
        """Run the library's loop, which calls back at every step."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._model.learn(
                # Whole rollouts, because an annealed value would otherwise fall below zero in the last one.
                self._config.planned_steps(self.step) - self.step,
                callback=_Callback(self),
                log_interval=None,
                reset_num_timesteps=self.step == 0,
            )
        self.step = int(self._model.num_timesteps)
        self.updated()

    # -- callbacks of the library -------------------------------------------------------------

    def stepped(self, infos: Sequence[Mapping[str, Any]]) -> bool:
        """Handle a step of all copies.

        Args:
            infos: Info of each copy.

        Returns:
            Whether to continue.

        Raises:
            TrainingFailed: A return is not finite.
        """
        self.step = int(self._model.num_timesteps)
        for info in infos:
            episode = info.get("episode")
            if episode is not None:
                self.episode(float(episode["r"]), int(episode["l"]))
        if self._off_policy and self.step - self._reported >= self.report_every:
            self.updated()
        if self.film_due():
            self.film()
        return self.go_on()

    def rollout_begins(self) -> None:
        """Handle the start of a rollout: for algorithms with rollouts, the last update is complete."""
        if not self._off_policy and self.step > self._reported:
            self.updated()

    def updated(self) -> None:
        """Report the last update and check its losses.

        Raises:
            TrainingFailed: A loss is not finite.
        """
        self._reported = self.step
        said: dict[str, Any] = {k: v for k, v in self._log.name_to_value.items() if not isinstance(v, str)}
        losses = {
            name.replace("train/", "losses/"): float(value)
            for name, value in said.items()
            if name.startswith("train/") and name not in _SKIPPED
        }
        self.check_losses(losses, unchecked="explained_variance")
        values = {_NAMES[name]: float(value) for name, value in said.items() if name in _NAMES}
        self.report.metrics(self.step, {**values, **losses})

    # -- current policy --------------------------------------------------------------

    def weights(self) -> Mapping[str, Tensor]:
        """Return the weights of the library's policy, with its target networks."""
        return tensors_of(self._model.policy)

    def parts(self) -> Sequence[PolicyPart]:
        """Return the policy's only part."""
        sees, does = self._spaces
        steps = [*self._steps, *self._statistics()]
        shown = gymnasium_spaces.describe(Pipeline(steps, sees).input_space)
        network, shown_else = self._network.to_json(), None if shown == sees else shown
        return (PolicyPart(("agent_0",), sees, does, network, tuple(steps), shown_else),)

    def state(self) -> State:
        """Return optimizers, statistics and stored steps."""
        return state_of(self._model, self._normalizer)

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


class _Callback(BaseCallback):
    """Forwards the library's callbacks to a session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def _on_step(self) -> bool:
        return self._session.stepped(self.locals["infos"])

    def _on_rollout_start(self) -> None:
        self._session.rollout_begins()
