"""Program that runs one training and watches it until it has ended, for whatever reason.

:mod:`gym_gui.services.trainer.training_process` starts it as ``python -I -S runner.py --folder DIR --tag TAG
[--tie PID] … -- COMMAND ARG…``. It outlives the process that started it, unless ``--tie`` ties it to one.
Once the training runs, the program prints one line of JSON to standard output. The program

* limits the training's cores, the memory of all its processes together, and its time;
* makes sure that a stop request ends the training: it sends the command, then ``SIGTERM`` after two thirds
of the grace period, and ``SIGKILL`` to the whole tree at its end;
* ends leftover processes and writes ``exit.json``, for which it reserves disk space.

``SIGTERM`` and ``SIGINT`` ask the program to stop the training, and ``SIGUSR1`` to kill it. If the program
is killed, the kernel kills the worker too.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # started without site-packages
    sys.path.append(str(Path(__file__).resolve().parents[3]))

from gym_gui.processes.identity import birth
from gym_gui.processes.tree import (
    adopt_orphans,
    kill_tree,
    process_mb,
    proportional_mb,
    resident_mb,
    signal_name,
)

if TYPE_CHECKING:
    import argparse

_LOOK_S = 0.5
_COUNT_EVERY_S = 2.0
_COUNT_SHARE = 0.002
"""Largest share of one core that memory measurement may use."""
_ROOM = 4096
_FULL_MB = 1.0
_PR_SET_PDEATHSIG = 1
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD)


def main(argv: Sequence[str]) -> int:
    """Run a training to its end.

    Returns:
        0, or 1 if the training could not be started.
    """
    import argparse  # here: the module that starts this one imports it, and needs no argparse

    parser = argparse.ArgumentParser(prog="runner.py")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--tie", type=int)
    parser.add_argument("--grace", type=float, required=True)
    parser.add_argument("--max-seconds", type=float)
    parser.add_argument("--memory-mb", type=float)
    parser.add_argument("--cores", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(argv)
    return _Runner(options).run()


class _Runner:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._folder: Path = options.folder
        self._control = self._folder / "control.jsonl"
        self._heard = _size(self._control)
        self._pid = 0
        self._status: int | None = None
        self._cause = self._reason = ""
        self._stop_at: float | None = None
        self._terminated = False
        self._max_mb = 0.0
        self._next_count = 0.0
        self._tie = "" if options.tie is None else birth(options.tie)
        self._signals: list[int] = []
        self._began = time.monotonic()
        self._out_of_memory = _out_of_memory_kills()

    # -- life cycle ----------------------------------------------------------------------

    def run(self) -> int:
        wake = self._listen()
        parent = _process_descriptor(self._options.tie)
        self._reserve_exit()
        try:
            self._start()
        except OSError as error:
            name = self._options.command[0]
            self._cause, self._reason = "launch", f"{name} could not be started: {error.strerror or error}"
            self._write_exit()
            _answer({"error": self._reason})
            return 1
        _answer({"pid": os.getpid(), "worker": self._pid})
        while not self._reap():
            with contextlib.suppress(InterruptedError):
                ready = select.select([wake, *([] if parent is None else [parent])], [], [], _LOOK_S)[0]
                if wake in ready:
                    os.read(wake, 4096)
            self._enforce()
        kill_tree(self._options.tag)
        self._reap()
        self._write_exit()
        return 0

    def _listen(self) -> int:
        """Install signal handlers that record signals, and return a descriptor that signals make readable."""
        wake, told = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, lambda number, _: self._signals.append(number))
        return wake

    def _start(self) -> None:
        options = self._options
        if options.cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, [int(core) for core in options.cores.split(",")])
        adopt_orphans()
        before = _size(self._folder / "events.jsonl")
        process = subprocess.Popen(
            options.command,
            env={**os.environ, "MOSAIC_CONTROL_AT": str(self._heard)},
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),  # the log
            start_new_session=True,
            preexec_fn=_die_with(os.getpid()),  # safe: there is one thread
        )
        self._pid = process.pid
        process.returncode = 0  # _reap waits for it, and for all processes that it leaves
        row: dict[str, Any] = {
            "pid": os.getpid(),
            "born": birth(os.getpid()),
            "worker": {"pid": self._pid, "born": birth(self._pid)},
            "tag": options.tag,
            "tied": options.tie is not None,
            "events_at": before,
            "started_at": time.time(),
        }
        # Written by hand, because this file is run alone and imports only the standard library.
        part = self._folder / "runner.json.part"
        try:
            part.write_text(json.dumps(row) + "\n", encoding="utf-8")
            part.replace(self._folder / "runner.json")
        except OSError:
            kill_tree(options.tag)
            raise

    def _reap(self) -> bool:
        """Collect all children that have ended, and return whether the training itself has ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid == self._pid:
                self._status = status
        return self._status is not None

    # -- limits and requests -------------------------------------------------------------

    def _enforce(self) -> None:
        options = self._options
        heard, self._signals = self._signals, []
        if signal.SIGUSR1 in heard:
            self._kill("killed", "was killed on request")
        elif options.tie is not None and (not self._tie or birth(options.tie) != self._tie):
            self._kill("tie", "was ended with the program that had started it")
        elif {signal.SIGTERM, signal.SIGINT} & set(heard):
            self._stop("asked", "")
        if self._stop_wanted():
            self._stop("asked", "", ask=False)
        self._watch_time()
        self._watch_memory()
        if self._stop_at is not None:
            self._escalate_stop(time.monotonic() - self._stop_at)

    def _watch_time(self) -> None:
        limit = self._options.max_seconds
        if limit is not None and self._stop_at is None and time.monotonic() - self._began > limit:
            self._stop("duration", f"ran longer than its limit of {limit:,g} s")

    def _watch_memory(self) -> None:
        used, now = process_mb(self._pid), time.monotonic()
        if now >= self._next_count:  # rare, because finding its children reads the whole process table
            used = resident_mb(self._options.tag)
            took = time.monotonic() - now
            self._next_count = now + max(_COUNT_EVERY_S, took / _COUNT_SHARE)
        limit = self._options.memory_mb
        if limit is not None and used > limit:
            used = proportional_mb(self._options.tag)  # forked environments share most of their memory
        self._max_mb = max(self._max_mb, used)
        if limit is not None and used > limit:
            self._kill("memory", f"used more than {limit:,.0f} MB of memory")

    def _stop_wanted(self) -> bool:
        size = _size(self._control)
        if size <= self._heard:
            return False
        with self._control.open("rb") as file:
            file.seek(self._heard)
            whole = file.read().rpartition(b"\n")[0]
        self._heard += len(whole) + 1 if whole else 0
        return any(_command(line) == "stop" for line in whole.split(b"\n"))

    def _stop(self, cause: str, reason: str, *, ask: bool = True) -> None:
        if self._stop_at is not None or self._cause:  # already being stopped or killed
            return
        self._stop_at, self._cause, self._reason = time.monotonic(), cause, reason
        if ask:
            with contextlib.suppress(OSError), self._control.open("ab", buffering=0) as file:
                self._heard += file.write(b'{"do": "stop"}\n') or 0

    def _escalate_stop(self, waited: float) -> None:
        grace: float = self._options.grace
        if waited > grace:
            self._kill(self._cause, self._reason or f"did not stop within {grace:g} s and was killed")
        elif waited > grace * 2 / 3 and not self._terminated:
            self._terminated = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGTERM)

    def _kill(self, cause: str, reason: str) -> None:
        if self._status is None:
            self._cause, self._reason = cause, reason
        kill_tree(self._options.tag)

    # -- how it ended --------------------------------------------------------------------

    def _reserve_exit(self) -> None:
        """Reserve space for ``exit.json``, as the disk may be full at the end."""
        with contextlib.suppress(OSError):
            (self._folder / "exit.json.part").write_bytes(b" " * _ROOM)

    def _write_exit(self) -> None:
        code = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        if not self._cause and code:
            self._cause, self._reason = self._found_cause(code)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        row: dict[str, Any] = {
            "status": code if code is None or code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "cause": self._cause,
            "reason": self._reason,
            "max_memory_mb": round(max(self._max_mb, usage.ru_maxrss / 1024), 1),
            "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
            "wall_s": round(time.monotonic() - self._began, 2),
            "ended_at": time.time(),
        }
        part = self._folder / "exit.json.part"
        try:
            with part.open("r+b" if part.exists() else "wb") as file:
                file.write(json.dumps(row).encode() + b"\n")
                file.truncate()
            part.replace(self._folder / "exit.json")
        except OSError as error:
            sys.exit(f"exit.json could not be written: {error}; {row}")

    def _found_cause(self, code: int) -> tuple[str, str]:
        """Return cause and reason of an end that the training itself could not report."""
        with contextlib.suppress(OSError):
            if shutil.disk_usage(self._folder).free < _FULL_MB * 2**20:
                return "disk", f"the disk is full: nothing more can be written to {self._folder}"
        if code == -signal.SIGKILL and _out_of_memory_kills() > self._out_of_memory:
            return "memory", "was killed by the system, which had run out of memory"
        return "", f"was killed ({signal_name(-code)})" if code < 0 else ""


def _die_with(parent: int) -> Callable[[], None]:
    """Return a function that, in a new child, makes the kernel kill the child when this process ends."""
    if sys.platform != "linux":
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return tie


def _process_descriptor(pid: int | None) -> int | None:
    """Return a descriptor that becomes readable when a process ends; ``None`` if the system has none."""
    if pid is None or not hasattr(os, "pidfd_open"):
        return None
    with contextlib.suppress(OSError):
        return os.pidfd_open(pid)
    return None


def _answer(row: dict[str, Any]) -> None:
    """Send one answer to the process that started this one, and close stdout."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(row).encode() + b"\n")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _command(line: bytes) -> str:
    try:
        row = json.loads(line)
    except ValueError:
        return ""
    return str(row.get("do", "")) if isinstance(row, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _out_of_memory_kills() -> int:
    """Return how many processes this system has killed for lack of memory since its start."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
