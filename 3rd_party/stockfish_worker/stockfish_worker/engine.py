"""Finds, starts and queries the engine's process."""

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
"""Debian's folder of engines, which is not in root's PATH."""
START_S = 30.0
"""Largest time for an engine's start, in seconds."""
_MATE = 100_000
DEFAULT_DEPTH = 10


@dataclass(frozen=True)
class Strength:
    """Skill and search limit of the engine for one move.

    Attributes:
        skill: 0 to 20; 20 is the engine's best.
        limit: Depth, nodes and time, each optional, at least one of them.
    """

    skill: int
    limit: chess.engine.Limit

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Strength:
        """Read the strength from a slot's settings.

        Raises:
            LoadError: A setting is no number, or out of its range.
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
        """Name for tables: ``skill 5, depth 6``."""
        words = [f"skill {self.skill}"] if self.skill < weaknesses.FULL_SKILL else []
        words += [f"depth {self.limit.depth}"] if self.limit.depth else []
        words += [f"{self.limit.nodes} nodes"] if self.limit.nodes else []
        words += [f"{self.limit.time:g} s"] if self.limit.time else []
        return ", ".join(words)


def _integer_setting(settings: Mapping[str, Any], key: str, default: int, most: int) -> int:
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise LoadError(f"{key} is {value!r}, but must be an integer from 0 to {most}")
    return value


def _number(settings: Mapping[str, Any], key: str, most: float) -> float:
    value = settings.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise LoadError(f"{key} is {value!r}, but must be a number from 0 to {most:g}")
    return value


def find_engine(path: str = "") -> str:
    """Return the path of the engine's program.

    Args:
        path: Path that the user gave; empty to search for Stockfish.

    Raises:
        LoadError: There is no such program; the message says how to install one.
    """
    if path:
        found = shutil.which(Path(path).expanduser())
        if found is None:
            raise LoadError(f"engine_path {path!r} is not an executable program")
        return found
    found = shutil.which(_STOCKFISH, path=os.pathsep.join([os.environ.get("PATH", os.defpath), GAMES]))
    if found is None:
        raise LoadError(
            "Stockfish is not installed: run apt-get install stockfish, or name a chess engine in engine_path"
        )
    return found


class EngineResult(NamedTuple):
    """Result of the engine for a position.

    Attributes:
        move: Move to play.
        value: Expected return, from -1 (loss) to 1 (win).
    """

    move: chess.Move
    value: float


class EngineFailedError(Exception):
    """The engine ended or does not speak UCI; the message is a sentence for the user."""


class Engine:
    """One engine process, which analyzes one position at a time.

    Earlier positions do not influence a move: the engine's memory is cleared for each position, and it
    searches in one thread. Therefore a move depends only on the position, its history and the limits.

    Attributes:
        name: Name that the engine reports.

    Args:
        path: Path of the program.
        hash_mb: Size of its memory for positions, in MB.

    Raises:
        EngineFailedError: The engine cannot be started.
    """

    def __init__(self, path: str, hash_mb: int) -> None:
        try:
            self._process = chess.engine.SimpleEngine.popen_uci(path, timeout=START_S)
        except (OSError, chess.engine.EngineError, TimeoutError) as error:
            raise EngineFailedError(
                f"the chess engine {path} does not start: {_error_words(error)}"
            ) from error
        wanted = {"Threads": 1, "Hash": hash_mb}
        with contextlib.suppress(chess.engine.EngineError):  # other engines may have other bounds
            self._process.configure({k: v for k, v in wanted.items() if k in self._process.options})
        self.name = self._process.id.get("name", "engine")

    def think(self, board: chess.Board, strength: Strength, seed: int, step: int) -> EngineResult:
        """Choose a move.

        Args:
            board: The position, with its history if that is known.
            strength: Skill and search limit.
            seed: Seed of the episode, for random numbers below full skill.
            step: Step of the environment.

        Raises:
            EngineFailedError: The engine ended, or gave no move.
        """
        lines = 1 if strength.skill == weaknesses.FULL_SKILL else weaknesses.LINES
        try:
            # A new game each time, so that the engine forgets earlier positions.
            told = self._process.analyse(board, strength.limit, multipv=lines, game=object())
        # python-chess cancels the request if the engine ends before it arrives.
        except (chess.engine.EngineError, TimeoutError, CancelledError) as error:
            raise EngineFailedError(f"the chess engine {self.name} failed: {_error_words(error)}") from error
        return self._chosen([line for line in told if line.get("pv")], board, strength.skill, seed, step)

    def _chosen(
        self, lines: Sequence[chess.engine.InfoDict], board: chess.Board, skill: int, seed: int, step: int
    ) -> EngineResult:
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
        return EngineResult(move, 2 * score.wdl(model="sf15.1", ply=board.ply()).expectation() - 1)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(chess.engine.EngineError, TimeoutError, CancelledError):
            self._process.quit()
        self._process.close()


def _error_words(error: BaseException) -> str:
    return str(error) or "it ended"
