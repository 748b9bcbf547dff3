"""Weakens the engine's play in a repeatable way.

Stockfish weakens itself with a random generator that is seeded with the time of day, so that no game is
reproducible (``Skill::pick_best`` in its search.cpp, version 15.1). This module applies the same rule to the
moves that the engine reports, with random numbers from the episode's seed and the step.
"""

from __future__ import annotations

from collections.abc import Sequence

FULL_SKILL = 20
LINES = 4
"""Number of best moves among which one is chosen."""
_PAWN = 100


def depth_of(skill: int) -> int:
    """Return the number of half-moves that a weakened engine looks ahead."""
    return 1 + skill


def choose(scores: Sequence[int], skill: int, randoms: Sequence[int]) -> int:
    """Choose one of the best moves.

    Each move's score is increased by an amount that depends on its distance to the best move and on a random
    number.

    Args:
        scores: Scores of the moves in centipawns, best first; a mate counts as a very large score.
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
