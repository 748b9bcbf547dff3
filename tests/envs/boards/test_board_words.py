"""Board games in their own words: seats, moves, results, what was taken, the line that won."""

from __future__ import annotations

import random
import re
from typing import Any

import chess
import pytest

from gym_gui.core.live import Board
from gym_gui.envs import Environment, make
from gym_gui.envs.boards.board_helpers import in_a_row

SIDES = {
    "chess_v6": ("White", "Black"),
    "open_spiel/chess": ("White", "Black"),
    "connect_four_v3": ("Red", "Yellow"),
    "open_spiel/connect_four": ("Red", "Yellow"),
    "tictactoe_v3": ("X", "O"),
    "open_spiel/tic_tac_toe": ("X", "O"),
    "go_v5": ("Black", "White"),
    "open_spiel/go": ("Black", "White"),
    "open_spiel/checkers": ("Red", "White"),
    "leduc_holdem_v4": ("Player 1", "Player 2"),
}
ENV_KWARGS = {"go_v5": {"board_size": 5}, "open_spiel/go": {"config": {"board_size": 5}}}
FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")
UP_AND_DOWN = ("g1f3", "g8f6", "f3g1", "f6g8") * 2


class Match:
    """A game that is played move by move."""

    def __init__(self, task: str) -> None:
        self.environment: Environment = make(task, env_kwargs=ENV_KWARGS.get(task))
        self.environment.adapter.reset(seed=3)
        self.played: list[tuple[str, Any]] = []
        self.returns: dict[str, float] = {}

    @property
    def turn(self) -> str:
        current = self.environment.adapter.get_current_agents()
        return current[0] if current else ""

    def board(self) -> Board:
        board = self.environment.board()
        assert board is not None
        return board

    def play(self, action: int) -> None:
        agent = self.turn
        result = self.environment.adapter.step({agent: action})
        self.played.append((agent, action))
        for each, reward in result.rewards.items():
            self.returns[each] = self.returns.get(each, 0.0) + reward

    def play_named(self, *labels: str) -> None:
        for label in labels:
            self.play(next(move.action for move in self.board().moves if move.label == label))

    def play_out(self, seed: int) -> None:
        rng = random.Random(seed)
        while self.turn:
            mask = self.environment.adapter.action_mask(self.turn)
            assert mask is not None
            self.play(rng.choice([i for i, legal in enumerate(mask) if legal]))

    @property
    def result(self) -> str:
        return self.environment.result(self.environment.outcome(self.returns))


@pytest.mark.parametrize("task", SIDES)
def test_who_moves_first_has_the_first_name(task: str) -> None:
    match = Match(task)
    agents = list(match.environment.adapter.possible_agents)
    first = match.turn
    other = next(agent for agent in agents if agent != first)
    names = match.environment.seat_names
    if task != "leduc_holdem_v4":  # its dealer is drawn
        assert (names[first], names[other]) == SIDES[task]
    assert set(names.values()) == set(SIDES[task])


def test_the_first_in_chess_has_the_white_pieces() -> None:
    for task in ("chess_v6", "open_spiel/chess"):
        board = Match(task).board()
        assert all(board.cells[m.source[0] * 8 + m.source[1]].isupper() for m in board.moves if m.source)


@pytest.mark.parametrize("task", ["chess_v6", "open_spiel/chess"])
def test_a_mate_in_the_notation_of_players(task: str) -> None:
    match = Match(task)
    match.play_named(*FOOLS_MATE)
    assert match.environment.notation(match.played) == ("f3", "e5", "g4", "Qh4#")
    assert match.result == "Black wins by checkmate"


@pytest.mark.parametrize("task", ["chess_v6", "open_spiel/chess"])
def test_a_draw_says_by_what(task: str) -> None:
    match = Match(task)
    for label in UP_AND_DOWN:
        if match.turn:
            match.play_named(label)
    assert match.result == "Draw by threefold repetition"


@pytest.mark.parametrize("task", [task for task in SIDES if task != "leduc_holdem_v4"])
def test_every_move_is_written_once_however_often_it_is_asked(task: str) -> None:
    match, rng = Match(task), random.Random(7)
    while match.turn and len(match.played) < 60:
        before = match.environment.notation(match.played)
        match.play(rng.choice(match.board().moves).action)
        assert match.environment.notation(match.played)[:-1] == before
    told = match.environment.notation(match.played)
    assert len(told) == len(match.played) and all(told)
    # Of another game, which the same instance plays, nothing is known.
    match.environment.adapter.reset(seed=4)
    match.played.clear()
    assert match.environment.notation(match.played) == ()


def test_written_chess_can_be_read_again() -> None:
    match = Match("chess_v6")
    match.play_out(2)
    again = chess.Board()
    for san in match.environment.notation(match.played):
        again.push_san(san)
    assert again.fen() == match.board().fen == match.environment.env.board.fen()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "task", ["connect_four_v3", "open_spiel/connect_four", "open_spiel/tic_tac_toe", "tictactoe_v3"]
)
def test_the_line_that_won_is_the_winners(task: str, seed: int) -> None:
    match = Match(task)
    match.play_out(seed)
    board, outcome = match.board(), match.environment.outcome(match.returns)
    assert outcome is not None
    winners = [team for team, word in outcome.items() if word == "win"]
    if not winners:
        assert (board.line, match.result) == ((), "Draw: the board is full")
        return
    name = match.environment.seat_names[winners[0]]
    pieces = {board.cells[row * board.columns + column] for row, column in board.line}
    assert pieces == {"X" if name in ("X", "Red") else "O"}
    four = board.kind == "connect_four"
    assert len(board.line) >= (4 if four else 3)
    assert match.result == f"{name} {'connects four' if four else 'has three in a row'}"


def test_lines_go_across_down_and_aslant_and_not_around_the_edge() -> None:
    assert in_a_row(["", "X", "X", "X"], 4, 3) == ((0, 1), (0, 2), (0, 3))
    assert in_a_row(["X", "", "X", ""], 2, 2) == ((0, 0), (1, 0))
    assert in_a_row(["", "O", "O", ""], 2, 2) == ((0, 1), (1, 0))
    assert in_a_row(["", "X", "X", ""], 4, 3) == ()
    assert in_a_row(["", "", "X", "X", "X", ""], 3, 3) == ()


def test_what_was_taken_and_who_is_ahead_in_chess() -> None:
    match = Match("chess_v6")
    match.play_named("e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5g2", "f1g2")
    white, black = match.board().captured
    assert (white.agent, white.pieces, white.ahead) == ("player_0", ("q", "p"), 8)
    assert (black.agent, black.pieces, black.ahead) == ("player_1", ("P", "P"), 0)


def test_go_counts_points_and_stones() -> None:
    match = Match("go_v5")
    match.play_named("B1", "A1", "A2")
    black, white = match.board().captured
    assert (black.pieces, white.pieces) == (("O",), ())
    match.play_named("pass", "pass")
    assert match.result == "Black wins by 17.5 points: area 25 to 0, komi 7.5"


def test_poker_says_who_folds() -> None:
    match = Match("leduc_holdem_v4")
    words = match.environment.action_meanings(match.turn)
    folder = match.environment.seat_names[match.turn]
    match.play(words.index("fold"))
    winner = next(name for name in match.environment.seat_names.values() if name != folder)
    assert match.result == f"{winner} wins: {folder} folds"
    assert match.environment.notation(match.played) == ("fold",)


@pytest.mark.parametrize("task", ["hanabi_v5", "open_spiel/hanabi"])
def test_hanabi_is_told_by_moves_and_points(task: str) -> None:
    match = Match(task)
    assert list(match.environment.seat_names.values()) == ["Player 1", "Player 2"]
    match.play_out(1)
    told = match.environment.notation(match.played)
    move = r"(plays|discards) card \d|tells Player [12]: (\d|red|yellow|green|white|blue)"
    assert len(told) == len(match.played) and all(re.fullmatch(move, word) for word in told)
    assert match.environment.outcome(match.returns) is None
    assert re.fullmatch(r"\d+ of 25 points(: all lives are lost)?", match.result)


def test_cards_say_by_how_much() -> None:
    match = Match("open_spiel/kuhn_poker")
    match.play(1)
    match.play(0)
    assert match.environment.notation(match.played) == ("bet", "pass")
    assert match.result == "Player 1 wins by 1 chip"


def test_an_environment_without_winners_has_no_words_for_it() -> None:
    environment = make("CartPole-v1")
    assert (environment.seat_names, environment.result(None), environment.notation([])) == ({}, "", ())
    environment.close()
