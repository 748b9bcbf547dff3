"""How an agent scored its actions before it chose, as its row says it (``scores``): numbers by their words.

What the numbers are is the agent's: probabilities, shares of a search, how well words go with a picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gym_gui.analysis.transcripts.decision_rows import numbers_of
from gym_gui.analysis.transcripts.search_values import considered_of
from gym_gui.analysis.words import wording

MOST = 10
"""Actions of a decision that are listed; of more, the best."""


class Score(NamedTuple):
    """What an action was worth to who chose.

    Attributes:
        word: The action.
        value: Its score.
        share: Length of its bar, 0 to 1: the score itself where all of them lie there, else its place
            between the least and the greatest.
        digits: After the point, as many for all of a decision.
        more: What else was found out of it: how often it was tried, what follows; empty: nothing was told.
    """

    word: str
    value: float
    share: float
    digits: int
    more: str = ""

    @property
    def written(self) -> str:
        """The score as people read it."""
        return wording.number(self.value, self.digits)


def scores_of(given: Any, considered: Any = None) -> tuple[Score, ...]:
    """What a row says of scores, the best first; what is no number is left out.

    Args:
        given: Under ``scores``.
        considered: Under ``considered``.
    """
    more = considered_of(considered)
    found = numbers_of(given)
    values = [value for _, value in found]
    low, high = min([0.0, *values]), max([1.0, *values])
    if (low, high) != (0.0, 1.0):
        low, high = min(values), max(values)
    length = high / 2 - low / 2  # halves: the difference of two floats may be none
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
    """Those that are shown: the best, and what was played wherever it stands."""
    return tuple(score for place, score in enumerate(scores) if place < MOST or score.word == played)


def in_a_line(scores: Sequence[Score]) -> str:
    """``forward 0.71, left 0.2, right 0.09``: the first three."""
    return ", ".join(f"{score.word} {score.written}" for score in scores[:3])
