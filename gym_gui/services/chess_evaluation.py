"""Evaluates chess positions with a Stockfish process over UCI.

The evaluation is only for people who watch a finished game, so that no player gets help during a game.
See https://official-stockfish.github.io/docs/stockfish-wiki/UCI-&-Commands.html.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import shutil
from dataclasses import dataclass
from typing import Final

from gym_gui.analysis.words.wording import written
from gym_gui.core.errors import UsageError
from gym_gui.core.inherited_environment import inherited
from gym_gui.processes.child import ManagedChild

DEPTH: Final = 14
"""Search depth in plies. A search takes some tenths of a second."""
_ANSWER_S: Final = 30.0
_GAMES: Final = "/usr/games"
"""Folder in which Debian installs chess engines; it is not on root's ``PATH``."""
_SCORE: Final = re.compile(r"\bscore (?P<kind>cp|mate) (?P<value>-?\d+)")
_FEN: Final = re.compile(r"[\w/]+ [wb] [-KQkqA-Ha-h]+ [-a-h\d]+(?: \d+ \d+)?")
_PER_PAWN: Final = 0.368208
"""Slope of lichess's logistic curve, fitted to people's games: https://lichess.org/page/accuracy."""


@dataclass(frozen=True)
class Evaluation:
    """An engine's evaluation of a position.

    Attributes:
        pawns: White's advantage in pawns; ``None`` if one side can force mate.
        mate: Moves until White mates, or minus the moves until Black mates; ``None`` if neither can force
            it.
        white_wins: Whether White has mated, if ``mate`` is 0 and the game is over.
    """

    pawns: float | None = None
    mate: int | None = None
    white_wins: bool = False

    @property
    def share(self) -> float:
        """White's share of the evaluation bar, 0 to 1."""
        if self.mate is not None:
            return 1.0 if self.mate > 0 or (self.mate == 0 and self.white_wins) else 0.0
        return 1 / (1 + math.exp(-_PER_PAWN * (self.pawns or 0.0)))

    @property
    def words(self) -> str:
        """The evaluation as text: ``+1.3``, ``-0.4``, ``M3``, ``-M2`` or ``mate``."""
        if self.mate is not None:
            return written(f"{'-' if self.mate < 0 else ''}M{abs(self.mate)}") if self.mate else "mate"
        return written(f"{self.pawns or 0.0:+.1f}")


def find_stockfish() -> str:
    """Return the path of the Stockfish program, or ``""`` if it is not installed."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), _GAMES])
    return shutil.which("stockfish", path=path) or ""


class ChessEngine:
    """One Stockfish process that evaluates one position at a time. The first evaluation starts it."""

    def __init__(self) -> None:
        self._child: ManagedChild | None = None
        self._turn = asyncio.Lock()

    async def evaluate(self, fen: str) -> Evaluation:
        """Return the evaluation of a position, searched :data:`DEPTH` plies deep.

        Args:
            fen: Position in Forsyth-Edwards notation.

        Raises:
            UsageError: Stockfish is not installed, has ended or does not answer, or ``fen`` is not a
                position.
        """
        if not _FEN.fullmatch(fen):
            raise UsageError(f"{fen[:100]!r} is not a chess position")
        async with self._turn:
            try:
                async with asyncio.timeout(_ANSWER_S):
                    return await self._ask(fen)
            except (OSError, EOFError, TimeoutError) as error:
                await self._end()
                raise UsageError(
                    f"Stockfish gave no answer: {error or 'it ended'}", fix="Try again"
                ) from None
            except asyncio.CancelledError:
                await self._end()  # a late answer would be taken for the answer to the next position
                raise

    async def close(self) -> None:
        """End the process."""
        async with self._turn:
            await self._end()

    async def _ask(self, fen: str) -> Evaluation:
        child = self._child or await self._start()
        await _send_lines(child, f"position fen {fen}", f"go depth {DEPTH}")
        found: re.Match[str] | None = None
        while not (line := await _line(child)).startswith("bestmove"):
            found = _SCORE.search(line) or found
        if found is None:
            raise UsageError("Stockfish returned no evaluation of the position")
        value, white = int(found["value"]), fen.split()[1] == "w"
        if found["kind"] == "mate":
            return Evaluation(mate=value if white else -value, white_wins=value == 0 and not white)
        return Evaluation(pawns=(value if white else -value) / 100)

    async def _start(self) -> ManagedChild:
        program = find_stockfish()
        if not program:
            raise UsageError("Stockfish is not installed", fix="Run: apt-get install stockfish")
        pipe = asyncio.subprocess.PIPE
        self._child = child = await ManagedChild.start(
            program, name="Stockfish", environment=inherited(), stdin=pipe, stdout=pipe
        )
        await _send_lines(child, "uci", "setoption name Threads value 1", "isready")
        while await _line(child) != "readyok":
            pass
        return child

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()


async def _send_lines(child: ManagedChild, *lines: str) -> None:
    assert child.stdin is not None
    child.stdin.write("".join(f"{line}\n" for line in lines).encode())
    await child.stdin.drain()


async def _line(child: ManagedChild) -> str:
    assert child.stdout is not None
    line = await child.stdout.readline()
    if not line:
        raise EOFError("it ended")
    return line.decode("utf-8", "replace").strip()
