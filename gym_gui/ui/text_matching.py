"""Scores how well a text matches a query: words in any order, or letters in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar("_T")


def score(query: str, text: str) -> float:
    """Return how well a text matches a query: 0 for no match, 1 for an empty query, else more.

    Every word of the query must match. A match at the start of the text counts most, then at the start of a
    word, then inside a word; a whole word counts a little more. Letters that occur in order count least
    (``ccr`` matches ``car-racing``).
    """
    total = 1.0
    folded = text.casefold()
    for word in query.casefold().split():
        found = _word_score(word, folded)
        if found == 0.0:
            return 0.0
        total += found
    # Of two equally good texts, the shorter one is more likely to be the target.
    return total - len(text) / 10_000


def best(query: str, items: Iterable[_T], text: Callable[[_T], str], *, limit: int | None = None) -> list[_T]:
    """Return the items whose text matches a query, best first; equal ones in the given order.

    Args:
      query: Words or letters to find.
      items: The items.
      text: Returns the text of an item.
      limit: Largest number of items; ``None`` for all.
    """
    scored = [(score(query, text(item)), item) for item in items]
    kept = [pair for pair in scored if pair[0] > 0.0]
    if query.strip():
        kept.sort(key=lambda pair: -pair[0])
    return [item for _, item in kept[:limit]]


def _word_score(word: str, text: str) -> float:
    place = text.find(word)
    if place == 0:
        return 4.0 + _whole(word, text, place)
    while place > 0:
        if not text[place - 1].isalnum():
            return 3.0 + _whole(word, text, place)
        place = text.find(word, place + 1)
    if word in text:
        return 2.0
    return _letters_score(word, text)


def _whole(word: str, text: str, place: int) -> float:
    """Return a bonus of 0.5 if a match also ends a word, so that ``go`` finds ``go`` before ``gomoku``."""
    end = place + len(word)
    return 0.0 if end < len(text) and text[end].isalnum() else 0.5


def _letters_score(word: str, text: str) -> float:
    """Score letters that occur in order, at most three apart on average; 0 for fewer than three letters."""
    if len(word) < 3:
        return 0.0
    place = first = text.find(word[0])
    for letter in word[1:]:
        if place < 0:
            return 0.0
        place = text.find(letter, place + 1)
    spread = place - first + 1
    return len(word) / spread if first >= 0 and place >= 0 and spread <= 3 * len(word) else 0.0
