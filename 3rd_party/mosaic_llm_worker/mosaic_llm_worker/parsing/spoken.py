"""Reads actions whose words have components: "say B", "left, say B", "torque -1"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mosaic_llm_worker.parsing.cleaning import plain

_NONE: Final[frozenset[int]] = frozenset()
_WORD: Final = re.compile(r"(?:(.+), )?say ([A-Z])")
_TOLD: Final = (
    r"(?:(?:i\s+)?(?:will\s+)?say(?:ing)?\s*:?\s+(?:the\s+)?(?:letter\s+)?|(?:the\s+)?letter\s+)"
    r"[\"']?([a-z])[\"']?"
)
_LETTER: Final = re.compile(_TOLD, re.IGNORECASE)
_LINK: Final = r"(?:\s*[,;/&+]\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+while\s+)"
_MOVE_FIRST: Final = re.compile(rf"(.+?)(?:{_LINK}|\s+){_TOLD}", re.IGNORECASE)
_LETTER_FIRST: Final = re.compile(rf"{_TOLD}{_LINK}(.+)", re.IGNORECASE)
_MOVE_AND_BARE: Final = re.compile(rf"(.+?)(?:{_LINK}|\s+)[\"']?([A-Z])[\"']?")
_NUMBER: Final = re.compile(r"(.*\w) ([+-]?\d+)")
_QUANTITY: Final = re.compile(r"(?<![\w.+±-])([+-]?)\s?(\d+)(?:\.0+)?(?![\w.])")
_AROUND: Final = frozenset({"apply", "applying", "use", "a", "the", "of", "set", "to"})
_NO_QUANTITY: Final = frozenset({"noop", "no op", "nothing"})
_LONGEST: Final = 80
Finder = Callable[[str], str]
"""Function from a phrase to the word that it names as a whole; ``""`` if it names none or several."""


@dataclass(frozen=True)
class LetterActions:
    """Actions that say a letter, alone or together with a move.

    Attributes:
        actions: Action by move (``""`` without a move) and letter.
        move: Finds the move that a phrase names.
    """

    actions: Mapping[tuple[str, str], int]
    move: Finder

    @classmethod
    def of(cls, words: Mapping[int, str], finder: Callable[[Sequence[str]], Finder]) -> LetterActions | None:
        """Make the letters of a space from its words; return ``None`` if its actions are others.

        Args:
            words: Words by action.
            finder: Makes the function that finds the moves in the words.
        """
        found = {action: _WORD.fullmatch(word) for action, word in words.items()}
        actions = {(match[1] or "", match[2]): action for action, match in found.items() if match}
        moves = list(dict.fromkeys(first for first, _ in actions))
        if not words or len(actions) != len(words) or ("" in moves and len(moves) > 1):
            return None
        return cls(actions, finder([each for each in moves if each]))

    @property
    def with_moves(self) -> bool:
        """Whether each action is a move together with a letter."""
        return ("", next(iter(self.actions))[1]) not in self.actions

    def find(self, phrase: str) -> frozenset[int]:
        """Return the action that a phrase names with a letter that is marked as one ("left and say B")."""
        if len(phrase) > _LONGEST:
            return _NONE
        if not self.with_moves:
            match = _LETTER.fullmatch(phrase)
            return self._action("", match[1]) if match else _NONE
        if (match := _MOVE_FIRST.fullmatch(phrase)) or (match := _MOVE_AND_BARE.fullmatch(phrase)):
            return self._action(self.move(match[1]), match[2])
        match = _LETTER_FIRST.fullmatch(phrase)
        return self._action(self.move(match[2]), match[1]) if match else _NONE

    def whole(self, phrase: str) -> frozenset[int]:
        """Return the action of a bare letter, which is a name only if it is the whole answer."""
        bare = phrase.strip()
        return self._action("", bare) if len(bare) == 1 and not self.with_moves else _NONE

    def parts(self, words: Sequence[str]) -> frozenset[int]:
        """Return all actions with the letter or move at the beginning of ``words``, in an enumeration ("B or
        C").
        """
        for size in range(min(4, len(words)), 0, -1):
            phrase = " ".join(words[:size]).strip(" .,;:!\"'")
            letter = _LETTER.fullmatch(phrase)
            bare = len(phrase) == 1 and phrase.isupper() and (phrase != "I" or len(words) == 1)
            said = letter[1].upper() if letter else phrase if bare else ""
            move = self.move(phrase) if self.with_moves else ""
            found = {
                action
                for (first, told), action in self.actions.items()
                if told == said or (move and first == move)
            }
            if found:
                return frozenset(found)
        return _NONE

    def _action(self, move: str, letter: str) -> frozenset[int]:
        action = self.actions.get((move, letter.upper()))
        return _NONE if action is None else frozenset({action})


@dataclass(frozen=True)
class Quantities:
    """Actions that are one quantity with different signed values ("torque -1", "torque +1").

    Attributes:
        noun: Name of the quantity, in :func:`plain` form.
        actions: Action by number.
    """

    noun: str
    actions: Mapping[int, int]

    @classmethod
    def of(cls, words: Mapping[int, str]) -> Quantities | None:
        """Make the quantities of a space from its words; return ``None`` if its actions are others."""
        found = {action: _NUMBER.fullmatch(word) for action, word in words.items()}
        actions = {int(match[2]): action for action, match in found.items() if match}
        nouns = {plain(match[1]) for match in found.values() if match}
        rest = [action for action, match in found.items() if match is None]
        if len(nouns) != 1 or min(actions) >= 0 or len(actions) + len(rest) != len(words) or len(rest) > 1:
            return None
        if rest and (0 in actions or plain(words[rest[0]]) not in _NO_QUANTITY):
            return None
        # If all words but one have a number, the action that does nothing is the quantity 0.
        return cls(nouns.pop(), actions | dict(enumerate(rest)))

    def find(self, phrase: str) -> frozenset[int]:
        """Return the action of a number that is named with its sign or with the name of the quantity.

        A bare "1" names none, because it may mean the second action.
        """
        if len(phrase) > _LONGEST or plain(phrase).rpartition(" ")[2] in _AROUND:
            return _NONE
        if (number := self._in_words(plain(phrase))) is None:
            phrase = phrase.replace("_", " ")
            given = _QUANTITY.findall(phrase)
            if len(given) != 1:
                return _NONE
            (sign, digits), rest = given[0], self._without_fillers(_QUANTITY.sub(" ", phrase))
            named = self.noun in rest or bool(sign)
            if not named or rest.replace(self.noun, "", 1).strip():
                return _NONE
            number = int(f"{sign}{digits}")
        action = self.actions.get(number)
        return _NONE if action is None else frozenset({action})

    def _in_words(self, phrase: str) -> int | None:
        """Return the number that a phrase such as ``"negative torque"`` or ``"no torque"`` names."""
        kind = self._without_fillers(phrase).removesuffix(self.noun).strip()
        if phrase == kind or self.noun not in phrase:
            return None
        signs = {"negative": -1, "positive": 1, "minus one": -1, "plus one": 1, "no": 0, "zero": 0}
        if kind not in signs:
            return None
        same = [n for n in self.actions if (n > 0) - (n < 0) == signs[kind]]
        return same[0] if len(same) == 1 else None

    def _without_fillers(self, phrase: str) -> str:
        return " ".join(word for word in plain(phrase).split() if word not in _AROUND)
