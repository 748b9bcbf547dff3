"""Finds the action that running text decides for.

"The ball is on my left" decides nothing. "I will turn left" does, and so does a sentence that consists of the
action or ends in it ("so: left"). "I should not turn left", "left or right?" and "if the ball were there, I
would turn left" decide nothing either. A doubtful text counts as no decision, because another request is
better than an action that the model did not choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from mosaic_llm_worker.parsing.answers import NamedActions, taken_back_at
from mosaic_llm_worker.parsing.clauses import Clause
from mosaic_llm_worker.parsing.cleaning import plain, stripped
from mosaic_llm_worker.parsing.synonyms import synonyms
from mosaic_llm_worker.parsing.vocabulary import Vocabulary

_SENTENCE: Final = re.compile(r"\S[^\n]*?(?:[.!?…](?=[\s)\"']|$)[.!?…)\"']*|;|$)", re.MULTILINE)
_BULLET: Final = re.compile(r"^(?:[-*•▪+>]\s+|\(?\d{1,2}[.)]\s+|\[[ xX]?\]\s+)+")
_BREAK: Final = re.compile(r"\.{2,}|…|(?<=\w)[,:](?=\s|$)|\s:(?=\s)|(?<=[\"'\])]),(?=\s)|\s-+\s|\s?\(|\)")
_QUOTE: Final = re.compile(r"\"([^\"\n]{1,400})\"|(?<!\w)'([^'\n]{1,400})'(?!\w)")
_APART: Final = re.compile(
    r"\b(pick|drop|put|let|take)\s+((?:the|a|an|my|it|them|him|her|this|that)\b(?:\s+\w+){0,2}?)"
    r"\s+(up|off|down)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\S+")
_ALL: Final = frozenset({"anything", "everything", "anywhere", "all", "any"})
_NO_ANSWER: Final = ("not", "never", "avoid", "options", "actions", "possible")
_REJECTS: Final = frozenset({"not", "rather"})
_MOST: Final = 120
"""Number of sentences that are read, from the end of the reply."""
_LONGEST_CLAUSE: Final = 60
"""Largest number of words of a clause that can decide for an action."""
_LONGEST_SENTENCE: Final = 2_000
_LONGEST_OWN: Final = 4
"""Largest number of words of a quotation that may be the model's own action."""


def decided(text: str, vocabulary: Vocabulary) -> list[NamedActions]:
    """Return the actions that a text decides for, in order; positions refer to :func:`prepared` text."""
    found: list[NamedActions] = []
    before = ""
    for match in list(_SENTENCE.finditer(text))[-_MOST:]:
        sentence = match[0]
        asks = sentence.rstrip().endswith("?")
        if not asks and len(sentence) <= _LONGEST_SENTENCE and not _announces_none(before):
            found += _of_sentence(sentence, match.start(), vocabulary)
        before = sentence
    return found


def prepared(text: str) -> str:
    """Remove quotations of others and phrases that only sound like an action."""
    text = _APART.sub(r"\1 \3 \2", text)
    return _QUOTE.sub(_unquoted, _idioms().sub(" … ", text))


def _unquoted(match: re.Match[str]) -> str:
    """Return the replacement of a quotation: the model's own word without quotation marks, else nothing."""
    said: str = match[1] or match[2]
    head = plain(match.string[max(0, match.start() - 40) : match.start()].rpartition("\n")[2])
    near = set(head.split()[-4:])
    others = near & synonyms().speech and not near & {"i", "we"}
    return "… " if others or len(said.split()) > _LONGEST_OWN else said


def _announces_none(before: str) -> bool:
    """Return whether a line announces unwanted actions, or a list of all actions."""
    said = f" {plain(before)} "
    announced = any(f" {word} " in said for word in (*_NO_ANSWER, *synonyms().rejecting))
    return announced and before.rstrip().endswith(":")


def _of_sentence(sentence: str, at: int, vocabulary: Vocabulary) -> list[NamedActions]:
    bullet = _BULLET.match(sentence)
    start = bullet.end() if bullet is not None else 0
    bare = stripped(sentence[start:])
    if found := vocabulary.find(bare):
        # "Wait!" and "No." before further text are no answers.
        interrupts = taken_back_at(f"{bare}, x") and not sentence.strip().endswith(bare)
        return [] if interrupts else [NamedActions(at, tuple(sorted(found)))]
    return _of_clauses(list(_clauses(sentence, start, at, vocabulary)), vocabulary)


def _of_clauses(clauses: Sequence[Clause], vocabulary: Vocabulary) -> list[NamedActions]:
    known = synonyms()
    found: list[NamedActions] = []
    hypothetical = meant = False
    for i, clause in enumerate(clauses):
        concludes = clause.begins_with(known.so)
        if clause.begins_with(known.but):
            found, hypothetical = [], False
        elif concludes:
            found, hypothetical = [each for each in found if each.sure], False
        hypothetical = hypothetical or clause.has(known.hypothetical)
        named, intended = (frozenset[int](), False) if hypothetical else clause.decides(vocabulary)
        if not named:
            continue
        actions = tuple(sorted(named))
        before = clauses[i - 1].sign if i else ""
        if before == ":" and not _introduces(clauses[:i]):
            # "Drink the potion: quaff" names the action twice.
            sure = any(each.actions == actions for each in found)
        elif before == "(":
            sure = False
        else:
            last = i == len(clauses) - 1
            sure = intended or last or concludes or clauses[i + 1].begins_with(known.because | _REJECTS)
            meant = meant or intended
        found.append(NamedActions(clause.at, actions, sure))
    # If the sentence also decides for another action, an action that is only named could be meant as well.
    mixed = len({each.actions for each in found}) > 1 and not all(each.sure for each in found)
    return [each._replace(sure=meant) for each in found] if mixed else found


def _introduces(clauses: Sequence[Clause]) -> bool:
    """Return whether a colon after the clauses introduces the model's own action, not an observation or a
    quotation.
    """
    said = [part for clause in clauses for part in clause.parts]
    if len(said) == 1:
        return bool({*said} & synonyms().openers) or bool(taken_back_at(f"{said[0]}, x"))
    return bool({*said} & synonyms().own) and not {*clauses[-1].parts} & synonyms().speech


def _clauses(sentence: str, start: int, at: int, vocabulary: Vocabulary) -> Iterator[Clause]:
    breaks = [] if vocabulary.has_commas else list(_BREAK.finditer(sentence, start))
    begins = [start, *(match.end() for match in breaks)]
    ends = [*((match.start(), match[0].strip()) for match in breaks), (len(sentence), "")]
    for begin, (end, sign) in zip(begins, ends, strict=True):
        for offset, words in _conjoined(sentence[begin:end]):
            clause = Clause(at + begin + offset, words, sign)
            if clause.parts and len(clause.words) <= _LONGEST_CLAUSE:
                yield clause


def _conjoined(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the parts of a text, split before each conjunction, with their positions."""
    conjunctions = synonyms().but | synonyms().so | synonyms().because
    words: list[str] = []
    first = 0
    for match in _WORD.finditer(text):
        word = plain(match[0])
        if words and word in conjunctions and not (word == "but" and plain(words[-1]) in _ALL):
            yield first, words
            words, first = [], match.start()
        words.append(match[0])
    if words:
        yield first, words


@cache
def _idioms() -> re.Pattern[str]:
    """Return a pattern of idioms in which an action's word does not mean the action."""
    phrases = "|".join(
        re.escape(each).replace(r"\ ", r"[\s']+").replace("\\#", r"\d+") for each in synonyms().idioms
    )
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)|^\s*right[,.!](?=[^\S\n]*\w)", re.IGNORECASE)
