"""Reads the position of a decision: its FEN, and the action of each legal move."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import chess

from mosaic_worker.worker import Decision, Slot

_FEN = re.compile(
    r"(?<!\S)(?:[pnbrqkPNBRQK1-8]{1,8}/){7}[pnbrqkPNBRQK1-8]{1,8} [wb] (?:-|[KQkq]{1,4}) "
    r"(?:-|[a-h][36]) \d{1,3} \d{1,4}(?!\S)"
)


def refusal(slot: Slot) -> str:
    """Return why a chess player cannot play a slot; empty if it seems to be chess."""
    if slot.action_space.kind != "Discrete":
        return "the moves of chess are discrete actions, but those of this slot are not"
    if "chess" not in slot.env_id.lower() and "chess" not in slot.briefing.lower():
        return f"{slot.env_id} is not known to be chess, and this worker plays only chess"
    return ""


class NoPositionError(Exception):
    """The observation has no chess position, or lacks the action of a legal move."""


@dataclass(frozen=True)
class Position:
    """A chess position in which one side is to move.

    Attributes:
        board: The position, with the moves that led to it if they are known.
        actions: The environment's action for each legal move.
    """

    board: chess.Board
    actions: Mapping[chess.Move, int]

    @classmethod
    def of(cls, decision: Decision) -> Position:
        """Read the FEN in ``decision.text`` and the moves in ``decision.choices``.

        Action numbers are the environment's own, and PettingZoo mirrors them for black. The choices hold each
        move in words, so a worker need not know about the mirroring.

        Raises:
            NoPositionError: There is no FEN, or a legal move is not among the choices.
        """
        return cls.read(decision.text, {word: action for action, word in decision.choices})

    @classmethod
    def read(cls, text: str, choices: Mapping[str, int]) -> Position:
        """Read a position as in :meth:`of`, from the text and the actions by word."""
        found = _FEN.search(text)
        if found is None:
            raise NoPositionError(
                "the observation has no chess position (no FEN); this worker plays only chess"
            )
        try:
            board = chess.Board(found.group())
            actions = {_move(board, word): action for word, action in choices.items()}
        except ValueError as error:
            raise NoPositionError(f"the shown position cannot be read: {error}") from error
        if absent := [move.uci() for move in board.legal_moves if move not in actions]:
            raise NoPositionError(f"there is no action for the legal moves {', '.join(sorted(absent))}")
        return cls(board, actions)

    def with_history(self, earlier: chess.Board | None) -> Position:
        """Return the position with the moves since ``earlier``, the board after this player's last move.

        A FEN alone does not show repetitions. So the opponent's reply is found by trying which legal move
        leads to this position.

        Args:
            earlier: The board after the player's own last move, or ``None``.
        """
        if earlier is None:
            return self
        for board in _soon_after(earlier):
            if board == self.board:
                return Position(board.copy(), self.actions)
        return self


def _soon_after(earlier: chess.Board) -> Iterator[chess.Board]:
    """Yield the possible next positions: after each reply, and the one before the last move."""
    board = earlier.copy()
    for move in earlier.legal_moves:
        board.push(move)
        yield board
        board.pop()
    if board.move_stack:
        board.pop()
        yield board


def _move(board: chess.Board, word: str) -> chess.Move:
    """Parse a move in the notation of programs (``e2e4``) or of players (``e4``)."""
    try:
        return board.parse_uci(word)
    except ValueError:
        return board.parse_san(word)
