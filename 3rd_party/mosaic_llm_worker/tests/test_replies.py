"""Replies are read as the corpus says, and never come to an action that was not said."""

from __future__ import annotations

import random
import string
import tomllib
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reply_games import SOCCER, Game, games, position

from mosaic_llm_worker.parsing import Reader, Reading
from mosaic_llm_worker.parsing.answers import taken_back_at
from mosaic_worker.spaces import Space

GROUPS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("replies.toml").read_text())["group"]
GAMES = games()
SOCCER_GAME = GAMES["soccer"]


def outcome(game: Game, reading: Reading) -> Any:
    """An outcome as the corpus writes it."""
    if reading.problem:
        return f"!{reading.problem}"
    action = reading.action
    if isinstance(action, int):
        return game.words.get(action, str(action))
    value = action.tolist() if isinstance(action, np.ndarray) else action
    return str(value) if not isinstance(value, str) else f'"{value}"'


@pytest.mark.parametrize("group", GROUPS, ids=[group["about"] for group in GROUPS])
def test_every_reply_of_the_corpus_comes_to_what_it_should(group: dict[str, Any]) -> None:
    game = GAMES[group["game"]]
    wrong: list[tuple[str, str, Any]] = []
    for expected, reply in group["cases"]:
        got = outcome(game, game.read(reply))
        same = expected[1:] in got and got.startswith("!") if expected.startswith("!") else got == expected
        if not same:
            wrong.append((reply, expected, got))
    assert not wrong


def test_the_corpus_is_large_and_says_nothing_twice() -> None:
    cases = [(group["game"], reply) for group in GROUPS for _, reply in group["cases"]]
    assert len(cases) >= 400
    assert len(set(cases)) == len(cases)


# --- what stands in the rule -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "reply"),
    [
        ("soccer", "<action>toggle the door? No, drop</action>"),
        ("soccer", "<action>left or right</action>"),
        ("soccer", "I will turn left and then go forward."),
        ("soccer", "<action>left</action>\n<action>right</action>"),
        ("nethack", "<action>move up</action>"),
        ("nethack", "I move up."),
    ],
)
def test_where_two_actions_could_be_meant_the_reply_is_unusable(game: str, reply: str) -> None:
    assert GAMES[game].read(reply).problem


@pytest.mark.parametrize(
    ("game", "reply", "meant"),
    [
        ("poker", "I would fold, but the pot is large, so I call", "call"),
        ("soccer", "Final answer: left. Wait, the ball is behind me. Final answer: right", "right"),
        ("soccer", "I will switch to another strategy: forward", "forward"),
        ("soccer", "left? No: right", "right"),
        ("soccer", "<action>left</action>\nWait, that is the wrong side.\n<action>right</action>", "right"),
    ],
)
def test_what_a_reply_takes_back_or_rules_out_is_not_played(game: str, reply: str, meant: str) -> None:
    assert outcome(GAMES[game], GAMES[game].read(reply)) == meant


def test_an_answer_that_is_taken_back_and_not_replaced_is_unusable() -> None:
    for reply in (
        "<action>left</action>\nHmm, wait, that would be wrong.",
        "Final answer: left. Actually no.",
    ):
        assert "takes its answer back" in SOCCER_GAME.read(reply).problem


@pytest.mark.parametrize(
    "reply",
    [
        '<tool_call>{"name": "act", "arguments": {"action": "left"}}</tool_call>',
        '<invoke name="act"><parameter name="action">left</parameter></invoke>',
        '<function=act>{"action": "left"}</function>',
        '[TOOL_CALLS] [{"name": "act", "arguments": {"action": "left"}}]',
        'functions.act({"action": "left"})',
        '```tool_code\nact(action="left")\n```',
        '{"name": "left", "arguments": {}}',
        '{"name": "turn", "arguments": {"direction": "left"}}',
    ],
)
def test_calls_of_tools_that_are_written_as_text_are_read(reply: str) -> None:
    assert outcome(SOCCER_GAME, SOCCER_GAME.read(reply)) == "left"


@pytest.mark.parametrize(
    ("game", "reply", "meant"),
    [
        ("crafter", "eat cow", "do"),
        ("crafter", "<action>attack zombie</action>", "do"),
        ("crafter", "collect wood", "do"),
        ("crafter", "I drink the water.", "do"),
        ("crafter", "place a table", "place_table"),
        ("taxi", "up", "north"),
        ("taxi", "<action>down</action>", "south"),
        ("acrobot_v1", "torque 1", "torque +1"),
        ("acrobot_v1", "<action>torque -1</action>", "torque -1"),
        ("acrobot_v1", "torque 0", "noop"),
        ("acrobot_v1", "no torque", "noop"),
        ("nethack", "<action>go upstairs</action>", "up"),
        ("nethack", "go east", "east"),
        ("chess", "Nf3", "g1f3"),
        ("chess", "g1f3", "g1f3"),
    ],
)
def test_words_that_a_player_would_use_are_taken(game: str, reply: str, meant: str) -> None:
    assert outcome(GAMES[game], GAMES[game].read(reply)) == meant


# --- what always holds --------------------------------------------------------------------------

TOKENS = st.sampled_from(
    [
        *SOCCER, "turn", "I will", "not", "<think>", "</think>", "<action>", "</action>", "Action:", "{", "}",
        '"action":', "[", "]", "2", "-1", "99", "\n", ". ", ", ", "**", "```", "and then", "SAY:", "if", "?",
        "Final answer:", "\\boxed{", "column 3", "0.5", "我选择", "左", "...", "'", '"', "e4", "Nf3",
    ]
)  # fmt: skip
ANYTHING = st.one_of(st.text(max_size=200), st.lists(TOKENS, max_size=25).map(" ".join))


def fits(space: Space, action: Any) -> bool:
    """Whether an action is of the space."""
    if space.kind == "Discrete":
        return isinstance(action, int) and space.start <= action < space.start + space.n
    if space.kind == "Text":
        return space.min_length <= len(action) <= space.max_length and set(action) <= set(space.charset)
    if space.kind == "Box":
        assert space.low is not None and space.high is not None
        return action.dtype == space.dtype and bool(((space.low <= action) & (action <= space.high)).all())
    top = 2 if space.kind == "MultiBinary" else np.asarray(space.nvec)
    return action.shape == space.shape and bool(((action >= 0) & (action < top)).all())


@given(st.sampled_from(sorted(GAMES)), ANYTHING)
def test_a_reply_comes_to_a_legal_action_or_to_a_reason(name: str, reply: str) -> None:
    game = GAMES[name]
    reading = game.read(reply)
    assert bool(reading.problem) == (reading.action is None)
    if reading.problem:
        assert len(reading.problem) < 800
        assert "\n" not in reading.problem
        return
    assert fits(game.reader.space, reading.action)
    if game.choices:
        assert reading.action in dict(game.choices)
    elif game.mask is not None and isinstance(reading.action, int):
        assert game.mask[reading.action]


@given(st.sampled_from(SOCCER), ANYTHING)
def test_an_action_that_is_played_was_named(word: str, reply: str) -> None:
    """No default: a reply that has none of the action's names in it is never that action."""
    action = SOCCER_GAME.read(reply).action
    if action is None:
        return
    vocabulary = SOCCER_GAME.reader.vocabulary()
    names = {term for term in vocabulary.terms if action in vocabulary.find(term)}
    said = "".join(c for c in reply.casefold() if c.isalnum())
    assert str(action) in said or any(term.replace(" ", "") in said for term in names)


PIECES = st.sampled_from(
    [
        "say", "left", "right", "noop", "and", "or", ",", ".", "B", "C", "c", "A", "a", "I", "I will", "not",
        "the letter", "go", "torque", "apply", "-1", "+1", "1", "0", "of", "no", "negative", "\n", "because",
        "<action>", "</action>",
    ]
)  # fmt: skip


@given(st.sampled_from(["letters", "push_and_say", "acrobot"]), st.lists(PIECES, max_size=12).map(" ".join))
def test_every_part_of_an_action_that_is_played_was_said(name: str, reply: str) -> None:
    """No letter, push or sign is made up."""
    game = GAMES[name]
    action = game.read(reply).action
    if action is None:
        return
    word = game.words[action]
    if name == "acrobot":
        number = word.split()[1]
        said = {"-1": ("-1", "negative"), "0": ("0", "no torque"), "+1": ("1",)}[number]
        assert any(each in reply for each in said)
        return
    if str(action) in reply:
        return  # by its number
    push, _, letter = word.rpartition("say ")
    assert letter in reply.upper().split()
    assert push.strip(", ") in reply


_TEXT = st.text(st.characters(exclude_characters="<>[]{}\\", exclude_categories=["Cs"]), max_size=120)
NOISE = _TEXT.filter(lambda text: not taken_back_at(text))  # which "NO:" does, and means it


@given(st.sampled_from(SOCCER), NOISE, NOISE)
def test_noise_around_a_tag_does_not_change_it(word: str, before: str, behind: str) -> None:
    reading = SOCCER_GAME.read(f"{before}\n<action>{word}</action>\n{behind}")
    assert outcome(SOCCER_GAME, reading) == word


@given(st.sampled_from(SOCCER), st.text(st.sampled_from(string.ascii_letters + " ,.\n"), max_size=120))
def test_thinking_does_not_change_the_answer(word: str, thought: str) -> None:
    reading = SOCCER_GAME.read(f"<think>{thought} I will go left</think>\nAction: {word}")
    assert outcome(SOCCER_GAME, reading) == word


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2))
def test_numbers_arrive_as_they_were_written(numbers: list[float]) -> None:
    reading = GAMES["box"].read(f"<action>{numbers}</action>")
    assert reading.action.tolist() == np.array(numbers, np.float32).tolist()


def test_a_reply_without_end_is_refused_quickly_and_nothing_is_searched_in_it() -> None:
    for piece in ("{", "<action>", "\\boxed{", "left is\n", "Action: \n", "["):
        reading = SOCCER_GAME.read(piece * (1_000_000 // len(piece)))
        assert "characters, too many for an answer" in reading.problem


# --- chess: what moves are called is python-chess's to say ----------------------------------------


SPECIAL = (
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",  # castling, both sides
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "1n2k3/P7/8/8/8/8/7p/4K1N1 w - - 0 1",  # promotions, one by taking
    "1n2k3/P7/8/8/8/8/7p/4K1N1 b - - 0 1",
    "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2",  # en passant
    "4k3/8/1b6/8/8/2p1p3/1P1B1P2/4K3 w - - 0 1",  # bxc3 and Bxc3 are not the same
    "4k3/8/8/R6R/8/8/8/R3K2R w - - 0 1",  # rooks that file or rank tell apart
)


def positions() -> list[chess.Board]:
    """Positions of a random game and special ones."""
    rng, board = random.Random(5), chess.Board()
    found = [chess.Board(fen) for fen in SPECIAL]
    while not board.is_game_over() and len(found) < 40:
        found.append(board.copy(stack=False))
        board.push(rng.choice(list(board.legal_moves)))
    return found


def test_every_move_is_understood_in_every_notation() -> None:
    for board in positions():
        game = position(board)
        vocabulary = game.reader.vocabulary(None, game.choices, game.text)
        by_uci = {word: action for action, word in game.choices}
        for move in board.legal_moves:
            for name in (move.uci(), board.san(move), board.lan(move)):
                assert vocabulary.find(name) == {by_uci[move.uci()]}, (board.fen(), name)


def test_a_move_that_is_not_legal_or_not_certain_is_no_other() -> None:
    rooks = position(chess.Board(SPECIAL[-1]))
    assert "several actions" in rooks.read("<action>Ra3</action>").problem
    pawns = position(chess.Board(SPECIAL[5]))
    words = dict(pawns.choices)
    assert words[pawns.read("bxc3").action] == "b2c3"
    assert words[pawns.read("Bxc3").action] == "d2c3"
    assert "none of the actions" in pawns.read("<action>Qxc3</action>").problem


# --- spaces that cannot be said ---------------------------------------------------------------------


def test_a_space_whose_actions_cannot_be_written_down_is_refused() -> None:
    graph = {
        "kind": "Graph",
        "node": {"kind": "Discrete", "dtype": "int64", "n": 2, "start": 0},
        "edge": None,
    }
    for space in (Space.from_json({"kind": "Custom", "name": "Words"}), Space.from_json(graph)):
        with pytest.raises(ValueError, match="cannot be said in words"):
            Reader(space)


def test_parts_of_a_dict_and_a_tuple_are_read_and_checked() -> None:
    inner = {"kind": "Discrete", "dtype": "int64", "n": 4, "start": 0}
    box = {"kind": "Box", "dtype": "float32", "shape": [2], "low": -1, "high": 1}
    reader = Reader(Space.from_json({"kind": "Dict", "spaces": [["go", inner], ["push", box]]}))
    value = reader.read('Here: {"action": {"go": 3, "push": [0.5, 0]}}').action
    assert value["go"] == 3
    assert value["push"].tolist() == [0.5, 0.0]
    assert "push is missing" in reader.read('{"action": {"go": 3}}').problem
    assert "no whole number from 0 to 3" in reader.read('{"action": {"go": 4, "push": [0, 0]}}').problem
    pair = Reader(Space.from_json({"kind": "Tuple", "spaces": [inner, box]}))
    assert pair.read("<action>[1, [0, 1]]</action>").action[0] == 1
    assert "a list of 2 parts" in pair.read("<action>[1]</action>").problem


def test_what_is_said_to_team_mates_is_taken_out() -> None:
    assert SOCCER_GAME.read("SAY: I take the ball!\n<action>forward</action>").said == "I take the ball!"
    assert SOCCER_GAME.read('{"say": "mine", "action": "forward"}').said == "mine"
    assert SOCCER_GAME.read("<action>forward</action>").said == ""


def test_a_reply_that_was_cut_off_is_said_to_be() -> None:
    reading = SOCCER_GAME.reader.read("I see the ball and", cut=True)
    assert "cut off at its longest length" in reading.problem
