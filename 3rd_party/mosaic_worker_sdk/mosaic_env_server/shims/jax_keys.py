"""What seeds of JAX's packages are."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np


def prng_key(seed: Optional[int]) -> Any:
    """As ``jax.random.PRNGKey`` makes it; without a seed, by chance."""
    if seed is None:
        return np.random.SeedSequence().generate_state(2)
    return np.array([(seed >> 32) & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
