"""From the replies to one question to the action that is played: of a model now, or of a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mosaic_llm_worker.chat_servers.servers import Completion
from mosaic_llm_worker.forms import written
from mosaic_llm_worker.parsing import Reader, Reading
from mosaic_llm_worker.votes import majority
from mosaic_worker.worker import Decision

SUMMARY_TURN: Final = 1
"""The turn of a decision's calls in which notes are written, not an answer."""
_CUT: Final = frozenset({"length", "max_tokens", "model_length"})


class Judged(NamedTuple):
    """What several replies to one question come to.

    Attributes:
        reading: Of the reply that counts; of the first where none can be used.
        at: Which reply that is.
        name: Its action in words; empty where none can be used.
        votes: Usable replies by the action that they name.
    """

    reading: Reading
    at: int
    name: str
    votes: Mapping[str, int]


def judge(
    reader: Reader, decision: Decision, replies: Sequence[Completion], name: Callable[[Any], str]
) -> Judged:
    """The action that most replies name; where none can be used, what is wrong with the first.

    Args:
        reader: Of the slot.
        decision: What was asked.
        replies: At least one, in the order in which they were asked for.
        name: An action in words.
    """
    readings = [_read(reader, decision, reply) for reply in replies]
    usable = [at for at, reading in enumerate(readings) if not reading.problem]
    if not usable:
        return Judged(readings[0], 0, "", {})
    names = [name(readings[at].action) for at in usable]
    first, votes = majority(names)
    return Judged(readings[usable[first]], usable[first], names[first], votes)


def action_name(reader: Reader, action: Any, choices: Sequence[tuple[int, str]] = ()) -> str:
    """An action in words.

    Args:
        reader: Of the slot.
        action: Of its space.
        choices: Legal actions in words, where these depend on the position.
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
