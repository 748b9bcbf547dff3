"""Reads recorded replies again: ``python -m mosaic_llm_worker.reread``.

The program reads one JSON object from stdin, ``{"settings": {…}, "slot": {agent, env, action_meanings,
action_space}, "decisions": [{text, choices, mask, attempts}]}``; ``attempts`` contains the recorded calls of
each attempt. It prints one JSON line, ``{"readings": [{attempt, action, reply} or {problem, reply}, …]}`` or
``{"error": "a sentence"}``. It contacts no server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from mosaic_llm_worker.cassette import completion_of
from mosaic_llm_worker.chat_servers.servers import Completion
from mosaic_llm_worker.decisions import decision_of
from mosaic_llm_worker.forms import plain_value
from mosaic_llm_worker.judging import SUMMARY_TURN, action_name, judge
from mosaic_llm_worker.parsing import Reader
from mosaic_llm_worker.preview import main
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision

SHOWN: Final = 300
"""Largest number of characters of a reply in the output."""

Attempt: TypeAlias = Sequence[Mapping[str, Any]]
Outcome = tuple[Any, str, str]
"""Action as plain data, or ``None``; the reason if there is none; the chosen reply."""


def reread(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the actions that the current version reads from recorded replies.

    Args:
        asked: The JSON object that the module's description defines.
    """
    return answered(asked, _judge_of)


def answered(
    asked: Mapping[str, Any], judge_of: Callable[[Mapping[str, Any]], Callable[[Decision, Attempt], Outcome]]
) -> dict[str, Any]:
    """Return the readings of all decisions: for each decision, the first attempt with an action.

    Args:
        asked: The JSON object that the module's description defines.
        judge_of: Makes from the request the function that judges the calls of one attempt.
    """
    try:
        judged = judge_of(asked)
        decisions = [(decision_of(each), each["attempts"]) for each in asked["decisions"]]
    except (KeyError, TypeError, ValueError) as exc:
        return {"error": f"the request is not complete: {type(exc).__name__}: {exc}"}
    return {"readings": [_first_usable(judged, *each) for each in decisions]}


def _first_usable(
    judged: Callable[[Decision, Attempt], Outcome], decision: Decision, attempts: Iterable[Attempt]
) -> dict[str, Any]:
    problem = reply = ""
    for number, calls in enumerate(attempts):
        action, problem, reply = judged(decision, calls)
        if not problem:
            return {"attempt": number, "action": action, "reply": _short(reply)}
    return {"problem": problem, "reply": _short(reply)}


def replies_of(calls: Attempt) -> tuple[list[Completion], str]:
    """Return the replies of an attempt in the order of their turns, and the first error of a call without a
    reply.
    """
    ordered = sorted(calls, key=lambda call: int(call.get("turn") or 0))
    errors = [str(call["error"]) for call in ordered if call.get("error")]
    return [completion_of(c) for c in ordered if not c.get("error")], errors[0] if errors else ""


def _judge_of(asked: Mapping[str, Any]) -> Callable[[Decision, Attempt], Outcome]:
    slot: Mapping[str, Any] = asked["slot"]
    space = Space.from_json(slot["action_space"])
    given: Mapping[str, Any] = asked.get("settings") or {}
    reader = Reader(
        space,
        tuple(slot.get("action_meanings", ())),
        str(slot["env"]),
        numbered=False,
        hides_legal=given.get("hide_legal") is True,
    )

    def judged(decision: Decision, calls: Attempt) -> Outcome:
        answers = [call for call in calls if call.get("turn") != SUMMARY_TURN]
        replies, error = replies_of(answers)
        if not replies:
            return None, error or "there is no reply", ""
        result = judge(reader, decision, replies, lambda a: action_name(reader, a, decision.choices))
        action = None if result.reading.problem else plain_value(result.reading.action)
        return action, result.reading.problem, replies[result.at].text

    return judged


def _short(reply: str) -> str:
    text = " ".join(reply.split())
    return text if len(text) <= SHOWN else f"…{text[1 - SHOWN :]}"


if __name__ == "__main__":
    sys.exit(main(reread))
