"""Reads recorded dialogues again with the current code: ``python -m chess_worker.reread``.

Input and output are those of :mod:`mosaic_llm_worker.reread`; an attempt is a whole dialogue about a move.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from chess_worker.dialogue import Dialogue
from chess_worker.settings import ChessSettings
from mosaic_llm_worker.preview import main
from mosaic_llm_worker.reread import Attempt, Outcome, answered, replies_of
from mosaic_llm_worker.server_settings import errors_sentence
from mosaic_worker.worker import Decision
from stockfish_worker.position import NoPositionError, Position


def reread(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the move that the current code reads in each recorded dialogue.

    Args:
        asked: Request in the form that the module docstring names.
    """
    try:
        settings = ChessSettings.model_validate(asked.get("settings", {}))
    except ValidationError as error:
        return {"error": errors_sentence(error)}
    return answered(asked, lambda _: _judge(settings))


def _judge(settings: ChessSettings) -> Callable[[Decision, Attempt], Outcome]:
    def judged(decision: Decision, calls: Attempt) -> Outcome:
        try:
            position = Position.of(decision)
        except NoPositionError as error:
            return None, str(error), ""
        replies, error = replies_of(calls)
        turns = settings.max_turns
        dialogue = Dialogue(
            position, decision.text, tools=settings.tools, max_turns=turns, hide_legal=settings.hide_legal
        )
        for reply in replies:
            move = dialogue.receive(reply)
            if move is not None:
                return position.actions[move], "", reply.text
            if len(dialogue.tally.illegal) >= settings.max_illegal:
                break
        last = replies[-1].text if replies else ""
        problem = "no legal move was made" if replies else error or "there is no reply"
        wrong = dialogue.tally.words()
        return None, f"{problem} ({wrong})" if wrong else problem, last

    return judged


if __name__ == "__main__":
    sys.exit(main(reread))
