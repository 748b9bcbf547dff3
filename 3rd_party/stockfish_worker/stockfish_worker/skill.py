"""Playing below one's strength, repeatably.

Stockfish weakens itself at random from a generator that starts with the time of day, so that no
game repeats (``Skill::pick_best`` in its search.cpp, version 15.1). Its rule is applied here to the
moves that the engine reports, with a number that comes from the seed of the episode and the step.
"""

from __future__ import annotations

from collections.abc import Sequence

FULL_SKILL = 20
LINES = 4
"""How many of the best moves are weighed."""
_PAWN = 100


def depth_of(skill: int) -> int:
    """Half-moves that a weakened engine looks ahead before it chooses."""
    return 1 + skill


def choose(scores: Sequence[int], skill: int, randoms: Sequence[int]) -> int:
    """Which of the best moves is played.

    Each move is raised by what the weakness makes of its distance to the best one, and by chance.

    Args:
        scores: Of the moves in centipawns, best first; a mate counts as a very large score.
        skill: 0 to 19.
        randoms: One non-negative random integer per move.

    Returns:
        Index of the chosen move.
    """
    top, weakness = scores[0], 120 - 2 * skill
    spread = min(top - scores[-1], _PAWN)
    best, highest = 0, None
    for i, (score, drawn) in enumerate(zip(scores, randoms, strict=True)):
        raised = score + (weakness * (top - score) + spread * (drawn % weakness)) // 128
        if highest is None or raised >= highest:
            best, highest = i, raised
    return best
