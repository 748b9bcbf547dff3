"""Plays several shards of a submission in one process, each as a separate command would.

Each shard has its folder (:mod:`gym_gui.services.submissions.shell`), which gets its output and exit status.
So each is followed, collected and restarted separately.
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


class PartPlayer(Protocol):
    """Plays parts of an experiment."""

    def play(self, shard: Shard, out: Path | None, begun: Path | None) -> int:
        """Play a part, or what is left of it; return the exit status."""
        ...

    def close(self) -> None:
        """End what was started for the parts."""
        ...


@dataclass(frozen=True)
class Hand:
    """Shards that the coordinator gave to one process.

    Attributes:
        tries: For each shard its number and the number of its try, e.g. ``3/1``.
        shards: The shards, in the same order.
    """

    tries: Sequence[str]
    shards: Sequence[Shard]

    @classmethod
    def of(cls, written: str, shards: Sequence[Shard]) -> Hand:
        """Return the shards of a command line whose tries an environment variable names.

        Args:
            written: The tries, separated by spaces.
            shards: The shards of the command line.
        """
        known = {shard.number: shard for shard in shards}
        tries = [each for each in written.split() if int(each.partition("/")[0]) in known]
        return cls(tries, [known[int(each.partition("/")[0])] for each in tries])

    @property
    def only(self) -> Shard:
        """The first shard."""
        return self.shards[0]

    def play(self, player: PartPlayer, out: Path | None, command: str) -> int:
        """Play the shards that the coordinator has not taken back; return the exit status.

        Args:
            player: Plays the shards; closed at the end.
            out: Not used, as each shard has its folder.
            command: Not used.
        """
        status = DONE
        try:
            for each, shard in zip(self.tries, self.shards, strict=True):
                folder = _WORK / each
                if _taken(folder):
                    status = _played(player, shard, folder)
                    replace_file(folder / "code", f"{status}\n".encode())
                # The reason for which one shard is refused holds for the others too.
                if status in (USAGE, INTERRUPTED):
                    return status
        finally:
            player.close()
        return DONE


def begun_in(folder: Path) -> Mapping[Shard, Path]:
    """Return the run folders of parts in a folder; of a part that was begun twice, the later one.

    Raises:
        UsageError: There is no such folder, or it is a run itself.
    """
    if (folder / "run.json").exists():
        raise UsageError("a run that is resumed knows which shard it is", fix="Leave --shard out")
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", fix="Give the folder of the shards' run folders")
    runs = sorted(file.parent for file in folder.glob("*/run.json"))
    found = ((Shard.of_run(read_header(run)), run) for run in runs)
    return {shard: run for shard, run in found if shard is not None}


def _played(player: PartPlayer, shard: Shard, folder: Path) -> int:
    runs = folder.parent / "runs"
    try:
        with reported(as_json=True):
            return player.play(shard, runs, begun_in(runs).get(shard))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _taken(folder: Path) -> bool:
    """Claim a shard and redirect output to its folder; return false if it was taken back."""
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
