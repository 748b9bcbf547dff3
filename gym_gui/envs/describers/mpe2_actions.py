"""What the actions of particle worlds are called."""

from __future__ import annotations

MOVES = ("noop", "left", "right", "down", "up")
LETTERS = "ABCDEFGHIJ"
"""Messages, as the package draws them."""
