"""The training worker's own environments: copies stepped together, masks taken out."""

# What environments hand out is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from cleanrl_worker.config import ConfigError

Env = gym.Env[Any, Any]


class TrainingFailed(RuntimeError):
    """A training went wrong while running; the message is one sentence for the person."""


class Seen(NamedTuple):
    """What the policy is shown.

    Attributes:
        observations: float32, shape (N, inputs), flattened.
        masks: bool, shape (N, actions), or ``None`` where the environment masks nothing.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.bool_] | None


class Transition(NamedTuple):
    """One step of all copies.

    Attributes:
        seen: What comes next; of a new episode where one ended.
        rewards: float64, shape (N,).
        terminated: bool, shape (N,).
        truncated: bool, shape (N,).
        final_observations: float32 (N, inputs): the last observation of episodes that ended
            with this step, other rows zero; ``None`` when no episode ended.
    """

    seen: Seen
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final_observations: NDArray[np.float32] | None


def make_environment(env_id: str) -> Env:
    """Make one environment.

    Raises:
        ConfigError: The id is unknown, a package is missing, or the environment's spaces
            are not a Box (optionally beside an ``action_mask``) and a Discrete.
    """
    try:
        env: Env = gym.make(env_id)
    except (gym.error.Error, ImportError, ValueError, TypeError) as error:
        raise ConfigError(f"environment {env_id!r} cannot be made: {_one_line(error)}") from error
    try:
        policy_spaces(env)
    except ConfigError:
        env.close()
        raise
    return env


def policy_spaces(env: Env) -> tuple[spaces.Box[Any], spaces.Discrete[Any]]:
    """Observation space with the action mask taken out, and action space.

    Raises:
        ConfigError: They are of a kind that this PPO does not handle.
    """
    name = env.spec.id if env.spec else type(env.unwrapped).__name__
    observed: Any = env.observation_space
    if isinstance(observed, spaces.Dict) and set(observed) == {"observation", "action_mask"}:
        observed = observed["observation"]
    if not isinstance(observed, spaces.Box):
        raise ConfigError(f"{name} observes {observed}; this PPO takes Box observations only")
    acts: Any = env.action_space
    if not isinstance(acts, spaces.Discrete):
        raise ConfigError(f"{name} acts in {acts}; this PPO takes Discrete actions only")
    return observed, acts


def see(observation: Any, info: dict[str, Any], count: int, actions: int) -> Seen:
    """Split stacked observations of ``count`` environments into vectors and masks.

    Masks are read from an ``action_mask`` beside the observation, else from ``info``
    (where a missing one means that every action is legal).
    """
    masks: NDArray[np.bool_] | None = None
    if isinstance(observation, dict):
        masks = np.asarray(observation["action_mask"]).reshape(count, actions).astype(bool)
        observation = observation["observation"]
    elif "action_mask" in info:
        masks = np.asarray(info["action_mask"]).reshape(count, actions).astype(bool)
        given = info.get("_action_mask")
        if given is not None:
            masks[~np.asarray(given)] = True
    return Seen(np.asarray(observation, np.float32).reshape(count, -1), masks)


class Environments:
    """Copies of one environment, each reset at once when its episode ends.

    Resetting in the same step keeps every row of a rollout a real decision, and hands out
    the final observation, from whose value a truncated episode is bootstrapped.

    Args:
        env_id: What :func:`make_environment` makes.
        count: Number of copies.

    Raises:
        ConfigError: See :func:`make_environment`.
    """

    def __init__(self, env_id: str, count: int) -> None:
        self.env_id = env_id
        first = make_environment(env_id)
        self.observation_space, self.action_space = policy_spaces(first)
        self.count = count
        self.actions = int(self.action_space.n)
        rest = [make_environment(env_id) for _ in range(count - 1)]
        self._envs = SyncVectorEnv(
            [lambda env=env: env for env in (first, *rest)], autoreset_mode=AutoresetMode.SAME_STEP
        )

    @property
    def inputs(self) -> int:
        """Length of the flattened observation."""
        return int(np.prod(self.observation_space.shape))

    def reset(self, seed: int) -> Seen:
        """Begin in every copy; copy ``i`` is seeded with ``seed + i``.

        Raises:
            TrainingFailed: The environment raised.
        """
        try:
            observation, info = self._envs.reset(seed=seed)
        except Exception as error:  # foreign code may raise anything
            raise self._raised(error) from error
        return see(observation, info, self.count, self.actions)

    def step(self, choices: NDArray[np.int64]) -> Transition:
        """Step every copy with ``choices``, int64 (N,), counted from zero.

        Raises:
            TrainingFailed: The environment raised.
        """
        moves = choices + int(self.action_space.start)
        try:
            observation, rewards, terminated, truncated, info = self._envs.step(moves)
        except Exception as error:  # foreign code may raise anything
            raise self._raised(error) from error
        final: NDArray[np.float32] | None = None
        if "final_obs" in info:
            final = np.zeros((self.count, self.inputs), np.float32)
            for i in np.flatnonzero(info["_final_obs"]):
                last = info["final_obs"][i]
                last = last["observation"] if isinstance(last, dict) else last
                final[i] = np.asarray(last, np.float32).reshape(-1)
        seen = see(observation, info, self.count, self.actions)
        return Transition(seen, rewards, terminated, truncated, final)

    def _raised(self, error: Exception) -> TrainingFailed:
        return TrainingFailed(f"{self.env_id} raised {type(error).__name__}: {_one_line(error)}")

    def close(self) -> None:
        """Release the environments."""
        self._envs.close()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
