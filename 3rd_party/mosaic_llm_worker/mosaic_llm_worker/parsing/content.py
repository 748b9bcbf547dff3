"""Reads the content of a marked answer, all of which must be one action."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from mosaic_llm_worker.parsing.answers import chosen, joined, taken_back_at
from mosaic_llm_worker.parsing.cleaning import plain, short, stripped
from mosaic_llm_worker.parsing.prose import decided, prepared
from mosaic_llm_worker.parsing.synonyms import synonyms
from mosaic_llm_worker.parsing.vocabulary import Vocabulary

_BULLET: Final = re.compile(r"^\s*(?:[-*•▪+]\s+|\[[ xX]\]\s*)+")
_COUNTED: Final = re.compile(r"^\s*(?:\(?\d{1,3}[.)]\s*(?:\.\.)?)\s*(?=\S)")
_WHAT: Final = r"(?:action|option|choice|move|number|index|id|no|nr|aktion|opción|行动|动作)"
_NUMBER: Final = re.compile(rf"^#?\s*(?:{_WHAT}\s*[.:#]?\s*)*(-?\d{{1,9}})$", re.IGNORECASE)
_WITH_NUMBER: Final = re.compile(
    rf"^#?\s*(?:{_WHAT}\s*)?(-?\d{{1,9}})\s*(?:[.):=\-]+\s*(?!\d)(\S.*)|[(\[](.+)[)\]])$", re.IGNORECASE
)
_NUMBER_BEHIND: Final = re.compile(
    rf"^(.+?)\s*[(\[]\s*(?:{_WHAT}\s*[.:#]?\s*)?(-?\d{{1,9}})\s*[)\]]$", re.IGNORECASE
)
_LISTED: Final = re.compile(r"\s*(?:[,;/&|]|\s\+\s|->|=>|→|\n)\s*")
_SENTENCE_END: Final = re.compile(r"[.!?;…]\s")
_JOINED: Final = (["or"], ["and"], ["then"])
_EXPLAINED: Final = re.compile(r"\s*(?::\s|\s\(|\s-\s)")


class PhraseActions(NamedTuple):
    """The actions that a phrase names.

    Attributes:
        actions: The actions in the order named, each once; empty if none was understood.
        problem: Why a number is no action; empty if this is not the problem.
    """

    actions: tuple[int, ...] = ()
    problem: str = ""


def read_content(content: str, vocabulary: Vocabulary) -> PhraseActions:
    """Read the content of a marked answer: a name, a number, a list, or an explained action."""
    bare = stripped(_BULLET.sub("", " ".join(content.split())))
    if not bare:
        return PhraseActions()
    if found := vocabulary.whole(bare):
        return PhraseActions(tuple(sorted(found)))
    for read in (_number, _word_and_number, _list, _explained):
        if (result := read(bare, vocabulary)) != PhraseActions():
            return result
    text = prepared(content)
    return PhraseActions(chosen(decided(text, vocabulary), text))


def _number(bare: str, vocabulary: Vocabulary) -> PhraseActions:
    match = _NUMBER.match(bare)
    if match is None:
        return PhraseActions()
    number = int(match[1])
    if found := vocabulary.number(number):
        return PhraseActions(tuple(sorted(found)))
    if vocabulary.numbered:
        last = vocabulary.first + vocabulary.count - 1
        return PhraseActions(problem=f"{number} is no action; they are {vocabulary.first} to {last}")
    return PhraseActions(problem=f"the number {number} names no action here")


def _word_and_number(bare: str, vocabulary: Vocabulary) -> PhraseActions:
    """Read ``"2: forward"`` or ``"forward (2)"``; if both parts name an action, it must be the same."""
    if (match := _NUMBER_BEHIND.match(bare)) is not None:
        number, words = int(match[2]), match[1]
    elif (match := _WITH_NUMBER.match(bare)) is not None:
        number, words = int(match[1]), match[2] or match[3]
    else:
        return PhraseActions()
    named = read_content(words, vocabulary)
    if not named.actions:
        return PhraseActions()
    by_number = tuple(sorted(vocabulary.number(number))) if vocabulary.numbered else ()
    # "1. forward" may be the first entry of a list; if the number is an action too, the meaning is not
    # certain.
    if not by_number or set(by_number) & set(named.actions):
        return named
    return PhraseActions(joined([named.actions, by_number]))


def _list(bare: str, vocabulary: Vocabulary) -> PhraseActions:
    """Read a list of actions: ``"left, forward"``, ``"left or right"``, ``"left -> forward"``."""
    joins = "|".join(re.escape(join) for join in synonyms().joins)
    parts = re.split(rf"{_LISTED.pattern}|\s+(?:{joins})\s+", bare, flags=re.IGNORECASE)
    named = [_actions_of_part(stripped(part), vocabulary) for part in parts if part.strip()]
    if len(named) < 2 or not all(named):
        return PhraseActions()
    return PhraseActions(joined(named))


def _actions_of_part(part: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    found = vocabulary.whole(_COUNTED.sub("", part))
    return tuple(sorted(found)) if found else _number(part, vocabulary).actions


def _explained(bare: str, vocabulary: Vocabulary) -> PhraseActions:
    """Read an explained action: ``"left: turn left on the spot"``, ``"forward (towards the ball on the
    left)"``.
    """
    match = _EXPLAINED.search(bare)
    found = vocabulary.find(stripped(bare[: match.start()])) if match is not None else ()
    if match is None or not found:
        return PhraseActions()
    rest = bare[match.end() :]
    more = _SENTENCE_END.search(rest) or taken_back_at(rest) or plain(rest).split()[:1] in _JOINED
    # Longer text is read as any other text.
    return PhraseActions() if more else PhraseActions(tuple(sorted(found)))


def several(actions: tuple[int, ...], vocabulary: Vocabulary) -> str:
    """Return the problem of a reply that names several actions."""
    return f"the reply names several actions ({vocabulary.names(actions)}); exactly one is wanted"


def not_understood(phrase: str) -> str:
    """Return the problem of an answer that names no action."""
    return f'"{short(phrase)}" is none of the actions'
