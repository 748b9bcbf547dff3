"""Names of the actions: which words a reply may use for each action, and which actions are legal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from mosaic_llm_worker.parsing.chess_moves import is_written_move, spellings
from mosaic_llm_worker.parsing.cleaning import plain
from mosaic_llm_worker.parsing.spoken import LetterActions, Quantities
from mosaic_llm_worker.parsing.synonyms import Concept, synonyms

Actions = frozenset[int]
_COUNTED: Final = "zero one two three four five six seven eight nine ten eleven twelve"
_ORDINALS: Final = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth"
_NUMERALS: Final = {
    word: str(number) for names in (_COUNTED, _ORDINALS) for number, word in enumerate(names.split(" "))
} | dict.fromkeys(("col", "spalte", "colonne", "columna"), "column")
_ORDINAL: Final = re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)? (\w+)")
_SPOKEN_NUMBER: Final = re.compile(
    r"(?:action|option|choice|number)\s+(?:number\s+)?(-?\d{1,9})", re.IGNORECASE
)
_MOTION: Final = re.compile(
    r"(?:(?:go|going|move|moving|walk|walking|head|heading|step|stepping|drive|driving|travel|run|turn|turning|"
    r"rotate|pivot|face|steer|proceed|continue|keep going|keep moving|slide|climb|gehe|fahre|drehe|push)\s+"
    r"(?:to(?:wards?)? the |to |due |straight )?)?"
    r"(?:(?:one|1|a) (?:cell|step|square|tile|field|row|column)s? (?:to the )?)?"
    r"(.+?)"
    r"(?: (?:by )?(?:one|1|a|once) ?(?:cell|step|square|tile|field|row|column)?)?(?: 90 degrees)?"
)
"""Words of motion before and after a direction."""
_COLUMN: Final = re.compile(r"column ([A-Za-z])")
_MOST_WORDS: Final = 7
"""Largest number of words of an action with its object."""
_SHOWN: Final = 40
"""Largest number of legal actions that a reason lists; for more, it gives their number."""
_NONE: Final[Actions] = frozenset()


@dataclass(frozen=True)
class Vocabulary:
    """Names of the actions of a ``Discrete`` space.

    Attributes:
        words: Words of the actions as shown to the model.
        first: The smallest action.
        count: Number of actions.
        numbered: Whether a bare number is an action's own number; false if words contain numbers
            or change with the position.
        legal: The legal actions; ``None`` if all are legal.
    """

    words: Mapping[int, str]
    first: int
    count: int
    numbered: bool = True
    legal: Actions | None = None
    _exact: Mapping[str, Actions] = field(default_factory=dict[str, Actions], repr=False)
    _plain: Mapping[str, Actions] = field(default_factory=dict[str, Actions], repr=False)
    _other: Mapping[str, Actions] = field(default_factory=dict[str, Actions], repr=False)
    _ways: Mapping[str, Actions] = field(default_factory=dict[str, Actions], repr=False)
    _objects: Mapping[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]], repr=False)
    _bare: Mapping[str, Actions] = field(default_factory=dict[str, Actions], repr=False)
    _text: str = field(default="", repr=False)
    _letters: LetterActions | None = field(default=None, repr=False)
    _quantities: Quantities | None = field(default=None, repr=False)

    @classmethod
    def of(cls, first: int, count: int, words: Sequence[str] = (), env_id: str = "") -> Vocabulary:
        """Make the vocabulary of an environment.

        Args:
            first: The smallest action.
            count: Number of actions.
            words: A word for each action, in order; empty if actions have no words.
            env_id: Id of the environment, because some synonyms are only for some environments.
        """
        named = {first + i: word for i, word in enumerate(words) if word.strip()}
        return cls(
            named,
            first,
            count,
            numbered=not any(re.search(r"\d", word) for word in named.values()),
            _exact=_grouped((word.strip(), action) for action, word in named.items()),
            _plain=_grouped((plain(word), action) for action, word in named.items()),
            _other=_grouped([*_synonyms(named, env_id), *_numerals(named)]),
            _ways=_grouped(_way_names(named, env_id)),
            _objects=_done_to(named, env_id),
            _bare=_grouped(_single_letters(named)),
            _letters=LetterActions.of(named, lambda moves: _finder(moves, env_id)),
            _quantities=Quantities.of(named),
        )

    def now(
        self, legal: Iterable[int] | None, choices: Sequence[tuple[int, str]] = (), text: str = ""
    ) -> Vocabulary:
        """Return the vocabulary of one decision.

        Args:
            legal: The legal actions; ``None`` if all are legal.
            choices: (action, word) of the legal actions, if words depend on the position.
            text: The observation as text; a chess position in it determines other names of moves.
        """
        if not choices:
            return self if legal is None else replace(self, legal=frozenset(map(int, legal)))
        words = {int(action): word for action, word in choices}
        return replace(
            self,
            words=words,
            legal=frozenset(words) if legal is None else frozenset(map(int, legal)),
            numbered=False,
            _exact=_grouped((word.strip(), action) for action, word in words.items()),
            _plain=_grouped((plain(word), action) for action, word in words.items()),
            _other=_grouped(_numerals(words)),
            _ways={},
            _objects={},
            _bare=_grouped(_single_letters(words)),
            _text=text,
            _letters=None,
            _quantities=None,
        )

    def find(self, phrase: str) -> Actions:
        """Return the actions that a phrase names as a whole: none, one, or several that share the name."""
        bare = phrase.strip()
        if found := self._exact.get(bare):
            return found
        if self._quantities is not None and (found := self._quantities.find(bare)):
            return found
        same = plain(bare)
        if not same:
            return self._other.get(bare, _NONE)
        counted = " ".join(_NUMERALS.get(word, word) for word in same.split())
        if ordinal := _ORDINAL.fullmatch(counted):
            counted = f"{ordinal[2]} {ordinal[1]}"
        tables = (self._plain, self._other)
        named = next(filter(None, (t.get(word) for word in (same, counted) for t in tables)), _NONE)
        if not named and self._ways and (way := _MOTION.fullmatch(same)):
            named = self._ways.get(way[1], _NONE)
        if not named and self._letters is not None:
            return self._letters.find(bare)
        return named or (self._spelt(bare, same) if self._text else _NONE)

    def numbered_as(self, phrase: str) -> Actions:
        """Return the action of a number that is marked as an action ("action 2")."""
        match = _SPOKEN_NUMBER.fullmatch(phrase)
        return self.number(int(match[1])) if match is not None else _NONE

    def objects(self, actions: Iterable[int]) -> frozenset[str]:
        """Return the words for the objects of actions, which do not change the meaning after their names."""
        return frozenset[str]().union(*(self._objects.get(action, frozenset()) for action in actions))

    def whole(self, phrase: str) -> Actions:
        """Return the actions as :meth:`find` does, also by names that count only as a whole answer ("B")."""
        if found := self.find(phrase) or self._with_object(plain(phrase).split()):
            return found
        if found := self._bare.get(phrase.strip().casefold()):
            return found
        return self._letters.whole(phrase) if self._letters is not None else _NONE

    def _with_object(self, words: Sequence[str]) -> Actions:
        """Return the actions of a phrase such as "eat the cow", in which only the object follows the name."""
        for size in range(len(words) - 1, 0, -1) if len(words) <= _MOST_WORDS else ():
            found = self.find(" ".join(words[:size]))
            behind = words[size:]
            done_to = self.objects(found)
            if done_to and (behind[-1] in done_to or (len(behind) == 1 and behind[0] in synonyms().pronouns)):
                known = done_to | synonyms().articles
                return found if len(behind) <= 2 or behind[0] in known else _NONE
        return _NONE

    def parts(self, words: Sequence[str]) -> Actions:
        """Return the actions with the component at the beginning of ``words``, if actions consist of
        components.
        """
        return self._letters.parts(words) if self._letters is not None else _NONE

    @property
    def has_commas(self) -> bool:
        """Whether the name of an action may contain a comma."""
        return self._letters is not None and self._letters.with_moves

    def writes(self, text: str) -> bool:
        """Return whether a text has the form of the actions' words, with other letters and numbers in the
        same places.
        """
        return _form(text) in {_form(word) for word in self.words.values()} or (
            bool(self._text) and is_written_move(text, self.words.values())
        )

    def _spelt(self, bare: str, same: str) -> Actions:
        """Return the action of a move under another spelling; for chess moves, capitals count ("bxc3",
        "Bxc3").
        """
        return self._spellings.get(bare.rstrip("+#")) or self._spellings.get(same) or _NONE

    @cached_property
    def _spellings(self) -> Mapping[str, Actions]:
        # Computed only for a reply that does not use the words that the model was shown.
        return _grouped(spellings(self.words, self._text))

    @property
    def terms(self) -> Iterable[str]:
        """Return all words of actions in :func:`plain` form."""
        return (*self._plain, *self._other)

    def number(self, number: int) -> Actions:
        """Return the action of a bare number."""
        if self.numbered and self.first <= number < self.first + self.count:
            return frozenset({number})
        return self._plain.get(str(number)) or self._other.get(str(number)) or _NONE

    def name(self, action: int) -> str:
        """Return the word of an action as shown to the model."""
        return self.words.get(action) or str(action)

    def names(self, actions: Iterable[int]) -> str:
        """Return the words of several actions for a sentence; of many, it lists some and counts the rest."""
        listed = [self.name(action) for action in actions]
        rest = len(listed) - _SHOWN
        return ", ".join(listed[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")

    @property
    def everything(self) -> Sequence[int]:
        """Return the legal actions, or all actions if the legal ones are not known."""
        if self.legal is not None:
            return sorted(self.legal)
        return sorted(self.words) if self.words else range(self.first, self.first + self.count)

    def is_legal(self, action: int) -> bool:
        """Return whether an action is legal now."""
        return self.legal is None or action in self.legal


def _finder(moves: Sequence[str], env_id: str) -> Callable[[str], str]:
    """Return a function that finds the one move of several that a phrase names."""
    vocabulary = Vocabulary.of(0, len(moves), moves, env_id)

    def find(phrase: str) -> str:
        found = vocabulary.find(phrase)
        return vocabulary.name(next(iter(found))) if len(found) == 1 else ""

    return find


def _grouped(pairs: Iterable[tuple[str, int]]) -> dict[str, Actions]:
    found: dict[str, Actions] = {}
    for name, action in pairs:
        if name:
            found[name] = found.get(name, _NONE) | {action}
    return found


def _concepts(words: Mapping[int, str], env_id: str) -> Iterator[tuple[int, Concept]]:
    for concept in synonyms().concepts:
        if concept.concerns(env_id):
            yield from ((action, concept) for action, word in words.items() if plain(word) in concept.names)


def _synonyms(words: Mapping[int, str], env_id: str) -> list[tuple[str, int]]:
    # A word of the environment itself has only the environment's meaning.
    own = {plain(word) for word in words.values()}
    return [
        (name, action)
        for action, concept in _concepts(words, env_id)
        for name in (*(concept.said - own), *concept.symbols)
    ]


def _way_names(words: Mapping[int, str], env_id: str) -> list[tuple[str, int]]:
    own = {plain(word): action for action, word in words.items()}
    return [
        (name, action)
        for action, concept in _concepts(words, env_id)
        if concept.is_way
        for name in (plain(words[action]), *concept.said)
        if own.get(name, action) == action
    ]


def _done_to(words: Mapping[int, str], env_id: str) -> dict[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    for action, concept in _concepts(words, env_id):
        found[action] = found.get(action, frozenset()) | concept.objects
    return found


def _single_letters(words: Mapping[int, str]) -> list[tuple[str, int]]:
    """Return single letters as names: ``"k"`` for ``"column K"``, as a whole answer, if all words have this
    form.
    """
    found = {action: _COLUMN.fullmatch(word) for action, word in words.items()}
    if not all(found.values()):
        return []
    return [(match[1].casefold(), action) for action, match in found.items() if match]


def _form(text: str) -> str:
    same = " ".join(text.split()).casefold()
    return re.sub(r"\d+", "0", re.sub(r"(?<![^\W\d_])[a-z](?![^\W\d_])", "x", same))


def _numerals(words: Mapping[int, str]) -> list[tuple[str, int]]:
    """Return numbers as names: ``"3"`` for ``"column 3"``, if every word has one number and all numbers
    differ.
    """
    numbers = {action: re.findall(r"\d+", word) for action, word in words.items()}
    if not words or any(len(found) != 1 for found in numbers.values()):
        return []
    return [(found[0], action) for action, found in numbers.items()]
