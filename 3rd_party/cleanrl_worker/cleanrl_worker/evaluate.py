"""How good is a policy? Whole episodes in environments of our own, the most likely action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cleanrl_worker.environments import Env, make_environment
from cleanrl_worker.policy import Policy

EVALUATION_SEEDS = tuple(range(10_000, 10_020))
"""Environment seeds of the evaluation at the end of a training; far from the seeds trained with."""


class Interrupted(Exception):
    """Somebody does not want to wait for the end of an evaluation."""


def _go_on() -> bool:
    return True


def episode_returns(
    policy: Policy,
    env_id: str,
    seeds: Iterable[int],
    max_steps: int = 100_000,
    go_on: Callable[[], bool] = _go_on,
) -> list[float]:
    """Undiscounted return of one episode per seed, all played side by side.

    Args:
        policy: Plays its most likely action.
        env_id: What to make.
        seeds: Environment seed of each episode.
        max_steps: Ends episodes of an environment that knows no end.
        go_on: Asked before every step; false ends the evaluation.

    Raises:
        Interrupted: ``go_on`` said so.
        ConfigError: The environment cannot be made.
        ValueError: The policy's output is no finite number.
    """
    episodes = [_Episode(policy, env_id, seed) for seed in seeds]
    try:
        for _ in range(max_steps):
            open_ones = [episode for episode in episodes if not episode.over]
            if not open_ones:
                break
            if not go_on():
                raise Interrupted
            _step(policy, open_ones)
        return [episode.total for episode in episodes]
    finally:
        for episode in episodes:
            episode.env.close()


def mean_return(policy: Policy, env_id: str, go_on: Callable[[], bool] = _go_on) -> float:
    """Mean of :func:`episode_returns` over :data:`EVALUATION_SEEDS`."""
    return float(np.mean(episode_returns(policy, env_id, EVALUATION_SEEDS, go_on=go_on)))


class _Episode:
    """An episode, and what the policy remembers of it."""

    def __init__(self, policy: Policy, env_id: str, seed: int) -> None:
        self.env: Env = make_environment(env_id, policy.description.preprocessing)
        self.seen, self.info = self.env.reset(seed=seed)
        self.memory = np.zeros(policy.memory, np.float32)
        self.total, self.over = 0.0, False

    def play(self, action: Any) -> None:
        self.seen, reward, terminated, truncated, self.info = self.env.step(action)
        self.total += float(reward)
        self.over = bool(terminated or truncated)


def _step(policy: Policy, episodes: list[_Episode]) -> None:
    """One step of every episode, decided together."""
    does = policy.description.action_space
    masks = None
    if does.kind == "Discrete" and any("action_mask" in e.info for e in episodes):
        masks = np.array([np.asarray(e.info.get("action_mask", np.ones(does.n)), bool) for e in episodes])
    memory = np.stack([e.memory for e in episodes]) if policy.memory else None
    choice = policy.choose(np.stack([e.seen for e in episodes]), masks, memory=memory)
    if not choice.ok.all():
        raise ValueError("the policy's output is no finite number, or no action was legal")
    for i, episode in enumerate(episodes):
        episode.play(choice.actions[i])
        if choice.memory is not None:
            episode.memory = choice.memory[i]
