"""The run folder of a training: its files.

What a worker writes there is described in :mod:`mosaic_worker.training`; ours are
``train.json`` (what was asked for), ``queue.json`` (its place in the queue), ``elsewhere.json`` (which other
machine it is on), ``runner.json`` (which process watches it), ``exit.json`` (how it ended) and ``log.txt``
(what it printed).
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import RunFormatError
from gym_gui.services.trainer.file_follower import Follower
from mosaic_worker.plain_files import read_file, replace_file
from mosaic_worker.training import (
    CALLS,
    CONTROL,
    EPISODES,
    EVENTS,
    LEAGUE,
    METRICS,
    PAST,
    STATE,
    TENSORBOARD,
    VIDEOS,
)

REQUEST, RUNNER, EXIT, LOG, LOCK = "train.json", "runner.json", "exit.json", "log.txt", ".lock"
QUEUE = "queue.json"
ELSEWHERE = "elsewhere.json"
POLICY, WEIGHTS = "policy.json", "model.safetensors"

_OURS = (REQUEST, ELSEWHERE, RUNNER, EXIT, LOG, LOCK, EVENTS, METRICS, EPISODES, CONTROL)
_POLICY = (POLICY, WEIGHTS, STATE, TENSORBOARD, VIDEOS)
_SELF_PLAY = (LEAGUE, CALLS)
_WRITTEN = tuple(name for name in (*_OURS, *_POLICY, *_SELF_PLAY) if name != LOCK)


class RunFolder:
    """Where everything of one training lies.

    Args:
        path: The folder; it need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def follow(self, name: str, position: int = 0) -> Follower:
        """Follow one of its files: ``EVENTS``, ``METRICS`` or ``EPISODES``."""
        return Follower(self.path / name, position)

    @property
    def holds_policy(self) -> bool:
        """A policy was kept here."""
        return (self.path / POLICY).exists()

    def read(self, name: str) -> dict[str, Any] | None:
        """One of its JSON files; ``None`` where it is not there.

        Raises:
            RunFormatError: It is damaged.
        """
        path = self.path / name
        try:
            value = json.loads(read_file(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunFormatError(str(path), f"cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise RunFormatError(str(path), f"is damaged or was cut off ({error})") from error
        if not isinstance(value, dict):
            raise RunFormatError(str(path), "holds no JSON object")
        return cast("dict[str, Any]", value)

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Write one of its JSON files; a reader sees the old one or the new one, never half of it.

        Raises:
            OSError: The folder cannot be written.
        """
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        replace_file(self.path / name, text.encode())

    def last_log_line(self, size: int = 4096) -> str:
        """The last line that the training printed."""
        try:
            data, _ = Follower(self.path / LOG).read_end(size)
        except RunFormatError:
            return ""
        lines = data.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def clear(self) -> None:
        """Remove what a training writes, and the folder if nothing else is in it.

        The lock file stays: a process that clears the folder to train there again holds the lock. The file
        with the run's place in the queue stays as well: it is the trainer's.
        """
        for path in [*(self.path / name for name in _WRITTEN), *self._past_selves()]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _past_selves(self) -> list[Path]:
        """Policies that a training by self-play left of itself, be they in its league or not."""
        found = self.path.glob(f"{PAST}*")
        return [path for path in found if path.name[len(PAST) :].isdecimal() and (path / POLICY).exists()]

    def discard(self) -> None:
        """Remove what a training wrote that never began, and the folder if it is empty then."""
        self.clear()
        for name in (QUEUE, LOCK):
            (self.path / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()
