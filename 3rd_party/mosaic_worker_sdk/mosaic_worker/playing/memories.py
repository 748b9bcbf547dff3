"""What a recurrent policy remembers, by episode."""

from __future__ import annotations

from typing import Dict, Iterable, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

_Row = NDArray[np.float32]


class Memories:
    """Memory of every episode in flight in one slot.

    A decision that is asked again at the same step is made from the same memory as the first
    time: nothing depends on how often it was asked.

    Args:
        size: Numbers per episode; with 0 nothing is kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._episodes: Dict[int, Tuple[int, _Row, _Row]] = {}
        """(step of the last decision, memory before it, memory after it)."""

    def before(self, episodes: Sequence[int], steps: Sequence[int]) -> Optional[NDArray[np.float32]]:
        """Memory that each decision is made from, (N, size); ``None`` where nothing is kept."""
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
        """Keep what each decision left behind; one that came to nothing leaves things as they were."""
        for i, (episode, step) in enumerate(zip(episodes, steps, strict=True)):
            before = self._before(episode, step)
            self._episodes[episode] = (step, before, memory[i] if ok[i] else before)

    def forget(self, episodes: Iterable[int]) -> None:
        """These episodes begin or are over."""
        for episode in episodes:
            self._episodes.pop(episode, None)

    def _before(self, episode: int, step: int) -> _Row:
        if episode not in self._episodes:
            return np.zeros(self._size, np.float32)
        last, before, after = self._episodes[episode]
        return before if last == step else after
