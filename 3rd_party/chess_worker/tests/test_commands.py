"""What a reply does about the move is read without guessing."""

from __future__ import annotations

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chess_worker.commands import BOARD, MOVE, MOVES, TOOLS, Command, UnreadableError, read_call, read_text
from chess_worker.dialogue import read_move
from mosaic_llm_worker.chat_servers.servers import ToolCall


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        ("get_current_board", Command(BOARD)),
        ("  `get_legal_moves`  ", Command(MOVES)),
        ("make_move e2e4", Command(MOVE, "e2e4")),
        ("**make_move e7e8q**", Command(MOVE, "e7e8q")),
        ("MAKE_MOVE E2E4", Command(MOVE, "E2E4")),
        ("make_move(e2e4)", Command(MOVE, "e2e4")),
        ('make_move("Nf3")', Command(MOVE, "Nf3")),
        ("make_move: exd8=Q+", Command(MOVE, "exd8=Q+")),
        ("make_move O-O-O", Command(MOVE, "O-O-O")),
        ("make_move e2-e4", Command(MOVE, "e2-e4")),
        ('{"name": "make_move", "arguments": {"move": "g1f3"}}', Command(MOVE, "g1f3")),
        ("<think>make_move a2a3? No.</think>\nmake_move e2e4", Command(MOVE, "e2e4")),
        ("I could ask get_legal_moves, but I know them.\n\nmake_move d2d4", Command(MOVE, "d2d4")),
        ("Let me look.\n```\nget_current_board\n```", Command(BOARD)),
        ("I will make_move e2e4.", Command(MOVE, "e2e4")),
        ("make_move e2e4\nmake_move e2e4", Command(MOVE, "e2e4")),
        ("> get_current_board()", Command(BOARD)),
    ],
)
def test_one_command_is_read(reply: str, command: Command):
    assert read_text(reply) == command


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("I would rather not.", "no command"),
        ("e2e4", "no command"),
        ("make_move", "needs a move"),
        ("make_move MOVE", "needs a move"),
        ("make_move e2e9", "needs a move"),
        ("make_move e2e4 or make_move d2d4", "several commands"),
        ("get_current_board\nget_legal_moves", "several commands"),
        ("<think>make_move e2e4", "still thinking"),
        ("I am forget_current_boarding", "no command"),
    ],
)
def test_what_is_not_certain_is_refused(reply: str, words: str):
    with pytest.raises(UnreadableError, match=words):
        read_text(reply)


def test_a_reply_that_was_cut_off_is_told_so():
    with pytest.raises(UnreadableError, match="cut off"):
        read_text("Well, first of all I would", cut=True)


@given(st.text(max_size=200))
def test_any_reply_is_a_command_or_a_reason(reply: str):
    try:
        command = read_text(reply)
    except UnreadableError as error:
        assert str(error)
    else:
        assert command.name in reply.lower() and (command.name == MOVE) == bool(command.move)


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        (BOARD, "{}", Command(BOARD)),
        (MOVES, "not JSON at all", Command(MOVES)),
        (MOVE, '{"move": " e2e4 "}', Command(MOVE, "e2e4")),
    ],
)
def test_calls_of_tools(name: str, arguments: str, command: Command):
    assert name in {tool.name for tool in TOOLS}
    assert read_call(ToolCall("1", name, arguments)) == command


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("resign", "{}", "no tool 'resign'"),
        (MOVE, "e2e4", "takes a move as text"),
        (MOVE, "[" * 50_000, "takes a move as text"),
        (MOVE, '{"move": 3}', "takes a move as text"),
        (MOVE, '["e2e4"]', "takes a move as text"),
    ],
)
def test_calls_that_cannot_be_read(name: str, arguments: str, words: str):
    with pytest.raises(UnreadableError, match=words):
        read_call(ToolCall("1", name, arguments))


PROMOTING = chess.Board("1n5k/P7/8/8/8/8/8/R3K2R w KQ - 0 1")


@pytest.mark.parametrize(
    ("written", "uci"),
    [
        *(
            ("a7a8q", "a7a8q"),
            ("a7a8=Q", "a7a8q"),
            ("a8=N", "a7a8n"),
            ("axb8=Q+", "a7b8q"),
            ("A7B8R", "a7b8r"),
        ),
        *(
            ("O-O", "e1g1"),
            ("0-0-0", "e1c1"),
            ("o-o", "e1g1"),
            ("e1-g1", "e1g1"),
            ("Kd2", "e1d2"),
            ("Rad1", "a1d1"),
        ),
    ],
)
def test_moves_as_programs_and_players_write_them(written: str, uci: str):
    assert read_move(PROMOTING, written) == chess.Move.from_uci(uci)


@pytest.mark.parametrize("written", ["a7a8", "e1e5", "0000", "--", "Rb2", "Qh5", "e4", "castle", "", "a7a8k"])
def test_moves_that_are_not_legal_or_not_one(written: str):
    assert read_move(PROMOTING, written) is None
