"""Words for the actions of particle worlds."""

from __future__ import annotations

MOVES = ("noop", "left", "right", "down", "up")
LETTERS = "ABCDEFGHIJ"
"""Letters of messages, as the package draws them."""
