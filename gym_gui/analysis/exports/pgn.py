"""Exports games of chess from a run folder as PGN, the text format of chess programs.

Rows contain PettingZoo's action numbers, which are looked up among the legal moves of each position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from gym_gui.analysis.exports.export import write_whole
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.core.drawing.chess_numbers import numbered
from gym_gui.core.enums import FALLBACKS, EpisodeStatus, Outcome
from gym_gui.core.errors import MissingDependencyError, RunFormatError, UsageError
from gym_gui.core.record_fields import count, number
from gym_gui.core.records import EpisodeRecord, StepRecord
from gym_gui.core.types import CLOCK

if TYPE_CHECKING:
    import chess
    import chess.pgn

_CHESS: Final = re.compile(r"(?:^|[/.])chess_v\d+$")


def is_chess(operator: OperatorRun | OperatorSummary) -> bool:
    """Return whether an operator plays PettingZoo's chess."""
    return bool(_CHESS.search(operator.task))


def write_pgn(run: Run, path: Path) -> int:
    """Write all games of chess of a run into one PGN file, completely or not at all.

    Returns:
        Number of games written.

    Raises:
        UsageError: The run has no games of chess, or the file cannot be written.
        MissingDependencyError: python-chess is not installed.
        RunFormatError: A row is damaged, or its action is not a legal move.
    """
    players = [operator for operator in run.operators.values() if is_chess(operator)]
    if not players:
        raise UsageError(f"run {run.run_id} has no games of chess", fix="Export a run of classic/chess_v6")
    count = 0

    def write(new: Path) -> None:
        nonlocal count
        with new.open("w", encoding="utf-8") as file:
            for operator in players:
                for game in games(run, operator):
                    file.write(f"{game}\n\n")
                    count += 1

    write_whole(path, write)
    return count


def games(run: Run, operator: OperatorRun) -> Iterator[chess.pgn.Game]:
    """Yield the finished episodes of a chess operator as PGN games; failed episodes have the result ``*``.

    Raises:
        MissingDependencyError: python-chess is not installed.
        RunFormatError: A row is damaged, or its action is not a legal move.
    """
    try:
        import_module("chess.pgn")
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "writing games of chess", "mosaic workers install chess_worker"
        ) from error
    episodes = {episode.episode_index: episode for episode in operator.episodes()}
    for index, rows in groupby(operator.steps(episodes), key=lambda row: row.episode_index):
        yield _game(run, operator, episodes[index], rows)


def _game(
    run: Run, operator: OperatorRun, episode: EpisodeRecord, rows: Iterable[StepRecord]
) -> chess.pgn.Game:
    import chess.pgn

    game = chess.pgn.Game()
    node: chess.pgn.GameNode = game
    board = game.board()
    seats: list[str] = []
    for row in rows:
        if row.agent_id not in seats:
            seats.append(row.agent_id)  # white moves first
        action = count(row.action)
        move = None if action is None else numbered(board).get(action)
        if move is None:
            where = f"{operator.path / 'steps.jsonl'}, episode {row.episode_index}, step {row.step_index}"
            raise RunFormatError(where, f"action {row.action!r} is no legal move of {board.fen()}")
        board.push(move)
        node = node.add_variation(move, comment=_comment(row))
    _head(game, run, operator, episode, seats)
    return game


def _head(
    game: chess.pgn.Game, run: Run, operator: OperatorRun, episode: EpisodeRecord, seats: list[str]
) -> None:
    heads = game.headers
    heads["Event"] = f"{operator.name} ({run.run_id})"
    heads["Site"] = "MOSAIC"
    heads["Date"] = (episode.started_at or "????.??.??")[:10].replace("-", ".")
    heads["Round"] = str(episode.episode_index + 1)
    for color, seat in zip(("White", "Black"), seats, strict=False):
        player = episode.agents.get(seat)
        if player is not None:
            heads[color] = player.policy or player.worker_id
            heads[f"{color}Type"] = "human" if player.worker_type == "human" else "program"
    heads["Result"] = _result(episode, seats)
    if heads["Result"] == "*":
        heads["Termination"] = "unterminated" if episode.status is EpisodeStatus.COMPLETED else "abandoned"
    if (control := episode.time_control) is not None:
        added = f"+{control.increment_s:g}" if control.increment_s else ""
        heads["TimeControl"] = f"{control.seconds:g}{added}"
    if episode.out_of_time is not None:
        heads["Termination"] = "time forfeit"
    if episode.seed is not None:
        heads["Seed"] = str(episode.seed)


def _result(episode: EpisodeRecord, seats: list[str]) -> str:
    if episode.out_of_time is not None and len(seats) > 1:
        words = {Outcome.WIN: "1-0", Outcome.LOSS: "0-1", Outcome.DRAW: "1/2-1/2"}
        of_white = (episode.outcome or {}).get(seats[0])
        return "*" if of_white is None else words[of_white]
    if episode.status is not EpisodeStatus.COMPLETED or not episode.terminated or len(seats) < 2:
        return "*"
    white, black = (episode.returns.get(seat) or 0.0 for seat in seats[:2])
    return "1/2-1/2" if white == black else "1-0" if white > black else "0-1"


def _comment(row: StepRecord) -> str:
    """Return a comment on a move: remaining clock time, fallback, and number of illegal attempts."""
    parts: list[str] = []
    if (left := number(row.extra.get(CLOCK))) is not None:
        minutes, seconds = divmod(left, 60)
        parts.append(f"[%clk {int(minutes // 60)}:{int(minutes % 60):02d}:{seconds:04.1f}]")
    if row.action_source in FALLBACKS:
        parts.append(f"not the player's own: {row.action_source}")
    dialogue: Any = row.extra.get("dialogue")
    if isinstance(dialogue, dict):
        tries = cast("dict[str, Any]", dialogue).get("illegal_attempts")
        if isinstance(tries, int) and tries > 0:
            parts.append(f"after {tries} illegal attempt{'s' if tries > 1 else ''}")
    return ", ".join(parts)
