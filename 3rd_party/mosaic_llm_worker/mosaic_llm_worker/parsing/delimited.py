"""Finds the marked answers of a reply: in tags, JSON, boxes, after labels."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from typing import Any, Final, NamedTuple, cast

from mosaic_llm_worker.parsing.answers import taken_back_at
from mosaic_llm_worker.parsing.cleaning import plain, without_markup
from mosaic_llm_worker.parsing.synonyms import synonyms

_TAGS: Final = r"(?:final_)?(?:action|answer|move|choice|act)"
_PARAMETER: Final = r"parameter(?:\s+name)?\s*=\s*[\"']?(?:next_)?(?:action|move|choice)[\"']?"
_TAG: Final = re.compile(
    rf"[<\[]\s*(?:{_TAGS}|{_PARAMETER})\s*[>\]](.{{0,2000}}?)"
    rf"(?:[<\[]\s*/?\s*(?:{_TAGS}|parameter)\s*[>\]]|(?<=\w)\s*\n|$)",
    re.IGNORECASE | re.DOTALL,
)
_TAG_WHOLE: Final = re.compile(
    rf"[<\[]\s*(?:{_TAGS}|{_PARAMETER})\s*[>\]](.{{0,2000}}?)[<\[]\s*/\s*(?:{_TAGS}|parameter)\s*[>\]]",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(
    rf"<\s*{_TAGS}(?:\s+\w+)?\s*[=:]\s*[\"']?([^\"'<>/\n]{{1,200}}?)[\"']?\s*/?>", re.IGNORECASE
)
_ARGUMENT: Final = re.compile(
    r"<arg_key>\s*action\s*</arg_key>\s*<arg_value>(.{0,200}?)</arg_value>", re.IGNORECASE | re.DOTALL
)
_CLOSED_ONLY: Final = re.compile(rf"^([^<\n]*)<\s*/\s*{_TAGS}\s*>", re.IGNORECASE | re.MULTILINE)
_ANY_TAG: Final = re.compile(r"<[^<>\n]{1,60}>")
_BOXED: Final = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]{0,200}\}){0,500})\}")
_LATEX: Final = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")
_CALL: Final = re.compile(
    r"\b(?:[\w]+\.){0,3}(?:act|action|step|move|play|choose|call)\w{0,20}\(\s*(?:\w+\s*=\s*)?"
    r"([\"'])([^\"'\n]{1,80})\1\s*\)",
    re.IGNORECASE,
)
"""A tool call as a program writes it: ``act(action="left")``."""
_SAY: Final = re.compile(
    r"^[^\S\n]*[*_`>\-\"']*say[*_`\"']*[^\S\n]*:[*_`]*[^\S\n]*(.*)$|<\s*say\s*>(.*?)<\s*/\s*say\s*>",
    re.IGNORECASE | re.MULTILINE,
)
_VERBS: Final = "would be|will be|is|ist|est|es|è|é|是|为"
_DEEPEST: Final = 5
_MOST_BRACES: Final = 24
_MOST_JSON: Final = 8_000


class MarkCertainty(IntEnum):
    """Certainty of a mark of an answer; only a reply's marks of the highest certainty count."""

    FORM = 0
    """A tag, a JSON key, or a box."""
    FINAL = 1
    """A label that contains "final"."""
    LABEL = 2
    """Any other label."""


class AmbiguousObject(NamedTuple):
    """Possible meanings of a JSON object without a key for the answer.

    Attributes:
        texts: The object as an action's name, with or without its keys, the likeliest name first.
        data: The object itself.
    """

    texts: tuple[str, ...]
    data: Any


class MarkedAnswer(NamedTuple):
    """A marked answer of a reply.

    Attributes:
        at: Position in the text.
        strength: Certainty of the mark.
        value: Text, or a value from JSON.
    """

    at: int
    strength: MarkCertainty
    value: Any


class MarkedContents(NamedTuple):
    """The marked contents of a reply.

    Attributes:
        answers: Answers with the most certain marks, without those that the reply takes back.
        said: Message to teammates.
        rest: The reply without the message to teammates.
        problem: Why there is no answer although the reply contains marks.
    """

    answers: tuple[MarkedAnswer, ...]
    said: str
    rest: str
    problem: str


def marks(text: str) -> MarkedContents:
    """Find all marked contents of a reply."""
    said = [match[1] or match[2] or "" for match in _SAY.finditer(text)]
    rest = _SAY.sub(_blank, text)
    found = list(_forms(rest, said))
    where = rest
    if not found:
        where = without_markup(rest)
        found = list(_labeled(where))
    surest = min((mark.strength for mark in found), default=MarkCertainty.LABEL)
    given = [mark for mark in found if mark.strength is surest]
    answers = [mark for mark in given if not _is_placeholder(mark.value)]
    back = taken_back_at(where)
    standing = tuple(mark for mark in answers if not back or mark.at >= back[-1])
    problem = ""
    if given and not standing:
        problem = "takes its answer back" if answers else "repeats the form without an action in it"
    spoken_out = next((words for words in (_cleaned(each) for each in said) if words), "")
    return MarkedContents(standing, spoken_out, rest, problem)


def _blank(match: re.Match[str]) -> str:
    """Return blanks of the same length, so that positions in the text stay valid."""
    return " " * len(match[0])


def _cleaned(said: str) -> str:
    return said.strip().strip("*_`\"'“”").strip()


def _is_placeholder(value: Any) -> bool:
    if isinstance(value, str):
        text = value.strip()
        return not text or (plain(text) in synonyms().placeholders and not re.search(r"\d", text))
    return value is None


def _forms(text: str, said: list[str]) -> Iterator[MarkedAnswer]:
    values: list[tuple[int, Any]] = []
    for end, found in _objects(text):
        values += [(end, each) for each in _answers_in(found, said)]
    taken = _TAG_WHOLE.sub(_blank, text)
    values += [(m.start(1), _ANY_TAG.sub("", m[1])) for m in _TAG_WHOLE.finditer(text)]
    values += [(m.start(1), _ANY_TAG.sub("", m[1])) for m in _TAG.finditer(taken)]
    values += [(m.start(1), m[1]) for m in (*_ATTRIBUTE.finditer(taken), *_ARGUMENT.finditer(taken))]
    values += [(m.start(2), m[2]) for m in _CALL.finditer(text)]
    if not values:
        values += [(m.start(1), m[1]) for m in (*_CLOSED_ONLY.finditer(text), *_entry().finditer(text))]
    values += [(m.start(1), _LATEX.sub(r"\1", m[1])) for m in _BOXED.finditer(text)]
    for at, value in sorted(values, key=lambda each: each[0]):
        yield MarkedAnswer(at, MarkCertainty.FORM, _parsed(value))


@cache
def _entry() -> re.Pattern[str]:
    """Return a pattern for single entries of an invalid JSON object, cut off or with quotation marks inside
    strings.
    """
    keys = "|".join(re.escape(key).replace(r"\ ", "[ _]") for key in synonyms().keys)
    return re.compile(
        rf"\\?[\"'](?:{keys})\\?[\"']\s*:\s*\\?[\"']([^\"'\\\n]{{0,200}})\\?[\"']", re.IGNORECASE
    )


def _parsed(value: Any) -> Any:
    """Parse a text that is itself JSON, as in ``<action>{"action": "left"}</action>``."""
    if not isinstance(value, str):
        return value
    if value.strip().startswith("{"):
        for _, found in _objects(value):
            if inner := _answers_in(found, []):
                return inner[0]
    return without_markup(_ANY_TAG.sub("", value) if value.count("<") > 1 else value).strip()


def _answers_in(data: Any, said: list[str], deep: int = 0) -> list[Any]:
    """Return the values of keys for the answer, in an object and the objects that it contains."""
    if isinstance(data, list) and deep and deep <= _DEEPEST:
        parts = cast("list[Any]", data)
        return [answer for part in parts for answer in _answers_in(part, said, deep + 1)]
    if not isinstance(data, dict) or deep > _DEEPEST:
        return []
    entries = {plain(str(key)): value for key, value in cast("dict[Any, Any]", data).items()}
    said += [entries[key] for key in ("say", "said", "message") if isinstance(entries.get(key), str)]
    answers = [_unwrapped(value, said, deep) for key, value in entries.items() if key in synonyms().keys]
    if answers:
        return answers
    wrapped = {key: _maybe_json(value) for key, value in entries.items() if key in synonyms().wrappers}
    for inner in wrapped.values():
        answers += _answers_in(inner, said, deep + 1)
    if answers:
        return answers
    return _called(entries, wrapped, deep)


def _called(entries: dict[str, Any], wrapped: dict[str, Any], deep: int) -> list[Any]:
    """Read a tool call without a key for the answer: the action is its name, or all of its arguments."""
    name = entries.get("name", entries.get("tool"))
    if isinstance(name, str) and wrapped:
        given: Any = next(iter(wrapped.values()))
        if not given:
            return [name]
        return [_from_arguments(cast("dict[str, Any]", given), alone=True)] if isinstance(given, dict) else []
    return (
        [_from_arguments(entries, alone=False)] if 0 < len(entries) <= 2 and not wrapped and not deep else []
    )


def _from_arguments(arguments: dict[str, Any], alone: bool) -> AmbiguousObject:
    """Read arguments as an action's name: ``{"column": 2}`` is a name in two parts; texts may be names
    without keys.
    """
    parts = [(str(key), value) for key, value in arguments.items() if isinstance(value, str | int | float)]
    if len(parts) < len(arguments):
        return AmbiguousObject((), arguments)
    whole = " ".join(f"{key} {value}" for key, value in parts)
    texts = [whole]
    if alone and all(isinstance(value, str) for _, value in parts):
        texts.append(" ".join(str(value) for _, value in parts))
    return AmbiguousObject(tuple(texts), arguments)


def _unwrapped(value: Any, said: list[str], deep: int) -> Any:
    """Return the inner value: ``{"action": {"name": "left"}}`` means ``{"action": "left"}``."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        inner = (
            _answers_in(entries, said, deep + 1) if synonyms().keys & {plain(key) for key in entries} else []
        )
        if len(inner) == 1:
            return inner[0]
        for key in ("name", "type", "value", "id"):
            if isinstance(entries.get(key), str | int):
                return entries[key]
        if len(entries) == 1:
            ((key, only),) = entries.items()
            return key if only is True or only == {} else AmbiguousObject((f"{key} {only}",), entries)
        return entries
    return value


def _maybe_json(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return None
    return value


def _objects(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the outermost JSON objects in a text, also objects in Python's syntax.

    Each object comes with the position of its end, because a correction inside it does not concern the answer
    behind it.
    """
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
            yield end, found
            at = end + 1


def _closing(text: str, at: int) -> int | None:
    """Return the position of the brace that closes the one at ``at``, outside quotation marks."""
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
    for read in (_json, _python, _mended):
        try:
            found = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return None


def _json(text: str) -> Any:
    return json.loads(text, strict=False)


def _python(text: str) -> Any:
    return ast.literal_eval(text)


def _mended(text: str) -> Any:
    """Parse an object with superfluous commas, keys without quotation marks, or typographic quotation
    marks.
    """
    text = re.sub(r"[“”„]", '"', text)
    text = re.sub(r",\s*([}\]])", r"\1", text)
    text = text.replace('\\"', '"') if text.count('\\"') == text.count('"') else text
    return _json(re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', text))


@cache
def _label_pattern() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = synonyms()
    before = "|".join(sorted(map(re.escape, words.before), key=len, reverse=True))

    def pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
        names = "|".join(re.escape(label).replace(r"\ ", r"[\s_]+") for label in labels)
        return re.compile(
            rf"(?:^|(?<=[.!?;])[^\S\n]|[^\S\n]-[^\S\n])\W*(?:\d{{1,2}}[.)]\W*)?(?:(?:{before})\b\W*){{0,4}}"
            rf"(?:{names})(?:\s+\(?\d{{1,3}}\)?)?"
            # "is" counts only at the end of a phrase such as "my action is", because "action is needed" is
            # prose.
            rf"\s*(?:[:=]|->|=>|→|[^\S\n]-(?=[^\S\n])|(?:{_VERBS})\s*:?(?=\s|[\"'\u3040-\u9fff]))[^\S\n]*"
            rf"(.*?)(?=$|[.;!?-][^\S\n]+(?:(?:{before})[^\S\n]+)?(?:{names})[^\S\n]*:)",
            re.IGNORECASE | re.MULTILINE,
        )

    return pattern(words.final_labels), pattern(words.labels)


def _labeled(text: str) -> Iterator[MarkedAnswer]:
    for strength, pattern in zip((MarkCertainty.FINAL, MarkCertainty.LABEL), _label_pattern(), strict=True):
        for match in pattern.finditer(text):
            value: str = match[1].strip()
            if not value:
                below = (line.strip() for line in text[match.end() :].splitlines())
                value = next((line for line in below if line), "")
            yield MarkedAnswer(match.start(1), strength, value)
