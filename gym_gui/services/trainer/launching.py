"""Starts a training: checks and locks its folder, builds the runner's command, and starts the runner."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_gui.core.errors import UsageError, WorkerLaunchError
from gym_gui.processes.reaper import guard
from gym_gui.processes.tree import TAG, tagged
from gym_gui.services.trainer import runner
from gym_gui.services.trainer.remote_training import read_remote_training
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.training_folder import LOCK, POLICY, REQUEST, RunFolder
from gym_gui.services.trainer.training_records import RunLimits
from gym_gui.workers.environment_variables import worker_environment
from mosaic_worker.learning.training_memory import MEMORY_MB
from mosaic_worker.plain_files import check_folder, open_file

_READY_S = 30.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def make_folder(folder: RunFolder) -> None:
    """Create a run folder and check that it can be written, before anything is started."""
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        check_folder(folder.path)
        with tempfile.TemporaryFile(dir=folder.path) as trial:
            trial.write(b" " * 4096)
    except OSError as error:
        problem = f"{folder.path} cannot be written: {error.strerror}"
        raise UsageError(problem, fix="Choose another --out, or free some space there") from error


@contextlib.contextmanager
def locked(folder: RunFolder) -> Generator[int]:
    """Hold the lock of a run folder. A process that inherits the descriptor holds the lock for its life.

    Raises:
        UsageError: A training is running in the folder, or is being started there.
    """
    path = folder / LOCK
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, path):
                break
        except BlockingIOError:
            os.close(lock)
            raise running_error(folder) from None
        os.close(lock)  # the lock file was deleted with the folder in the meantime
    try:
        yield lock
    finally:
        os.close(lock)


def _is_at(file: int, path: Path) -> bool:
    try:
        return path.stat().st_ino == os.fstat(file).st_ino
    except FileNotFoundError:
        return False


def running_error(folder: RunFolder, who: str = "") -> UsageError:
    return UsageError(
        f"a training is running in {folder.path}{who}",
        fix="Wait for its end, stop it, or choose another --out",
    )


def prepare(folder: RunFolder, request: TrainRequest) -> None:
    """Check that a run folder fits the request, and remove the files of an earlier training.

    Raises:
        UsageError: The folder has an unexpected policy or no policy to resume, or its training is on
            another machine.
    """
    where = None if request.overwrite else read_remote_training(folder.path)
    if where is not None:
        raise UsageError(
            f"the training in {folder.path} is on another machine ({where.place})",
            fix=f"Resume it there with {where.resume_command}, or start a new one here with --overwrite",
        )
    if request.resume:
        if not folder.holds_policy:
            raise UsageError(
                f"there is nothing to resume in {folder.path}: it contains no {POLICY}",
                fix="Name the run folder of a training that has a checkpoint",
            )
    elif folder.holds_policy and not request.overwrite:
        raise UsageError(
            f"{folder.path} already holds a policy",
            fix="Choose another --out, continue it (--resume), or add --overwrite",
        )
    elif folder.holds_policy or (folder / REQUEST).exists():
        folder.clear()


def runner_command(
    request: TrainRequest,
    limits: RunLimits | None,
    tag: str,
    *,
    tied: bool,
    cores: Sequence[int],
    grace_s: float,
) -> list[str]:
    """Return the command line of the runner with the limits and the worker's command."""
    command = [sys.executable, "-I", "-S", str(Path(runner.__file__))]
    command += ["--folder", str(request.out), "--tag", tag, "--grace", str(grace_s)]
    command += ["--tie", str(os.getpid())] if tied else []
    if limits is not None and limits.memory_mb is not None:
        command += ["--memory-mb", str(limits.memory_mb)]
    if limits is not None and limits.max_s is not None:
        command += ["--max-seconds", str(limits.max_s)]
    chosen = list(cores) or ([] if limits is None else _some_cores(limits.cpu_cores))
    command += ["--cores", ",".join(map(str, chosen))] if chosen else []
    python = str(request.definition.launch.python or sys.executable)
    return [*command, "--", python, "-m", request.spec.entry, *request.arguments()]


def _some_cores(count: int) -> list[int]:
    """Return ``count`` usable cores from a random position, so that trainings use different cores."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    ours = sorted(os.sched_getaffinity(0))
    first = int.from_bytes(os.urandom(2), "little")
    return [ours[(first + k) % len(ours)] for k in range(min(count, len(ours)))]


def training_environment(
    request: TrainRequest, limits: RunLimits | None, tag: str, *, tied: bool, gpus: Sequence[str]
) -> dict[str, str]:
    """Return the worker's environment. A training that is not tied does not get this program's tag."""
    environment = tagged(worker_environment(request.definition, gpus, env_id=request.env_id), tag)
    if limits is not None:
        given = request.definition.launch.env
        environment.update({name: str(limits.cpu_cores) for name in _THREADS if name not in given})
        if limits.memory_mb is not None:
            environment[MEMORY_MB] = str(limits.memory_mb)
    if tied:
        guard()
    else:
        environment[TAG] = tag
    return environment


def start_runner(
    command: Sequence[str], environment: Mapping[str, str], log: Path, lock: int
) -> subprocess.Popen[bytes]:
    """Start the runner and wait until it reports that the training runs.

    Raises:
        OSError: The runner cannot be started.
        WorkerLaunchError: The runner reports an error or nothing.
    """
    with open_file(log, "ab") as printed:
        child = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=printed,
            pass_fds=(lock,),
            start_new_session=True,  # Ctrl-C in a terminal reaches only this process, which passes it on once
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
        raise WorkerLaunchError("the training could not be started: its runner reported nothing") from None
    if "error" in answer:
        child.wait()
        raise WorkerLaunchError(f"the training could not be started: {answer['error']}")
    return child
