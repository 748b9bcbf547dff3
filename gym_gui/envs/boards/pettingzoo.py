"""Readers of the boards of PettingZoo's classic games."""

# PettingZoo has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from gym_gui.core.drawing.chess_numbers import numbered
from gym_gui.core.live import Board, Move
from gym_gui.core.types import AgentID
from gym_gui.envs.boards.board_game_words import (
    SIDES,
    area_words,
    chess_captured,
    chess_end,
    sans_since,
    stones_captured,
)
from gym_gui.envs.boards.board_helpers import (
    FIRST,
    OFF_BOARD,
    SECOND,
    Square,
    drops,
    placings,
    turn_of,
)
from gym_gui.envs.instance import Instance
from mosaic_worker.squares import placed_word, point_named

_PIECES = ("", FIRST, SECOND)


def chess(environment: Instance) -> Board:
    """Return PettingZoo's board of chess, read from a ``chess.Board``.

    Black's actions use a mirrored board.
    """
    game: Any = environment.env.board
    turn = turn_of(environment)
    player = environment.env.possible_agents.index(turn.agent) if turn.legal else 0
    moves: list[Move] = []
    found = numbered(game)
    for action in turn.legal:
        move = found[action]
        uci = move.uci()
        promoted = uci[4:]
        moves.append(
            Move(
                action,
                _chess_square(move.to_square),
                _chess_square(move.from_square),
                uci,
                promoted.upper() if player == 0 else promoted,
            )
        )
    pieces: Mapping[int, Any] = game.piece_map()
    cells = [""] * 64
    for square, piece in pieces.items():
        row, column = _chess_square(square)
        cells[row * 8 + column] = piece.symbol()
    last: tuple[Square, ...] = ()
    if game.move_stack:
        done: Any = game.peek()
        last = (_chess_square(done.from_square), _chess_square(done.to_square))
    board = Board("chess", 8, 8, tuple(cells), tuple(moves), last, turn.agent, fen=game.fen())
    white, black = environment.env.possible_agents
    return replace(board, captured=chess_captured(board, white, black), near=white)


def _chess_square(square: int) -> Square:
    return 7 - square // 8, square % 8


def connect_four(environment: Instance) -> Board:
    """Return PettingZoo's board of Connect Four, read from a flat list of 0, 1 and 2 from the top."""
    marks: list[int] = environment.env.board
    cells = [_PIECES[mark] for mark in marks]
    return drops("connect_four", cells, 7, turn_of(environment), lambda action: f"column {action + 1}")


def tictactoe(environment: Instance) -> Board:
    """Return PettingZoo's board of tic-tac-toe, whose squares are numbered column by column."""
    squares: list[int] = environment.env.board.squares
    cells = [_PIECES[squares[column * 3 + row]] for row in range(3) for column in range(3)]
    return placings(
        "tic_tac_toe",
        cells,
        3,
        turn_of(environment),
        _tictactoe_square,
        lambda action: f"column {action // 3 + 1} row {action % 3 + 1}",
    )


def _tictactoe_square(action: int) -> Square:
    return action % 3, action // 3


def go(environment: Instance) -> Board:
    """Return PettingZoo's board of go with rows from the top, as documented.

    PettingZoo renders it transposed.
    """
    points: list[list[int]] = environment.env._go.board.tolist()
    size = len(points)
    cells = [_PIECES[value] for row in points for value in row]  # -1 is white, the last element of _PIECES

    def point(action: int) -> Square:
        return OFF_BOARD if action == size * size else divmod(action, size)

    def label(action: int) -> str:
        return "pass" if action == size * size else point_named(point(action), size)

    board = placings("go", cells, size, turn_of(environment), point, label)
    black, white = environment.env.possible_agents
    return replace(board, captured=stones_captured(black, white, *environment.env._go.caps))


READERS: Mapping[str, Callable[[Instance], Board]] = {
    "chess": chess,
    "connect_four": connect_four,
    "tictactoe": tictactoe,
    "go": go,
}
"""Readers of PettingZoo's boards, by the game's name without area and version."""

KINDS: Mapping[str, str] = {name: "tic_tac_toe" if name == "tictactoe" else name for name in READERS}
"""Kind of board for each name in :data:`READERS`."""


def seat_names(environment: Instance, game: str) -> dict[AgentID, str]:
    """Return PettingZoo's players' names by agent; in every game the first agent moves first."""
    return dict(zip(environment.env.possible_agents, SIDES[KINDS[game]], strict=True))


def words_since(environment: Instance, game: str, actions: Sequence[int], since: int) -> tuple[str, ...]:
    """Return a PettingZoo game's moves in its own notation, without the first ``since`` moves.

    Args:
        environment: Environment of the game.
        game: Name of the game, a key of :data:`READERS`.
        actions: All actions of the game so far.
        since: Number of first moves to leave out.
    """
    if game == "chess":
        return sans_since(environment.env.board, since)
    if game == "go":
        size = int(environment.env._go.board.shape[0])
        points = (OFF_BOARD if action == size * size else divmod(action, size) for action in actions[since:])
        return tuple(placed_word("go", size, point) for point in points)
    square: Callable[[int], Square] = _tictactoe_square if game == "tictactoe" else lambda action: (0, action)
    return tuple(placed_word(KINDS[game], 3, square(action)) for action in actions[since:])


def how_it_ended(environment: Instance, game: str) -> str:
    """Return how a PettingZoo game of chess or go was decided; ``""`` for other games.

    The text is the argument ``how`` of :func:`~gym_gui.envs.boards.board_game_words.result_words`.
    """
    if game == "chess":
        return chess_end(environment.env.board)
    return area_words(go(environment).cells, float(environment.env._go.komi)) if game == "go" else ""
