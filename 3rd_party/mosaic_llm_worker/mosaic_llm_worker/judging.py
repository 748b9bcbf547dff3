"""Chooses the action to play from the replies to one prompt, of a model or of a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mosaic_llm_worker.chat_servers.servers import Completion
from mosaic_llm_worker.forms import written
from mosaic_llm_worker.parsing import Reader, Reading
from mosaic_llm_worker.votes import majority
from mosaic_worker.worker import Decision

SUMMARY_TURN: Final = 1
"""Turn number of the call within a decision in which the model writes notes instead of an answer."""
_CUT: Final = frozenset({"length", "max_tokens", "model_length"})


class JudgedReplies(NamedTuple):
    """The result of several replies to one prompt.

    Attributes:
        reading: Reading of the chosen reply; of the first reply if none is usable.
        at: Index of that reply.
        name: Word of the action; empty if no reply is usable.
        votes: Number of usable replies by the action that they name.
    """

    reading: Reading
    at: int
    name: str
    votes: Mapping[str, int]


def judge(
    reader: Reader, decision: Decision, replies: Sequence[Completion], name: Callable[[Any], str]
) -> JudgedReplies:
    """Return the action that most replies name; if no reply is usable, the problem of the first one.

    Args:
        reader: Reader of the slot.
        decision: The decision.
        replies: At least one reply, in the order of the requests.
        name: Returns the word of an action.
    """
    readings = [_read(reader, decision, reply) for reply in replies]
    usable = [at for at, reading in enumerate(readings) if not reading.problem]
    if not usable:
        return JudgedReplies(readings[0], 0, "", {})
    names = [name(readings[at].action) for at in usable]
    first, votes = majority(names)
    return JudgedReplies(readings[usable[first]], usable[first], names[first], votes)


def action_name(reader: Reader, action: Any, choices: Sequence[tuple[int, str]] = ()) -> str:
    """Return the word of an action.

    Args:
        reader: Reader of the slot.
        action: Action of the slot's space.
        choices: (action, word) of the legal actions, if words depend on the position.
    """
    if reader.space.kind != "Discrete":
        return written(action)
    return dict(choices).get(int(action)) or reader.vocabulary().name(int(action))


def _read(reader: Reader, decision: Decision, reply: Completion) -> Reading:
    reading = reader.read(
        reply.text, decision.action_mask, decision.choices, decision.text, cut=reply.finish in _CUT
    )
    if reading.problem and not reply.text.strip() and reply.thinking:
        return Reading(problem="the model thought and gave no answer; more max_tokens may help")
    return reading
