"""Worker that plays baselines: random, no-op and heuristic behaviors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mosaic_worker.worker import Batch, EpisodeEnd, EpisodeStart, Slot, Worker
from operators_worker.behavior import Behavior, make_behavior


class OperatorsWorker(Worker):
    """Plays baselines; ``settings["behavior"]`` of a slot names one (``random`` by default).

    Only numpy and the SDK are imported here. The module of a heuristic is imported with the first slot that
    requires it, so that simple baselines start quickly and stay small.
    """

    def __init__(self) -> None:
        self._behaviors: dict[int, Behavior] = {}

    def load(self, slot: Slot) -> str:
        """Load the behavior of ``slot``.

        Returns:
            The behavior's name.

        Raises:
            LoadError: The name is unknown, or the behavior cannot play the slot.
        """
        name = slot.settings.get("behavior", "random")
        self._behaviors[slot.index] = make_behavior(name, slot)
        return str(name)

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        self._behaviors[slot.index].reset(starts)

    def select_actions(self, batch: Batch) -> Any:
        return self._behaviors[batch.slot.index].select(batch)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        self._behaviors[slot.index].forget(end.episode for end in ends)
