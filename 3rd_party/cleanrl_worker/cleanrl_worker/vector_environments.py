"""Copies of one environment for training, stepped together, with action masks as arrays."""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import signal
from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from cleanrl_worker.config.base import TrainingConfig
from cleanrl_worker.continuable import Continuable
from cleanrl_worker.environments import (
    OURS,
    Env,
    Steps,
    make_environment,
    observation_kind,
    preprocessing_for,
)
from cleanrl_worker.moments import RewardScale, RunningMoments
from mosaic_worker.failures import described
from mosaic_worker.learning.single_env import make_prepared
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed
from mosaic_worker.preprocessing import check_steps

CLIP = 10.0
"""Bound at which normalized observations are clipped."""


class EnvironmentProcessError(RuntimeError):
    """Error of an environment in another process, as text, because its traceback exists only there."""


class ReportErrors(gym.Wrapper[Any, Any, Any, Any]):
    """Wrapper that reports an environment's error as text, because the traceback exists only in its
    process.
    """

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; see :meth:`gymnasium.Env.reset`."""
        try:
            return self.env.reset(seed=seed, options=options)
        except Exception as error:  # third-party code may raise anything
            raise EnvironmentProcessError(described(error, OURS)) from error

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Do one step; see :meth:`gymnasium.Env.step`."""
        try:
            return self.env.step(action)
        except Exception as error:  # third-party code may raise anything
            raise EnvironmentProcessError(described(error, OURS)) from error


class PolicyInput(NamedTuple):
    """Observations and action masks for the policy.

    Attributes:
        observations: float32, or uint8 if the environment gives bytes; shape (N, *shape).
        masks: bool, shape (N, actions), or ``None`` if the environment gives no masks.
    """

    observations: NDArray[Any]
    masks: NDArray[np.bool_] | None


class Transition(NamedTuple):
    """One step of all copies.

    Attributes:
        seen: The next observations; of the new episode if one ended.
        rewards: float64, shape (N,); scaled if the settings ask for it.
        terminated: bool, shape (N,).
        truncated: bool, shape (N,).
        final: The last observations of episodes that ended with this step, other rows zero;
            ``None`` when no episode ended.
        finished: (return, length) of each episode that ended, with unscaled rewards.
    """

    seen: PolicyInput
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final: PolicyInput | None
    finished: tuple[tuple[float, int], ...] = ()

    @property
    def reached(self) -> PolicyInput:
        """Observations after the actions: the last observation if an episode ended, else the next."""
        if self.final is None:
            return self.seen
        dones = self.terminated | self.truncated
        observations = self.seen.observations.copy()
        observations[dones] = self.final.observations[dones]
        masks = self.seen.masks
        if masks is not None:
            masks = masks.copy()
            if self.final.masks is not None:
                masks[dones] = self.final.masks[dones]
        return PolicyInput(observations, masks)


def masks_of(info: Mapping[str, Any], count: int, actions: int) -> NDArray[np.bool_] | None:
    """Return the masks in the info of ``count`` environments; without a mask every action is legal."""
    if "action_mask" not in info or not actions:
        return None
    masks = np.asarray(info["action_mask"]).reshape(count, actions).astype(bool)
    given = info.get("_action_mask")
    if given is not None:
        masks[~np.asarray(given)] = True
    return masks


class Environments:
    """Copies of one environment, each reset at once when its episode ends.

    Resetting in the same step makes every row of a rollout a real decision. The final observation is kept; a
    truncated episode is bootstrapped from its value.

    Args:
        config: Settings: the environment, the number of copies and the preprocessing.
        state: Result of :meth:`state`, to continue from.

    Attributes:
        steps: Preprocessing steps, as data, without the normalization; see :attr:`preprocessing`.
        raw_observation_space: Observation space of the slot.
        observation_space: Space of one copy's observation that the policy takes.
        action_space: Space of the policy's actions.
        agents: Agents that the policy plays.
        exact: Whether every episode was restored exactly; true for a new training.

    Raises:
        ConfigError: See :func:`make_environment`.
    """

    agents = ("agent_0",)

    def __init__(self, config: TrainingConfig, state: Mapping[str, Any] | None = None) -> None:
        self.env_id, self.count = config.env_id, config.num_envs
        self._seed, self._state = config.seed, dict(state or {})
        raw = make_prepared(config.env_id, ours=OURS)
        self.raw_observation_space: Any = raw.observation_space
        self.steps = preprocessing_for(config, raw.observation_space)
        raw.close()
        first = make_environment(config.env_id, self.steps)
        self.observation_space: Any = first.observation_space
        self.action_space: Any = first.action_space
        first.close()
        self._bytes = self.observation_space.dtype == np.uint8
        self._offset: Any = getattr(self.action_space, "start", 0)
        self.actions = int(self.action_space.n) if isinstance(self.action_space, spaces.Discrete) else 0
        self.moments = self._moments(config)
        self._scale = self._reward_scale(config)
        self._return = np.array(self._state.get("return", np.zeros(self.count)), np.float64)
        self._length = np.array(self._state.get("length", np.zeros(self.count)), np.int64)
        self.exact = True
        self._envs = self._vector(config.async_envs)

    def _vector(self, in_processes: bool) -> Any:
        snapshots = self._state.get("episodes") or [None] * self.count
        makers = [
            functools.partial(_make_copy, self.env_id, self.steps, snapshot, in_processes)
            for snapshot in snapshots
        ]
        mode = AutoresetMode.SAME_STEP
        if in_processes:
            return AsyncVectorEnv(makers, autoreset_mode=mode)
        return SyncVectorEnv(makers, autoreset_mode=mode)

    def _moments(self, config: TrainingConfig) -> RunningMoments | None:
        if not getattr(config, "normalize_observations", False):
            return None
        if observation_kind(self.observation_space) == "image":
            raise ConfigError("normalize_observations is only for vectors; leave it out for images")
        return RunningMoments(self.observation_space.shape, self._state.get("moments"))

    def _reward_scale(self, config: TrainingConfig) -> RewardScale | None:
        if not getattr(config, "normalize_rewards", False):
            return None
        return RewardScale(self.count, config.gamma, self._state.get("reward_scale"))

    @property
    def preprocessing(self) -> list[dict[str, Any]]:
        """Current steps from a slot's observation to the policy's input, with learnt moments."""
        return self.steps if self.moments is None else check_steps([*self.steps, self.moments.step(CLIP)])

    def begin(self) -> PolicyInput:
        """Begin or restore an episode in every copy; call this once, before :meth:`step`.

        Copy ``i`` is seeded with ``seed + i``.

        Raises:
            TrainingFailed: The environment raised.
        """
        try:
            observation, info = self._envs.reset(seed=self._seed + int(self._state.get("reseed", 0)))
            if "episodes" in self._state:
                exact = np.array(self._envs.call("continued"))
                self.exact = bool(exact.all())
                self._return[~exact] = 0.0
                self._length[~exact] = 0
        except ConfigError:
            raise
        except Exception as error:  # third-party code may raise anything
            raise self._raised(error) from error
        # The statistics of a resumed training already include its last observations.
        return self._as_seen(observation, info, learn="episodes" not in self._state)

    def step(self, actions: NDArray[Any]) -> Transition:
        """Step every copy.

        Args:
            actions: int64 (N,) or (N, components), counted from zero; or float32 (N, *shape),
                clipped to the space's bounds here.

        Raises:
            TrainingFailed: The environment raised.
        """
        try:
            observation, rewards, terminated, truncated, info = self._envs.step(self._moves(actions))
        except Exception as error:  # third-party code may raise anything
            raise self._raised(error) from error
        dones = terminated | truncated
        self._return += rewards
        self._length += 1
        finished: tuple[tuple[float, int], ...] = ()
        if dones.any():
            finished = tuple((float(self._return[i]), int(self._length[i])) for i in np.flatnonzero(dones))
            self._return[dones] = 0.0
            self._length[dones] = 0
        if self._scale is not None:
            rewards = self._scale(rewards, dones)
        final = self._final(info) if "final_obs" in info else None
        seen = self._as_seen(observation, info, learn=True)
        return Transition(seen, rewards, terminated, truncated, final, finished)

    def state(self, step: int) -> dict[str, Any]:
        """Return plain data from which training can continue.

        Args:
            step: Number of trained steps; episodes that cannot be restored begin with other seeds.
        """
        return {
            "episodes": list(self._envs.call("snapshot")),
            "return": self._return.tolist(),
            "length": self._length.tolist(),
            "moments": None if self.moments is None else self.moments.state(),
            "reward_scale": None if self._scale is None else self._scale.state(),
            "reseed": step,
        }

    def close(self) -> None:
        """Release the environments."""
        self._envs.close()

    def _moves(self, actions: NDArray[Any]) -> NDArray[Any]:
        if isinstance(self.action_space, spaces.Box):
            clipped = np.clip(actions, self.action_space.low, self.action_space.high)
            return clipped.astype(self.action_space.dtype, copy=False)
        return (actions + self._offset).astype(self.action_space.dtype, copy=False)

    def _as_seen(self, observation: Any, info: Mapping[str, Any], learn: bool) -> PolicyInput:
        shown = self._as_shown(observation)
        if self.moments is not None:
            if learn:
                self.moments.update(shown)
            shown = self.moments.normalized(shown, CLIP)
        return PolicyInput(shown, masks_of(info, self.count, self.actions))

    def _final(self, info: Mapping[str, Any]) -> PolicyInput:
        rows = np.flatnonzero(info["_final_obs"])
        last = self._as_shown(np.stack([info["final_obs"][i] for i in rows]))
        if self.moments is not None:
            last = self.moments.normalized(last, CLIP)
        final = np.zeros((self.count, *last.shape[1:]), last.dtype)
        final[rows] = last
        masks = masks_of(info.get("final_info", {}), self.count, self.actions)
        return PolicyInput(final, masks)

    def _as_shown(self, observation: Any) -> NDArray[Any]:
        array = np.asarray(observation)
        return array if self._bytes else array.astype(np.float32, copy=False)

    def _raised(self, error: Exception) -> TrainingFailed:
        said = str(error) if isinstance(error, EnvironmentProcessError) else described(error, OURS)
        return TrainingFailed(f"{self.env_id} raised {said}")


def _make_copy(env_id: str, steps: Steps, snapshot: Mapping[str, Any] | None, in_process: bool) -> Env:
    if in_process:
        # Ctrl-C in a terminal also reaches the children; the parent decides when they end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    env = make_environment(env_id, steps)
    return Continuable(ReportErrors(env) if in_process else env, snapshot)
