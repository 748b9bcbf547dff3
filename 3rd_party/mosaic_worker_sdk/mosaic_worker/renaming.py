"""Renames actions and objects of a game in texts, so that each slot may use other words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Tuple, cast

_ACTION_AT = (
    r'(?P<quote>")(?P<quoted>{words})(?=")|(?P<open>\()(?P<inside>{words})(?=\))'
    r"|(?P<item>^- )(?P<listed>{words})(?=:|$)"
)
"""Contexts in which a word is clearly an action; elsewhere, "left" may be a direction."""
_NOBODY = re.compile(r"(?!)")


def _no_names() -> Dict[str, str]:
    return {}


@dataclass(frozen=True)
class Names:
    """New names for the words of a game.

    Attributes:
        actions: New word by the usual word of an action.
        things: New word by the usual lower-case word of an object, a color, or the game itself.
        marks: New symbol by the usual letter or number of a map or a board (``"column a"``, ``"piece K"``).
            The code that draws the map uses these, because in a text they look like any other letter.
        drawn: Whether observations are drawn with the new symbols; texts are then not renamed.
    """

    actions: Mapping[str, str] = field(default_factory=_no_names)
    things: Mapping[str, str] = field(default_factory=_no_names)
    marks: Mapping[str, str] = field(default_factory=_no_names)
    drawn: bool = False
    _things_at: Any = field(init=False, repr=False, compare=False)
    _actions_at: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = _any_of(self.things)
        things = rf"(?<!\w)(?P<word>{words})(?P<several>e?s)?(?!\w)"
        object.__setattr__(self, "_things_at", re.compile(things, re.IGNORECASE) if words else _NOBODY)
        words = _any_of(self.actions)
        actions = _ACTION_AT.format(words=words)
        object.__setattr__(self, "_actions_at", re.compile(actions, re.MULTILINE) if words else _NOBODY)

    def __bool__(self) -> bool:
        return bool(self.actions or self.things or self.marks)

    def action(self, word: str) -> str:
        """Return the new word of an action, or ``word`` if the action is not renamed."""
        return self.actions.get(word, word)

    def text(self, text: str) -> str:
        """Return a text with the new names: objects everywhere, actions only in unambiguous contexts."""
        if self.drawn:
            return text
        return self._things_at.sub(self._thing, self._actions_at.sub(self._of_action, text))

    def _of_action(self, match: Any) -> str:
        for lead, word in (("quote", "quoted"), ("open", "inside"), ("item", "listed")):
            if match[word]:
                return f"{match[lead]}{self.actions[match[word]]}"
        return str(match[0])

    def _thing(self, match: Any) -> str:
        word = match["word"]
        new = self.things[word.lower()]
        return (new.capitalize() if word[:1].isupper() else new) + ("s" if match["several"] else "")

    @property
    def listed(self) -> Tuple[str, ...]:
        """Return all new names in the form of records, for example ``"key: vatab"``.

        If ``drawn`` is set, actions are left out, because their words consist of symbols.
        """
        actions: Mapping[str, str] = {} if self.drawn else self.actions
        pairs = (*actions.items(), *self.things.items(), *self.marks.items())
        return tuple(f"{usual}: {other}" for usual, other in pairs)

    def to_json(self) -> Dict[str, Any]:
        """Return plain data from which :meth:`of` makes equal names."""
        named = {"actions": dict(self.actions), "things": dict(self.things), "marks": dict(self.marks)}
        return {**named, "drawn": self.drawn}

    @classmethod
    def of(cls, data: Any) -> Names:
        """Make names from plain data; return no new names if ``data`` is no dict.

        Args:
            data: Data returned by :meth:`to_json`.
        """
        if not isinstance(data, dict):
            return cls()
        given = cast("Dict[str, Any]", data)
        actions, things, marks = (_pairs(given.get(key)) for key in ("actions", "things", "marks"))
        return cls(actions, things, marks, given.get("drawn") is True)


def _pairs(data: Any) -> Dict[str, str]:
    given = cast("Dict[str, Any]", data) if isinstance(data, dict) else {}
    return {usual: str(other) for usual, other in given.items()}


def _any_of(words: Mapping[str, str]) -> str:
    """Return a pattern that matches any of ``words``, longer words first ("end zone" before "zone")."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
