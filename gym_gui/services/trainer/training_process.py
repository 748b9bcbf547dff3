"""A training as a process: launches, finds, commands and kills it, and reads its outcome.

The worker is not a child of this program but of a runner (:mod:`gym_gui.services.trainer.runner`). The runner
enforces the limits and outlives this program, unless it is tied to it. Both sides exchange everything through
the run folder. So a training that another program has started is handled in the same way.
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

import mosaic_worker.training
from gym_gui.core.clock import new_ulid
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
"""Seconds that a training has to save its policy after a stop request."""

_KILL_S = 5.0
_LOOK_S = 0.2


class TrainingFailedError(MosaicError):
    """Error for a training that failed while it ran. What it saved before is kept."""


class TrainingProcess:
    """A training that this or another process has started. Create it with :meth:`launch` or :meth:`attach`.

    Attributes:
        folder: The run folder.
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
        """Start a training, and block until it runs, for about 50 ms.

        Args:
            request: The training to run.
            limits: Resources that it may use; ``None`` for no limits.
            tied: Whether it ends with this program. If not, it outlives the program.
            cores: Numbers of the cores to use; by default as many as in ``limits``, chosen at random.
            gpus: Devices that the training may see.
            grace_s: Seconds from a stop request to the kill.

        Raises:
            UsageError: The folder cannot be written, contains a policy already, contains nothing to
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
                tag = f"training-{new_ulid()}"
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
        """Return the training of a run folder, whether it still runs or not.

        Raises:
            UsageError: No training was ever started in the folder.
        """
        folder = RunFolder(path)
        runner = folder.read(RUNNER)
        if runner is None:
            raise UsageError(
                f"no training was ever started in {path}", fix="Name the run folder of a training"
            )
        if not all(isinstance(runner.get(name), kind) for name, kind in _RUNNER_KEYS.items()):
            raise RunFormatError(str(folder / RUNNER), "does not name the process that watches the training")
        return cls(folder, runner)

    @property
    def pid(self) -> int:
        """Process id of the worker. After the worker's end, another process may have this id."""
        return int(self._runner["worker"]["pid"])

    @property
    def tag(self) -> str:
        """Tag of all processes of the training (:mod:`gym_gui.processes.tree`)."""
        return str(self._runner["tag"])

    @property
    def started_at(self) -> float:
        """Unix time of the start."""
        return float(self._runner["started_at"])

    @property
    def alive(self) -> bool:
        """Whether the runner is still running. The outcome is known after the runner's end."""
        if self._child is not None and self._child.poll() is not None:
            return False
        return birth(int(self._runner["pid"])) == self._runner["born"]

    @property
    def suspended(self) -> bool:
        """Whether the worker is stopped by a signal, so that it reads no commands."""
        worker = self._runner["worker"]
        return birth(int(worker["pid"])) == worker["born"] and suspended(int(worker["pid"]))

    def events(self) -> Follower:
        """Return a follower of the training's events from its start."""
        return self.folder.follow(EVENTS, int(self._runner.get("events_at", 0)))

    def ask(self, command: str) -> None:
        """Send ``pause``, ``resume``, ``checkpoint`` or ``stop``. The training answers with an event.

        The runner kills a training that does not stop in time.

        Raises:
            UsageError: The training is over.
            MosaicError: The command cannot be written.
        """
        if not self.alive:
            raise UsageError(f"the training in {self.folder.path} is over")
        try:
            mosaic_worker.training.ask(self.folder.path, command)
        except OSError as error:
            if command != "stop":
                raise MosaicError(f"the training did not receive {command}: {error.strerror}") from error
            self._signal(signal.SIGTERM)  # the disk may be full; the runner stops the training

    def kill(self) -> None:
        """Kill the training and all its processes. What it saved before is kept. Blocks for up to 5 s."""
        self._signal(signal.SIGUSR1)
        if not self.wait(_KILL_S):
            kill_tree(self.tag)
            self.wait(_KILL_S)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the training is over, and return whether it is."""
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
        """Return the outcome of the training, even if no program watched it; ``None`` while it runs.

        Processes that a killed runner has left behind are ended first.
        """
        if self._outcome is None and not self.alive:
            if self._child is not None:
                self._child.wait()
            kill_tree(self.tag)
            self._outcome = read_outcome(self.folder, self._runner)
        return self._outcome

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the runner, but never to a later process with the same number."""
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
    """Return a descriptor of a process, or ``None`` if it has ended or the system has no pidfd."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
