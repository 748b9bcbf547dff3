"""Makes random keys of JAX from seeds."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np


def prng_key(seed: Optional[int]) -> Any:
    """Return the key that ``jax.random.PRNGKey`` makes from a seed; without a seed, a random key."""
    if seed is None:
        return np.random.SeedSequence().generate_state(2)
    return np.array([(seed >> 32) & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
