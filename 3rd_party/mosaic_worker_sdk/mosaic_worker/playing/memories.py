"""Stores the memory of a recurrent policy by episode."""

from __future__ import annotations

from typing import Dict, Iterable, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

_Row = NDArray[np.float32]


class Memories:
    """Memory of every running episode of one slot.

    If a decision is retried at the same step, it uses the same memory as the first attempt, so the
    result does not depend on the number of attempts.

    Args:
        size: Size of the memory of an episode; 0 for a policy without memory.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._episodes: Dict[int, Tuple[int, _Row, _Row]] = {}
        """(step of the last decision, memory before it, memory after it)."""

    def before(self, episodes: Sequence[int], steps: Sequence[int]) -> Optional[NDArray[np.float32]]:
        """Return the memory before each decision, (N, size), or ``None`` for a policy without memory."""
        if not self._size:
            return None
        return np.stack([self._before(e, s) for e, s in zip(episodes, steps, strict=True)])

    def after(
        self,
        episodes: Sequence[int],
        steps: Sequence[int],
        memory: NDArray[np.float32],
        ok: NDArray[np.bool_],
    ) -> None:
        """Store the memory after each decision; after a failed decision, keep the memory before it."""
        for i, (episode, step) in enumerate(zip(episodes, steps, strict=True)):
            before = self._before(episode, step)
            self._episodes[episode] = (step, before, memory[i] if ok[i] else before)

    def forget(self, episodes: Iterable[int]) -> None:
        """Drop the memory of episodes that begin or are over."""
        for episode in episodes:
            self._episodes.pop(episode, None)

    def _before(self, episode: int, step: int) -> _Row:
        if episode not in self._episodes:
            return np.zeros(self._size, np.float32)
        last, before, after = self._episodes[episode]
        return before if last == step else after
