"""Texts of relative positions on a field seen from above that does not turn with the agent."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=4096)
def offset_text(right: int, down: int) -> str:
    """Return a relative position as text: ``"2 left, 1 up"``; ``"here"`` for no distance."""
    parts: list[str] = []
    if right:
        parts.append(f"{abs(right)} {'right' if right > 0 else 'left'}")
    if down:
        parts.append(f"{abs(down)} {'down' if down > 0 else 'up'}")
    return ", ".join(parts) or "here"


def nearest(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return positions (right, down) sorted by distance, then by coordinates."""
    return sorted(places, key=lambda place: (abs(place[0]) + abs(place[1]), place))
