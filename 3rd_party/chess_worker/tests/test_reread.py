"""Recorded dialogues read anew."""

from __future__ import annotations

from typing import Any

import chess
import gymnasium

from chess_worker.reread import reread
from gym_gui.core.spaces import space_to_spec


def reading(*attempts: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    """What comes of the first move of a game."""
    board = chess.Board()
    moves = [[number, move.uci()] for number, move in enumerate(board.legal_moves)]
    slot = {"agent": "player_0", "env": "classic/chess_v6", "action_space": space_to_spec(_SPACE)}
    decision = {"text": f"FEN: {board.fen()}", "choices": moves, "attempts": list(attempts)}
    settings = {"client_name": "custom", "base_url": "http://nowhere/v1", "dialogue": "text", **settings}
    answer = reread({"settings": settings, "slot": slot, "decisions": [decision]})
    (only,) = answer["readings"]
    return {**only, "move": dict(moves).get(only.get("action"))}


_SPACE = gymnasium.spaces.Discrete(20)


def test_a_dialogue_comes_to_its_first_legal_move() -> None:
    turns = [
        {"turn": 0, "reply": "get_legal_moves"},
        {"turn": 1, "reply": "make_move e2e5"},
        {"turn": 2, "reply": "make_move e4"},
    ]
    assert reading(turns[::-1])["move"] == "e2e4", "by their numbers"


def test_without_one_it_says_what_went_wrong() -> None:
    tries = [{"turn": turn, "reply": "make_move e2e5"} for turn in range(3)]
    found = reading([*tries, {"turn": 3, "reply": "make_move e2e4"}], max_illegal=3)
    assert found["problem"].startswith("no legal move was made (3 illegal moves")
    assert reading([{"turn": 0, "error": "the server is gone"}])["problem"] == "the server is gone"


def test_settings_that_cannot_be_are_a_sentence() -> None:
    asked = {"settings": {"max_turns": 0}, "slot": {}, "decisions": []}
    assert "max_turns" in reread(asked)["error"]
