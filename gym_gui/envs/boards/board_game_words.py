"""Terms of board games: names of seats, notation of moves, captured pieces and results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gym_gui.core.enums import Outcome
from gym_gui.core.live import Board, CapturedPieces
from gym_gui.core.types import AgentID
from gym_gui.envs.boards.board_helpers import FIRST, SECOND
from gym_gui.envs.index import is_installed
from mosaic_worker.squares import placed_word

if TYPE_CHECKING:
    import chess

SIDES: Final[Mapping[str, tuple[str, str]]] = {
    "chess": ("White", "Black"),
    "connect_four": ("Red", "Yellow"),
    "tic_tac_toe": ("X", "O"),
    "go": ("Black", "White"),
    "checkers": ("Red", "White"),
}
"""Names of the first and the second player to move, by kind of board game."""
_POINTS: Final = {"q": 9, "r": 5, "b": 3, "n": 3, "p": 1}
"""Value of each chess piece in points; the king has none, because it is never captured."""
_SET: Final = {"q": 1, "r": 2, "b": 2, "n": 2, "p": 8}
_LINED: Final = {"connect_four": "connects four", "tic_tac_toe": "has three in a row"}
_CHESS_ENDS: Final = {
    "CHECKMATE": "checkmate",
    "STALEMATE": "stalemate",
    "INSUFFICIENT_MATERIAL": "insufficient material",
    "SEVENTYFIVE_MOVES": "seventy-five moves without capture or pawn move",
    "FIVEFOLD_REPETITION": "fivefold repetition",
    "FIFTY_MOVES": "fifty moves without capture or pawn move",
    "THREEFOLD_REPETITION": "threefold repetition",
}


def legal_words(board: Board) -> dict[int, str]:
    """Return the legal moves of a board by action, in the game's notation: ``Nf3``, ``column 4``."""
    if board.kind == "chess" and is_installed("chess"):
        import chess as rules

        game = rules.Board(board.fen)
        return {move.action: game.san(rules.Move.from_uci(move.label)) for move in board.moves}
    return {
        move.action: placed_word(board.kind, board.rows, move.target) if move.source is None else move.label
        for move in board.moves
    }


def can_mate(board: Board, agent: AgentID) -> bool:
    """Return whether a side of chess has enough pieces to mate; ``True`` for other games.

    The result is also ``True`` if python-chess is not installed.
    """
    if board.kind != "chess" or not is_installed("chess"):
        return True
    import chess as rules

    # ``near`` is the agent of White, whose side is drawn at the bottom.
    return not rules.Board(board.fen).has_insufficient_material(agent == board.near)


def result_words(kind: str, names: Mapping[AgentID, str], outcome: Mapping[str, Outcome], how: str) -> str:
    """Return the result of a game as text, such as ``White wins by checkmate`` or ``Yellow connects four``.

    Args:
        kind: As in :class:`Board`.
        names: Names of the seats.
        outcome: Outcome of each team; in these games every player is a team.
        how: How the game was decided, such as ``by checkmate``; ``""`` if unknown.
    """
    winner = next((team for team, word in outcome.items() if word == Outcome.WIN), "")
    if winner and kind in _LINED:
        return f"{names.get(winner, winner)} {_LINED[kind]}"
    said = f"{names.get(winner, winner)} wins" if winner else "Draw"
    if not winner and not how and kind in _LINED:
        return f"{said}: the board is full"
    if winner and not how and kind == "checkers":
        loser = next((names.get(team, team) for team in outcome if team != winner), "")
        return f"{said}: {loser} has no move left"
    return f"{said} {how}".strip()


def area_words(cells: Sequence[str], komi: float) -> str:
    """Return the margin of a game of go by area: ``by 12.5 points: area 187 to 174, komi 0.5``.

    The area of a side is its stones and the empty regions that touch only its stones.

    Args:
        cells: Cells of a square board, row by row.
        komi: Points that White gets in advance.
    """
    size = math.isqrt(len(cells))
    areas, seen = Counter(cells), set[int]()
    for start, cell in enumerate(cells):
        if cell or start in seen:
            continue
        empty, touched, waiting = 0, set[str](), [start]
        while waiting:
            at = waiting.pop()
            if cells[at]:
                touched.add(cells[at])
            elif at not in seen:
                seen.add(at)
                empty += 1
                waiting += _beside(at, size)
        if len(touched) == 1:
            areas[touched.pop()] += empty
    black, white = areas[FIRST], areas[SECOND]
    margin = abs(black - white - komi)
    return f"by {margin:g} point{'' if margin == 1 else 's'}: area {black} to {white}, komi {komi:g}"


def _beside(at: int, size: int) -> list[int]:
    row, column = divmod(at, size)
    near = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [r * size + c for r, c in near if 0 <= r < size and 0 <= c < size]


def chess_end(game: chess.Board) -> str:
    """Return how a game of chess ended, such as ``by checkmate``; ``""`` if the game is not over.

    A draw that a player may claim counts as an end.
    """
    outcome = game.outcome(claim_draw=True)
    return "" if outcome is None else f"by {_CHESS_ENDS.get(outcome.termination.name, 'the rules')}"


def chess_captured(board: Board, white: AgentID, black: AgentID) -> tuple[CapturedPieces, ...]:
    """Return the pieces that each side of chess has captured, inferred from the pieces on the board.

    Pieces beyond the initial number of their kind must be promoted pawns, so that many missing pawns do not
    count as captured.
    """
    there = Counter(board.cells)

    def taken(own: str) -> tuple[str, ...]:
        """Return the captured pieces of the side ``own``, which is ``"white"`` or ``"black"``."""
        gone: list[str] = []
        promoted = sum(max(there[_cased(p, own)] - n, 0) for p, n in _SET.items() if p != "p")
        for piece, number in _SET.items():
            missing = max(number - there[_cased(piece, own)], 0) - (promoted if piece == "p" else 0)
            gone += [_cased(piece, own)] * missing
        return tuple(gone)

    worth = sum(_POINTS.get(cell.lower(), 0) * (1 if cell.isupper() else -1) for cell in board.cells if cell)
    return (
        CapturedPieces(white, taken("black"), max(worth, 0)),
        CapturedPieces(black, taken("white"), max(-worth, 0)),
    )


def _cased(piece: str, side: str) -> str:
    return piece.upper() if side == "white" else piece


def stones_captured(
    black: AgentID, white: AgentID, by_black: int, by_white: int
) -> tuple[CapturedPieces, ...]:
    """Return the stones that each side of go has captured, from their numbers."""
    return CapturedPieces(black, (SECOND,) * by_black), CapturedPieces(white, (FIRST,) * by_white)


def sans_since(game: Any, since: int) -> tuple[str, ...]:
    """Return the moves of a ``chess.Board`` in algebraic notation, without the first ``since`` moves."""
    moves: Sequence[Any] = game.move_stack
    before = game.copy()
    for _ in moves[since:]:
        before.pop()
    words: list[str] = []
    for move in moves[since:]:
        words.append(before.san_and_push(move))
    return tuple(words)
