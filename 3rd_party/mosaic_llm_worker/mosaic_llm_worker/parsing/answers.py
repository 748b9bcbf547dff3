"""Which of the answers of a reply stand: what it takes back counts no more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from mosaic_llm_worker.parsing.synonyms import synonyms


class Named(NamedTuple):
    """Actions that a place in a text names.

    Attributes:
        at: Where.
        actions: Which; several where it does not choose.
        sure: Whether they are decided for; else they only stand there like an answer.
    """

    at: int
    actions: tuple[int, ...]
    sure: bool = True


@cache
def _pattern() -> re.Pattern[str]:
    words = "|".join(re.escape(each).replace(r"\ ", r"[\s']+") for each in synonyms().taken_back)
    lead = r"(?:(?:oh|ah|hm+|uh|um|ok|okay|well|so|but|and|or|no|then|nein|non)\b[\s,.!-]*)*"
    # Only where a clause begins: "the ball is actually there" takes nothing back.
    return re.compile(
        rf"(?:^|[.!?…,;:(>\n-])[\s\"'*]*{lead}"
        rf"(?P<word>(?:{words})\b|(?:no|nope|nein|non|нет)(?=\s*[,.!:;-])|(?:wait|warte|espera|attends)"
        r"(?=\s*[,.!:;-]\s*\S|\s+(?:no|a|i|that|the|let|maybe|actually)\b)|不对|等等|いや|待って)",
        re.IGNORECASE,
    )


def taken_back_at(text: str) -> list[int]:
    """Where a text takes back what it has said before ("wait, no")."""
    return [match.start("word") for match in _pattern().finditer(text)]


def chosen(named: Iterable[Named], text: str) -> tuple[int, ...]:
    """The actions that a text decides for and does not take back; where it decides for none, several
    that only stand there are none, too.
    """
    back = taken_back_at(text)
    standing = [each for each in named if not back or each.at >= back[-1]]
    decided = joined([each.actions for each in standing if each.sure])
    listed = joined([each.actions for each in standing])
    return decided or (listed if len(listed) > 1 else ())


def joined(several: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Each action once, in the order named."""
    return tuple(dict.fromkeys(action for actions in several for action in actions))
