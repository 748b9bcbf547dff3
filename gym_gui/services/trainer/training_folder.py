"""The run folder of a training and its files.

:mod:`mosaic_worker.training` describes the files of the worker. MOSAIC's own files are ``train.json`` (the
request), ``queue.json`` (the place in the queue), ``elsewhere.json`` (the other machine that runs it),
``runner.json`` (the process that watches it), ``exit.json`` (how it ended) and ``log.txt`` (its output).
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
    """Reads and writes the files of one training.

    Args:
        path: The folder, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def follow(self, name: str, position: int = 0) -> Follower:
        """Return a follower of one of the files ``EVENTS``, ``METRICS`` or ``EPISODES``."""
        return Follower(self.path / name, position)

    @property
    def holds_policy(self) -> bool:
        """Whether the folder contains a policy."""
        return (self.path / POLICY).exists()

    def read(self, name: str) -> dict[str, Any] | None:
        """Return the content of one of the JSON files, or ``None`` if the file does not exist.

        Raises:
            RunFormatError: The file is damaged or cannot be read.
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
            raise RunFormatError(str(path), "does not contain a JSON object")
        return cast("dict[str, Any]", value)

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Write one of the JSON files, whole or not at all.

        Raises:
            OSError: The folder cannot be written.
        """
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        replace_file(self.path / name, text.encode())

    def last_log_line(self, size: int = 4096) -> str:
        """Return the last non-empty line that the training printed."""
        try:
            data, _ = Follower(self.path / LOG).read_end(size)
        except RunFormatError:
            return ""
        lines = data.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def clear(self) -> None:
        """Remove the files that a training writes, but not the folder, its lock and its queue entry.

        A process that clears the folder to train there again holds the lock. The file with the run's entry in
        the queue belongs to the trainer.
        """
        for path in [*(self.path / name for name in _WRITTEN), *self._past_selves()]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _past_selves(self) -> list[Path]:
        """Return the past policies that a self-play training saved, in its league or not."""
        found = self.path.glob(f"{PAST}*")
        return [path for path in found if path.name[len(PAST) :].isdecimal() and (path / POLICY).exists()]

    def discard(self) -> None:
        """Remove the files of a training that never began, and the folder if it is then empty."""
        self.clear()
        for name in (QUEUE, LOCK):
            (self.path / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()
