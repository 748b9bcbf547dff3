"""Worker that plays chess by a UCI engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chess

from mosaic_worker.worker import Actions, Batch, Decision, EpisodeEnd, LoadError, Slot, Worker
from stockfish_worker.engine import Engine, EngineFailedError, Strength, find_engine
from stockfish_worker.position import Position, refusal


class StockfishWorker(Worker):
    """Plays the moves of a chess engine.

    One engine serves all slots and episodes of the process, one position after another.
    """

    inputs = ("text",)
    in_flight = 2
    """One decision is computed while another waits, so that a slow decision is answered as soon as it is
    finished.
    """

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._program: tuple[str, int] = ("", 0)
        self._strengths: dict[int, Strength] = {}
        self._boards: dict[tuple[int, int], chess.Board] = {}

    def load(self, slot: Slot) -> str:
        """Find and start the engine.

        Returns:
            Name and strength of the engine.

        Raises:
            LoadError: There is no engine, it does not start, or a setting is not valid.
        """
        if no := refusal(slot):
            raise LoadError(no)
        strength = Strength.of(slot.settings)
        path = slot.settings.get("engine_path") or ""
        hash_mb = slot.settings.get("hash_mb", 16)
        if isinstance(hash_mb, bool) or not isinstance(hash_mb, int) or not 1 <= hash_mb <= 512:
            raise LoadError(f"hash_mb is {hash_mb!r}, but must be an integer from 1 to 512")
        if not isinstance(path, str):
            raise LoadError(f"engine_path is {path!r}, but must be the path of a program")
        program = find_engine(path), hash_mb
        if self._engine is not None and program != self._program:
            raise LoadError(
                "slots of one process share its engine: set the same engine_path and hash_mb for all of them"
            )
        self._program = program
        try:
            name = self._running().name
        except EngineFailedError as error:
            raise LoadError(str(error)) from error
        self._strengths[slot.index] = strength
        return f"{name} ({strength.name})"

    def select_actions(self, batch: Batch) -> Any:
        answers = [self._decide(batch.slot, decision) for decision in batch]
        return Actions([action for action, _ in answers], values=[value for _, value in answers])

    def _decide(self, slot: Slot, decision: Decision) -> tuple[int, float]:
        key = slot.index, decision.episode
        position = Position.of(decision).with_history(self._boards.get(key))
        board = position.board
        self._boards[key] = board
        try:
            move, value = self._running().think(
                board, self._strengths[slot.index], decision.seed, decision.step
            )
        except EngineFailedError:
            self._stop()  # the next decision starts another engine
            raise
        board.push(move)
        return position.actions[move], value

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._boards.pop((slot.index, end.episode), None)

    def close(self) -> None:
        self._stop()

    def _running(self) -> Engine:
        if self._engine is None:
            self._engine = Engine(*self._program)
        return self._engine

    def _stop(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None
