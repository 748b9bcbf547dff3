"""A slot and one question, as the SDK's runtime would put them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import chess
import numpy as np
import pytest

from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, Slot
from stockfish_worker.main import StockfishWorker

ACTIONS = Space.from_json({"kind": "Discrete", "dtype": "int64", "n": 4672, "start": 0})
SEEN = Space.from_json({"kind": "Box", "dtype": "bool", "shape": [1], "low": 0, "high": 1})


def make_slot(index: int = 0, **settings: Any) -> Slot:
    return Slot(index, "player_0", "classic/chess_v6", SEEN, ACTIONS, settings)


def shown(board: chess.Board) -> tuple[str, list[tuple[int, str]]]:
    """Text and choices; actions are numbered by the moves' names, as nothing else numbers them."""
    words = sorted(move.uci() for move in board.legal_moves)
    return f"You are to move.\nFEN: {board.fen()}", list(enumerate(words))


class Seat:
    """A worker with one slot that is asked one question at a time."""

    def __init__(self, **settings: Any) -> None:
        self.worker = StockfishWorker()
        self.slot = make_slot(**settings)
        self.policy = self.worker.load(self.slot)

    def ask(self, board: chess.Board, *, seed: int = 7, episode: int = 0, text: str = "") -> Any:
        """The answer as it is returned; ``text`` is shown in place of the position."""
        words, choices = shown(board)
        batch = Batch(
            self.slot,
            [0],
            [episode],
            [board.ply()],
            np.array([seed], np.uint64),
            np.zeros((1, 1), np.bool_),
            texts=[text or words],
            choices=[choices],
        )
        return self.worker.select_actions(batch)

    def move(self, board: chess.Board, **more: Any) -> str:
        """The move as it is written."""
        return dict(shown(board)[1])[int(self.ask(board, **more).actions[0])]


@pytest.fixture
def new_slot() -> Callable[..., Slot]:
    return make_slot


@pytest.fixture
def seats() -> Iterator[Callable[..., Seat]]:
    """Makes workers, and ends their engines."""
    made: list[Seat] = []

    def make(**settings: Any) -> Seat:
        made.append(Seat(**settings))
        return made[-1]

    yield make
    for seat in made:
        seat.worker.close()
