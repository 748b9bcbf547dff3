"""The engine's process: found, started, asked."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import chess
import chess.engine

from mosaic_worker.rng import bits_of
from mosaic_worker.worker import LoadError
from stockfish_worker import skill as weaknesses

_STOCKFISH = "stockfish"
GAMES = "/usr/games"
"""Debian keeps engines there, where root's path does not look."""
START_S = 30.0
"""In which an engine has to come up."""
_MATE = 100_000
DEFAULT_DEPTH = 10


@dataclass(frozen=True)
class Strength:
    """How long and how well the engine thinks about one move.

    Attributes:
        skill: 0 to 20, which is its best.
        limit: Depth, nodes and time, each optional, one at least.
    """

    skill: int
    limit: chess.engine.Limit

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Strength:
        """As a slot's settings say.

        Raises:
            LoadError: One is no number, or out of its range.
        """
        skill = _integer_setting(settings, "skill", weaknesses.FULL_SKILL, weaknesses.FULL_SKILL)
        depth = _integer_setting(settings, "depth", 0, 60) or None
        nodes = _integer_setting(settings, "nodes", 0, 10**12) or None
        time_s = _number(settings, "time_s", 240) or None
        if depth is nodes is time_s is None:
            depth = DEFAULT_DEPTH
        if skill < weaknesses.FULL_SKILL:
            depth = min(depth or weaknesses.depth_of(skill), weaknesses.depth_of(skill))
        return cls(skill, chess.engine.Limit(time=time_s, depth=depth, nodes=nodes))

    @property
    def name(self) -> str:
        """For tables: ``skill 5, depth 6``."""
        words = [f"skill {self.skill}"] if self.skill < weaknesses.FULL_SKILL else []
        words += [f"depth {self.limit.depth}"] if self.limit.depth else []
        words += [f"{self.limit.nodes} nodes"] if self.limit.nodes else []
        words += [f"{self.limit.time:g} s"] if self.limit.time else []
        return ", ".join(words)


def _integer_setting(settings: Mapping[str, Any], key: str, default: int, most: int) -> int:
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise LoadError(f"{key} is {value!r}: give a whole number from 0 to {most}")
    return value


def _number(settings: Mapping[str, Any], key: str, most: float) -> float:
    value = settings.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise LoadError(f"{key} is {value!r}: give a number from 0 to {most:g}")
    return value


def find_engine(path: str = "") -> str:
    """The program to start.

    Args:
        path: As the person gave it; empty: Stockfish, wherever it is.

    Raises:
        LoadError: There is no such program; says what installs it.
    """
    if path:
        found = shutil.which(Path(path).expanduser())
        if found is None:
            raise LoadError(f"engine_path {path!r} is no program that can be run")
        return found
    found = shutil.which(_STOCKFISH, path=os.pathsep.join([os.environ.get("PATH", os.defpath), GAMES]))
    if found is None:
        raise LoadError(
            "Stockfish is not installed: run apt-get install stockfish, or name a chess engine in engine_path"
        )
    return found


class Thought(NamedTuple):
    """What the engine came to.

    Attributes:
        move: What it plays.
        value: The return it expects, from -1 (loses) to 1 (wins).
    """

    move: chess.Move
    value: float


class EngineFailedError(Exception):
    """The engine ended or speaks no UCI; the message is a sentence for the person."""


class Engine:
    """One engine process, which thinks about one position at a time.

    Nothing it has seen before changes what it says: its memory is cleared for each position, and
    it searches in one thread. So a move depends on the position, its history and the limits alone.

    Attributes:
        name: As it calls itself.

    Args:
        path: The program.
        hash_mb: Its memory for positions.

    Raises:
        EngineFailedError: It cannot be started.
    """

    def __init__(self, path: str, hash_mb: int) -> None:
        try:
            self._process = chess.engine.SimpleEngine.popen_uci(path, timeout=START_S)
        except (OSError, chess.engine.EngineError, TimeoutError) as error:
            raise EngineFailedError(
                f"the chess engine {path} does not start: {_error_words(error)}"
            ) from error
        wanted = {"Threads": 1, "Hash": hash_mb}
        with contextlib.suppress(chess.engine.EngineError):  # another engine may bound them otherwise
            self._process.configure({k: v for k, v in wanted.items() if k in self._process.options})
        self.name = self._process.id.get("name", "engine")

    def think(self, board: chess.Board, strength: Strength, seed: int, step: int) -> Thought:
        """Choose a move.

        Args:
            board: The position, with its history where that is known.
            strength: How well.
            seed: Of the episode; chance below full skill comes from it.
            step: Of the environment.

        Raises:
            EngineFailedError: It ended, or gave no move.
        """
        lines = 1 if strength.skill == weaknesses.FULL_SKILL else weaknesses.LINES
        try:
            # A new game each time: it forgets what it saw before.
            told = self._process.analyse(board, strength.limit, multipv=lines, game=object())
        # Cancelled by python-chess where the engine ends before the question has reached it.
        except (chess.engine.EngineError, TimeoutError, CancelledError) as error:
            raise EngineFailedError(f"the chess engine {self.name} failed: {_error_words(error)}") from error
        return self._chosen([line for line in told if line.get("pv")], board, strength.skill, seed, step)

    def _chosen(
        self, lines: Sequence[chess.engine.InfoDict], board: chess.Board, skill: int, seed: int, step: int
    ) -> Thought:
        scored = [
            (line["pv"][0], line["score"].pov(board.turn))
            for line in lines
            if "pv" in line and "score" in line
        ]
        if not scored:
            raise EngineFailedError(f"the chess engine {self.name} gave no move for {board.fen()}")
        chosen = 0
        if skill < weaknesses.FULL_SKILL:
            scores = [score.score(mate_score=_MATE) for _, score in scored]
            randoms = [bits_of(seed, step, stream) for stream in range(len(scored))]
            chosen = weaknesses.choose(scores, skill, randoms)
        move, score = scored[chosen]
        return Thought(move, 2 * score.wdl(model="sf15.1", ply=board.ply()).expectation() - 1)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(chess.engine.EngineError, TimeoutError, CancelledError):
            self._process.quit()
        self._process.close()


def _error_words(error: BaseException) -> str:
    return str(error) or "it ended"
