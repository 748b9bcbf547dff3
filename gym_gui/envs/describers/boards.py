"""Board games in words: drawn with letters, squares named as players name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gym_gui.core.live import Board
from gym_gui.core.prompt_inputs import Mode
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.boards.position import FIRST, OFF_BOARD, SECOND, Square, turn_of
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.facts import Fact, fact

if TYPE_CHECKING:
    from gym_gui.envs.instance import Instance

_FILES = "abcdefghijklmnopqrstuvwxyz"
_GO_FILES = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_FREE = "."
FROM_CHOICES = "You answer with one of the legal moves, which you are shown at every turn."
_RULES: Mapping[str, str] = {
    "connect_four": "Players drop a piece in turn into one of the columns, where it falls to the lowest "
    "free cell. Four pieces of one's own in a row, across, up or aslant, win; a full board is a draw.",
    "tic_tac_toe": "Players put a mark in turn into a free square. Three of one's own in a row, across, down "
    "or aslant, win; a full board is a draw.",
    "chess": "The rules of chess: who mates the other's king wins; stalemate, too few pieces to mate, a "
    "position for the third time and fifty moves without capture or pawn move draw.",
    "go": "The rules of go: stones are put on free points in turn; stones without a free neighbour are "
    "taken; no position comes twice; two passes in a row end the game. Then one's stones count, and the "
    "free points that only they enclose: who has more wins.",
    "checkers": "The rules of checkers (draughts): men move aslant and forward, must take by jumping where "
    "they can, and become kings on the last row. Who has no move loses. Each jump is a move of its own.",
}
_PAID = "Winning pays 1, losing costs 1, a draw pays nothing."
_NOTATIONS: Mapping[str, str] = {
    "chess": " Both ways of writing a move are taken: as players do (SAN: e4, Nf3, O-O) and as programs do "
    "(UCI: e2e4, g1f3, e1g1)."
}
_LETTERS: Mapping[str, str] = {
    "chess": "Capitals are white's pieces, small letters black's (K king, Q queen, R rook, B bishop, "
    "N knight, P pawn). Moves are written as from and to square, with the piece a pawn becomes: e2e4, e7e8q.",
    "tic_tac_toe": "Columns are numbered from the left, rows from the top.",
    "checkers": "X and O are men, doubled letters kings. Moves are written as from and to square.",
    "go": "X are black's stones, O white's.",
}


class BoardDescriber(SpaceDescriber):
    """What a game's board shows (:meth:`Environment.board`); other games by their spaces."""

    def __init__(self, environment: Instance, kind: str) -> None:
        """``kind`` as in :class:`Board`: it is asked for before there is a position."""
        super().__init__(environment)
        self._kind = kind
        self._read: tuple[Any, Board | None] = (None, None)

    def board(self, observation: Any) -> Board | None:
        """The position that an observation shows, read once for all that is said of it."""
        if self._read[0] is not observation or observation is None:
            self._read = observation, self.environment.board()
        return self._read[1]

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        board = self.board(observation)
        if board is None:
            return super().text(agent, observation, mode)
        lines = [f"You are to move, with {self.side(agent, board)}.", *drawn(board)]
        if board.last:
            lines.append(
                f"Your opponent's last move: {' to '.join(square(board, each) for each in board.last)}"
            )
        elif board.kind == "go" and turn_of(self.environment).last is not None:
            lines.append("Your opponent passed: if you pass too, the game ends and the board is counted.")
        return "\n".join([*lines, *self.notation(board)])

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Pieces by column and row, from 1 on the left and below: ``piece("N", 7, 1)``; one's own side."""
        board = self.board(observation)
        if board is None:
            return ()
        pieces = [
            fact("piece", piece, i % board.columns + 1, board.rows - i // board.columns)
            for i, piece in enumerate(board.cells)
            if piece
        ]
        last = [fact("last_move", *(square(board, each) for each in board.last))] if board.last else []
        return [fact("me", self.side(agent, board)), *pieces, *last]

    def notation(self, board: Board) -> list[str]:
        """Lines on the position in the notation that programs read, where there is one."""
        # OpenSpiel prints chess as FEN.
        return [f"FEN: {self.environment.env.game_state}"] if board.kind == "chess" else []

    def can_say(self, agent: AgentID) -> bool:
        # However large the observation: the board is what is told.
        return True

    def side(self, agent: AgentID, board: Board) -> str:
        """The pieces of ``agent``, who is on turn."""
        if board.kind == "chess":
            return "white" if _white_moves(board) else "black"
        first = agent == self.environment.adapter.possible_agents[0]
        mark = FIRST if first else SECOND
        return f"{'black' if first else 'white'} ({mark})" if board.kind == "go" else mark

    def game(self, agent: AgentID) -> str:
        environment = self.environment
        others = [each for each in environment.adapter.possible_agents if each != agent]
        title = environment.title
        rules = f"The game is {title}; you play {agent} against {', '.join(others)}. {_RULES[self._kind]}"
        komi = f" White gets {self._komi():g} points more (komi)." if self._kind == "go" else ""
        return f"{rules}{komi} {_PAID}{longest(environment)}"

    def _komi(self) -> float:
        """Of a game of go: PettingZoo's or OpenSpiel's."""
        game: Any = self.environment.env
        komi: Any = game._komi if hasattr(game, "_komi") else game._env.get_parameters()["komi"]
        return float(komi)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return f"The board is drawn from above with {_FREE} for free. {_LETTERS.get(self._kind, '')}".strip()

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        if self.environment.action_meanings(agent):
            return ()
        board = self.board(observation)
        if board is None:
            return ()
        if board.kind == "tic_tac_toe":  # which OpenSpiel counts from 0
            return tuple(Choice(move.action, square(board, move.target)) for move in board.moves)
        return tuple(Choice(move.action, move.label) for move in board.moves)

    def _how_to_act(self, agent: AgentID) -> str:
        if self.actions(agent):
            return super()._how_to_act(agent)
        return f"{FROM_CHOICES}{_NOTATIONS.get(self._kind, '')}"


def longest(environment: Instance) -> str:
    """A sentence on the most moves that a game of OpenSpiel may have; ``""`` for games of others."""
    game: Any = getattr(environment.env, "_env", None)
    return f" A game has at most {game.max_game_length()} moves." if hasattr(game, "max_game_length") else ""


def _white_moves(board: Board) -> bool:
    source = next((move.source for move in board.moves if move.source is not None), None)
    return source is None or board.cells[source[0] * board.columns + source[1]].isupper()


def drawn(board: Board) -> list[str]:
    """Lines that show a board, rows from the top, with the names of rows and columns."""
    wide = max(1, *(len(cell) for cell in board.cells))
    numbers = [_row(board, row) for row in range(board.rows)]
    margin = max(len(number) for number in numbers)
    lines: list[str] = []
    for row, number in enumerate(numbers):
        cells = board.cells[row * board.columns : (row + 1) * board.columns]
        shown = " ".join((cell or _FREE).ljust(wide) for cell in cells)
        lines.append(f"{number.rjust(margin)} {shown}".rstrip())
    foot = " ".join(_column(board, column).ljust(wide) for column in range(board.columns))
    return [*lines, f"{' ' * margin} {foot}".rstrip()]


def _row(board: Board, row: int) -> str:
    if board.kind == "connect_four":
        return ""
    return str(row + 1) if board.kind == "tic_tac_toe" else str(board.rows - row)


def _column(board: Board, column: int) -> str:
    if board.kind in ("connect_four", "tic_tac_toe"):
        return str(column + 1)
    return (_GO_FILES if board.kind == "go" else _FILES)[column]


def square(board: Board, place: Square) -> str:
    """A square as players of the game name it."""
    if place == OFF_BOARD:
        return "pass"
    if board.kind == "connect_four":
        return f"column {place[1] + 1}"
    if board.kind == "tic_tac_toe":
        return f"column {place[1] + 1} row {place[0] + 1}"
    return f"{_column(board, place[1])}{_row(board, place[0])}"
