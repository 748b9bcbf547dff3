"""Reads recorded replies anew: ``python -m mosaic_llm_worker.reread``.

One JSON object on stdin, ``{"settings": {…}, "slot": {agent, env, action_meanings, action_space},
"decisions": [{text, choices, mask, attempts}]}``; ``attempts`` holds the recorded calls of each time that was
asked. One JSON line on stdout, ``{"readings": [{attempt, action, reply} or {problem, reply}, …]}`` or
``{"error": "a sentence"}``. No server is asked.
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
"""Characters of a reply that an answer holds."""

Attempt: TypeAlias = Sequence[Mapping[str, Any]]
Outcome = tuple[Any, str, str]
"""An action as plain data, or ``None``; why there is none; the reply that counts."""


def reread(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What today's reader makes of recorded replies.

    Args:
        asked: As the module says.
    """
    return answered(asked, _judge_of)


def answered(
    asked: Mapping[str, Any], judge_of: Callable[[Mapping[str, Any]], Callable[[Decision, Attempt], Outcome]]
) -> dict[str, Any]:
    """The readings of all decisions: of each the first attempt that gives an action.

    Args:
        asked: As the module says.
        judge_of: Makes of the question what judges the calls of one attempt.
    """
    try:
        judged = judge_of(asked)
        decisions = [(decision_of(each), each["attempts"]) for each in asked["decisions"]]
    except (KeyError, TypeError, ValueError) as exc:
        return {"error": f"the question is not complete: {type(exc).__name__}: {exc}"}
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
    """The replies that came, in the order of their turns; and why the first of the others did not."""
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
