"""One training process: start it, hear it, stop it with everything it started.

A training worker is a program: ``python -m ENTRY --algo A --env-id E --seed N --out DIR --json …``.
It writes one JSON object per line to standard output, the kind in ``event``: ``progress``
(the fields of :class:`TrainProgress`), ``done`` (``status``, ``step``, ``mean_return``,
``wall_s``, ``path``), ``error`` (``message``); other events and other lines are ignored. It
ends with status 0 (done), 2 (something to fix in the request), 130 (stopped), or any other
(failed). On SIGINT it keeps what it has and ends.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ulid import ULID

import mosaic_worker.launch
from gym_gui.core.errors import MosaicError, UsageError, WorkerLaunchError
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.workers.environment import worker_environment
from gym_gui.workers.tree import kill_tree
from gym_gui.workers.warden import guard

_log = logging.getLogger(__name__)

STOP_GRACE_S = 15.0
"""Time a training has to keep its policy once it is asked to stop."""


class TrainingFailedError(MosaicError):
    """A training went wrong while running; what it kept before stays."""


@dataclass(frozen=True)
class TrainProgress:
    """How far a training is.

    Attributes:
        step: Environment steps so far.
        total_steps: Steps in all.
        mean_return: Mean return of the last finished episodes, or ``None`` before the first.
        steps_per_s: Speed.
        elapsed_s: Seconds since it began.
        remaining_s: Estimated seconds until it ends.
    """

    step: int
    total_steps: int
    mean_return: float | None
    steps_per_s: float
    elapsed_s: float
    remaining_s: float

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> TrainProgress:
        """Read a ``progress`` event.

        Raises:
            KeyError: A field is missing.
        """
        return cls(**{name: event[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class TrainResult:
    """A training that is over, its policy kept.

    Attributes:
        out: Folder of the policy.
        status: ``completed``, or ``stopped`` by a person.
        step: Environment steps trained.
        mean_return: Mean return of the evaluation that follows a completed training.
        wall_s: Seconds it took.
    """

    out: Path
    status: str
    step: int
    mean_return: float | None
    wall_s: float


class TrainerProcess:
    """A running training. Its life is tied to the thread that started it.

    Args:
        request: What to train.
        grace_s: Time to stop when asked, before it is killed.

    Raises:
        WorkerLaunchError: It cannot be started.
    """

    def __init__(self, request: TrainRequest, *, grace_s: float = STOP_GRACE_S) -> None:
        self.request = request
        self._grace_s = grace_s
        self._tag = str(ULID())
        self._said: deque[str] = deque(maxlen=20)
        self._error = ""
        self._result: TrainResult | None = None
        self._deadline: threading.Timer | None = None
        environment = worker_environment(request.definition, self._tag)
        guard(environment)
        try:
            self._process = subprocess.Popen(
                self.command(),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                # Ctrl-C in a terminal reaches us alone, and we pass it on once.
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerLaunchError(f"the training could not be started: {error}") from error
        self._stderr = threading.Thread(target=self._read_stderr, daemon=True)
        self._stderr.start()

    def command(self) -> list[str]:
        """The command line; the first part ties the training's life to ours."""
        tie = [sys.executable, "-S", "-E", str(Path(mosaic_worker.launch.__file__)), str(os.getpid())]
        python = str(self.request.definition.launch.python or sys.executable)
        return [*tie, python, "-m", self.request.spec.entry, *self.request.arguments(), "--json"]

    @property
    def pid(self) -> int:
        """Process id of the training."""
        return self._process.pid

    def wait(self, on_progress: Callable[[TrainProgress], None]) -> TrainResult:
        """Pass progress on until the training is over.

        Raises:
            UsageError: The worker refuses the request; nothing was trained.
            TrainingFailedError: It went wrong.
        """
        for event in self._events():
            kind = event.get("event")
            try:
                if kind == "progress":
                    on_progress(TrainProgress.from_event(event))
                elif kind == "done":
                    self._result = self._read_result(event)
                elif kind == "error":
                    self._error = str(event["message"])
            except (KeyError, TypeError, ValueError) as error:
                raise TrainingFailedError(f"the training said something unusable: {event!r}") from error
        return self._outcome(self._process.wait())

    def stop(self) -> None:
        """Ask it to keep what it has and end; killed with its children when it takes too long."""
        if self._deadline is None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._deadline = threading.Timer(self._grace_s, kill_tree, [self._tag])
            self._deadline.daemon = True
            self._deadline.start()

    def close(self) -> None:
        """End it at once if it still runs, and everything it started."""
        if self._deadline is not None:
            self._deadline.cancel()
        if self._process.poll() is None:
            self._process.kill()
        kill_tree(self._tag)
        self._process.wait()
        self._stderr.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _events(self) -> Iterator[Mapping[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            if isinstance(event, dict):
                yield cast("dict[str, Any]", event)
            else:
                _log.info("training output: %s", line.rstrip())

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.rstrip()
            if text:
                self._said.append(text)
                _log.info("training output: %s", text)

    def _read_result(self, event: Mapping[str, Any]) -> TrainResult:
        mean = event["mean_return"]
        return TrainResult(
            out=Path(event["path"]),
            status=str(event["status"]),
            step=int(event["step"]),
            mean_return=None if mean is None else float(mean),
            wall_s=float(event["wall_s"]),
        )

    def _outcome(self, status: int) -> TrainResult:
        if self._result is not None and status in (0, 130):
            return self._result
        self._stderr.join()
        kept = f"What it kept before is in {self.request.out}" if self.request.out.is_dir() else ""
        if self._deadline is not None or status == 130:
            raise TrainingFailedError("the training was stopped before it could say what it kept", fix=kept)
        if status == 2:
            raise UsageError(self._error or self._last_words(status))
        reason = self._error or self._last_words(status)
        raise TrainingFailedError(f"the training in {self.request.env_id} failed: {reason}", fix=kept)

    def _last_words(self, status: int) -> str:
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"{how}: {self._said[-1]}" if self._said else how
