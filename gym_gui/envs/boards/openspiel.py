"""Readers of the boards of OpenSpiel games, which parse the text of a state."""

# OpenSpiel is untyped: all its values are Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from gym_gui.core.live import Board, Move
from gym_gui.core.types import AgentID
from gym_gui.envs.boards.board_game_words import SIDES, area_words, chess_captured, chess_end
from gym_gui.envs.boards.board_helpers import (
    FIRST,
    OFF_BOARD,
    SECOND,
    Square,
    drops,
    placings,
    square_named,
    turn_of,
)
from gym_gui.envs.index import is_installed
from gym_gui.envs.instance import Instance
from mosaic_worker.squares import placed_word, point_named

_MARKS = {".": "", "x": FIRST, "o": SECOND}
_STONES = {"+": "", "X": FIRST, "O": SECOND}
# The player with the symbol "o" moves first and moves up the board.
_MEN = {".": "", "o": FIRST, "8": FIRST * 2, "+": SECOND, "*": SECOND * 2}
_STEP = re.compile(r"^([a-z]\d+)([a-z]\d+)([qrbn]?)$")


def state_of(environment: Instance) -> Any:
    return environment.env.game_state


def tic_tac_toe(environment: Instance) -> Board:
    """Return OpenSpiel's board of tic-tac-toe; actions are numbered row by row."""
    state = state_of(environment)
    lines = str(state).split()
    cells = [_MARKS[mark] for line in lines for mark in line]
    player = int(state.current_player())
    return placings(
        "tic_tac_toe",
        cells,
        len(lines[0]),
        turn_of(environment),
        lambda action: divmod(action, len(lines[0])),
        lambda action: str(state.action_to_string(player, action)),
    )


def connect_four(environment: Instance) -> Board:
    """Return OpenSpiel's board of Connect Four; actions are column numbers."""
    lines = str(state_of(environment)).split()
    cells = [_MARKS[mark] for line in lines for mark in line]
    return drops(
        "connect_four", cells, len(lines[0]), turn_of(environment), lambda action: f"column {action + 1}"
    )


def go(environment: Instance) -> Board:
    """Return OpenSpiel's board of go.

    Actions are numbered row by row from the bottom, and the last one passes.
    """
    grid = [parts[1] for line in str(state_of(environment)).splitlines() if (parts := _go_line(line))]
    size = len(grid)
    cells = [_STONES[mark] for line in grid for mark in line]

    def point(action: int) -> Square:
        return _go_point(action, size)

    def label(action: int) -> str:
        return "pass" if action == size * size else point_named(point(action), size)

    return placings("go", cells, size, turn_of(environment), point, label)


def _go_point(action: int, size: int) -> Square:
    return OFF_BOARD if action == size * size else (size - 1 - action // size, action % size)


def _go_line(line: str) -> list[str]:
    parts = line.split()
    return parts if len(parts) == 2 and parts[0].isdigit() else []


def checkers(environment: Instance) -> Board:
    """Return OpenSpiel's board of checkers; a capture of several pieces takes one move per piece."""
    state = state_of(environment)
    size: Mapping[str, int] = state.get_game().get_parameters()
    rows, columns = size["rows"], size["columns"]
    lines = str(state).splitlines()[:rows]
    cells = [_MEN[mark] for line in lines for mark in line[-columns:]]  # each line begins with its number

    def named(position: Any, player: int, action: int) -> str:
        return str(position.action_to_string(player, action))

    board = _steps(environment, "checkers", rows, cells, named)
    return replace(board, near=environment.adapter.possible_agents[0])


def chess(environment: Instance) -> Board:
    """Return OpenSpiel's board of chess, whose state prints the position in Forsyth-Edwards notation."""
    import pyspiel

    cells: list[str] = []
    for letter in str(state_of(environment)).split()[0].replace("/", ""):
        cells += [""] * int(letter) if letter.isdigit() else [letter]

    def named(position: Any, player: int, action: int) -> str:
        return str(pyspiel.chess.action_to_move(action, position.board()).to_lan())

    board = replace(_steps(environment, "chess", 8, cells, named), fen=str(state_of(environment)))
    black, white = environment.adapter.possible_agents  # OpenSpiel numbers players by color, black first
    return replace(board, captured=chess_captured(board, white, black), near=white)


def _steps(
    environment: Instance,
    kind: str,
    rows: int,
    cells: list[str],
    named: Callable[[Any, int, int], str],
) -> Board:
    """Return a board on which pieces move from square to square.

    Args:
        environment: Environment of the game.
        kind: As in :class:`Board`.
        rows: Rows of the board.
        cells: Pieces, row by row from the top.
        named: Returns the two squares and the promotion (``e7e8q``) of an action by a player in a state.
    """
    state, turn = state_of(environment), turn_of(environment)
    moves: list[Move] = []
    for action in turn.legal:
        name = named(state, int(state.current_player()), action)
        source, target, promotion = _squares(name, rows)
        white = cells[source[0] * (len(cells) // rows) + source[1]].isupper()
        moves.append(Move(action, target, source, name, promotion.upper() if white else promotion))
    last: tuple[Square, ...] = ()
    if turn.last is not None:
        player = int(state.full_history()[-1].player)
        before = state.clone()
        before.undo_action(player, turn.last)
        last = _squares(named(before, player, turn.last), rows)[:2]
    return Board(kind, rows, len(cells) // rows, tuple(cells), tuple(moves), last, turn.agent)


def _squares(name: str, rows: int) -> tuple[Square, Square, str]:
    found = _STEP.match(name)
    if found is None:
        raise ValueError(f"{name!r} does not name two squares")
    return square_named(found[1], rows), square_named(found[2], rows), found[3]


READERS: Mapping[str, Callable[[Instance], Board]] = {
    "tic_tac_toe": tic_tac_toe,
    "connect_four": connect_four,
    "go": go,
    "checkers": checkers,
    "chess": chess,
}
"""Readers of OpenSpiel's boards, by OpenSpiel's name of the game."""


def seat_names(environment: Instance, game: str) -> dict[AgentID, str]:
    """Return OpenSpiel's players' names by agent; in chess the second agent is White."""
    agents = environment.adapter.possible_agents
    return dict(zip(reversed(agents) if game == "chess" else agents, SIDES[game], strict=True))


def words_since(environment: Instance, game: str, since: int) -> tuple[str, ...]:
    """Return an OpenSpiel game's moves in its own notation, without the first ``since`` moves.

    Args:
        environment: Environment of the game.
        game: Name of the game, a key of :data:`READERS`.
        since: Number of first moves to leave out.
    """
    state = state_of(environment)
    history = [(int(each.player), int(each.action)) for each in state.full_history()]
    played = history[since:]
    if game in ("chess", "checkers"):
        # Replay from the start: undoing several jumps of checkers raises an error in OpenSpiel.
        before = state.get_game().new_initial_state()
        for _, action in history[:since]:
            before.apply_action(action)
        words: list[str] = []
        for player, action in played:
            words.append(str(before.action_to_string(player, action)))
            before.apply_action(action)
        return tuple(words)
    size = int(state.get_game().get_parameters().get("board_size", 3))
    squares: Mapping[str, Callable[[int], Square]] = {
        "tic_tac_toe": lambda action: divmod(action, 3),
        "connect_four": lambda action: (0, action),
        "go": lambda action: _go_point(action, size),
    }
    return tuple(placed_word(game, size, squares[game](action)) for _, action in played)


def how_it_ended(environment: Instance, game: str) -> str:
    """Return how an OpenSpiel game of go or chess was decided; ``""`` for other games.

    OpenSpiel does not report the reason. For chess it is ``""`` too if python-chess is not installed.
    """
    if game == "go":
        komi = float(state_of(environment).get_game().get_parameters().get("komi", 7.5))
        return area_words(go(environment).cells, komi)
    if game != "chess" or not is_installed("chess"):
        return ""
    import chess as rules
    import pyspiel

    state, played = state_of(environment), rules.Board()
    before = state.get_game().new_initial_state()
    for action in state.history():
        played.push_uci(str(pyspiel.chess.action_to_move(action, before.board()).to_lan()))
        before.apply_action(action)
    return chess_end(played)
