"""Several replies to one question: the action that most of them name is played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def majority(names: Sequence[str]) -> tuple[int, dict[str, int]]:
    """Which reply is played.

    Args:
        names: The action of each usable reply in words, in the order in which they were asked for.

    Returns:
        The place of the first reply with the most votes, where several have as many of the one that was named
        first; and the votes by action.
    """
    votes = Counter(names)
    most = max(votes.values())
    place = next(at for at, name in enumerate(names) if votes[name] == most)
    return place, dict(votes)
