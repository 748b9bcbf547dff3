from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.classic import connect_four_v3, tictactoe_v3

from mosaic_worker.worker import Invalid
from operators_worker.board_lines import lines_through

GAMES: dict[str, Any] = {"connect_four_one_ply": connect_four_v3, "tictactoe_one_ply": tictactoe_v3}


def _seats(name: str, behaviors: tuple[str, str], new_seat: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    env = GAMES[name].env()
    env.reset(seed=0)
    seats = {
        agent: new_seat(env.observation_space(agent)["observation"], env.action_space(agent), behavior)
        for agent, behavior in zip(env.possible_agents, behaviors, strict=True)
    }
    return env, seats


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seat", [0, 1])
def test_it_beats_random_from_either_seat(name: str, seat: int, new_seat: Callable[..., Any]):
    env, seats = _seats(name, (name, "random") if seat == 0 else ("random", name), new_seat)
    hero, won = env.possible_agents[seat], 0
    for game in range(60):
        env.reset(seed=game)
        step, reward = 0, 0.0
        for agent in env.agent_iter():
            seen, gained, terminated, truncated, _ = env.last()
            reward += gained if agent == hero else 0.0
            if terminated or truncated:
                env.step(None)
                continue
            seed = 2 * game + env.possible_agents.index(agent)
            env.step(int(seats[agent].act(seen["observation"], game, step, seed, mask=seen["action_mask"])))
            step += 1
        won += reward > 0
    assert won / 60 >= 0.85


def _board(*rows: str) -> Any:
    """``x`` own, ``o`` the other's, ``.`` empty."""
    own = np.array([[c == "x" for c in row] for row in rows])
    other = np.array([[c == "o" for c in row] for row in rows])
    return np.stack([own, other], axis=2).astype(np.int8)


@pytest.mark.parametrize(
    ("rows", "move"),
    [
        (("xx.", "oo.", "..."), 2),  # wins rather than blocks
        (("x..", "oo.", "..x"), 5),  # blocks
        (("...", "...", "..."), 4),  # the centre
        (("o.x", ".x.", "..o"), 6),  # wins on the diagonal
    ],
)
def test_tictactoe_moves(rows: tuple[str, ...], move: int, new_seat: Callable[..., Any]):
    seat = _seats("tictactoe_one_ply", ("tictactoe_one_ply", "random"), new_seat)[1]["player_1"]
    mask = [c == "." for row in rows for c in row]
    assert seat.act(_board(*rows), 0, 0, 5, mask=mask) == move
    assert seat.act(_board(*rows), 1, 0, 5) == move  # the board alone tells as well


EMPTY_ROWS = (".......",) * 3


@pytest.mark.parametrize(
    ("rows", "move"),
    [
        ((*EMPTY_ROWS, "x......", "x.....o", "x.....o"), 0),  # four upwards
        ((*EMPTY_ROWS, "......o", "......o", ".xx...o"), 6),  # stops four upwards
        ((*EMPTY_ROWS, ".......", ".......", "xx.xooo"), 2),  # fills the gap
        ((*EMPTY_ROWS, "..xo...", ".xoo...", "xooxx.."), 3),  # the diagonal, on top of its column
        ((*EMPTY_ROWS, ".......", ".......", "......."), 3),  # the centre
    ],
)
def test_connect_four_moves(rows: tuple[str, ...], move: int, new_seat: Callable[..., Any]):
    seat = _seats("connect_four_one_ply", ("connect_four_one_ply", "random"), new_seat)[1]["player_0"]
    mask = [c == "." for c in rows[0]]
    assert seat.act(_board(*rows), 0, 0, 5, mask=mask) == move
    assert seat.act(_board(*rows), 1, 0, 5) == move


def test_equal_cells_are_chosen_by_the_seed(new_seat: Callable[..., Any]):
    seat = _seats("tictactoe_one_ply", ("tictactoe_one_ply", "random"), new_seat)[1]["player_1"]
    board = _board("...", ".o.", "...")
    replies = [seat.act(board, 0, 1, seed) for seed in range(40)]
    assert set(replies) == {0, 2, 6, 8}
    assert replies == [seat.act(board, 0, 1, seed) for seed in range(40)]


def test_a_full_board_has_no_move(new_seat: Callable[..., Any]):
    seat = _seats("tictactoe_one_ply", ("tictactoe_one_ply", "random"), new_seat)[1]["player_1"]
    assert isinstance(seat.act(_board("xox", "xox", "oxo"), 0, 9, 1), Invalid)


def test_connect_four_has_69_lines_and_tictactoe_8():
    for shape, length, count in (((6, 7), 4, 69), ((3, 3), 3, 8)):
        through = lines_through(*shape, length)
        lines = {frozenset((cell, *line)) for cell, lines in enumerate(through) for line in lines}
        assert len(lines) == count
