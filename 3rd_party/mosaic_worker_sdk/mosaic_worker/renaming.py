"""Other names for a game's actions and things: what is written in the usual names, in those of one slot."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Tuple, cast

_ACTION_AT = (
    r'(?P<quote>")(?P<quoted>{words})(?=")|(?P<open>\()(?P<inside>{words})(?=\))'
    r"|(?P<item>^- )(?P<listed>{words})(?=:|$)"
)
"""Where the word of an action stands for the action and for nothing else: "left" is a direction as well."""
_NOBODY = re.compile(r"(?!)")


def _no_names() -> Dict[str, str]:
    return {}


@dataclass(frozen=True)
class Names:
    """New names for the words of a game.

    Attributes:
        actions: New word by the usual one.
        things: The same, by lower-case words, of things, colors, and the game itself.
        marks: The same of single letters and numbers of a map or a board (``"column a"``, ``"piece K"``).
            The code that draws the map writes them: in a text they could not be told from other letters.
        drawn: Observations are drawn with the marks, so that no text in the usual ones can be renamed.
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
        """The new word of an action, or the one that it has where it keeps it."""
        return self.actions.get(word, word)

    def text(self, text: str) -> str:
        """A text in the new names: actions where nothing else can be meant, things wherever they stand."""
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
        """``"key: vatab"`` of each, as a record has it; words of actions that marks make up are left out."""
        actions: Mapping[str, str] = {} if self.drawn else self.actions
        pairs = (*actions.items(), *self.things.items(), *self.marks.items())
        return tuple(f"{usual}: {other}" for usual, other in pairs)

    def to_json(self) -> Dict[str, Any]:
        """Plain data, from which :meth:`of` makes it again."""
        named = {"actions": dict(self.actions), "things": dict(self.things), "marks": dict(self.marks)}
        return {**named, "drawn": self.drawn}

    @classmethod
    def of(cls, data: Any) -> Names:
        """From plain data; of anything else, none.

        Args:
            data: As :meth:`to_json` gave it.
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
    """Longer ones first: of "end zone" and "zone" the whole one is meant."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
