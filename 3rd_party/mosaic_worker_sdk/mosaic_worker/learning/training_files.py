"""Reads and writes the files for a training's reports and requests; see :mod:`mosaic_worker.training`."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List, Optional, cast

from mosaic_worker.plain_files import open_file

EVENTS = "events.jsonl"
METRICS = "metrics.jsonl"
EPISODES = "episodes.jsonl"
CONTROL = "control.jsonl"
STATE = "state"
TENSORBOARD = "tensorboard"
VIDEOS = "videos"
LEAGUE = "league.json"
"""File with the opponents of a training by self-play."""
PAST = "past_"
"""Prefix of the folders with a self-play training's past policies; the step follows."""
CALLS = "calls.jsonl"
"""Paid calls to models by players in a training."""

CONTROL_AT = "MOSAIC_CONTROL_AT"
"""Environment variable: how long ``control.jsonl`` was when another program started the training.

Requests from there on are for this training, also those that were written while it was still
importing; without the variable, those that come in once its :class:`TrainingRun` is made.
"""

_PIECE = 1 << 16


class Lines:
    """A file of JSON lines to which whole lines are appended."""

    def __init__(self, path: Path) -> None:
        cut_half_line(path)
        self._file = open_file(path, "ab", buffering=0)
        self._waiting: List[bytes] = []
        self.size = 0

    def add(self, row: Dict[str, Any]) -> None:
        """Add a row, which the next :meth:`flush` writes."""
        line = json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        self._waiting.append(line)
        self.size += len(line)

    def flush(self) -> None:
        """Write the waiting rows to the file; rows that cannot be written keep waiting (``OSError``)."""
        if not self._waiting:
            return
        data = b"".join(self._waiting)
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError:
            self._waiting, self.size = [data[written:]], len(data) - written
            raise
        self._waiting, self.size = [], 0

    def close(self) -> None:
        """Close the file; rows that still wait are lost."""
        self._file.close()


def finished_before(path: Path, step: int) -> int:
    """Return the number of episodes in a file that ended by a step; 0 if the file does not exist."""
    count = 0
    with suppress(FileNotFoundError), open_file(path, "rb") as file:
        for line in file:
            try:
                row = json.loads(line)
                count += row["step"] <= step
            except (ValueError, KeyError, TypeError):
                continue  # not an episode
    return count


def cut_half_line(path: Path, *, inside: Optional[Path] = None) -> None:
    """Remove an incomplete last line, left by a writer that was killed or ran out of disk space.

    Args:
        path: The file; it need not exist.
        inside: As for :func:`mosaic_worker.plain_files.open_file`.
    """
    with suppress(FileNotFoundError), open_file(path, "r+b", inside=inside) as file:
        end = file.seek(0, os.SEEK_END)
        keep = end
        while keep > 0:
            begin = max(0, keep - _PIECE)
            file.seek(begin)
            newline = file.read(keep - begin).rfind(b"\n")
            if newline >= 0:
                keep = begin + newline + 1
                break
            keep = begin
        if keep < end:
            file.truncate(keep)


class ControlFileReader:
    """Reads new requests from the control file, from its end at the start of the training."""

    def __init__(self, path: Path) -> None:
        self._path = path
        here = path.stat().st_size if path.exists() else 0
        told = os.environ.get(CONTROL_AT, "")
        self._read = min(int(told), here) if told.isdigit() else here

    def new(self) -> List[str]:
        """Return the requests since the last call, oldest first."""
        try:
            if self._path.stat().st_size <= self._read:
                return []
            with open_file(self._path) as file:
                file.seek(self._read)
                data = file.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return [command for command in map(_command, whole.splitlines()) if command]


def ask(folder: Path, command: str) -> None:
    """Send a request to a training: ``pause``, ``resume``, ``checkpoint`` or ``stop``.

    Raises:
        ValueError: There is no such request.
        OSError: The folder cannot be written.
    """
    if command not in ("pause", "resume", "checkpoint", "stop"):
        raise ValueError(f"a training accepts pause, resume, checkpoint or stop, not {command!r}")
    with open_file(folder / CONTROL, "ab", buffering=0) as file:
        file.write(json.dumps({"do": command}).encode() + b"\n")


def _command(line: bytes) -> str:
    try:
        row = json.loads(line)
    except ValueError:
        return ""
    return str(cast(Dict[str, Any], row).get("do", "")) if isinstance(row, dict) else ""
