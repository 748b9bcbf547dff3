"""Plays several shards of a submission in one process, each as if a separate command played it.

Each shard's output and exit status go to its own folder (see :mod:`gym_gui.services.submissions.shell`), so
that the coordinator can follow, collect and restart each shard separately.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gym_gui.cli.errors import DONE, INTERRUPTED, USAGE, reported
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.shards import Shard
from gym_gui.services.runs.recorder import read_header
from mosaic_worker.plain_files import replace_file

_WORK = Path("work")


class ShardPlayer(Protocol):
    """Plays shards of an experiment."""

    def play(self, shard: Shard, out: Path | None, begun: Path | None) -> int:
        """Play a shard, or its remaining episodes; return the exit status."""
        ...

    def close(self) -> None:
        """Close the sessions that were opened for the shards."""
        ...


@dataclass(frozen=True)
class ShardBatch:
    """Shards that the coordinator of a submission assigned to one process.

    Attributes:
        tries: Number of each shard and of its attempt, such as ``3/1``.
        shards: The shards, in the same order.
    """

    tries: Sequence[str]
    shards: Sequence[Shard]

    @classmethod
    def of(cls, written: str, shards: Sequence[Shard]) -> ShardBatch:
        """Return those shards of a command line whose attempts an environment variable names.

        Args:
            written: The attempts, separated by spaces.
            shards: The shards of the command line.
        """
        known = {shard.number: shard for shard in shards}
        tries = [each for each in written.split() if int(each.partition("/")[0]) in known]
        return cls(tries, [known[int(each.partition("/")[0])] for each in tries])

    @property
    def only(self) -> Shard:
        """The first shard."""
        return self.shards[0]

    def play(self, player: ShardPlayer, out: Path | None, command: str) -> int:
        """Play the shards that the coordinator has not assigned elsewhere; return the exit status.

        Args:
            player: Plays the shards; closed at the end.
            out: Not used, as each shard has its folder.
            command: Not used.
        """
        status = DONE
        try:
            for each, shard in zip(self.tries, self.shards, strict=True):
                folder = _WORK / each
                if _claim(folder):
                    status = _play_in_folder(player, shard, folder)
                    replace_file(folder / "code", f"{status}\n".encode())
                # The reason for refusing one shard holds for all of them.
                if status in (USAGE, INTERRUPTED):
                    return status
        finally:
            player.close()
        return DONE


def begun_in(folder: Path) -> Mapping[Shard, Path]:
    """Return run folders by shard; for a shard that was begun twice, the later one.

    Raises:
        UsageError: There is no such folder, or the folder is itself a run folder.
    """
    if (folder / "run.json").exists():
        raise UsageError("a run that is resumed names its shard itself", fix="Leave --shard out")
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}", fix="Pass the folder that contains the shards' run folders"
        )
    runs = sorted(file.parent for file in folder.glob("*/run.json"))
    found = ((Shard.of_run(read_header(run)), run) for run in runs)
    return {shard: run for shard, run in found if shard is not None}


def _play_in_folder(player: ShardPlayer, shard: Shard, folder: Path) -> int:
    runs = folder.parent / "runs"
    try:
        with reported(as_json=True):
            return player.play(shard, runs, begun_in(runs).get(shard))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _claim(folder: Path) -> bool:
    """Claim a shard and redirect output to its folder; return false if the coordinator has withdrawn it."""
    try:
        out = os.open(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    err = os.open(folder / "err", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream, file in ((sys.stdout, out), (sys.stderr, err)):
        stream.flush()
        os.dup2(file, stream.fileno())
        os.close(file)
    return True
