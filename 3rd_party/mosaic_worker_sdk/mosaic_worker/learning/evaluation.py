"""Evaluates a policy after a training: it plays whole episodes with the most likely actions."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Callable, Iterable, List, Optional, Protocol, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from mosaic_worker.failures import described
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed
from mosaic_worker.playing.checkpoint_worker import CheckpointPolicy
from mosaic_worker.training import TrainingRun
from mosaic_worker.worker import LoadError

EVALUATION_SEEDS = tuple(range(10_000, 10_020))
"""Environment seeds of the evaluation at the end of a training, different from those of the training."""


class Interrupted(Exception):
    """The user has stopped an evaluation before its end."""


class Session(Protocol):
    """Interface of a training that :func:`finish` uses."""

    @property
    def step(self) -> int: ...
    def save(self) -> None: ...
    def save_policy(self, result: Optional[float] = None, seeds: Tuple[int, ...] = ()) -> None: ...
    def film_finished(self) -> None: ...


def _go_on() -> bool:
    return True


def episode_returns(
    policy: CheckpointPolicy,
    make: Callable[[], Any],
    mask_of: Callable[[Any, Any], Optional[NDArray[np.bool_]]],
    seeds: Iterable[int],
    max_steps: int,
    go_on: Callable[[], bool] = _go_on,
) -> List[float]:
    """Play one episode per seed, all in parallel, and return their undiscounted returns.

    Args:
        policy: Policy to evaluate; it plays its most likely action.
        make: Makes an environment.
        mask_of: Returns the mask of legal actions from the environment and its last info, or ``None``
            if all are legal.
        seeds: Environment seed of each episode.
        max_steps: Largest number of steps of an episode, for environments that never end.
        go_on: Called before every step; ``False`` stops the evaluation.

    Raises:
        Interrupted: ``go_on`` returned ``False``.
        ValueError: The policy's output is no finite number, or no action was legal.
    """
    episodes: List[_Episode] = []
    try:
        for seed in seeds:
            episodes.append(_Episode(make(), seed, policy.memory))
        for _ in range(max_steps):
            playing = [episode for episode in episodes if not episode.over]
            if not playing:
                break
            if not go_on():
                raise Interrupted
            _step(policy, mask_of, playing)
        return [episode.total for episode in episodes]
    finally:
        for episode in episodes:
            episode.env.close()


def finish(
    run: TrainingRun,
    session: Session,
    evaluate: Callable[[Callable[[], bool]], float],
    env_id: str,
    ours: str,
) -> bool:
    """Save the final policy and evaluate it unless a stop was requested.

    Args:
        run: Reports of the training.
        session: The training.
        evaluate: Returns the mean return of the saved policy. It gets a function that says whether to go
            on. It reads the policy from disk, which proves that the policy can be loaded and played.
        env_id: Id of the environment of the evaluation, which may raise any exception.
        ours: The worker's package; its lines are left out of errors of the environment.

    Returns:
        Whether the evaluation was completed.

    Raises:
        TrainingFailed: The environment raised.
    """
    session.save()
    run.checkpointed(session.step)

    def go_on() -> bool:
        run.advance(session.step, session.save)
        return not run.stop_requested

    result: Optional[float] = None
    if not run.stop_requested:
        with suppress(Interrupted):
            try:
                result = evaluate(go_on)
            except (Interrupted, ConfigError, LoadError, TrainingFailed, OSError, MemoryError):
                raise
            except Exception as error:
                raise TrainingFailed(f"{env_id} raised {described(error, [ours])}") from error
            session.save_policy(result, EVALUATION_SEEDS)
            session.film_finished()
    run.done("stopped" if result is None else "completed", session.step, result)
    return result is not None


def stacked(seen: Sequence[Any]) -> Any:
    """Stack observations in one array, or in a dict of arrays."""
    if isinstance(seen[0], dict):
        return {key: stacked([one[key] for one in seen]) for key in seen[0]}  # pyright: ignore[reportUnknownVariableType]
    return np.stack(seen)


class _Episode:
    """A running episode with the policy's memory of it."""

    def __init__(self, env: Any, seed: int, memory: int) -> None:
        self.env = env
        self.seen, self.info = env.reset(seed=seed)
        self.memory = np.zeros(memory, np.float32)
        self.total, self.over = 0.0, False

    def play(self, action: Any) -> None:
        self.seen, reward, terminated, truncated, self.info = self.env.step(action)
        self.total += float(reward)
        self.over = bool(terminated or truncated)


def _step(
    policy: CheckpointPolicy,
    mask_of: Callable[[Any, Any], Optional[NDArray[np.bool_]]],
    episodes: Sequence[_Episode],
) -> None:
    """Do one step in every episode, with one call of the policy for all of them."""
    rows = [mask_of(episode.env, episode.info) for episode in episodes]
    known = next((row for row in rows if row is not None), None)
    masks = None
    if known is not None:
        masks = np.stack([np.ones_like(known) if row is None else row for row in rows])
    memory = np.stack([episode.memory for episode in episodes]) if policy.memory else None
    choices = policy.choose(stacked([episode.seen for episode in episodes]), masks, memory=memory)
    if not choices.ok.all():
        raise ValueError("the policy's output is no finite number, or no action was legal")
    for i, episode in enumerate(episodes):
        episode.play(choices.actions[i])
        if choices.memory is not None:
            episode.memory = choices.memory[i]
