"""Reads an agent's scores of its actions from a step row (``scores``).

Scores are numbers by the action's name; their meaning depends on the agent: probabilities, visit shares of a
search, similarities of text and image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gym_gui.analysis.transcripts.decision_rows import numbers_of
from gym_gui.analysis.transcripts.search_values import considered_of
from gym_gui.analysis.words import wording

MOST = 10
"""Largest number of actions per decision that are shown, best first."""


class Score(NamedTuple):
    """Score that an agent gave to an action before it chose.

    Attributes:
        word: Name of the action.
        value: Score of the action.
        share: Length of the bar, from 0 to 1: the score itself if all scores are in this range, else its
            position between the lowest and the highest.
        digits: Number of decimals, the same for all actions of a decision.
        more: Further results of a search on the action, as text; may be empty.
    """

    word: str
    value: float
    share: float
    digits: int
    more: str = ""

    @property
    def written(self) -> str:
        """The score as text."""
        return wording.number(self.value, self.digits)


def scores_of(given: Any, considered: Any = None) -> tuple[Score, ...]:
    """Return the scores in a step row, best first; values that are no numbers are left out.

    Args:
        given: Value of the row's ``scores`` field.
        considered: Value of the row's ``considered`` field (results of a search).
    """
    more = considered_of(considered)
    found = numbers_of(given)
    values = [value for _, value in found]
    low, high = min([0.0, *values]), max([1.0, *values])
    if (low, high) != (0.0, 1.0):
        low, high = min(values), max(values)
    length = high / 2 - low / 2  # halves, as the difference of two floats may overflow
    digits = wording.decimals(*values)
    scores = [
        Score(
            word,
            value,
            (value / 2 - low / 2) / length if length else 1.0,
            digits,
            more[word].words if word in more else "",
        )
        for word, value in found
    ]
    return tuple(sorted(scores, key=lambda score: -score.value))


def listed(scores: Sequence[Score], played: str) -> tuple[Score, ...]:
    """Return the scores to show: the best ones, and that of the played action."""
    return tuple(score for place, score in enumerate(scores) if place < MOST or score.word == played)


def in_a_line(scores: Sequence[Score]) -> str:
    """Return the first three scores as text, such as ``forward 0.71, left 0.2, right 0.09``."""
    return ", ".join(f"{score.word} {score.written}" for score in scores[:3])
