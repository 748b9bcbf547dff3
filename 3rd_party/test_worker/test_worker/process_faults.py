"""Faults of the worker's process, apart from its answers."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

from mosaic_worker.worker import LoadError
from test_worker.plan import Plan

_log = logging.getLogger("test_worker")
_kept: list[bytearray] = []
_ORPHAN = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
_SLEEPER = "import time; time.sleep(600)"


def cause_fault(plan: Plan) -> None:
    """Carry out ``plan.fault``.

    Raises:
        RuntimeError: The fault is ``raise``.
        LoadError: The fault is ``refuse``.
    """
    _DEEDS[plan.fault](plan)


def block_forever() -> None:
    """Block this thread forever; other threads continue."""
    while True:
        time.sleep(3600)


def exit_at_once(word: str) -> None:
    """End the process at once for ``exit`` or ``kill``; do nothing for any other word."""
    if word == "exit":
        os._exit(3)
    if word == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


def _exit(plan: Plan) -> None:
    os._exit(plan.status)


def _signal(plan: Plan) -> None:
    number = signal.Signals[plan.signal]
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _raise(_: Plan) -> None:
    raise RuntimeError("told to raise")


def _refuse(_: Plan) -> None:
    raise LoadError("told to refuse this slot")


def _memory(plan: Plan) -> None:
    for _ in range(plan.mb):
        _kept.append(bytearray(os.urandom(4096) * 256))  # a page is resident once it has been written


def _grandchildren(plan: Plan) -> None:
    for _ in range(plan.count):
        # The child ends immediately, so that its own child has no parent among this worker's processes.
        subprocess.run([sys.executable, "-c", _ORPHAN, sys.executable, "-c", _SLEEPER], check=True)


def _log_flood(plan: Plan) -> None:
    for i in range(plan.count):
        _log.info("line %d of a flood", i)


def _long_lines(plan: Plan) -> None:
    for _ in range(plan.count):
        _log.info("x" * (plan.mb << 20))


def _flood(fd: int) -> Callable[[Plan], None]:
    def run(plan: Plan) -> None:
        with os.fdopen(os.dup(fd), "w") as stream:
            stream.writelines(f"line {i} of a flood\n" for i in range(plan.count))

    return run


_DEEDS: Mapping[str, Callable[[Plan], None]] = {
    "exit": _exit,
    "signal": _signal,
    "raise": _raise,
    "refuse": _refuse,
    "hang": lambda _: block_forever(),
    "freeze": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "late": lambda plan: time.sleep(plan.seconds),
    "memory": _memory,
    "grandchildren": _grandchildren,
    "log_flood": _log_flood,
    "stderr_flood": _flood(2),
    "stdout_flood": _flood(1),
    "long_lines": _long_lines,
}
