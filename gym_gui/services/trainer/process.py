"""One training as a process: started, found again, asked, killed, and how it ended.

The worker is not our child but that of a runner (:mod:`gym_gui.services.trainer.runner`),
which keeps it to its limits and outlives us unless it is tied to us. Everything that both
sides know of each other is in the run folder, so a training that somebody else started, or
that an earlier program of ours did, is handled like one's own.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ulid import ULID

import mosaic_worker.training
from gym_gui.core.errors import MosaicError, RunFormatError, UsageError, WorkerLaunchError
from gym_gui.services.trainer import runner as runner_module
from gym_gui.services.trainer.folder import EXIT, LOCK, LOG, POLICY, REQUEST, RUNNER, RunFolder
from gym_gui.services.trainer.outcome import TrainingOutcome, read_outcome
from gym_gui.services.trainer.records import RunLimits
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.workers.environment import worker_environment
from gym_gui.workers.identity import birth, suspended
from gym_gui.workers.tree import TAG, kill_tree, members
from gym_gui.workers.warden import guard

STOP_GRACE_S = 30.0
"""Time a training has to keep its policy once it is asked to stop."""

_READY_S = 30.0
_KILL_S = 5.0
_LOOK_S = 0.2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class TrainingFailedError(MosaicError):
    """A training went wrong while running; what it kept before stays."""


class TrainingProcess:
    """A training that was started at some time, by whomever; made by :meth:`launch` or :meth:`attach`.

    Attributes:
        folder: Its run folder.
    """

    def __init__(self, folder: RunFolder, runner: Mapping[str, Any]) -> None:
        self.folder = folder
        self._runner = runner
        self._child: subprocess.Popen[bytes] | None = None
        self._outcome: TrainingOutcome | None = None

    @classmethod
    def launch(
        cls,
        request: TrainRequest,
        limits: RunLimits | None = None,
        *,
        tied: bool = False,
        cores: Sequence[int] = (),
        gpus: Sequence[str] = (),
        grace_s: float = STOP_GRACE_S,
    ) -> TrainingProcess:
        """Start a training. Blocks until it runs, for some 50 ms.

        Args:
            request: What to train.
            limits: What it may use; ``None``: all cores, and the memory that its worker names.
            tied: It ends with this program. Otherwise it outlives it.
            cores: The cores it may use; by default as many as ``limits`` says, any of ours.
            gpus: Devices it may see.
            grace_s: Seconds it has to stop when asked, before it is killed.

        Raises:
            UsageError: The folder cannot be written, holds a policy already, holds nothing to
                resume, or a training is running in it.
            WorkerLaunchError: The process could not be started.
        """
        folder = RunFolder(request.out)
        _make(folder)
        with _locked(folder) as lock:
            cls._refuse_running(folder)
            _prepare(folder, request)
            command = _command(request, limits, cores, grace_s)
            tag = f"training-{ULID()}"
            environment = _environment(request, limits, tag, tied=tied, gpus=gpus)
            command += ["--tag", tag, *(["--tie", str(os.getpid())] if tied else [])]
            command += ["--", str(request.definition.launch.python or sys.executable)]
            command += ["-m", request.spec.entry, *request.arguments()]
            try:
                folder.write(REQUEST, request.row(limits))
                (folder / EXIT).unlink(missing_ok=True)
                (folder / RUNNER).unlink(missing_ok=True)
                child = _start(command, environment, folder / LOG, lock)
            except OSError as error:
                raise WorkerLaunchError(f"the training could not be started: {error}") from error
        runner = folder.read(RUNNER)
        if runner is None:
            raise WorkerLaunchError(f"the training could not be started: {folder.last_words()}")
        process = cls(folder, runner)
        process._child = child
        return process

    @classmethod
    def attach(cls, path: Path) -> TrainingProcess:
        """Find the training of a run folder, whether it still runs or not.

        Raises:
            UsageError: None was ever started there.
        """
        folder = RunFolder(path)
        runner = folder.read(RUNNER)
        if runner is None:
            raise UsageError(f"no training was ever started in {path}", fix="Name the run folder of one")
        if not all(isinstance(runner.get(name), kind) for name, kind in _RUNNER_KEYS.items()):
            raise RunFormatError(str(folder / RUNNER), "does not say which process watches the training")
        return cls(folder, runner)

    @property
    def pid(self) -> int:
        """Process id of the worker; only while :attr:`alive` it is certainly its own."""
        return int(self._runner["worker"]["pid"])

    @property
    def tag(self) -> str:
        """What every process of it bears (:mod:`gym_gui.workers.tree`)."""
        return str(self._runner["tag"])

    @property
    def started_at(self) -> float:
        """Unix time."""
        return float(self._runner["started_at"])

    @property
    def alive(self) -> bool:
        """Its runner is still there; how it ended is known once it is not."""
        if self._child is not None and self._child.poll() is not None:
            return False
        return birth(int(self._runner["pid"])) == self._runner["born"]

    @property
    def suspended(self) -> bool:
        """Somebody has halted it with a signal: it does nothing, and hears no wish."""
        worker = self._runner["worker"]
        return birth(int(worker["pid"])) == worker["born"] and suspended(int(worker["pid"]))

    def ask(self, wish: str) -> None:
        """Tell it to ``pause``, ``resume``, ``checkpoint`` or ``stop``; it answers with an event.

        One that does not stop in time is killed, by its runner.

        Raises:
            UsageError: It is over.
            MosaicError: The wish cannot be written down.
        """
        if not self.alive:
            raise UsageError(f"the training in {self.folder.path} is over")
        try:
            mosaic_worker.training.ask(self.folder.path, wish)
        except OSError as error:
            if wish != "stop":
                raise MosaicError(f"the training could not be told to {wish}: {error.strerror}") from error
            self._signal(signal.SIGTERM)  # the disk is full, say: its runner sees to it

    def kill(self) -> None:
        """End it at once, with everything it started; what it kept before stays. Blocks for up to 5 s."""
        self._signal(signal.SIGUSR1)
        if not self.wait(_KILL_S):
            kill_tree(self.tag)
            self.wait(_KILL_S)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is over; whether it is."""
        deadline = None if timeout is None else time.monotonic() + timeout
        handle = _handle(int(self._runner["pid"]))
        try:
            while self.alive:
                left = _LOOK_S if deadline is None else min(_LOOK_S, deadline - time.monotonic())
                if left <= 0:
                    return False
                if handle is None or select.select([handle], [], [], left)[0]:
                    time.sleep(0.001)
            return True
        finally:
            if handle is not None:
                os.close(handle)

    def outcome(self) -> TrainingOutcome | None:
        """How it ended, also when nobody was there; ``None`` while it runs.

        What a killed runner has left behind is ended first.
        """
        if self._outcome is None and not self.alive:
            if self._child is not None:
                self._child.wait()
            if any(members(self.tag)):
                kill_tree(self.tag)
            self._outcome = read_outcome(self.folder, self._runner)
        return self._outcome

    def _signal(self, number: signal.Signals) -> None:
        """Signal the runner and nobody who has its number after it."""
        handle = _handle(int(self._runner["pid"]))
        if handle is None:
            return
        try:
            if self.alive:
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)

    @classmethod
    def _refuse_running(cls, folder: RunFolder) -> None:
        with contextlib.suppress(UsageError, RunFormatError):
            before = cls.attach(folder.path)
            if before.outcome() is None:
                raise _running(folder, f" (process {before.pid})")


_RUNNER_KEYS: dict[str, Any] = {
    "pid": int,
    "born": str,
    "worker": dict,
    "tag": str,
    "started_at": (int, float),
}


def _make(folder: RunFolder) -> None:
    """Make the folder and see that it can be written, before anything is started."""
    trial = folder / ".writable"
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        trial.write_bytes(b" " * 4096)
    except OSError as error:
        problem = f"{folder.path} cannot be written: {error.strerror}"
        raise UsageError(problem, fix="Choose another --out, or make room there") from error
    finally:
        with contextlib.suppress(OSError):
            trial.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(folder: RunFolder) -> Generator[int]:
    """Hold the folder; whoever inherits the descriptor goes on holding it, until its end.

    Raises:
        UsageError: A training is running in it, or is being started there.
    """
    path = folder / LOCK
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, path):
                break
        except BlockingIOError:
            os.close(lock)
            raise _running(folder) from None
        os.close(lock)  # somebody has just thrown the folder's files away
    try:
        yield lock
    finally:
        os.close(lock)


def _is_at(file: int, path: Path) -> bool:
    try:
        return path.stat().st_ino == os.fstat(file).st_ino
    except FileNotFoundError:
        return False


def _running(folder: RunFolder, who: str = "") -> UsageError:
    return UsageError(
        f"a training is running in {folder.path}{who}",
        fix="Wait for its end, stop it, or choose another --out",
    )


def _prepare(folder: RunFolder, request: TrainRequest) -> None:
    """See that the folder is as the request says, and take away what an earlier training left in it.

    Raises:
        UsageError: There is a policy where none is expected, or none to go on with.
    """
    if request.resume:
        if not folder.holds_policy:
            raise UsageError(
                f"there is nothing to resume in {folder.path}: it holds no {POLICY}",
                fix="Name the run folder of a training that has kept a checkpoint",
            )
    elif folder.holds_policy and not request.overwrite:
        raise UsageError(
            f"{folder.path} already holds a policy",
            fix="Choose another --out, go on with it (--resume), or add --overwrite",
        )
    elif folder.holds_policy or (folder / REQUEST).exists():
        folder.clear()


def _command(
    request: TrainRequest, limits: RunLimits | None, cores: Sequence[int], grace_s: float
) -> list[str]:
    """The runner, with what it enforces."""
    command = [sys.executable, "-I", "-S", str(Path(runner_module.__file__))]
    command += ["--folder", str(request.out), "--grace", str(grace_s)]
    memory_mb = request.definition.limits.memory_mb if limits is None else limits.memory_mb
    if memory_mb is not None:
        command += ["--memory-mb", str(memory_mb)]
    if limits is not None and limits.max_s is not None:
        command += ["--max-seconds", str(limits.max_s)]
    chosen = list(cores) or ([] if limits is None else _some_cores(limits.cpu_cores))
    return [*command, "--cores", ",".join(map(str, chosen))] if chosen else command


def _some_cores(count: int) -> list[int]:
    """That many of our cores; not always the same, for trainings that know nothing of each other."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    ours = sorted(os.sched_getaffinity(0))
    first = int.from_bytes(os.urandom(2), "little")
    return [ours[(first + k) % len(ours)] for k in range(min(count, len(ours)))]


def _environment(
    request: TrainRequest, limits: RunLimits | None, tag: str, *, tied: bool, gpus: Sequence[str]
) -> dict[str, str]:
    """The worker's environment; a training that is not tied to us does not bear our tag."""
    environment = worker_environment(request.definition, tag, gpus)
    if limits is not None:
        given = request.definition.launch.env
        environment.update({name: str(limits.cpu_cores) for name in _THREADS if name not in given})
    if tied:
        guard(environment)
    else:
        environment[TAG] = tag
    return environment


def _start(
    command: Sequence[str], environment: Mapping[str, str], log: Path, lock: int
) -> subprocess.Popen[bytes]:
    """Start the runner and wait until it says that the training runs.

    Raises:
        OSError: It cannot be started.
        WorkerLaunchError: It says why not, or nothing.
    """
    with log.open("ab") as printed:
        child = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=printed,
            pass_fds=(lock,),
            start_new_session=True,  # Ctrl-C in a terminal reaches us alone, and we pass it on once
        )
    assert child.stdout is not None
    with child.stdout as said:
        ready = select.select([said], [], [], _READY_S)[0]
        line = said.readline() if ready else b""
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError:
        child.kill()
        child.wait()
        raise WorkerLaunchError("the training could not be started: its runner said nothing") from None
    if "error" in answer:
        child.wait()
        raise WorkerLaunchError(f"the training could not be started: {answer['error']}")
    return child


def _handle(pid: int) -> int | None:
    """A descriptor of a process; ``None`` where it is over, or the system has no such descriptors."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
