"""The worker: plays a trained policy in any slot whose spaces fit it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cleanrl_worker.memories import Memories
from cleanrl_worker.policy import Draws, Policy
from mosaic_worker import rng
from mosaic_worker.checkpoint_slot import check_fit, check_settings, why_undecided
from mosaic_worker.worker import (
    Actions,
    Batch,
    EpisodeEnd,
    EpisodeStart,
    Invalid,
    LoadError,
    Slot,
    Worker,
)

SETTINGS = ("algorithm", "checkpoint", "checkpoint_agent", "seed", "gpu", "preprocess")
"""Settings of a slot; ``gpu`` and ``preprocess`` are the host's, which act on what the process sees."""


class CleanRLWorker(Worker):
    """Evaluates checkpoints of ``cleanrl_worker.train``.

    The most likely action is played unless the slot asks for ``deterministic = False``; then
    actions are drawn with numbers that depend on the policy seed, in which the slot's setting
    ``seed`` is, and the step alone.
    """

    def __init__(self) -> None:
        self._by_file: dict[str, Policy] = {}
        self._by_slot: dict[int, Policy] = {}
        self._memories: dict[int, Memories] = {}

    def load(self, slot: Slot) -> str:
        """Read ``slot.settings["checkpoint"]`` and check that it fits the slot.

        Returns:
            For example ``"ppo:CartPole-v1"``.

        Raises:
            LoadError: See :mod:`mosaic_worker.checkpoint`; or the policy is of another
                algorithm, agent or environment than the slot.
        """
        settings = slot.settings
        check_settings("cleanrl_worker", settings, SETTINGS)
        checkpoint = settings.get("checkpoint")
        if not checkpoint:
            raise LoadError(
                f"slot {slot.agent_id} needs the setting 'checkpoint'. Give the folder of a trained policy; "
                f"train one with: mosaic train --worker cleanrl_worker --algo ppo --env {slot.env_id}"
            )
        key = str(Path(checkpoint).expanduser().resolve())
        policy = self._by_file.get(key) or Policy.load(checkpoint)
        check_fit(slot, policy.description)
        self._by_file[key] = self._by_slot[slot.index] = policy
        self._memories[slot.index] = Memories(policy.memory)
        return f"{policy.description.algorithm}:{policy.description.env_id}"

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Nothing is remembered of an episode that begins."""
        self._memories[slot.index].forget(start.episode for start in starts)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Nothing needs to be remembered of an episode that is over."""
        self._memories[slot.index].forget(end.episode for end in ends)

    def select_actions(self, batch: Batch) -> Actions:
        """Choose for all decisions of the batch, with the value of each state."""
        slot = batch.slot
        draws = _draws(batch) if slot.deterministic is False else None
        memories = self._memories[slot.index]
        before = memories.before(batch.episodes, batch.steps)
        choices = self._by_slot[slot.index].choose(batch.observations, batch.action_masks, draws, before)
        if choices.memory is not None:
            memories.after(batch.episodes, batch.steps, choices.memory, choices.ok)
        if choices.ok.all():
            return Actions(choices.actions, choices.values)
        actions = [
            action if ok else Invalid(why_undecided(batch, i))
            for i, (action, ok) in enumerate(zip(choices.actions, choices.ok, strict=True))
        ]
        return Actions(actions, choices.values)


def _draws(batch: Batch) -> Draws:
    """Numbers for the decisions of a batch."""
    steps = np.asarray(batch.steps)

    def draw(j: int) -> NDArray[np.float64]:
        return rng.uniform(batch.seeds, steps, rng.bits_of(0, j) if j else 0)

    return draw
