"""Describes board games as text: boards drawn with letters, and squares named as players name them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isqrt
from typing import Any, Final

from gym_gui.core.experiment.prompt_inputs import Mode, Renaming
from gym_gui.core.live import Board, Move
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.boards.board_helpers import FIRST, OFF_BOARD, SECOND, Square, turn_of
from gym_gui.envs.describers.describer import ActionWord, Describer, Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.other_words import Terms, letters, numbers
from gym_gui.envs.facts import Fact, fact
from gym_gui.envs.instance import Instance
from mosaic_worker.renaming import Names
from mosaic_worker.squares import GO_FILES

_FILES = "abcdefghijklmnopqrstuvwxyz"
_FREE = "."
_USUAL: Final = Names()
_PIECES: Mapping[str, str] = {"chess": "KQRBNP"}
"""Letters of the pieces in games other than those with X and O."""
_CHESS_PIECES = dict(zip("KQRBNP", ("king", "queen", "rook", "bishop", "knight", "pawn"), strict=True))
FROM_CHOICES = "You answer with one of the legal moves, which you are shown at every turn."
_STEP = re.compile(r"([a-z])(\d+)([a-z])(\d+)([a-z]?)")
"""Pattern of a move from one square to another."""
_PLACE = re.compile(r"\b(column|row) (\w+)")
_SIZES: Mapping[str, tuple[int, int]] = {
    "tic_tac_toe": (3, 3),
    "chess": (8, 8),
    "checkers": (8, 8),
}
"""Rows and columns of board games with a single size."""
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
    "chess": "Capitals are white's pieces, small letters black's ({pieces}). Moves are written as from and "
    "to square, with the piece a pawn becomes: {move}, {promotion}.",
    "tic_tac_toe": "Columns are numbered from the left, rows from the top.",
    "checkers": "{X} and {O} are men, doubled letters kings. Moves are written as from and to square.",
    "go": "{X} are black's stones, {O} white's.",
}
_OTHER_MARKS = "Columns are called as it says below them{rows}."
_FORMS: Mapping[str, str] = {
    "connect_four": 'You answer with a column, such as "{column}".',
    "tic_tac_toe": 'You answer with a square, such as "{square}".',
    "chess": "You answer with a move.",
    "go": 'You answer with a point, such as "{point}", or with "pass".',
    "checkers": "You answer with a move.",
}
"""Sentences on how to answer if the prompt does not list the legal moves."""
_UNTOLD: Final = "Which moves are legal you are not told."


class BoardDescriber(SpaceDescriber):
    """Describes the position of a board game (:meth:`Environment.board`)."""

    def __init__(self, environment: Instance, kind: str) -> None:
        """Make a describer; ``kind`` is as in :class:`Board`, because no position exists yet."""
        super().__init__(environment)
        self._kind, self._names, self._hides = kind, _USUAL, False
        self._read: tuple[Any, Board | None] = (None, None)

    def board(self, observation: Any) -> Board | None:
        """Return the board of an observation; it is read only once per observation."""
        if self._read[0] is not observation or observation is None:
            self._read = observation, self.environment.board()
        return self._read[1]

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        board = self.board(observation)
        if board is None:
            return super().text(agent, observation, mode)
        lines = [f"You are to move, with {self.side(agent, board)}.", *drawn(board, self._names)]
        if board.last:
            last = (square(board, each, self._names) for each in board.last)
            lines.append(f"Your opponent's last move: {' to '.join(last)}")
        elif board.kind == "go" and turn_of(self.environment).last is not None:
            lines.append("Your opponent passed: if you pass too, the game ends and the board is counted.")
        return "\n".join([*lines, *self.notation(board), *self._legal(board)])

    def _legal(self, board: Board) -> list[str]:
        """Return lines about the legal moves, in addition to :meth:`choices`."""
        return []

    def can_state(self, agent: AgentID) -> bool:
        return True

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return pieces by column and row, counted from 1 at the left and bottom: ``piece("N", 7, 1)``.

        The facts also contain the agent's own side, and in chess what the board does not show:
        ``castling("K")``, ``en_passant(e3)``, ``quiet_moves(4)``.
        """
        board = self.board(observation)
        if board is None:
            return ()
        pieces = [
            fact("piece", piece, i % board.columns + 1, board.rows - i // board.columns)
            for i, piece in enumerate(board.cells)
            if piece
        ]
        last = [fact("last_move", *(square(board, each) for each in board.last))] if board.last else []
        return [fact("me", self.side(agent, board)), *pieces, *last, *_rights(self.fen(board))]

    def notation(self, board: Board) -> list[str]:
        """Return lines with the position in a notation for programs (FEN); empty if the game has none."""
        # FEN has the standard letters.
        fen = "" if self._names else self.fen(board)
        return [f"FEN: {fen}"] if fen else []

    def fen(self, board: Board) -> str:
        """Return a chess position as FEN; ``""`` in other games."""
        return str(self.environment.env.game_state) if board.kind == "chess" else ""

    def terms(self, agent: AgentID) -> Terms:
        """Return no terms, because only the marks on the board are renamed."""
        return Terms()

    def other_names(self, agent: AgentID, rename: Renaming, seed: int) -> Names:
        """Return replaced marks for columns and rows (actions) and replaced letters for pieces (objects)."""
        marks: dict[str, str] = {}
        pieces = _PIECES.get(self._kind, FIRST + SECOND)
        columns, rows = self._sides()
        heads = [column.upper() for column in columns]
        if rename in ("actions", "both"):
            heads = list(letters(heads, seed, pieces).values())
            new = [head.lower() if columns[0].islower() else head for head in heads]
            marks |= {f"column {usual}": each for usual, each in zip(columns, new, strict=True)}
            marks |= {f"row {usual}": each for usual, each in numbers(rows, seed).items()}
        if rename in ("objects", "both"):
            marks |= {f"piece {usual}": each for usual, each in letters(pieces, seed, heads).items()}
        names = Names(marks=marks, drawn=True)
        said = [each.word for each in super().actions(agent)] if rename != "objects" else []
        return replace(names, actions={word: _in_marks(word, names) for word in said})

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        return [each._replace(word=self._names.action(each.word)) for each in super().actions(agent)]

    def _sides(self) -> tuple[list[str], list[str]]:
        """Return the names of columns and rows, which are known before there is a position."""
        rows, columns = self._size()
        empty = Board(self._kind, rows, columns, ("",) * (rows * columns))
        return (
            [_column(empty, column) for column in range(columns)],
            [name for row in range(rows) if (name := _row(empty, row))],
        )

    def _size(self) -> tuple[int, int]:
        """Return the rows and columns of the board in this environment."""
        adapter = self.environment.adapter
        actions: Any = adapter.action_space(adapter.possible_agents[0])
        if self._kind == "connect_four":
            return 0, int(actions.n)
        if self._kind != "go":
            return _SIZES[self._kind]
        side = isqrt(int(actions.n) - 1)  # a point each, and the pass
        return side, side

    def retold(self, names: Names, hide_legal: bool) -> Describer:
        twin = copy.copy(self)
        twin._names, twin._hides = names, hide_legal
        return twin

    @property
    def names_are_marks(self) -> bool:
        return True

    def can_say(self, agent: AgentID) -> bool:
        # True for any size of observation, because the text describes the board.
        return True

    def side(self, agent: AgentID, board: Board) -> str:
        """Return a description of the pieces of ``agent``, which is on turn."""
        if board.kind == "chess":
            return "white" if _white_moves(board) else "black"
        first = agent == self.environment.adapter.possible_agents[0]
        mark = _piece(FIRST if first else SECOND, self._names)
        return f"{'black' if first else 'white'} ({mark})" if board.kind == "go" else mark

    def game(self, agent: AgentID) -> str:
        environment = self.environment
        others = [each for each in environment.adapter.possible_agents if each != agent]
        title = environment.title
        rules = f"The game is {title}; you play {agent} against {', '.join(others)}. {_RULES[self._kind]}"
        komi = f" White gets {self._komi():g} points more (komi)." if self._kind == "go" else ""
        return f"{rules}{komi} {_PAID}"

    def limit(self, agent: AgentID) -> Limit:
        return longest(self.environment)

    def _komi(self) -> float:
        """Return the komi of a game of go, from PettingZoo or OpenSpiel."""
        game: Any = self.environment.env
        komi: Any = game._komi if hasattr(game, "_komi") else game._env.get_parameters()["komi"]
        return float(komi)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return " ".join(
            filter(None, (f"The board is drawn from above with {_FREE} for free.", self._legend()))
        )

    def _legend(self) -> str:
        names = self._names
        told = _LETTERS.get(self._kind, "")
        if any(mark.startswith("column") for mark in names.marks):
            beside = "" if self._kind == "connect_four" else ", rows as beside them"
            marks = _OTHER_MARKS.format(rows=beside)
            told = marks if self._kind == "tic_tac_toe" else f"{marks} {told}"
        return told.format(
            pieces=", ".join(f"{_piece(letter, names)} {piece}" for letter, piece in _CHESS_PIECES.items()),
            move=_with_marks("e2e4", names),
            promotion=_with_marks("e7e8q", names),
            X=_piece(FIRST, names),
            O=_piece(SECOND, names),
        ).strip()

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        if self.environment.action_meanings(agent):
            return ()
        board = self.board(observation)
        if board is None:
            return ()
        return tuple(Choice(move.action, _answer_for(board, move, self._names)) for move in board.moves)

    def _how_to_act(self, agent: AgentID) -> str:
        if self.actions(agent):
            untold = f"\n{_UNTOLD}" if self._hides else ""
            return f"{super()._how_to_act(agent)}{untold}"
        notations = "" if self._names else _NOTATIONS.get(self._kind, "")
        return f"{self._form() if self._hides else FROM_CHOICES}{notations}"

    def _form(self) -> str:
        """Return a sentence with the form of an answer, for prompts without the legal moves."""
        columns, rows = self._sides()
        column, row = (
            _mark("column", columns[-1], self._names),
            _mark("row", rows[0] if rows else "", self._names),
        )
        names = {
            "column": f"column {column}",
            "square": f"column {column} row {row}",
            "point": f"{column}{row}",
        }
        return f"{_FORMS[self._kind].format(**names)} {_UNTOLD}"


def _rights(fen: str) -> Iterator[Fact]:
    """Yield facts of a chess position that its board does not show: castling, en passant, quiet moves."""
    if fen:
        castling, passing, quiet = fen.split()[2:5]
        yield from (fact("castling", letter) for letter in castling if letter != "-")
        if passing != "-":
            yield fact("en_passant", passing)
        yield fact("quiet_moves", int(quiet))


def longest(environment: Instance) -> Limit:
    """Return the most moves of an OpenSpiel game; other packages do not declare a limit."""
    game: Any = getattr(environment.env, "_env", None)
    return Limit(int(game.max_game_length()) if hasattr(game, "max_game_length") else None, "moves")


def _white_moves(board: Board) -> bool:
    source = next((move.source for move in board.moves if move.source is not None), None)
    return source is None or board.cells[source[0] * board.columns + source[1]].isupper()


def drawn(board: Board, names: Names = _USUAL) -> list[str]:
    """Return the lines of a board as text, from the top row, with the names of rows and columns."""
    wide = max(1, *(len(cell) for cell in board.cells))
    heads = [_mark("row", _row(board, row), names) for row in range(board.rows)]
    margin = max(len(head) for head in heads)
    lines: list[str] = []
    for row, head in enumerate(heads):
        cells = board.cells[row * board.columns : (row + 1) * board.columns]
        shown = " ".join((_piece(cell, names) or _FREE).ljust(wide) for cell in cells)
        lines.append(f"{head.rjust(margin)} {shown}".rstrip())
    columns = (_mark("column", _column(board, column), names) for column in range(board.columns))
    foot = " ".join(column.ljust(wide) for column in columns)
    return [*lines, f"{' ' * margin} {foot}".rstrip()]


def _in_marks(word: str, names: Names) -> str:
    """Return an action's name with the replaced marks of its column and row."""
    return _PLACE.sub(lambda found: f"{found[1]} {_mark(found[1], found[2], names)}", word)


def _mark(kind: str, usual: str, names: Names) -> str:
    """Return the replaced mark of a column or row, or its standard mark."""
    return names.marks.get(f"{kind} {usual}", usual)


def _piece(cell: str, names: Names) -> str:
    """Return a piece's letters (one or two equal ones) after replacement, in the case of ``cell``."""
    new = "".join(names.marks.get(f"piece {letter.upper()}", letter) for letter in cell)
    return new.lower() if cell.islower() else new


def _with_marks(move: str, names: Names) -> str:
    """Return a move such as ``e7e8q`` with replaced marks of its squares and of the promoted piece."""
    found = _STEP.fullmatch(move)
    if found is None:
        return move
    start, rank, end, other, promoted = found.groups()
    squares = ((start, rank), (end, other))
    told = "".join(f"{_mark('column', c, names)}{_mark('row', r, names)}" for c, r in squares)
    return f"{told}{_piece(promoted, names)}"


def _answer_for(board: Board, move: Move, names: Names) -> str:
    """Return the text with which an agent answers to play a move."""
    if board.kind == "tic_tac_toe":  # OpenSpiel counts its squares from 0
        return square(board, move.target, names)
    if not names:
        return move.label
    return square(board, move.target, names) if move.source is None else _with_marks(move.label, names)


def _row(board: Board, row: int) -> str:
    if board.kind == "connect_four":
        return ""
    return str(row + 1) if board.kind == "tic_tac_toe" else str(board.rows - row)


def _column(board: Board, column: int) -> str:
    if board.kind in ("connect_four", "tic_tac_toe"):
        return str(column + 1)
    return (GO_FILES if board.kind == "go" else _FILES)[column]


def square(board: Board, place: Square, names: Names = _USUAL) -> str:
    """Return the name of a square, with replaced marks if ``names`` has any."""
    if place == OFF_BOARD:
        return "pass"
    column = _mark("column", _column(board, place[1]), names)
    if board.kind == "connect_four":
        return f"column {column}"
    row = _mark("row", _row(board, place[0]), names)
    return f"column {column} row {row}" if board.kind == "tic_tac_toe" else f"{column}{row}"
