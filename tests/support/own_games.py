"""Games as somebody brings them: known by ``module:factory``, whatever they are."""

from __future__ import annotations

from typing import Any

import gymnasium


def pole(**kwargs: Any) -> Any:
    """Gymnasium's CartPole, by another name."""
    return gymnasium.make("CartPole-v1", **kwargs)
