"""Runs Doom's engine in a process that ends with its player and leaves no files behind."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from mosaic_worker import launch

_SHARED = Path("/dev/shm")
_KINDS = ("ViZDoomSM", "ViZDoomMQCtr", "ViZDoomMQDoom")
"""Prefixes of the shared memory files that the package makes for an engine, followed by its number."""
_NUMBER = "+viz_instance_id"
_PREFIX = "mosaic-doom-"
_LOG_LINES = 3
"""Number of last log lines in an error message."""


class Engine:
    """Process of one ``DoomGame``, with a folder of its own for all files that it writes.

    The package can start the engine only by a path. So it gets the path of a small script, which changes to
    the folder, where the engine writes its map caches, and ends the engine together with this process.

    Args:
        game: A ``DoomGame`` that has not been started.
    """

    def __init__(self, game: Any) -> None:
        _remove_orphans()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        (self.folder / "owner").write_text(str(os.getpid()))
        game.set_doom_config_path(str(self.folder / "doom.ini"))
        game.add_game_args("+gl_cachenodes 0")
        if sys.platform == "linux":
            game.set_vizdoom_path(str(self._script(str(game.get_vizdoom_path()) or _engine())))

    @property
    def pid(self) -> int | None:
        """Process id of the engine; ``None`` before its start."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.folder / "pid").read_text())
        return None

    @property
    def last_log_line(self) -> str:
        """Last lines of the engine's log, joined by " | "; empty without a log."""
        with contextlib.suppress(OSError):
            lines = (self.folder / "log").read_text(errors="replace").replace("\r", "\n").splitlines()
            return " | ".join([line.strip() for line in lines if line.strip()][-_LOG_LINES:])
        return ""

    def kill(self) -> None:
        """Kill the engine if it runs."""
        pid = self.pid
        with contextlib.suppress(OSError):
            # Another process may have the number by now; but only this engine has its working directory.
            if pid is not None and Path(f"/proc/{pid}/cwd").samefile(self.folder):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> None:
        """Remove the folder, and the shared memory of a killed engine; a second call does nothing."""
        _remove(self.folder)

    def _script(self, engine: str) -> Path:
        folder, python, tie, engine = map(
            shlex.quote, (str(self.folder), sys.executable, launch.__file__, engine)
        )
        script = self.folder / "engine"
        script.write_text(
            f"#!/bin/sh\ncd {folder} || exit 1\necho $$ > pid\n"
            "printf '%s\\n' \"$@\" > arguments\n"
            f'exec {python} -I -S {tie} "$PPID" {engine} "$@" > log 2>&1\n'
        )
        script.chmod(0o700)
        return script


def _engine() -> str:
    return str(Path(str(import_module("vizdoom").__file__)).with_name("vizdoom"))


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        arguments = (folder / "arguments").read_text(errors="replace").splitlines()
        number = arguments[arguments.index(_NUMBER) + 1]
        if number.isalnum():
            for kind in _KINDS:
                (_SHARED / f"{kind}{number}").unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_orphans() -> None:
    """Remove folders and shared memory that killed processes of MOSAIC left behind.

    Their engines have ended with them.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                owner = int((folder / "owner").read_text())
                if not Path(f"/proc/{owner}").exists():
                    _remove(folder)
