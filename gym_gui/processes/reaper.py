"""Ends the processes that a killed program leaves behind.

MOSAIC's own child processes end with their parent (:mod:`mosaic_worker.launch`). The processes that *they*
started, and those that left their process group, do not. So each program that starts processes also starts
one small process in its own session, which waits for the end of the program, however it ends, and then ends
all processes that have the program's tag.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gym_gui.core.inherited_environment import inherited
from gym_gui.processes.tree import TAG, kill_tree, program_tag

_LOOK_S = 1.0
_ROUNDS = 50
_reapers: dict[int, subprocess.Popen[bytes]] = {}


def guard() -> None:
    """Start the reaper, a process that ends all processes that remain after this program's end.

    The reaper works even if this program is killed. Do nothing in a process that such a program has started,
    and on systems other than Linux.
    """
    here = os.getpid()
    if here in _reapers or os.environ.get(TAG) or sys.platform != "linux":
        return
    _reapers[here] = subprocess.Popen(
        [sys.executable, "-P", "-m", "gym_gui.processes.reaper", program_tag(), str(here)],
        stdin=subprocess.PIPE,  # closed when we end
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in inherited().items() if name != TAG},
        start_new_session=True,  # Ctrl-C must not end it
    )


def remove_after(path: Path) -> None:
    """Let the reaper remove a folder when this program has ended, if the folder still exists."""
    guard()
    reaper = _reapers.get(os.getpid())
    if reaper is not None and reaper.stdin is not None:
        with contextlib.suppress(OSError):  # the reaper was killed
            reaper.stdin.write(os.fsencode(path) + b"\0")
            reaper.stdin.flush()


def main(argv: Sequence[str]) -> int:
    """Wait for the end of the process ``argv[2]``, then end all processes with the tag ``argv[1]``.

    Paths that arrive on stdin, each followed by a zero byte, are removed, too.
    """
    tag, paths = argv[1], _listen(int(argv[2]))
    left = next((0 for _ in range(_ROUNDS) if not kill_tree(tag)), 1)
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
    return left


def _listen(program: int) -> list[bytes]:
    """Return the paths that arrived on stdin until the program ended."""
    heard = b""
    while True:
        if select.select([0], [], [], _LOOK_S)[0]:
            data = os.read(0, 1 << 16)
            if not data:
                break
            heard += data
        elif os.getppid() != program:
            break  # the program has ended, but a forked child of it holds the pipe open
    return heard.split(b"\0")[:-1]


if __name__ == "__main__":
    sys.exit(main(sys.argv))
