"""Reads recorded replies again with the current code: ``python -m balrog_worker.reread``.

Input and output are those of :mod:`mosaic_llm_worker.reread`; BALROG's agent reads the action in a reply.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from balrog_worker.agent import reader_of
from balrog_worker.naming import named
from balrog_worker.settings import BalrogSettings
from mosaic_llm_worker.preview import main
from mosaic_llm_worker.reread import Attempt, Outcome, answered, replies_of
from mosaic_llm_worker.server_settings import errors_sentence
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision, Invalid, Slot


def reread(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the action that the current code reads in each recorded reply.

    Args:
        asked: Request in the form that the module docstring names.
    """
    try:
        # Demonstrations do not change how a reply is read.
        given = {**asked.get("settings", {}), "demonstrations": {"run": "any"}}
        if given.get("agent") != "few_shot":
            del given["demonstrations"]
        settings = BalrogSettings.model_validate(given)
    except ValidationError as error:
        return {"error": errors_sentence(error)}
    return answered(asked, lambda question: _judge(question, settings))


def _judge(asked: Mapping[str, Any], settings: BalrogSettings) -> Callable[[Decision, Attempt], Outcome]:
    told: Mapping[str, Any] = asked["slot"]
    space = Space.from_json(told["action_space"])
    slot = Slot(0, told["agent"], told["env"], space, space, action_meanings=told.get("action_meanings", ()))
    read = reader_of(settings)

    def judged(decision: Decision, calls: Attempt) -> Outcome:
        replies, error = replies_of(calls)
        if not replies:
            return None, error or "there is no reply", ""
        text = replies[-1].text
        action = named(slot, decision, read(text), text)
        return (None, action.reason, text) if isinstance(action, Invalid) else (action, "", text)

    return judged


if __name__ == "__main__":
    sys.exit(main(reread))
