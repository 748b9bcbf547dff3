"""Games that a user brings along: known by ``module:factory`` alone."""

from __future__ import annotations

from typing import Any

import gymnasium


def pole(**kwargs: Any) -> Any:
    """Gymnasium's CartPole, by another name."""
    return gymnasium.make("CartPole-v1", **kwargs)
