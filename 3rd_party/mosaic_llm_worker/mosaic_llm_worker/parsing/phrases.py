"""Reads one phrase that should name an action: a word, a number, a word with an explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from mosaic_llm_worker.parsing.cleaning import plain, short
from mosaic_llm_worker.parsing.synonyms import synonyms
from mosaic_llm_worker.parsing.vocabulary import Vocabulary

_PAIRS: Final = {
    "(": ")",
    "[": "]",
    "{": "}",
    "<": ">",
    '"': '"',
    "'": "'",
}
_END: Final = ".,;:!?…"
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
_SPOKEN_NUMBER: Final = re.compile(
    r"^(?:action|option|choice|number)\s+(?:number\s+)?(-?\d{1,9})$", re.IGNORECASE
)
_BREAK: Final = re.compile(r"\s*(?:(:)\s|(\()|\s(-)\s|([.!?;])(?:\s|$)|(,)\s?|\s(?=\w))")
_LISTED: Final = re.compile(r"\s*(?:[,;/&+|]|->|=>|→|\n)\s*")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_LONGEST: Final = 8
"""Words that a name may have."""


class Read(NamedTuple):
    """What a phrase names.

    Attributes:
        actions: All of them, in the order named, each once; empty: none was understood.
        problem: Why a number is none, where that is what is wrong.
    """

    actions: tuple[int, ...] = ()
    problem: str = ""


def read_phrase(phrase: str, vocabulary: Vocabulary) -> Read:
    """Read what stands where an action should stand."""
    line = " ".join(phrase.split())
    bare = stripped(_BULLET.sub("", line))
    if not bare:
        return Read()
    if found := vocabulary.whole(bare):
        return Read(tuple(sorted(found)))
    for read in (_number, _word_and_number, _list, _explained):
        if (result := read(bare, vocabulary)) != Read():
            return result
    return Read()


def stripped(text: str) -> str:
    """Without brackets, quotes and full stops around it."""
    before = None
    while text != before:
        before, text = text, text.strip().rstrip(_END).strip()
        if len(text) > 1 and _PAIRS.get(text[0]) == text[-1]:
            text = text[1:-1]
    return text


def _number(bare: str, vocabulary: Vocabulary) -> Read:
    match = _NUMBER.match(bare)
    if match is None:
        return Read()
    number = int(match[1])
    if found := vocabulary.number(number):
        return Read(tuple(sorted(found)))
    if vocabulary.numbered:
        last = vocabulary.first + vocabulary.count - 1
        return Read(problem=f"{number} is no action; they are {vocabulary.first} to {last}")
    return Read(problem=f"the number {number} names no action here")


def _word_and_number(bare: str, vocabulary: Vocabulary) -> Read:
    """``"2: forward"``, ``"forward (2)"``: both must mean the same where both mean something."""
    if (match := _NUMBER_BEHIND.match(bare)) is not None:
        number, words = int(match[2]), match[1]
    elif (match := _WITH_NUMBER.match(bare)) is not None:
        number, words = int(match[1]), match[2] or match[3]
    else:
        return Read()
    named = read_phrase(words, vocabulary)
    if not named.actions:
        return Read()
    by_number = tuple(sorted(vocabulary.number(number))) if vocabulary.numbered else ()
    # "1. forward" counts a list of one; where the number is an action too, that is not certain.
    if not by_number or set(by_number) & set(named.actions):
        return named
    return Read(joined(named.actions, by_number))


def _explained(bare: str, vocabulary: Vocabulary) -> Read:
    """``"forward, because the ball is there"``, ``"left: turn left on the spot"``."""
    for match in list(_BREAK.finditer(bare))[: 2 * _LONGEST]:
        found = vocabulary.find(stripped(bare[: match.start()]))
        if not found:
            continue
        rest = bare[match.end() :]
        first = tuple(sorted(found))
        colon, bracket, dash, stop, comma = match.groups()
        if not (colon or bracket or dash or stop or comma):
            if _starts_with(plain(rest), synonyms().because) or plain(rest) == "":
                return Read(joined(first, *(_following(rest, vocabulary))))
            if more := _joined_to(rest, vocabulary):
                return Read(joined(first, more))
            continue
        if comma or stop:
            return Read(joined(first, *_following(rest, vocabulary)))
        return Read(joined(first, *_following_sentences(rest, vocabulary)))
    return Read()


def _following(rest: str, vocabulary: Vocabulary) -> Iterator[tuple[int, ...]]:
    """Actions that what follows an action names as well."""
    head, *others = _SENTENCE.split(rest)
    without = _without_joins(head)
    if found := leading(without, vocabulary) or tuple(sorted(vocabulary.whole(stripped(without)))):
        yield found
    elif found := vocabulary.parts([stripped(without)]):
        yield tuple(sorted(found))
    for sentence in others:
        yield from _of_sentence(sentence, vocabulary)


def _following_sentences(rest: str, vocabulary: Vocabulary) -> Iterator[tuple[int, ...]]:
    for sentence in _SENTENCE.split(rest)[1:]:
        yield from _of_sentence(sentence, vocabulary)


def _of_sentence(sentence: str, vocabulary: Vocabulary) -> Iterator[tuple[int, ...]]:
    """A sentence of its own that is, or begins, another order."""
    without = _without_joins(sentence)
    if without != sentence.strip():
        if found := leading(without, vocabulary):
            yield found
    elif (found := vocabulary.find(stripped(sentence.partition(":")[0]))) or (
        found := vocabulary.find(stripped(sentence))
    ):
        yield tuple(sorted(found))


def _joined_to(rest: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    without = _without_joins(rest)
    return leading(without, vocabulary) if without != rest.strip() else ()


def _without_joins(text: str) -> str:
    """What is behind "and then", if it begins so."""
    text = text.strip()
    for join in synonyms().joins:
        match = re.match(rf"{re.escape(join)}\b[\s,]*", text, re.IGNORECASE)
        if match is not None:
            return _without_joins(text[match.end() :])
    return text


def leading(text: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    """The actions whose name a text begins with, by the longest name that fits."""
    return leading_words(text.split(), vocabulary)[0]


def leading_words(words: list[str], vocabulary: Vocabulary) -> tuple[tuple[int, ...], int]:
    """The actions whose name words begin with, and how many words the name has."""
    for size in range(min(_LONGEST, len(words)), 0, -1):
        phrase = stripped(" ".join(words[:size]))
        number = _SPOKEN_NUMBER.match(phrase)
        if found := vocabulary.find(phrase) or (vocabulary.number(int(number[1])) if number else None):
            return tuple(sorted(found)), size
    return (), 0


def _list(bare: str, vocabulary: Vocabulary) -> Read:
    """``"left, forward"``, ``"left or right"``, ``"left -> forward"``."""
    joins = "|".join(re.escape(join) for join in synonyms().joins)
    parts = re.split(rf"{_LISTED.pattern}|\s+(?:{joins})\s+", bare, flags=re.IGNORECASE)
    named = [_part(stripped(part), vocabulary) for part in parts if part.strip()]
    if len(named) < 2 or not all(named):
        return Read()
    return Read(joined(*named))


def _part(part: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    found = vocabulary.whole(_COUNTED.sub("", part))
    return tuple(sorted(found)) if found else _number(part, vocabulary).actions


def joined(*several: tuple[int, ...]) -> tuple[int, ...]:
    """Each action once, in the order named."""
    return tuple(dict.fromkeys(action for actions in several for action in actions))


def _starts_with(text: str, words: tuple[str, ...]) -> bool:
    return any(text == word or text.startswith(f"{word} ") for word in words)


def several(actions: tuple[int, ...], vocabulary: Vocabulary) -> str:
    """What is wrong with a reply that names more than one."""
    return f"the reply names several actions ({vocabulary.names(actions)}); exactly one is wanted"


def not_understood(phrase: str) -> str:
    """What is wrong with an answer that is no action."""
    return f'"{short(phrase)}" is none of the actions'
