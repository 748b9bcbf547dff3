"""Board games in words, against the positions the games themselves keep."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import chess
import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.types import Choice
from gym_gui.envs import Environment
from gym_gui.envs.describers.chess_words import sans
from stockfish_worker.position import Position


def positions(task: str, games: int) -> Iterator[tuple[Environment, str, Any]]:
    """Every position of random games: environment, who moves, what it sees."""
    environment, rng = envs.make(task), np.random.default_rng(3)
    adapter = environment.adapter
    try:
        for seed in range(games):
            seen = adapter.reset(seed=seed)
            while agents := adapter.get_current_agents():
                yield environment, agents[0], seen[agents[0]]
                mask = adapter.action_mask(agents[0])
                assert mask is not None
                seen = adapter.step({agents[0]: int(rng.choice(np.flatnonzero(mask)))}).observations
    finally:
        environment.close()


def drawing(text: str, rows: int) -> list[str]:
    """Rows of a drawn board without their numbers, one letter a cell."""
    lines = text.splitlines()[1 : rows + 1]
    return ["".join(part for part in line.split() if not part.isdigit()) for line in lines]


@pytest.mark.parametrize(
    ("games", "positions_of_them", "checks_of_them"),
    [(2, 150, 1), pytest.param(4, 300, 3, marks=pytest.mark.full)],
)
def test_chess_is_told_as_programs_and_players_write_it(
    games: int, positions_of_them: int, checks_of_them: int
) -> None:
    count = checks = 0
    for environment, agent, seen in positions("chess_v6", games):
        describer, game = environment.describer(agent), environment.env.board
        text, mask = describer.text(agent, seen), environment.adapter.action_mask(agent)
        assert mask is not None
        assert f"with {'white' if game.turn else 'black'}." in text
        fen = next(line for line in text.splitlines() if line.startswith("FEN: ")).removeprefix("FEN: ")
        told = chess.Board(fen)
        assert told.board_fen() == game.board_fen() and told.turn == game.turn
        assert "\n".join(drawing(text, 8)) == str(told).replace(" ", "")
        assert ("You are in check." in text) == game.is_check()
        legal = text.splitlines()[-1].removeprefix("Legal moves: ").split(", ")
        assert {told.parse_san(move) for move in legal} == set(game.legal_moves)
        choices = describer.choices(agent, seen, mask)
        assert {choice.word for choice in choices} == {move.uci() for move in game.legal_moves}
        assert sorted(choice.action for choice in choices) == np.flatnonzero(mask).tolist()
        count, checks = count + 1, checks + game.is_check()
    assert count > positions_of_them and checks > checks_of_them


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "start",
    [
        chess.STARTING_FEN,
        "1n1n3k/P1P1P3/8/8/8/8/p1p1p3/1N1N3K w - - 0 1",  # promotions of all kinds, both sides
        "Q6Q/8/8/8/8/8/1K2k3/Q6Q w - - 0 1",  # pieces that file, rank or both tell apart
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",  # castling gives check
        "8/8/8/K2pP2q/8/8/8/3k4 w - d6 0 2",  # what is taken in passing would open a line
        "4k3/8/8/3pP3/8/8/8/K3R3 w - d6 0 2",  # and opens one
    ],
)
def test_chess_moves_are_written_as_python_chess_writes_them(start: str, seed: int) -> None:
    rng, board = random.Random(seed), chess.Board(start)
    assert board.is_valid()
    while not board.is_game_over() and board.ply() < 120:
        moves = list(board.legal_moves)
        assert sans(board) == [board.san(move) for move in moves], board.fen()
        board.push(rng.choice(moves))


def test_the_word_of_a_chess_move_is_the_move_that_is_played() -> None:
    environment = envs.make("chess_v6")
    try:
        adapter = environment.adapter
        seen = adapter.reset(seed=1)
        for word in ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5"):
            (agent,) = adapter.get_current_agents()
            choices = environment.describer(agent).choices(agent, seen[agent], adapter.action_mask(agent))
            (action,) = [choice.action for choice in choices if choice.word == word]
            seen = adapter.step({agent: action}).observations
        assert environment.env.board.fen().startswith(
            "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b"
        )
        (agent,) = adapter.get_current_agents()
        text = environment.describer(agent).text(agent, seen[agent])
        assert "Your opponent's last move: f1 to b5" in text
    finally:
        environment.close()


def test_chess_says_that_both_ways_of_writing_a_move_are_taken() -> None:
    environment = envs.make("chess_v6")
    try:
        briefing = environment.describer("player_0").briefing("player_0")
    finally:
        environment.close()
    assert "SAN" in briefing and "UCI" in briefing


@pytest.mark.parametrize(("task", "rows"), [("connect_four_v3", 6), ("open_spiel/connect_four", 6)])
def test_connect_four_shows_its_columns(task: str, rows: int) -> None:
    count = 0
    for environment, agent, seen in positions(task, 12):
        text = environment.describer(agent).text(agent, seen)
        shown = drawing(text, rows)
        own = text.split("with ")[1][0]
        pieces = "".join(shown)
        # Pieces alternate and X begins: who moves has as many as the other, or one less.
        assert pieces.count("X") - pieces.count("O") == (own == "O")
        mask = environment.adapter.action_mask(agent)
        assert mask is not None
        assert [row == "." for row in shown[0]] == [bool(free) for free in mask[:7]]
        if task.startswith("connect"):
            marks = ["." if not mark else "XO"[mark - 1] for mark in environment.env.board]
            assert pieces == "".join(marks)
        count += 1
    assert count > 150


def test_openspiel_tic_tac_toe_is_answered_with_the_squares_that_the_board_shows() -> None:
    count = 0
    for environment, agent, seen in positions("open_spiel/tic_tac_toe", 30):
        describer, state = environment.describer(agent), environment.env.game_state
        shown = drawing(describer.text(agent, seen), 3)
        assert [row.lower() for row in shown] == str(state).split()
        choices = describer.choices(agent, seen, environment.adapter.action_mask(agent))
        assert [choice.action for choice in choices] == state.legal_actions()
        for choice in choices:
            _, column, _, row = choice.word.split()
            after = state.clone()
            after.apply_action(choice.action)
            drawn = str(after).split()
            changed = [
                (x + 1, y + 1) for y in range(3) for x in range(3) if drawn[y][x] != shown[y][x].lower()
            ]
            assert changed == [(int(column), int(row))]
        count += 1
    assert count > 150


@pytest.mark.full
def test_openspiel_chess_tells_the_position_that_engines_read() -> None:
    count = special = 0
    for environment, agent, seen in positions("open_spiel/chess", 2):
        describer, state = environment.describer(agent), environment.env.game_state
        text, mask = describer.text(agent, seen), environment.adapter.action_mask(agent)
        choices = describer.choices(agent, seen, mask)
        position = Position.read(text, {choice.word: choice.action for choice in choices})
        assert set(position.actions) == set(position.board.legal_moves)
        assert "\n".join(drawing(text, 8)) == str(position.board).replace(" ", "")
        for move, action in position.actions.items():
            assert position.board.parse_san(state.action_to_string(state.current_player(), action)) == move
            special += bool(move.promotion) or position.board.is_castling(move)
        count += 1
    assert count > 150 and special > 3


def test_tic_tac_toe_names_squares_as_its_actions_do() -> None:
    count = 0
    for environment, agent, seen in positions("tictactoe_v3", 30):
        text, words = environment.describer(agent).text(agent, seen), environment.action_meanings(agent)
        shown, squares = drawing(text, 3), environment.env.board.squares
        mask = environment.adapter.action_mask(agent)
        assert mask is not None
        for action, word in enumerate(words):
            column, row = int(word.split()[1]) - 1, int(word.split()[3]) - 1
            assert shown[row][column] == ".XO"[squares[action]]
            assert (shown[row][column] == ".") == bool(mask[action])
        count += 1
    assert count > 150


def test_go_names_points_and_passes() -> None:
    count = 0
    for environment, agent, seen in positions("go_v5", 1):
        describer, board = environment.describer(agent), environment.env._go.board
        text, mask = describer.text(agent, seen), environment.adapter.action_mask(agent)
        shown = drawing(text, 19)
        assert shown == ["".join(".XO"[value] for value in row) for row in board.tolist()]
        choices = describer.choices(agent, seen, mask)
        assert choices[-1] == Choice(361, "pass")
        for choice in choices[:-1]:
            column, row = "ABCDEFGHJKLMNOPQRST".index(choice.word[0]), 19 - int(choice.word[1:])
            assert shown[row][column] == "." and choice.action == row * 19 + column
        count += 1
        if count == 150:
            break
    assert count > 100


@pytest.mark.parametrize("task", ["go_v5", "open_spiel/go"])
def test_go_tells_of_a_pass_and_of_the_komi(task: str) -> None:
    environment = envs.make(task)
    try:
        adapter = environment.adapter
        seen = adapter.reset(seed=1)
        for word, told in (("D4", "last move: D4"), ("pass", "Your opponent passed: if you pass too")):
            (agent,) = adapter.get_current_agents()
            assert told not in environment.describer(agent).text(agent, seen[agent])
            seen = adapter.step({agent: action_of(environment, agent, seen, word)}).observations
            (other,) = adapter.get_current_agents()
            text = environment.describer(other).text(other, seen[other])
            assert told in text and ("last move" in text) == (word != "pass")
            assert "White gets 7.5 points more (komi)." in environment.describer(agent).briefing(agent)
        (agent,) = adapter.get_current_agents()
        adapter.step({agent: action_of(environment, agent, seen, "pass")})
        assert not adapter.get_current_agents()
    finally:
        environment.close()


def action_of(environment: Environment, agent: str, seen: Any, word: str) -> int:
    """The action of a word now."""
    mask = environment.adapter.action_mask(agent)
    choices = environment.describer(agent).choices(agent, seen[agent], mask)
    return next(choice.action for choice in choices if choice.word == word)


def test_players_are_told_the_rules_and_how_to_answer() -> None:
    for task, says in (("chess_v6", "who mates"), ("go_v5", "komi"), ("tictactoe_v3", "Three of one's own")):
        environment = envs.make(task)
        try:
            first, second = environment.adapter.possible_agents
            briefing = environment.describer(second).briefing(second)
            assert says in briefing and f"you play {second} against {first}" in briefing
            asked = "Your actions:\n- column 1 row 1" if task.startswith("tic") else "one of the legal moves"
            assert asked in briefing
        finally:
            environment.close()


@pytest.mark.parametrize("game", ["leduc_poker", "kuhn_poker", "breakthrough", "liars_dice"])
def test_openspiel_tells_each_player_what_it_may_know(game: str) -> None:
    count = 0
    for environment, agent, seen in positions(f"open_spiel/{game}", 12):
        describer, state = environment.describer(agent), environment.env.game_state
        player, mask = int(state.current_player()), environment.adapter.action_mask(agent)
        text = describer.text(agent, seen)
        if game == "liars_dice":  # which has no other
            assert text == state.information_state_string(player).rstrip()
        else:
            assert text == state.observation_string(player).rstrip()
        choices = describer.choices(agent, seen, mask)
        if choices:
            assert {choice.action: choice.word for choice in choices} == {
                action: state.action_to_string(player, action) for action in state.legal_actions()
            }
        else:
            assert len(environment.action_meanings(agent)) == environment.adapter.action_space(agent).n
        count += 1
    assert count > 20


def test_a_hidden_card_is_not_told() -> None:
    shown: dict[str, set[str]] = {}
    for environment, agent, seen in positions("open_spiel/kuhn_poker", 60):
        state = environment.env.game_state
        own, other = (state.history()[i] for i in ((0, 1) if state.current_player() == 0 else (1, 0)))
        text = environment.describer(agent).text(agent, seen)
        shown.setdefault(f"{state.current_player()} {own} {state.history()[2:]}", set()).add(text)
        assert own != other
    # With the same card and the same bets the text is the same, whatever the other holds.
    assert len(shown) > 6 and all(len(texts) == 1 for texts in shown.values())


@pytest.mark.parametrize("task", ["chess_v6", "go_v5", "open_spiel/hearts", "open_spiel/chess"])
def test_a_game_whose_observation_is_large_is_offered_in_words_before_it_begins(task: str) -> None:
    environment = envs.make(task)
    try:
        for agent in environment.adapter.possible_agents:
            assert environment.describer(agent).can_say(agent)
    finally:
        environment.close()
