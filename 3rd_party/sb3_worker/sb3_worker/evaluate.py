"""How good is a policy? Whole episodes in environments of our own, the most likely action."""

# What environments hand out is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sb3_worker.environments import make_environment
from sb3_worker.policy import Policy

EVALUATION_SEEDS = tuple(range(10_000, 10_020))
"""Environment seeds of the evaluation at the end of a training; far from the seeds trained with."""


def episode_returns(
    policy: Policy, env_id: str, seeds: Sequence[int], max_steps: int = 20_000
) -> list[float]:
    """Undiscounted return of one episode per seed, all of them played side by side.

    Args:
        policy: Plays its most likely action.
        env_id: What to make.
        seeds: Environment seed of each episode.
        max_steps: Ends episodes of an environment that knows no end.

    Raises:
        ConfigError: The environment cannot be made.
        ValueError: The policy's output is no finite number.
    """
    steps = policy.description.preprocessing
    envs: list[Any] = [make_environment(env_id, steps) for _ in seeds]
    try:
        seen = [env.reset(seed=seed)[0] for env, seed in zip(envs, seeds, strict=True)]
        totals = np.zeros(len(envs))
        memory = np.zeros((len(envs), policy.memory), np.float32)
        playing = list(range(len(envs)))
        for _ in range(max_steps):
            masks = np.stack([envs[i].get_wrapper_attr("action_masks")() for i in playing])
            choice = policy.choose(
                stack([seen[i] for i in playing]),
                None if masks.all() else masks,
                memory=memory[playing] if policy.memory else None,
            )
            if not choice.ok.all():
                raise ValueError(f"the policy's output is no finite number in an episode of {env_id}")
            if choice.memory is not None:
                memory[playing] = choice.memory
            still: list[int] = []
            for i, action in zip(playing, choice.actions, strict=True):
                seen[i], reward, terminated, truncated, _ = envs[i].step(action)
                totals[i] += reward
                if not (terminated or truncated):
                    still.append(i)
            playing = still
            if not playing:
                break
        return totals.tolist()
    finally:
        for env in envs:
            env.close()


def stack(seen: list[Any]) -> Any:
    """Observations in one array, or a dict of arrays."""
    if isinstance(seen[0], dict):
        return {key: stack([one[key] for one in seen]) for key in seen[0]}
    return np.stack(seen)


def mean_return(policy: Policy, env_id: str) -> float:
    """Mean of :func:`episode_returns` over :data:`EVALUATION_SEEDS`."""
    return float(np.mean(episode_returns(policy, env_id, EVALUATION_SEEDS)))
