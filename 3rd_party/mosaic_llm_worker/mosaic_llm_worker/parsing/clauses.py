"""Finds the action that a clause of a reply decides for, if there is one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from mosaic_llm_worker.parsing.cleaning import plain, stripped
from mosaic_llm_worker.parsing.synonyms import synonyms
from mosaic_llm_worker.parsing.vocabulary import Actions, Vocabulary

_BEST: Final = re.compile(
    r"^(?:is|seems|looks|would be|appears to be)\s+(?:(?:clearly|probably|definitely|then|now|the|my)\s+)*"
    r"(?:best|fine|good|right|correct|optimal|safest|(?:only )?sensible|logical|next|final"
    r"|move|choice|action|answer)\b",
    re.IGNORECASE,
)
_SCRIPTS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PREPOSITIONS: Final = frozenset({"with", "for", "to", "on", "by", "the"})
_LONGEST: Final = 8
"""Largest number of words of an action's name."""
_NONE: Final[Actions] = frozenset()


class Clause:
    """A clause of a sentence.

    Attributes:
        at: Position of its beginning in the text.
        words: Words as they are written.
        said: Words in :func:`plain` form.
        sign: Punctuation mark at its end.

    Args:
        at: Position of its beginning in the text.
        words: Words as they are written.
        sign: Punctuation mark at its end.
    """

    def __init__(self, at: int, words: Sequence[str], sign: str) -> None:
        self.at, self.sign = at, sign
        self.words = [word for word in words if plain(word) or not word.isascii()]
        self.said = [plain(word) for word in self.words]

    @property
    def parts(self) -> list[str]:
        """The clause's plain words; a contraction such as "I'll" is split."""
        return [part for word in self.said for part in word.split()]

    def begins_with(self, known: frozenset[str]) -> bool:
        """Return whether the first word is one of ``known``."""
        return bool(set(self.parts[:1]) & known)

    def has(self, phrases: Iterable[str]) -> bool:
        """Return whether the clause contains one of ``phrases``."""
        return _has_phrase(self.said, phrases)

    def decides(self, vocabulary: Vocabulary) -> tuple[Actions, bool]:
        """Return the actions that the clause decides for, and whether they follow words of intent."""
        return _Reading(*self._without_rejected(), vocabulary).decided()

    def _without_rejected(self) -> tuple[list[str], list[str]]:
        """Return the words, and the plain words, before a rejection such as "rather than left" or "instead of
        left".
        """
        for phrase in synonyms().rejecting:
            parts = phrase.split()
            for i in range(1, len(self.said) - len(parts) + 1):
                if self.said[i : i + len(parts)] == parts:
                    return self.words[:i], self.said[:i]
        return self.words, self.said


class _Reading:
    def __init__(self, words: list[str], said: list[str], vocabulary: Vocabulary) -> None:
        self._words, self._said, self._vocabulary = words, said, vocabulary

    def decided(self) -> tuple[Actions, bool]:
        known, said = synonyms(), self._said
        if _SCRIPTS.search("".join(self._words)):
            return self._unspaced(), True
        wanted_some_time = _has_phrase(said, known.obliged) and not (
            {*said[0].split()} & known.so or "now" in said
        )
        for start in () if wanted_some_time else _intents(said):
            others = {part for word in said[: start - 1] for part in word.split()} & known.speech
            if not others and (named := self._behind(start, known.fillers, known.after)):
                return named, True
        at = 0
        while at < len(said) and not self._name(at)[1] and _all_in(said[at], known.openers):
            at += 1
        named, size = self._name(at)
        if not named or self._denied(at, size):
            return _NONE, False
        if _BEST.match(" ".join(said[at + size :])):
            return named, True
        return self._behind(at, frozenset(), known.bare_after), False

    def _behind(self, at: int, fillers: frozenset[str], after: frozenset[str]) -> Actions:
        """Return the actions that are named after fillers; none if further words may change their meaning."""
        while at < len(self._words):
            named, size = self._name(at)
            if named and not self._is_state(at):
                tail = self._tail(at + size, named, after)
                if tail is not None:
                    return _NONE if self._denied(at, size) else named | tail
            if not _all_in(self._said[at], fillers) and not self._carries(at):
                return _NONE
            at += 1
        return _NONE

    def _denied(self, at: int, size: int) -> bool:
        return _has_phrase([*self._said[:at], *self._said[at + size :]], synonyms().against)

    def _carries(self, at: int) -> bool:
        """Return whether a word only leads to a name: "go" in "go with left", but not in "go left"."""
        return self._said[at] in synonyms().carriers and {*self._said[at + 1 : at + 2]} <= _PREPOSITIONS

    def _is_state(self, at: int) -> bool:
        """Return whether a name is a state of the speaker ("I am left"), not an action ("I am folding")."""
        before = self._said[at - 1].split()[-1:] if at else []
        return bool({*before} & synonyms().copulas) and not plain(self._words[at]).endswith("ing")

    def _tail(self, at: int, named: Actions, after: frozenset[str]) -> Actions | None:
        """Return the actions that follow a name with its object, none at the end; ``None`` if other words
        follow.
        """
        size = self._object(at, named)
        at += size
        if at >= len(self._words):
            return _NONE
        if self._words[at - 1][-1:] in ",.;:!)":
            return self._vocabulary.parts(self._words[at:]) if self._vocabulary.has_commas else _NONE
        rest = self._said[at:]
        joined = next((join for join in synonyms().joins if rest[: len(join.split())] == join.split()), "")
        follows = bool({*rest[0].split()[:1]} & after) or " ".join(rest[:2]) in after
        if joined or size or follows or _BEST.match(" ".join(rest)):
            return self._joined(at)
        return None

    def _joined(self, at: int) -> Actions:
        """Return the actions that are joined to the first one ("and then forward")."""
        found = _NONE
        joins = {part for join in synonyms().joins for part in join.split()}
        for i in range(at, len(self._words)):
            if self._said[i] not in joins:
                continue
            behind = i + 1
            while behind < len(self._words):
                if named := self._name(behind)[0] or self._vocabulary.parts(self._words[behind:]):
                    found |= named
                    break
                if not _all_in(self._said[behind], synonyms().fillers | joins):
                    break
                behind += 1
        return found

    def _object(self, at: int, named: Actions) -> int:
        """Return the number of words that name the object of an action ("it", "the red ball")."""
        said = self._said[at : at + 5]
        objects = self._vocabulary.objects(named)
        if not objects or not said:
            return 0
        if said[0] in synonyms().pronouns:
            return 1 if said[1:2] != ["is"] else 0
        known = next((i for i, word in enumerate(said) if word in objects), -1)
        return known + 1 if known == 0 or said[0] in synonyms().articles else 0

    def _name(self, at: int) -> tuple[Actions, int]:
        """Return the actions whose name begins at a word, by the longest matching name, and its number of
        words.
        """
        words = self._words[at : at + _LONGEST]
        ends = next((i + 1 for i, word in enumerate(words) if word[-1:] in ".;:!"), len(words))
        for size in range(ends, 0, -1):
            phrase = stripped(" ".join(words[:size]))
            if phrase.isdigit():
                continue  # the number may count anything
            if found := self._vocabulary.find(phrase) or self._vocabulary.numbered_as(phrase):
                return found, size
        return _NONE, 0

    def _unspaced(self) -> Actions:
        """Return the actions of a text without spaces between words: Chinese, Japanese, Korean."""
        known = synonyms()
        together = "".join(self._said).replace(" ", "")
        if any(word.replace(" ", "") in together for word in known.against if _SCRIPTS.search(word)):
            return _NONE
        for intent in known.intents:
            close = intent.replace(" ", "")
            if _SCRIPTS.search(close) and close in together:
                together = together.rpartition(close)[2]
                break
        for term in self._vocabulary.terms:
            close = term.replace(" ", "")
            if close and together.startswith(close) and together.removeprefix(close) in known.endings:
                return self._vocabulary.find(term)
        return _NONE


def _has_phrase(said: Sequence[str], phrases: Iterable[str]) -> bool:
    line = f" {' '.join(said)} "
    return any(f" {phrase} " in line for phrase in phrases)


def _all_in(spoken: str, known: frozenset[str] | set[str]) -> bool:
    return all(part in known for part in spoken.split())


@cache
def _intent() -> re.Pattern[str]:
    """Return a pattern of words that announce the model's own action, for the plain words of a clause.

    The words are the model's own ("I", "let us"), or "my next move is"; not "the opponent's next move is".
    """

    def one_of(words: Iterable[str]) -> str:
        return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))

    known = synonyms()
    between = "here|now|for now|then|to take|to make|to do|i choose|this turn|at this point|of this plan"
    label = (
        r"(?<! s )(?<! their )(?<! his )(?<! her )(?<! its )"
        rf"(?:(?:{one_of(known.chosen)}) )+(?:{one_of({*known.labels, *known.choices})})"
        rf"(?: (?:{between})){{0,2}} (?:is|would be|will be|ist|est|es|è|é)"
    )
    return re.compile(rf"(?<= )(?=((?:{one_of(known.intents)})|{label}) )")


def _intents(said: Sequence[str]) -> list[int]:
    """Return the indices of the words that follow words of intent."""
    spoken = [(part, i) for i, word in enumerate(said) for part in word.split()]
    line = "".join(f" {part}" for part, _ in spoken) + " "
    ends = {line.count(" ", 0, match.end(1)) for match in _intent().finditer(line)}
    return sorted({spoken[end - 1][1] + 1 for end in ends if end})
