"""One training as a process: started, found again, asked, killed, and how it ended.

The worker is not a child of this program but of a runner (:mod:`gym_gui.services.trainer.runner`),
which keeps it to its limits and outlives this program unless it is tied to it. Everything that both
sides know of each other is in the run folder. So a training that another program has started is handled
like one that this program has started.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ulid import ULID

import mosaic_worker.training
from gym_gui.core.errors import MosaicError, RunFormatError, UsageError, WorkerLaunchError
from gym_gui.processes.identity import birth, suspended
from gym_gui.processes.tree import kill_tree
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.launching import (
    locked,
    make_folder,
    prepare,
    runner_command,
    running_error,
    start_runner,
    training_environment,
)
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.training_folder import (
    EVENTS,
    EXIT,
    LOG,
    REQUEST,
    RUNNER,
    RunFolder,
)
from gym_gui.services.trainer.training_outcome import TrainingOutcome, read_outcome
from gym_gui.services.trainer.training_records import RunLimits

STOP_GRACE_S = 30.0
"""Time a training has to keep its policy once it is asked to stop."""

_KILL_S = 5.0
_LOOK_S = 0.2


class TrainingFailedError(MosaicError):
    """A training went wrong while running; what it kept before stays."""


class TrainingProcess:
    """A training that this or another process has started; made by :meth:`launch` or :meth:`attach`.

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
            limits: What it may use; ``None``: whatever there is.
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
        new = not folder.path.exists()
        make_folder(folder)
        try:
            with locked(folder) as lock:
                cls._refuse_running(folder)
                prepare(folder, request)
                tag = f"training-{ULID()}"
                command = runner_command(request, limits, tag, tied=tied, cores=cores, grace_s=grace_s)
                environment = training_environment(request, limits, tag, tied=tied, gpus=gpus)
                folder.write(REQUEST, request.row(limits))
                (folder / EXIT).unlink(missing_ok=True)
                (folder / RUNNER).unlink(missing_ok=True)
                child = start_runner(command, environment, folder / LOG, lock)
                runner = folder.read(RUNNER)
                if runner is None:
                    raise WorkerLaunchError(f"the training could not be started: {folder.last_log_line()}")
        except BaseException as error:
            if new:
                folder.discard()
            if isinstance(error, OSError):
                raise WorkerLaunchError(f"the training could not be started: {error}") from error
            raise
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
        """What every process of it bears (:mod:`gym_gui.processes.tree`)."""
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
        """Whether a signal has halted it: then it does nothing, and hears no command."""
        worker = self._runner["worker"]
        return birth(int(worker["pid"])) == worker["born"] and suspended(int(worker["pid"]))

    def events(self) -> Follower:
        """What it says, from its start."""
        return self.folder.follow(EVENTS, int(self._runner.get("events_at", 0)))

    def ask(self, command: str) -> None:
        """Tell it to ``pause``, ``resume``, ``checkpoint`` or ``stop``; it answers with an event.

        One that does not stop in time is killed, by its runner.

        Raises:
            UsageError: It is over.
            MosaicError: The command cannot be written down.
        """
        if not self.alive:
            raise UsageError(f"the training in {self.folder.path} is over")
        try:
            mosaic_worker.training.ask(self.folder.path, command)
        except OSError as error:
            if command != "stop":
                raise MosaicError(f"the training did not receive {command}: {error.strerror}") from error
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
        """How it ended, also where no program watched its end; ``None`` while it runs.

        What a killed runner has left behind is ended first.
        """
        if self._outcome is None and not self.alive:
            if self._child is not None:
                self._child.wait()
            kill_tree(self.tag)
            self._outcome = read_outcome(self.folder, self._runner)
        return self._outcome

    def _signal(self, number: signal.Signals) -> None:
        """Signal the runner, and no later process that has its number."""
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
                raise running_error(folder, f" (process {before.pid})")


_RUNNER_KEYS: dict[str, Any] = {
    "pid": int,
    "born": str,
    "worker": dict,
    "tag": str,
    "started_at": (int, float),
}


def _handle(pid: int) -> int | None:
    """A descriptor of a process; ``None`` where it is over, or the system has no such descriptors."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
