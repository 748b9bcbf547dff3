"""How well a text matches what the user typed: words in any order, or letters in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar("_T")


def score(query: str, text: str) -> float:
    """How well ``text`` fits, higher is better; 0 for not at all, 1 for an empty query.

    Every word of the query has to be there. A word at the start of a word counts most, more where
    it is the whole word, then one inside, then letters that come in order (``ccr`` finds ``car-racing``).
    """
    total = 1.0
    folded = text.casefold()
    for word in query.casefold().split():
        found = _word_score(word, folded)
        if found == 0.0:
            return 0.0
        total += found
    # The shorter of two that fit equally well was meant more likely.
    return total - len(text) / 10_000


def best(query: str, items: Iterable[_T], text: Callable[[_T], str], *, limit: int | None = None) -> list[_T]:
    """The items that fit, best first; equal ones in the order given."""
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
    """A little more where the word ends there, too: ``go`` is meant by ``go`` rather than by ``gomoku``."""
    end = place + len(word)
    return 0.0 if end < len(text) and text[end].isalnum() else 0.5


def _letters_score(word: str, text: str) -> float:
    """Letters in order, at most three apart on average; 0 below three letters."""
    if len(word) < 3:
        return 0.0
    place = first = text.find(word[0])
    for letter in word[1:]:
        if place < 0:
            return 0.0
        place = text.find(letter, place + 1)
    spread = place - first + 1
    return len(word) / spread if first >= 0 and place >= 0 and spread <= 3 * len(word) else 0.0
