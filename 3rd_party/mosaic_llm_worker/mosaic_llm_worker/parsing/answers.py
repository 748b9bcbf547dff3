"""Chooses among the answers of a reply: an answer that the reply takes back does not count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from mosaic_llm_worker.parsing.synonyms import synonyms


class NamedActions(NamedTuple):
    """Actions that a place in a text names.

    Attributes:
        at: Position in the text.
        actions: The actions; several if the text does not choose one of them.
        sure: Whether the text decides for them; otherwise they are only written like an answer.
    """

    at: int
    actions: tuple[int, ...]
    sure: bool = True


@cache
def _pattern() -> re.Pattern[str]:
    words = "|".join(re.escape(each).replace(r"\ ", r"[\s']+") for each in synonyms().taken_back)
    lead = r"(?:(?:oh|ah|hm+|uh|um|ok|okay|well|so|but|and|or|no|then|nein|non)\b[\s,.!-]*)*"
    # Only at the beginning of a clause: "the ball is actually there" takes nothing back.
    return re.compile(
        rf"(?:^|[.!?…,;:(>\n-])[\s\"'*]*{lead}"
        rf"(?P<word>(?:{words})\b|(?:no|nope|nein|non|нет)(?=\s*[,.!:;-])|(?:wait|warte|espera|attends)"
        r"(?=\s*[,.!:;-]\s*\S|\s+(?:no|a|i|that|the|let|maybe|actually)\b)|不对|等等|いや|待って)",
        re.IGNORECASE,
    )


def taken_back_at(text: str) -> list[int]:
    """Return the positions at which a text takes back what it has said before ("wait, no")."""
    return [match.start("word") for match in _pattern().finditer(text)]


def chosen(named: Iterable[NamedActions], text: str) -> tuple[int, ...]:
    """Return the actions that a text decides for and does not take back; without a decision, a single named
    action.
    """
    back = taken_back_at(text)
    standing = [each for each in named if not back or each.at >= back[-1]]
    decided = joined([each.actions for each in standing if each.sure])
    listed = joined([each.actions for each in standing])
    return decided or (listed if len(listed) > 1 else ())


def joined(several: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return all actions of several tuples, each once, in the order in which they are named."""
    return tuple(dict.fromkeys(action for actions in several for action in actions))
