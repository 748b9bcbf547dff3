"""Makes a worker process end together with its host, then replaces the process by the worker's program.

``launch.py PARENT_PID PROGRAM ARG…`` is a script for workers that are not written in Python. The process ends
with its host only on Linux; on other systems the worker detects the end of its host by the end of its input.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
from typing import List, NoReturn

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when ``parent`` ends.

    The kernel sends the signal when the thread that started this process ends (prctl(2)), so a host must
    start workers from its main thread.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the call above
        os.kill(os.getpid(), signal.SIGKILL)


def end_process(status: int) -> NoReturn:
    """End this process immediately, after the functions registered with :mod:`atexit` have run.

    A normal exit of Python waits for every thread that is not a daemon. An environment or a policy may leave
    such a thread running, and the program that started this process would then have to kill it. A normal exit
    also frees every object, which takes half a second with torch.

    Args:
        status: Exit status of the process.
    """
    try:
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def main(argv: List[str]) -> None:
    """Replace this process by the program in ``argv``; on failure, print a line to stderr and exit."""
    die_with_parent(int(argv[1]))
    try:
        os.execvp(argv[2], argv[2:])
    except OSError as exc:
        sys.exit(f"{argv[2]}: {exc.strerror}")


if __name__ == "__main__":
    main(sys.argv)
