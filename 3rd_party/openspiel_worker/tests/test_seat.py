"""Positions are found again from what a seat is shown."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyspiel
import pytest

from mosaic_worker.worker import Decision, PolicyFailed, Slot
from openspiel_worker.boards import Chess, VisiblePosition, board_of
from openspiel_worker.seat import Seat
from openspiel_worker.table import Table

Look = Callable[..., Decision]
NewSlot = Callable[..., Slot]

OPEN = ["hex(board_size=4)", "breakthrough", "othello", "checkers", "nim", "chess", "go(board_size=5)", "pig"]
HIDDEN = ["kuhn_poker", "leduc_poker", "liars_dice", "kuhn_poker(players=3)"]


def played(name: str, new_slot: NewSlot, look: Look, seed: int, most: int = 60) -> int:
    """A random game with a seat that plays along; how many positions it was right about."""
    rng = random.Random(seed)
    players = pyspiel.load_game(name).num_players()
    hero = rng.randrange(players)
    slot = new_slot(name, hero, game=name)
    table = Table(slot)
    seat, state, step, right = Seat(table, slot.agent_id), table.game.new_initial_state(), 0, 0
    while not state.is_terminal() and step < most:
        action = rng.choice(state.legal_actions())
        if state.is_chance_node():
            state.apply_action(action)
            continue
        if state.current_player() == hero:
            states = seat.see(look(state, hero, step))
            if table.hidden:
                told = {each.information_state_string(hero) for each in states}
                assert told == {state.information_state_string(hero)}
                assert str(state) in {str(each) for each in states}
            else:
                assert [str(each) for each in states] == [str(state)]
            seat.play(action)
            right += 1
        state.apply_action(action)
        step += 1
    return right


@pytest.mark.parametrize("name", OPEN)
def test_a_game_is_followed_through_what_others_do(name: str, new_slot: NewSlot, look: Look) -> None:
    assert sum(played(name, new_slot, look, seed) for seed in range(3)) > 5


@pytest.mark.parametrize("name", HIDDEN)
def test_where_cards_are_hidden_all_that_may_be_is_kept(name: str, new_slot: NewSlot, look: Look) -> None:
    assert sum(played(name, new_slot, look, seed) for seed in range(40)) > 20


@pytest.mark.parametrize("name", ["leduc_poker", "nim", "tic_tac_toe"])
def test_who_takes_over_in_the_middle_tries_the_game_from_its_beginning(
    name: str, new_slot: NewSlot, look: Look
) -> None:
    table = Table(new_slot(name))
    state, step = table.game.new_initial_state(), 0
    rng = random.Random(2)
    while step < 2 or state.current_player() != 0:
        chance = state.is_chance_node()
        state.apply_action(
            rng.choice(state.legal_actions()) if chance or name == "nim" else state.legal_actions()[-1]
        )
        step += not chance
    states = Seat(table, "player_0").see(look(state, 0, step))
    assert str(state) in {str(each) for each in states}


@pytest.mark.parametrize("name", ["breakthrough", "othello", "leduc_poker"])
def test_a_move_that_was_made_in_place_of_its_own_is_found_out(
    name: str, new_slot: NewSlot, look: Look
) -> None:
    rng, found = random.Random(4), 0
    for _ in range(4):
        table = Table(new_slot(name))
        seat, state, step = Seat(table, "player_0"), table.game.new_initial_state(), 0
        while not state.is_terminal() and step < 12:
            chance, legal = state.is_chance_node(), state.legal_actions()
            if not chance and state.current_player() == 0:
                assert str(state) in {str(each) for each in seat.see(look(state, 0, step))}
                found += step > 1
                seat.play(legal[0])
            state.apply_action(rng.choice(legal))
            step += not chance
    assert found > 2


def test_what_cannot_be_is_said(new_slot: NewSlot, look: Look) -> None:
    table = Table(new_slot("hex(board_size=4)", game="hex(board_size=4)"))
    state = table.game.new_initial_state()
    state.apply_action(3)
    with pytest.raises(PolicyFailed, match="cannot be reconstructed from the seat's observations"):
        Seat(table, "player_1").see(look(state, 1, 0))


def facts(board: Any, state: Any, me: str) -> VisiblePosition:
    """As environments state boards."""
    pieces = [
        f'piece("{"XO"[mark]}", {column}, {row})' for (column, row), mark in board.pieces_of(state).items()
    ]
    history = state.history()
    passed = board.word(state, history[-1]) == "pass" if history else False
    last = ['last_move("there")'] if history and not passed else []
    return VisiblePosition([f'me("{me}")', *pieces, *last], "")


@pytest.mark.parametrize("name", ["connect_four", "tic_tac_toe", "go(board_size=5)", "go(board_size=9)"])
def test_boards_are_set_up_as_they_are_shown(name: str) -> None:
    game = pyspiel.load_game(name)
    board, count = board_of(game), 0
    assert board is not None
    for seed in range(12):
        state, rng = game.new_initial_state(), random.Random(seed)
        for _ in range(rng.randrange(1, 34)):
            state.apply_action(rng.choice(state.legal_actions()))
            if state.is_terminal():
                break
        if state.is_terminal():
            continue
        mover = state.current_player()
        shown = facts(board, state, "black (X)" if mover == 0 else "white (O)")
        made = board.set_up(shown)
        assert made is not None and made.current_player() == mover
        assert board.shows(made, shown)
        if name.startswith("go") and shown.facts and not any(f.startswith("last_move") for f in shown.facts):
            assert board.word(made, made.history()[-1]) == "pass"
        count += 1
    assert count > 2


def test_a_board_that_no_game_leads_to_is_not_set_up() -> None:
    board = board_of(pyspiel.load_game("connect_four"))
    assert board is not None
    floating = VisiblePosition(['me("X")', 'piece("X", 1, 3)', 'piece("O", 2, 1)'], "")
    assert board.set_up(floating) is None


def test_chess_is_set_up_from_its_notation_and_its_words_are_squares() -> None:
    board = board_of(pyspiel.load_game("chess"))
    assert isinstance(board, Chess)
    fen = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 3 9"
    state = board.set_up(VisiblePosition([], f"You are to move.\nFEN: {fen}"))
    assert state is not None and str(state) == fen
    assert {"e1g1", "e1c1", "a2a4"} <= {board.word(state, action) for action in state.legal_actions()}
    assert board.set_up(VisiblePosition([], "nothing of chess")) is None
