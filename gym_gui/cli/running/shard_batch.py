"""Several shards of a submission that one process plays there, each as a command of its own would.

Each has its folder (:mod:`gym_gui.services.submissions.shell`): what is printed of it goes there, and the
exit status that a command of its own would have. So each is followed, collected and begun again by itself.
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
        """Play a part, or what is left of it; returns the exit status."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


@dataclass(frozen=True)
class Hand:
    """Shards that were dealt to one process.

    Attributes:
        tries: They, in their order, each with the number of its try: ``3/1``.
        shards: They.
    """

    tries: Sequence[str]
    shards: Sequence[Shard]

    @classmethod
    def of(cls, written: str, shards: Sequence[Shard]) -> Hand:
        """Shards of a command line, whose tries the environment names.

        Args:
            written: The tries, with blanks between them.
            shards: The shards.
        """
        known = {shard.number: shard for shard in shards}
        tries = [each for each in written.split() if int(each.partition("/")[0]) in known]
        return cls(tries, [known[int(each.partition("/")[0])] for each in tries])

    @property
    def only(self) -> Shard:
        """The first."""
        return self.shards[0]

    def play(self, player: PartPlayer, out: Path | None, command: str) -> int:
        """Play the shards that the coordinator has not taken back yet; return the exit status.

        Args:
            player: Plays the shards; closed at the end.
            out: Not used: each shard has its folder.
            command: Not used.
        """
        status = DONE
        try:
            for each, shard in zip(self.tries, self.shards, strict=True):
                folder = _WORK / each
                if _taken(folder):
                    status = _played(player, shard, folder)
                    replace_file(folder / "code", f"{status}\n".encode())
                # What one is refused for, the others would be refused for.
                if status in (USAGE, INTERRUPTED):
                    return status
        finally:
            player.close()
        return DONE


def begun_in(folder: Path) -> Mapping[Shard, Path]:
    """Run folders of parts in a folder; of one that was begun twice, the later.

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
    """Take a shard, and print into its folder from now on; false where it was taken back."""
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
