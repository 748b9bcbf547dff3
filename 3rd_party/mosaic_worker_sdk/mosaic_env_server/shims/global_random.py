"""Gives each episode its own state of Python's and NumPy's global random generators."""

from __future__ import annotations

import contextlib
import random
from typing import Generator, Optional

import numpy as np


class GlobalRandom:
    """State of Python's and NumPy's global random generators for one episode.

    Args:
        seed: Seed of the episode; ``None`` for a random state.
    """

    def __init__(self, seed: Optional[int] = None) -> None:
        self._state = random.Random(seed).getstate()
        self._numpy = np.random.RandomState(None if seed is None else seed % (1 << 32)).get_state()

    @contextlib.contextmanager
    def in_force(self) -> Generator[None, None, None]:
        """Use this episode's state of the generators in a ``with`` block; restore the old state afterward."""
        kept, kept_too = random.getstate(), np.random.get_state()
        random.setstate(self._state)
        np.random.set_state(self._numpy)
        try:
            yield
        finally:
            self._state, self._numpy = random.getstate(), np.random.get_state()
            random.setstate(kept)
            np.random.set_state(kept_too)
