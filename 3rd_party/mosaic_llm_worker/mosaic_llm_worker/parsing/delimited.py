"""Finds what a reply marks as its answer: tags, JSON, boxes, labels."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from typing import Any, Final, NamedTuple, cast

from mosaic_llm_worker.parsing.cleaning import plain, without_markup
from mosaic_llm_worker.parsing.synonyms import synonyms

_TAGS: Final = r"(?:final_)?(?:action|answer|move|choice)"
_TAG: Final = re.compile(
    rf"[<\[]\s*({_TAGS})\s*[>\]](.{{0,2000}}?)(?:[<\[]\s*/?\s*{_TAGS}\s*[>\]]|\n|$)",
    re.IGNORECASE | re.DOTALL,
)
_TAG_WHOLE: Final = re.compile(
    rf"[<\[]\s*({_TAGS})\s*[>\]](.{{0,2000}}?)[<\[]\s*/\s*{_TAGS}\s*[>\]]", re.IGNORECASE | re.DOTALL
)
_ATTRIBUTE: Final = re.compile(
    rf"<\s*{_TAGS}(?:\s+\w+)?\s*[=:]\s*[\"']?([^\"'<>/\n]{{1,200}}?)[\"']?\s*/?>", re.IGNORECASE
)
_CLOSED_ONLY: Final = re.compile(rf"^([^<\n]*)<\s*/\s*{_TAGS}\s*>", re.IGNORECASE | re.MULTILINE)
_ANY_TAG: Final = re.compile(r"<[^<>\n]{1,60}>")
_BOXED: Final = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]{0,200}\}){0,500})\}")
_LATEX: Final = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")
_SAY: Final = re.compile(
    r"^[^\S\n]*[*_`>\-\"']*say[*_`\"']*[^\S\n]*:[*_`]*[^\S\n]*(.*)$|<\s*say\s*>(.*?)<\s*/\s*say\s*>",
    re.IGNORECASE | re.MULTILINE,
)
_VERBS: Final = "would be|will be|is|ist|est|es|è|é|是|为"
_MOST_BRACES: Final = 24
_MOST_JSON: Final = 8_000


class Strength(IntEnum):
    """How surely a mark means the answer; only the surest that a reply has are looked at."""

    FORM = 0
    """A tag, a JSON key, a box."""
    FINAL = 1
    """A label with "final" in it."""
    LABEL = 2
    """A label."""


class Marked(NamedTuple):
    """Something that a reply marks as its answer.

    Attributes:
        strength: How surely.
        value: Text, or what JSON says.
    """

    strength: Strength
    value: Any


class Marks(NamedTuple):
    """What a reply marks.

    Attributes:
        answers: The surest of its answers.
        said: What it says to team-mates.
        rest: The text without what is said to team-mates.
        empty: It has a mark with nothing, or the form's own words, in it.
    """

    answers: tuple[Marked, ...]
    said: str
    rest: str
    empty: bool


def marks(text: str) -> Marks:
    """Find all that is marked."""
    said = [match[1] or match[2] or "" for match in _SAY.finditer(text)]
    rest = _SAY.sub("", text)
    found, spoken = _forms(rest)
    said += spoken
    if not found:
        found = list(_labelled(without_markup(rest)))
    surest = min((mark.strength for mark in found), default=Strength.LABEL)
    given = [mark for mark in found if mark.strength is surest]
    answers = tuple(mark for mark in given if not _is_placeholder(mark.value))
    spoken_out = next((words for words in (_cleaned(each) for each in said) if words), "")
    return Marks(answers, spoken_out, rest, empty=bool(given) and not answers)


def _cleaned(said: str) -> str:
    return said.strip().strip("*_`\"'“”").strip()


def _is_placeholder(value: Any) -> bool:
    if isinstance(value, str):
        text = value.strip()
        return not text or (plain(text) in synonyms().placeholders and not re.search(r"\d", text))
    return value is None


def _forms(text: str) -> tuple[list[Marked], list[str]]:
    values: list[Any] = []
    said: list[str] = []
    for found in _objects(text):
        values += _answers_in(found, said)
    taken = _TAG_WHOLE.sub("\n", text)
    values += [_ANY_TAG.sub("", match[2]) for match in _TAG_WHOLE.finditer(text)]
    values += [_ANY_TAG.sub("", match[2]) for match in _TAG.finditer(taken)]
    values += [match[1] for match in _ATTRIBUTE.finditer(taken)]
    if not values:
        values += [match[1] for match in _CLOSED_ONLY.finditer(text)]
    values += [_LATEX.sub(r"\1", match[1]) for match in _BOXED.finditer(text)]
    return [Marked(Strength.FORM, each) for each in (_parsed(value) for value in values)], said


def _parsed(value: Any) -> Any:
    """Text that is itself JSON of the form, as in ``<action>{"action": "left"}</action>``."""
    if isinstance(value, str) and value.strip().startswith("{"):
        for found in _objects(value):
            inner = _answers_in(found, [])
            if inner:
                return inner[0]
    return without_markup(value).strip() if isinstance(value, str) else value


def _answers_in(data: Any, said: list[str], deep: int = 0) -> list[Any]:
    """Values of the keys that mean the answer, in an object and the objects it wraps."""
    if not isinstance(data, dict) or deep > 3:
        return []
    entries = cast("dict[Any, Any]", data)
    answers: list[Any] = []
    for key, value in entries.items():
        name = plain(str(key))
        if name in ("say", "said", "message") and isinstance(value, str):
            said.append(value)
        elif name in synonyms().keys:
            answers.append(_unwrapped(value, said, deep))
        elif name in ("arguments", "parameters", "args", "input"):
            inner: Any = _maybe_json(value)
            answers += _answers_in(inner, said, deep + 1)
    return answers


def _unwrapped(value: Any, said: list[str], deep: int) -> Any:
    """``{"action": {"name": "left"}}`` means ``{"action": "left"}``."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        inner = _answers_in(entries, said, deep + 1)
        if len(inner) == 1:
            return inner[0]
        for key in ("name", "type", "value", "id"):
            if isinstance(entries.get(key), str | int):
                return entries[key]
        return entries
    return value


def _maybe_json(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return None
    return value


def _objects(text: str) -> Iterator[Any]:
    """JSON objects in a text, also such as Python would write them; outermost ones only."""
    at, tries = 0, 0
    while tries < _MOST_BRACES and (at := text.find("{", at)) >= 0:
        tries += 1
        end = _closing(text, at)
        if end is None:
            at += 1
            continue
        found = _object(text[at : end + 1])
        if found is None:
            at += 1
        else:
            yield found
            at = end + 1


def _closing(text: str, at: int) -> int | None:
    """Where the brace closes that opens at ``at``; quotes are respected."""
    depth, quote, i = 0, "", at
    stop = min(len(text), at + _MOST_JSON)
    while i < stop:
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = ""
        elif c == '"':
            quote = c
        elif c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return None


def _object(text: str) -> dict[str, Any] | None:
    for read in (json.loads, _python, _mended):
        try:
            found = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return None


def _python(text: str) -> Any:
    return ast.literal_eval(text)


def _mended(text: str) -> Any:
    """Commas too many, keys without quotes, typographic quotes."""
    text = re.sub(r"[“”„]", '"', text)
    text = re.sub(r",\s*([}\]])", r"\1", text)
    return json.loads(re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', text))


@cache
def _label_pattern() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = synonyms()
    before = "|".join(sorted(map(re.escape, words.before), key=len, reverse=True))

    def pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
        names = "|".join(re.escape(label).replace(r"\ ", r"[\s_]+") for label in labels)
        return re.compile(
            rf"^\W*(?:\d{{1,2}}[.)]\W*)?(?:(?:{before})\b\W*){{0,4}}(?:{names})(?:\s+\(?\d{{1,3}}\)?)?"
            # "is" only at the end of a phrase such as "my action is": "action is needed" is prose.
            rf"\s*(?:[:=]|->|=>|→|(?:{_VERBS})\s*:?(?=\s|[\"'\u3040-\u9fff]))[^\S\n]*(.*)$",
            re.IGNORECASE | re.MULTILINE,
        )

    return pattern(words.final_labels), pattern(words.labels)


def _labelled(text: str) -> Iterator[Marked]:
    for strength, pattern in zip((Strength.FINAL, Strength.LABEL), _label_pattern(), strict=True):
        for match in pattern.finditer(text):
            value: str = match[1].strip()
            if not value:
                below = (line.strip() for line in text[match.end() :].splitlines())
                value = next((line for line in below if line), "")
            yield Marked(strength, value)
