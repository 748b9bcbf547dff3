"""A dialogue answers what it is asked, counts what goes wrong, and ends with a legal move."""

from __future__ import annotations

from typing import Any

import chess

from chess_worker.dialogue import Dialogue
from mosaic_llm_worker.chat_servers.servers import Completion, ToolCall
from stockfish_worker.position import Position

TEXT = f"You are to move, with white.\n8 r n b q k b n r\nFEN: {chess.STARTING_FEN}\nLegal moves: Na3, Nc3"


def begun(*, tools: bool = False, **more: Any) -> Dialogue:
    choices = {move.uci(): number for number, move in enumerate(chess.Board().legal_moves)}
    return Dialogue(Position.read(TEXT, choices), TEXT, tools=tools, max_turns=10, **more)


def said(dialogue: Dialogue) -> str:
    return dialogue.messages[-1]["content"]


def test_it_shows_the_board_without_the_moves_and_the_moves_on_request():
    dialogue = begun()
    assert dialogue.receive(Completion("get_current_board")) is None
    assert chess.STARTING_FEN in said(dialogue) and "Legal moves" not in said(dialogue)
    assert dialogue.receive(Completion("get_legal_moves")) is None
    assert "e2e4" in said(dialogue) and len(said(dialogue).split(", ")) == 20
    assert dialogue.receive(Completion("make_move e4")) == chess.Move.from_uci("e2e4")
    assert dialogue.tally.record() == {
        "turns": 3,
        "illegal_attempts": 0,
        "illegal_moves": [],
        "unreadable_replies": 0,
    }
    assert [message["role"] for message in dialogue.messages] == ["system", *["user", "assistant"] * 3]


def test_what_goes_wrong_is_told_and_counted():
    dialogue = begun(reason="no legal move was made in 10 replies")
    assert "could not be used: no legal move was made" in said(dialogue)
    for reply in ("make_move e2e5", "hm", "make_move Qh5", "<think>hm"):
        assert dialogue.receive(Completion(reply)) is None
        assert ("not a legal move" in said(dialogue)) == reply.startswith("make_move")
    assert "End with get_current_board, get_legal_moves or make_move MOVE." in said(dialogue)
    assert dialogue.tally.record()["illegal_moves"] == ["e2e5", "Qh5"]
    assert dialogue.tally.words() == "2 illegal moves: e2e5, Qh5; 2 replies without a command"


def test_the_rules_say_who_one_is_what_one_can_do_and_for_how_long():
    for dialogue in (begun(), begun(tools=True)):
        rules = dialogue.messages[0]["content"]
        assert "You play chess as white." in rules and "You have 10 replies for this move" in rules
        assert all(name in rules for name in ("get_current_board", "get_legal_moves", "make_move"))
    shown = begun(show=True).messages[1]["content"]
    assert chess.STARTING_FEN in shown and "g1f3" in shown


def test_tools_are_answered_one_by_one_and_the_first_legal_move_counts():
    dialogue = begun(tools=True)
    calls = (
        ToolCall("a", "get_current_board", "{}"),
        ToolCall("b", "make_move", '{"move": "e2e5"}'),
        ToolCall("c", "resign", "{}"),
    )
    assert dialogue.receive(Completion("Let me see.", tool_calls=calls)) is None
    *_, asked, board, illegal, unknown = dialogue.messages
    assert [call["id"] for call in asked["tool_calls"]] == ["a", "b", "c"]
    assert [(m["role"], m["tool_call_id"]) for m in (board, illegal, unknown)] == [
        ("tool", "a"),
        ("tool", "b"),
        ("tool", "c"),
    ]
    assert "not a legal move" in illegal["content"] and "no tool 'resign'" in unknown["content"]
    assert dialogue.receive(Completion("make_move e2e4 it is")) == chess.Move.from_uci("e2e4"), (
        "words do as well"
    )
    played = (ToolCall("d", "make_move", '{"move": "d2d4"}'), ToolCall("e", "make_move", '{"move": "e2e4"}'))
    assert begun(tools=True).receive(Completion("", tool_calls=played)) == chess.Move.from_uci("d2d4")


def test_where_legal_moves_are_hidden_nothing_lists_them():
    dialogue = begun(hide_legal=True, show=True)
    told = "\n".join(message["content"] for message in dialogue.messages)
    assert "get_legal_moves" not in told and "e2e4," not in told and chess.STARTING_FEN in told
    assert {tool.name for tool in dialogue.tools} == {"get_current_board", "make_move"}
    assert len(begun().tools) == 3
    for reply in ("get_legal_moves", "make_move e2e5"):
        assert dialogue.receive(Completion(reply)) is None
        assert "get_legal_moves" not in said(dialogue) and "e2e4" not in said(dialogue)
    assert "End with get_current_board or make_move MOVE." in _refused(dialogue, "hm")
    assert dialogue.receive(Completion("make_move e4")) == chess.Move.from_uci("e2e4")


def _refused(dialogue: Dialogue, reply: str) -> str:
    assert dialogue.receive(Completion(reply)) is None
    return said(dialogue)
