"""Doom's engine as a process: it lives no longer than who plays it, and leaves no files behind."""

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
"""Shared memory that the package makes for an engine, by the number that it gives it."""
_NUMBER = "+viz_instance_id"
_PREFIX = "mosaic-doom-"
_SAID = 3
"""Last lines of its output that an error message has."""


class Engine:
    """The process behind one ``DoomGame``, with a folder of its own for all that it writes.

    The package starts it by a path alone, so that it gets a small script: that goes to the folder, where the
    engine writes what it works out of maps, and ties its life to ours.

    Args:
        game: A ``DoomGame`` that has not been started yet.
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
        """Its process, once it was started."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.folder / "pid").read_text())
        return None

    @property
    def last_log_line(self) -> str:
        """The end of what it said, on one line."""
        with contextlib.suppress(OSError):
            lines = (self.folder / "log").read_text(errors="replace").replace("\r", "\n").splitlines()
            return " | ".join([line.strip() for line in lines if line.strip()][-_SAID:])
        return ""

    def kill(self) -> None:
        """End the engine where it does not end by itself."""
        pid = self.pid
        with contextlib.suppress(OSError):
            # Another process may have the number by now; but only this engine has its working directory.
            if pid is not None and Path(f"/proc/{pid}/cwd").samefile(self.folder):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> None:
        """Remove its folder, and the shared memory that one which was killed leaves; safe to call twice."""
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
    """Remove what processes left that were killed: their engines have ended with them."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                owner = int((folder / "owner").read_text())
                if not Path(f"/proc/{owner}").exists():
                    _remove(folder)
