"""Board games in the words of those who play them: what seats and moves are called, and how a game ended."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gym_gui.core.enums import Outcome
from gym_gui.core.live import Board, Captured
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
"""What who moves first and who moves second are called, by kind of board."""
_POINTS: Final = {"q": 9, "r": 5, "b": 3, "n": 3, "p": 1}
"""What chess players count a piece as; the king is never taken."""
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
    """The legal moves of a position in the game's own notation, by action: ``Nf3``, ``column 4``, ``D4``."""
    if board.kind == "chess" and is_installed("chess"):
        import chess as rules

        game = rules.Board(board.fen)
        return {move.action: game.san(rules.Move.from_uci(move.label)) for move in board.moves}
    return {
        move.action: placed_word(board.kind, board.rows, move.target) if move.source is None else move.label
        for move in board.moves
    }


def can_mate(board: Board, agent: AgentID) -> bool:
    """Whether a side of chess has the pieces to mate; in other games it may always win."""
    if board.kind != "chess" or not is_installed("chess"):
        return True
    import chess as rules

    # White's side is below as it is drawn.
    return not rules.Board(board.fen).has_insufficient_material(agent == board.near)


def result_words(kind: str, names: Mapping[AgentID, str], outcome: Mapping[str, Outcome], how: str) -> str:
    """``White wins by checkmate``, ``Yellow connects four``, ``Draw by threefold repetition``.

    Args:
        kind: As in :class:`Board`.
        names: Names of the seats.
        outcome: By team; every player is a team here.
        how: ``by checkmate``, ``by 3.5 points``; ``""`` where the game does not say.
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
    """By how much a game of go was won by area: ``by 12.5 points, 187 to 174 and 0.5 komi``.

    A side's area are its stones and the empty points that touch no stone of the other.

    Args:
        cells: Of a square board, row by row.
        komi: Points that White has from the beginning.
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
    """How a game of chess ended: ``by checkmate``; draws that may be claimed count. ``""``: it goes on."""
    outcome = game.outcome(claim_draw=True)
    return "" if outcome is None else f"by {_CHESS_ENDS.get(outcome.termination.name, 'the rules')}"


def chess_captured(board: Board, white: AgentID, black: AgentID) -> tuple[Captured, ...]:
    """What each side of a chess board has taken, as far as the pieces that are left say it.

    A pawn that became a queen is no queen taken back: of a kind of which there are more than a game begins
    with, none counts as taken.
    """
    there = Counter(board.cells)

    def taken(own: str) -> tuple[str, ...]:
        """Pieces of the side that is written so that are gone."""
        gone: list[str] = []
        promoted = sum(max(there[_cased(p, own)] - n, 0) for p, n in _SET.items() if p != "p")
        for piece, number in _SET.items():
            missing = max(number - there[_cased(piece, own)], 0) - (promoted if piece == "p" else 0)
            gone += [_cased(piece, own)] * missing
        return tuple(gone)

    worth = sum(_POINTS.get(cell.lower(), 0) * (1 if cell.isupper() else -1) for cell in board.cells if cell)
    return (
        Captured(white, taken("black"), max(worth, 0)),
        Captured(black, taken("white"), max(-worth, 0)),
    )


def _cased(piece: str, side: str) -> str:
    return piece.upper() if side == "white" else piece


def stones_captured(black: AgentID, white: AgentID, by_black: int, by_white: int) -> tuple[Captured, ...]:
    """Stones that each side of go has taken."""
    return Captured(black, (SECOND,) * by_black), Captured(white, (FIRST,) * by_white)


def sans_since(game: Any, since: int) -> tuple[str, ...]:
    """Moves of a ``chess.Board`` in standard algebraic notation, without the first ``since`` of them."""
    moves: Sequence[Any] = game.move_stack
    before = game.copy()
    for _ in moves[since:]:
        before.pop()
    words: list[str] = []
    for move in moves[since:]:
        words.append(before.san_and_push(move))
    return tuple(words)
