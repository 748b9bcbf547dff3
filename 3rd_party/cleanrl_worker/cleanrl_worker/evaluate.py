"""How good is a policy? Whole episodes in an environment of our own, the most likely action."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cleanrl_worker.environments import make_environment, policy_spaces, see
from cleanrl_worker.policy import Policy

EVALUATION_SEEDS = tuple(range(10_000, 10_020))
"""Environment seeds of the evaluation at the end of a training; far from the seeds trained with."""


def episode_returns(
    policy: Policy, env_id: str, seeds: Iterable[int], max_steps: int = 100_000
) -> list[float]:
    """Undiscounted return of one episode per seed.

    Args:
        policy: Plays its most likely action.
        env_id: What to make.
        seeds: Environment seed of each episode.
        max_steps: Ends episodes of an environment that knows no end.

    Raises:
        ConfigError: The environment cannot be made.
        ValueError: The policy's output is no finite number.
    """
    env = make_environment(env_id)
    try:
        actions = int(policy_spaces(env)[1].n)
        returns: list[float] = []
        for seed in seeds:
            observation, info = env.reset(seed=seed)
            total = 0.0
            for _ in range(max_steps):
                seen = see(observation, info, 1, actions)
                choice = policy.choose(seen.observations, seen.masks)
                if not choice.ok[0]:
                    raise ValueError(f"the policy's output is no finite number in an episode of {env_id}")
                observation, reward, terminated, truncated, info = env.step(int(choice.actions[0]))
                total += float(reward)
                if terminated or truncated:
                    break
            returns.append(total)
        return returns
    finally:
        env.close()


def mean_return(policy: Policy, env_id: str) -> float:
    """Mean of :func:`episode_returns` over :data:`EVALUATION_SEEDS`."""
    return float(np.mean(episode_returns(policy, env_id, EVALUATION_SEEDS)))
