"""Runs a whole training: environments, algorithm, TensorBoard log, checkpoints, evaluation."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cleanrl_worker.algorithms.self_play import evaluate as evaluate_in_league
from cleanrl_worker.algorithms.self_play import make_games
from cleanrl_worker.config.base import TrainingConfig
from cleanrl_worker.config.joint import JointConfig
from cleanrl_worker.config.ppo import OnPolicyConfig
from cleanrl_worker.config.replay import ReplayConfig
from cleanrl_worker.config.self_play import SelfPlayConfig
from cleanrl_worker.environments import action_kind, observation_kind
from cleanrl_worker.games import Games
from cleanrl_worker.joint_environments import GroupView, JointEnvironments
from cleanrl_worker.policy import Policy
from cleanrl_worker.registry import ALGORITHMS, Algorithm
from cleanrl_worker.session import JointSession, Session
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.learning.training_arguments import check_actions_learnt
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_cycle import tensorboard
from mosaic_worker.learning.training_memory import check_buffer_memory
from mosaic_worker.learning.training_state import State, begin
from mosaic_worker.playing.network_policy import read_weights
from mosaic_worker.training import TrainingRun


def train(
    algorithm: Algorithm, config: TrainingConfig, run: TrainingRun, restored: State | None = None
) -> bool:
    """Train a policy into a run folder, as :class:`~mosaic_worker.learning.train_main.TrainMain` calls it.

    Raises:
        ConfigError: The algorithm cannot train in the environment.
        TrainingFailed: A number is not finite, or the environment raised.
        OSError: The folder cannot be written.
    """
    start, begun = begin(config.seed, restored), restored.values["environments"] if restored else None
    with contextlib.closing(environments_of(config, run, begun)) as environments:
        check_fit(algorithm, environments)
        check_memory(config, environments)
        kind = (
            JointSession if algorithm.joint else LeagueSession if isinstance(environments, Games) else Session
        )
        with tensorboard(run, start) as scalars:
            return kind(algorithm.name, config, environments, run, scalars, restored).train()


class LeagueSession(Session):
    """A training in games with the members of a league."""

    def mean_return(self, go_on: Callable[[], bool]) -> float:
        """Return the saved policy's mean return in games with all members."""
        policy = Policy.whole(*read_weights(self.folder))
        assert isinstance(policy, Policy) and isinstance(self._environments, Games)
        return evaluate_in_league(self._environments, policy, self.folder, go_on)


def environments_of(
    config: TrainingConfig, run: TrainingRun, state: Mapping[str, Any] | None = None
) -> Environments | JointEnvironments | Games:
    """Make the environments for a training.

    Args:
        config: Settings of the training.
        run: The run folder.
        state: State of the environments to resume from.

    Raises:
        ConfigError: The environments cannot be made.
    """
    if isinstance(config, JointConfig):
        return JointEnvironments(config, state)
    if isinstance(config, SelfPlayConfig):
        games = make_games(config, run.folder, run.warn)
        if state is not None:
            games.restore(state)
        return games
    return Environments(config, state)


def check_fit(algorithm: Algorithm, environments: Environments | JointEnvironments | Games) -> None:
    """Check that the algorithm can learn the environment's actions and observations.

    Raises:
        ConfigError: They do not fit; the message names algorithms that fit.
    """
    for each in _views(environments):
        shown = observation_kind(each.observation_space)
        if shown not in algorithm.observations:
            others = [
                a.name for a in ALGORITHMS.values() if shown in a.observations and a.joint == algorithm.joint
            ]
            raise ConfigError(
                f"{algorithm.name} learns from {' and '.join(algorithm.observations)} observations, and "
                f"{environments.env_id} has {each.observation_space}. Select entries of a Dict for a vector "
                f"(--select image,direction), or use one of these algorithms: {', '.join(others) or 'none'}"
            )
        alike = {name: a for name, a in ALGORITHMS.items() if a.joint == algorithm.joint}
        kind = action_kind(each.action_space)
        check_actions_learnt(algorithm, alike, kind, each.action_space, environments.env_id)


def check_memory(config: TrainingConfig, environments: Environments | JointEnvironments | Games) -> None:
    """Check that the rollout or the replay buffer fits into memory.

    Raises:
        ConfigError: It would not fit; the message names the setting and its largest value.
    """
    rows = 0
    for each in _views(environments):
        seen, acts = each.observation_space, each.action_space
        agents = len(each.group.agents) if isinstance(each, GroupView) else 1
        # As stored: uint8 stays uint8, all else is float32; an action takes 8 bytes, or 4 bytes per
        # component.
        observation = math.prod(seen.shape) * (1 if seen.dtype == np.uint8 else 4)
        action = 4 * math.prod(acts.shape) if acts.shape else 8
        if isinstance(config, ReplayConfig):
            # The next observation, the reward and the terminated flag are stored too.
            rows += 2 * observation + action + 8
        else:
            # Log-probability, value, reward and done flag are stored too.
            rows += agents * (observation + action + 16)
    if isinstance(config, ReplayConfig):
        check_buffer_memory("buffer_size", config.buffer_size, rows)
    elif isinstance(config, OnPolicyConfig):
        check_buffer_memory("num_envs x num_steps", config.batch_size, rows)


def _views(
    environments: Environments | JointEnvironments | Games,
) -> Sequence[Environments | GroupView | Games]:
    """Return the environments or groups of agents, one for each network of a training."""
    if isinstance(environments, JointEnvironments):
        return tuple(environments.views.values())
    return (environments,)
