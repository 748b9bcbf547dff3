"""Counts votes: of several replies to one prompt, the action that most replies name is played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def majority(names: Sequence[str]) -> tuple[int, dict[str, int]]:
    """Return the reply to play and the votes.

    Args:
        names: Word of the action of each usable reply, in the order of the requests.

    Returns:
        Index of the first reply with the most votes (of actions with equal votes, the one that was named
        first), and the votes by action.
    """
    votes = Counter(names)
    most = max(votes.values())
    place = next(at for at, name in enumerate(names) if votes[name] == most)
    return place, dict(votes)
