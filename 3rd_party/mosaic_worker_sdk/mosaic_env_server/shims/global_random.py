"""Random numbers that packages take from Python's and NumPy's global generators, for each episode its own."""

from __future__ import annotations

import contextlib
import random
from typing import Generator, Optional

import numpy as np


class GlobalRandom:
    """The state that both generators have for one episode; elsewhere they are as they were.

    Args:
        seed: What the episode begins with; ``None``: by chance.
    """

    def __init__(self, seed: Optional[int] = None) -> None:
        self._state = random.Random(seed).getstate()
        self._numpy = np.random.RandomState(None if seed is None else seed % (1 << 32)).get_state()

    @contextlib.contextmanager
    def in_force(self) -> Generator[None, None, None]:
        """The generators are this episode's, and go on where it left them."""
        kept, kept_too = random.getstate(), np.random.get_state()
        random.setstate(self._state)
        np.random.set_state(self._numpy)
        try:
            yield
        finally:
            self._state, self._numpy = random.getstate(), np.random.get_state()
            random.setstate(kept)
            np.random.set_state(kept_too)
