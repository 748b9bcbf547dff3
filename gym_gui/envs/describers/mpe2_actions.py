"""Names of the actions in particle worlds."""

from __future__ import annotations

MOVES = ("noop", "left", "right", "down", "up")
LETTERS = "ABCDEFGHIJ"
"""Letters of agents' messages, as MPE2 draws them."""
