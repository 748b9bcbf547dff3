"""Prints the prompt that a slot would send now: ``python -m mosaic_llm_worker.preview``.

The program reads one JSON object from stdin, ``{"settings": {…}, "slot": {agent, env, action_meanings,
action_space, briefing, team, teammates, opponents, names, example_turns}, "decision": {text, messages,
choices, mask, step}}``. It prints one JSON line, ``{"messages": […], "tokens": estimate}`` or ``{"error": "a
sentence"}``. It contacts no server.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from mosaic_llm_worker.budget import estimate_tokens
from mosaic_llm_worker.decisions import decision_of
from mosaic_llm_worker.memory import Memory
from mosaic_llm_worker.player import Player
from mosaic_llm_worker.server_settings import errors_sentence
from mosaic_llm_worker.settings import EXAMPLES, LlmSettings
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError, Slot


def preview(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the prompt of a first turn.

    Args:
        asked: The JSON object that the module's description defines.

    Returns:
        The messages and an estimate of their tokens, or an error.
    """
    try:
        # A prompt needs neither a key nor a recording.
        given = {**asked.get("settings", {}), "dry_run": True, "cassette": "off"}
        if names := asked["slot"].get("names"):
            given["rename"] = names
        settings = LlmSettings.model_validate(given)
        given[EXAMPLES] = asked["slot"].get(EXAMPLES, {})
        player = Player(_slot(asked["slot"], given), settings, _nowhere)
        messages = player.messages(
            decision_of(asked.get("decision", {})), Memory(player.slot.agent_id, 0, False)
        )
    except ValidationError as exc:
        return {"error": errors_sentence(exc)}
    except LoadError as exc:
        return {"error": str(exc)}
    except (KeyError, TypeError, ValueError) as exc:
        return {"error": f"the request is not complete: {type(exc).__name__}: {exc}"}
    return {"messages": messages, "tokens": estimate_tokens(messages)}


def _nowhere(record: dict[str, Any]) -> None:
    """Do nothing, because a preview makes no calls."""


def _slot(data: dict[str, Any], settings: dict[str, Any]) -> Slot:
    space = Space.from_json(data["action_space"])
    return Slot(
        0,
        str(data["agent"]),
        str(data["env"]),
        space,
        space,
        settings,
        tuple(data.get("action_meanings", ())),
        briefing=str(data.get("briefing", "")),
        team=str(data.get("team", "")),
        teammates=tuple(data.get("teammates", ())),
        opponents=tuple(data.get("opponents", ())),
    )


def main(answering: Callable[[Any], dict[str, Any]] = preview) -> int:
    """Answer one request from stdin on stdout and return the exit status.

    Args:
        answering: Returns the answer to a request.
    """
    try:
        asked = json.load(sys.stdin)
    except ValueError as exc:
        answer: dict[str, Any] = {"error": f"no JSON on stdin: {exc}"}
    else:
        answer = answering(asked)
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
