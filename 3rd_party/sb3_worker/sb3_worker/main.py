"""The worker: plays a trained or imported policy in any slot whose spaces fit it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
from sb3_worker.policy import Draws, Policy

SETTINGS = ("algorithm", "checkpoint", "checkpoint_agent", "seed", "gpu")
"""Settings of a slot; ``gpu`` is the host's, which decides what the process sees."""


class SB3Worker(Worker):
    """Plays checkpoints of ``sb3_worker.train`` and ``sb3_worker.importing``.

    The most likely action is played unless the slot asks for ``deterministic = False``; then
    actions are drawn with numbers that depend on the policy seed, in which the slot's setting
    ``seed`` is, and the step alone.
    """

    def __init__(self) -> None:
        self._by_file: dict[str, Policy] = {}
        self._by_slot: dict[int, Policy] = {}
        self._memories: dict[tuple[int, int], _Memory] = {}

    def load(self, slot: Slot) -> str:
        """Read ``slot.settings["checkpoint"]`` and check that it fits the slot.

        Returns:
            For example ``"sac:Pendulum-v1"``.

        Raises:
            LoadError: See :mod:`mosaic_worker.checkpoint`; or the policy is of another
                algorithm, agent or environment than the slot.
        """
        settings = slot.settings
        check_settings("sb3_worker", settings, SETTINGS)
        checkpoint = settings.get("checkpoint")
        if not checkpoint:
            raise LoadError(
                f"slot {slot.agent_id} needs the setting 'checkpoint'. Give the folder of a policy; train "
                f"one with: mosaic train --worker sb3_worker --algo ppo --env {slot.env_id}, or a .zip with: "
                f"mosaic policies add FILE --env {slot.env_id}"
            )
        key = str(Path(checkpoint).expanduser().resolve())
        policy = self._by_file.get(key) or Policy.load(checkpoint)
        check_fit(slot, policy.description)
        self._by_file[key] = self._by_slot[slot.index] = policy
        return f"{policy.description.algorithm}:{policy.description.env_id}"

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Recurrent policies begin with an empty memory."""
        if size := self._by_slot[slot.index].memory:
            for start in starts:
                self._memories[slot.index, start.episode] = _Memory(size)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Forget what was remembered."""
        for end in ends:
            self._memories.pop((slot.index, end.episode), None)

    def select_actions(self, batch: Batch) -> Actions:
        """Choose for all decisions of the batch, with the value of each state where it is known."""
        policy = self._by_slot[batch.slot.index]
        memory = self._recall(batch, policy.memory) if policy.memory else None
        choices = policy.choose(batch.observations, batch.action_masks, self._draws(batch), memory)
        if choices.memory is not None:
            for episode, step, row in zip(batch.episodes, batch.steps, choices.memory, strict=True):
                self._memories[batch.slot.index, episode].keep(step, row)
        if choices.ok.all():
            return Actions(choices.actions, choices.values)
        actions = [
            choices.actions[i] if ok else Invalid(why_undecided(batch, i)) for i, ok in enumerate(choices.ok)
        ]
        return Actions(actions, choices.values)

    def _draws(self, batch: Batch) -> Draws | None:
        if batch.slot.deterministic is not False:
            return None
        steps = np.asarray(batch.steps)

        def draws(j: int) -> NDArray[np.float64]:
            return rng.uniform(batch.seeds, steps, j)

        return draws

    def _recall(self, batch: Batch, size: int) -> NDArray[np.float32]:
        memories = self._memories
        return np.stack(
            [
                memories.setdefault((batch.slot.index, episode), _Memory(size)).before(step)
                for episode, step in zip(batch.episodes, batch.steps, strict=True)
            ]
        )


class _Memory:
    """What a recurrent policy remembers of one episode."""

    def __init__(self, size: int) -> None:
        self._step = -1
        self._before = self._after = np.zeros(size, np.float32)

    def before(self, step: int) -> NDArray[np.float32]:
        """Before ``step``: asking again at a step begins from the same."""
        return self._before if step == self._step else self._after

    def keep(self, step: int, after: NDArray[np.float32]) -> None:
        """What is remembered once ``step`` was answered."""
        self._step, self._before, self._after = step, self.before(step), after
