"""First code of a worker process: tie its life to the host's, then become the worker.

Run as a script, ``launch.py PARENT_PID PROGRAM ARG…`` replaces itself by PROGRAM, for
workers that are not written in Python. Linux only in its effect; elsewhere the worker
still notices the end of its input.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import List

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when ``parent`` ends.

    The signal is bound to the thread that spawned us (prctl(2)), so hosts spawn from
    their main thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the call above
        os.kill(os.getpid(), signal.SIGKILL)


def main(argv: List[str]) -> None:
    """Replace this process by the program named in ``argv``; ends with a line on stderr if it cannot."""
    die_with_parent(int(argv[1]))
    try:
        os.execvp(argv[2], argv[2:])
    except OSError as exc:
        sys.exit(f"{argv[2]}: {exc.strerror}")


if __name__ == "__main__":
    main(sys.argv)
