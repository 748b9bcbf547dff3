"""Reads a whole reply: finds its action, or the reason why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mosaic_llm_worker.parsing.answers import chosen, joined
from mosaic_llm_worker.parsing.cleaning import plain, short, without_markup, without_thinking
from mosaic_llm_worker.parsing.content import PhraseActions, not_understood, read_content, several
from mosaic_llm_worker.parsing.delimited import AmbiguousObject, MarkedAnswer, MarkedContents, marks
from mosaic_llm_worker.parsing.prose import decided, prepared
from mosaic_llm_worker.parsing.synonyms import synonyms
from mosaic_llm_worker.parsing.values import NotAValue, data_of, lists_in, masked_out, readable, value_of
from mosaic_llm_worker.parsing.vocabulary import Vocabulary
from mosaic_worker.spaces import Space

_LONGEST: Final = 20_000
"""Largest number of characters of a reply without its reasoning; a longer reply is no answer."""
_OBJECT: Final = re.compile(r"\{[^{}]*:[^{}]*\}")
_LEGAL_ARE: Final = "; legal are"
_NO_NUMBER: Final = -1
"""Replaces the number of an action that is not legal and has no word in the current decision."""
_LONGEST_NOTES: Final = 2_000


class Reading(NamedTuple):
    """Result of reading a reply.

    Attributes:
        action: Action of the space; legal if legal actions are known. ``None`` if ``problem`` is set.
        problem: Why the reply has no usable action, as a sentence without a full stop.
        said: Message to teammates.
        illegal: Whether the reply names an action that is not legal now.
    """

    action: Any = None
    problem: str = ""
    said: str = ""
    illegal: bool = False


class Reader:
    """Reads the replies of one slot.

    Args:
        space: The action space.
        words: A word for each action of a ``Discrete`` space, or none.
        env_id: Id of the environment, because some synonyms are only for some environments.
        numbered: Whether a number may name an action, if the words contain no numbers.
        hides_legal: Whether the model does not know the legal actions; an answer that is written like a legal
            action but is none then counts as illegal, not as unreadable.

    Raises:
        ValueError: Actions of the space cannot be written as text.
    """

    def __init__(
        self,
        space: Space,
        words: Sequence[str] = (),
        env_id: str = "",
        *,
        numbered: bool = True,
        hides_legal: bool = False,
    ) -> None:
        if not readable(space):
            raise ValueError(f"an action of a {space.kind} space cannot be said in words")
        self.space = space
        self._vocabulary = Vocabulary.of(space.start, space.n, words, env_id)
        if not numbered and any(words):
            self._vocabulary = replace(self._vocabulary, numbered=False)
        self._hides = hides_legal

    def vocabulary(
        self,
        mask: NDArray[np.bool_] | None = None,
        choices: Sequence[tuple[int, str]] = (),
        text: str = "",
    ) -> Vocabulary:
        """Return the words of the current decision (of a ``Discrete`` space).

        Args:
            mask: Mask of the legal actions; ``None`` if all are legal.
            choices: (action, word) of the legal actions, if words depend on the position.
            text: The observation as text.
        """
        legal = None if mask is None else (np.flatnonzero(mask) + self.space.start).tolist()
        return self._vocabulary.now(legal, choices, text)

    def read(
        self,
        reply: str,
        mask: NDArray[np.bool_] | None = None,
        choices: Sequence[tuple[int, str]] = (),
        text: str = "",
        cut: bool = False,
    ) -> Reading:
        """Read one reply.

        Args:
            reply: Text of the reply.
            mask: Mask of the legal actions; ``None`` if all are legal.
            choices: (action, word) of the legal actions, if words depend on the position.
            text: The observation as text.
            cut: Whether the reply was cut off at the limit of its tokens.
        """
        cleaned = without_thinking(reply)
        if not cleaned.text:
            return Reading(problem=_empty_reply(reply, cleaned.thought, cut or cleaned.open))
        if len(cleaned.text) > _LONGEST:
            return Reading(problem=f"the reply has {len(cleaned.text):,} characters, too many for an answer")
        marked = marks(cleaned.text)
        if marked.problem:
            action, problem = None, f"the reply {marked.problem}"
        elif self.space.kind == "Discrete":
            vocabulary = self.vocabulary(mask, choices, text)
            action, problem = _discrete(marked.answers, marked.rest, vocabulary)
            if problem and self._hides:
                action, problem = _untold(action, problem, marked, vocabulary)
        else:
            action, problem = _written(self.space, marked.answers, marked.rest, mask)
            if self._hides:
                problem = problem.partition(_LEGAL_ARE)[0]
        illegal = bool(problem) and action is not None
        if problem and cleaned.open:
            problem = f"{problem}; the reply ends inside its thinking"
        elif problem and cut:
            problem = f"{problem}; the reply was cut off at its longest length"
        return Reading(None if problem else action, problem, marked.said, illegal)

    @staticmethod
    def notes(reply: str) -> str:
        """Return the notes in a reply: its text without reasoning, shortened if it is too long."""
        return without_thinking(reply).text[:_LONGEST_NOTES].strip()


def _empty_reply(reply: str, thought: bool, cut: bool) -> str:
    if not reply.strip():
        return "the reply is empty"
    if thought and cut:
        return "the reply ends inside its thinking, without an answer"
    return "the reply has no answer behind its thinking" if thought else "the reply is empty"


def _discrete(answers: Sequence[MarkedAnswer], rest: str, vocabulary: Vocabulary) -> tuple[int | None, str]:
    read = _of_marks(answers, vocabulary) if answers else _unmarked(without_markup(rest), vocabulary)
    if read.problem:
        return None, read.problem
    if len(read.actions) > 1:
        return None, several(read.actions, vocabulary)
    if not read.actions:
        return None, _names_none(rest)
    (action,) = read.actions
    if not vocabulary.is_legal(action):
        legal = vocabulary.names(vocabulary.everything)
        return action, f"{vocabulary.name(action)} is not legal now; legal are: {legal}"
    return action, ""


def _untold(
    action: int | None, problem: str, marked: MarkedContents, vocabulary: Vocabulary
) -> tuple[int | None, str]:
    """Replace a problem that would reveal legal actions, for a model that must not know them."""
    if action is not None:
        return action, f"{vocabulary.name(action)} is not legal now"
    texts = [str(mark.value) for mark in marked.answers] or [without_markup(marked.rest).strip()]
    if len(texts) == 1 and vocabulary.writes(texts[0]):
        return _NO_NUMBER, f'"{short(texts[0])}" is not legal now'
    return None, problem


def _of_marks(answers: Sequence[MarkedAnswer], vocabulary: Vocabulary) -> PhraseActions:
    found: list[tuple[int, ...]] = []
    for mark in answers:
        read = _of_value(mark.value, vocabulary)
        if read.problem:
            return read
        found.append(read.actions)
    return PhraseActions(joined(found))


def _of_value(value: Any, vocabulary: Vocabulary) -> PhraseActions:
    if isinstance(value, AmbiguousObject):
        return next(
            (read for read in (read_content(text, vocabulary) for text in value.texts) if read.actions),
            PhraseActions(),
        )
    if isinstance(value, bool):
        return PhraseActions(problem=not_understood(json.dumps(value)))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list | tuple):
        parts = [_of_value(part, vocabulary) for part in cast("Sequence[Any]", value)]
        if problem := next((part.problem for part in parts if part.problem), ""):
            return PhraseActions(problem=problem)
        return (
            PhraseActions(joined([p.actions for p in parts]))
            if parts
            else PhraseActions(problem="its list of actions is empty")
        )
    text = value if isinstance(value, str) else str(value)
    read = read_content(text, vocabulary)
    return read if read != PhraseActions() else PhraseActions(problem=not_understood(text))


def _unmarked(text: str, vocabulary: Vocabulary) -> PhraseActions:
    """Read a reply without marks: it is an action itself, or its text decides for one."""
    whole = text.strip()
    if whole[:1] in '["' and (data := _list_or_text(whole)) is not None:
        return _of_value(data, vocabulary)
    if _OBJECT.fullmatch(whole):
        return PhraseActions()  # The entries of an object without an answer are no answers.
    if "\n" not in whole:
        return read_content(whole, vocabulary)
    text = prepared(whole)
    return PhraseActions(chosen(decided(text, vocabulary), text))


def _list_or_text(text: str) -> Any:
    try:
        data: Any = data_of(text)
    except NotAValue:
        return None
    return cast("Any", data) if isinstance(data, list | str) else None


def _names_none(rest: str) -> str:
    said = f" {plain(rest)} "
    for phrase in synonyms().refusals:
        if f" {phrase} " in said or (not phrase.isascii() and phrase.replace(" ", "") in said):
            return "the model declined to act"
    if not rest.strip():
        return "the reply has a message to team-mates and no action"
    return f'the reply names no action: "{short(rest)}"'


def _written(
    space: Space, answers: Sequence[MarkedAnswer], rest: str, mask: NDArray[np.bool_] | None
) -> tuple[Any, str]:
    """Read an action that is written as a value, not named by a word."""
    given = [mark.value for mark in answers]
    if not given:
        given = _unmarked_values(space, rest)
    if not given:
        return None, f'the reply has no action in it: "{short(rest)}"'
    try:
        values = [value_of(space, _data(space, value)) for value in given]
    except NotAValue as exc:
        return None, f"the action does not fit: {exc}"
    except (OverflowError, RecursionError) as exc:
        return None, f"the action does not fit: {type(exc).__name__}"
    if any(not _same_action(values[0], value) for value in values[1:]):
        return None, f"the reply has {len(values)} different actions; exactly one is wanted"
    if mask is not None and (problem := masked_out(space, values[0], mask)):
        return values[0], f"the action is not legal now: {problem}"
    return values[0], ""


def _data(space: Space, value: Any) -> Any:
    if isinstance(value, AmbiguousObject):
        return value.data
    if not isinstance(value, str) or space.kind == "Text":
        return value
    return data_of(value)


def _unmarked_values(space: Space, rest: str) -> list[Any]:
    text = without_markup(rest).strip()
    if space.kind == "Text":
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return [lines[0].removeprefix(">").strip().strip("\"'`")] if len(lines) == 1 else []
    try:
        return [data_of(text)]
    except NotAValue:
        pass
    if space.kind == "Dict":
        found = re.search(r"\{.*\}", text, re.DOTALL)
        try:
            return [data_of(found[0])] if found else []
        except NotAValue:
            return []
    return _listed(text)


def _listed(text: str) -> list[Any]:
    """Return the lists of numbers that a text decides for, as it would decide for an action with a word."""
    lists = lists_in(text)
    if not lists:
        return []
    names = [f"list {i + 1}" for i in range(len(lists))]
    for name, (start, end, _) in reversed(list(zip(names, lists, strict=True))):
        text = f"{text[:start]}{name}{text[end:]}"
    vocabulary = Vocabulary.of(0, len(names), names)
    text = prepared(text)
    return [lists[i].value for i in chosen(decided(text, vocabulary), text)]


def _same_action(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        a, b = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return all(_same_action(a[key], b[key]) for key in a)
    if isinstance(one, tuple):
        return all(_same_action(a, b) for a, b in zip(cast("Any", one), other, strict=True))
    return bool(np.array_equal(one, other))
