"""Writes the reports of a training to its run folder and reads the requests to it from there.

A training opens no connection to another program. It appends to files, and readers (the trainer daemon, a
terminal, ``tail -f``) follow the files. A slow or missing reader does not slow the training. Requests also
reach the training through a file.

Each file has one JSON object per line:

========================  ==================================================================
``events.jsonl``          ``{"event": NAME, "t": UNIX_SECONDS, …}``, see :class:`TrainingRun`
``metrics.jsonl``         ``{"step": N, "t": UNIX_SECONDS, "m": {NAME: NUMBER OR NULL}}``
``episodes.jsonl``        ``{"step": N, "t": UNIX_SECONDS, "return": R, "length": L}``
``control.jsonl``         ``{"do": "pause" | "resume" | "checkpoint" | "stop"}``, written by others
========================  ==================================================================

The same folder holds the policy itself (``policy.json`` and its weights). Subfolders hold the other data
for a continuation (``state/``), the TensorBoard log (``tensorboard/``), and pictures or videos of the
policy at play (``videos/``).
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections import deque
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Callable, Deque, Dict, Generator, Mapping, Optional, TextIO

from mosaic_worker.learning.training_files import (
    CALLS,
    CONTROL,
    CONTROL_AT,
    EPISODES,
    EVENTS,
    LEAGUE,
    METRICS,
    PAST,
    STATE,
    TENSORBOARD,
    VIDEOS,
    ControlFileReader,
    Lines,
    ask,
    finished_before,
)

__all__ = [
    "CALLS",
    "CONTROL",
    "CONTROL_AT",
    "EPISODES",
    "EVENTS",
    "LEAGUE",
    "METRICS",
    "PAST",
    "STATE",
    "TENSORBOARD",
    "VIDEOS",
    "TrainingRun",
    "ask",
]

_FLUSH_S = 0.25
_FLUSH_BYTES = 1 << 16
_PROGRESS_S = 0.5
_SPOKEN_S = 5.0
_PAUSE_LOOK_S = 0.05
_WINDOW_S = 10.0
_RECENT = 100


class TrainingRun:
    """Writes the reports of one training and reads the requests to it.

    Events by name, with their fields besides ``event`` and ``t``:
    ``start`` (algorithm, env_id, seed, total_steps, step, pid), ``progress`` (step, total_steps,
    mean_return or null, episodes, steps_per_s, elapsed_s, remaining_s; paused time is in none of
    them), ``checkpoint`` (step), ``video`` (step, file), ``paused`` and ``resumed`` (step),
    ``warning`` (message), ``done`` (status ``completed`` or ``stopped``, step, mean_return of the
    evaluation or null, wall_s), ``error`` (kind ``usage`` or ``failed``, message).

    Use an instance from one thread. No report is lost: each one is on disk after :meth:`flush`,
    after at most 0.25 s of calls to :meth:`advance`, and after :meth:`close`.

    Args:
        folder: The run folder; it must exist.
        spoken: Stream for progress messages to the user; ``None`` for no messages.
        checkpoint_every_s: Seconds of training between two checkpoints.
        clock: Function that returns the time in seconds and never runs backwards.

    Attributes:
        folder: The run folder.
        stop_requested: Whether the training must save its policy and end.
    """

    def __init__(
        self,
        folder: Path,
        spoken: Optional[TextIO] = None,
        checkpoint_every_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self.stop_requested = False
        self._spoken = spoken
        self._clock = clock
        self._events = Lines(folder / EVENTS)
        self._metrics = Lines(folder / METRICS)
        self._episodes = Lines(folder / EPISODES)
        self._control = ControlFileReader(folder / CONTROL)
        self._paused = self._save_wanted = False
        self._save_every_s, self._saved = checkpoint_every_s, clock()
        self._returns: Deque[float] = deque(maxlen=_RECENT)
        self._count = 0
        self._total = 0
        self._step = 0
        self._began = self._flushed = clock()
        self._paused_s = 0.0
        self._progress_at = self._printed_at = -math.inf
        self._marks: Deque[Any] = deque()

    # -- what happens --------------------------------------------------------------------

    def start(
        self,
        algorithm: str,
        env_id: str,
        seed: int,
        total_steps: int,
        step: int = 0,
        episodes: Optional[int] = None,
        *,
        asked: int = 0,
    ) -> None:
        """Report that the training begins, or that it continues from ``step``.

        Args:
            algorithm: Name of the algorithm.
            env_id: Id of the environment.
            seed: Seed of the training.
            total_steps: Steps after which the training ends.
            step: Steps that were done before; 0 for a new training.
            episodes: Episodes finished before ``step``; by default they are counted in the run folder.
            asked: Steps that the user requested, if rounding up to whole rollouts gives a different
                ``total_steps``; 0 if they are the same.
        """
        if episodes is None:
            episodes = finished_before(self.folder / EPISODES, step) if step else 0
        self._total, self._step, self._count = total_steps, step, episodes
        self._began, self._paused_s = self._clock(), 0.0
        self._saved = self._began
        self._marks.append((self._began, step))
        self.event(
            "start",
            algorithm=algorithm,
            env_id=env_id,
            seed=seed,
            total_steps=total_steps,
            step=step,
            pid=os.getpid(),
        )
        how = "Training" if not step else f"Continuing from step {step:,} with"
        more = (
            f" ({asked:,} requested, rounded up to whole rollouts)" if asked not in (0, total_steps) else ""
        )
        steps = f"{total_steps:,} steps{more}"
        self._print(f"{how} {algorithm} in {env_id}, seed {seed}, {steps} → {self.folder}")

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Report numbers at a step, by TensorBoard name; a number that is not finite is written as null."""
        clean = {name: _finite(value) for name, value in values.items()}
        self._metrics.add({"step": int(step), "t": _now(), "m": clean})

    def episode(
        self, step: int, total: float, length: int, agents: Optional[Mapping[str, float]] = None
    ) -> None:
        """Report that an episode of the training has ended.

        Args:
            step: Environment steps of the training so far.
            total: Undiscounted return of the episode; the sum over all agents if there are several.
            length: Steps of the episode.
            agents: Undiscounted return of each agent, if there are several.
        """
        self._returns.append(float(total))
        self._count += 1
        row: Dict[str, Any] = {"step": int(step), "t": _now(), "return": _finite(total)}
        row["length"] = int(length)
        if agents is not None:
            row["agents"] = {agent: _finite(each) for agent, each in agents.items()}
        self._episodes.add(row)

    def checkpointed(self, step: int) -> None:
        """Report that a complete checkpoint is on disk."""
        self.event("checkpoint", step=int(step))

    def filmed(self, step: int, file: Path) -> None:
        """Report that a picture or video of the current policy is on disk."""
        self.event("video", step=int(step), file=str(file.relative_to(self.folder)))

    def warn(self, message: str) -> None:
        """Report a warning for the user; the training goes on."""
        self.event("warning", message=message)
        self._print(f"warning: {message}")

    def done(self, status: str, step: int, mean_return: Optional[float]) -> None:
        """Report that the training is over and its policy saved.

        Args:
            status: ``completed`` or ``stopped``.
            step: Total environment steps.
            mean_return: Mean return of the evaluation; ``None`` if there was none.
        """
        self._step = int(step)
        self._report_progress()
        wall_s = round(self._elapsed(), 2)
        mean = None if mean_return is None else _finite(mean_return)
        self.event("done", status=status, step=int(step), mean_return=mean, wall_s=wall_s)
        shown = "" if mean is None else f", mean return {mean:.1f} over the evaluation seeds"
        self._print(f"{status} after {step:,} steps in {wall_s:.0f} s{shown}: {self.folder}")

    def fail(self, kind: str, message: str) -> None:
        """Report that the training cannot begin (``usage``) or go on (``failed``).

        Args:
            kind: ``usage`` or ``failed``.
            message: The reason, as one sentence for the user.
        """
        with suppress(OSError):  # the disk may be full, which may be the error itself
            self.event("error", kind=kind, message=message)
        if self._spoken is not None:
            with suppress(OSError):
                print(f"error: {message}", file=sys.stderr, flush=True)

    def event(self, name: str, **fields: Any) -> None:
        """Report an event. When this returns, the event and all earlier reports are on disk."""
        self._events.add({"event": name, "t": _now(), **fields})
        self.flush()

    # -- the loop ------------------------------------------------------------------------

    def advance(self, step: int, save: Callable[[], None]) -> None:
        """Report progress and handle requests; call this after every update.

        This does not return while the training is paused.

        Args:
            step: Environment steps so far.
            save: Saves policy and state to disk; called when a checkpoint is due or requested.
        """
        self._step = int(step)
        now = self._clock()
        if now - self._progress_at >= _PROGRESS_S:
            self._report_progress()
        elif now - self._flushed >= _FLUSH_S or self._metrics.size + self._episodes.size > _FLUSH_BYTES:
            self.flush()
        self._handle_requests()
        if self._save_wanted or now - self._saved >= self._save_every_s:
            self._save(save)
        if self._paused:
            self._pause(save)

    @property
    def recent_return(self) -> Optional[float]:
        """Mean return of the last (at most 100) episodes; ``None`` before the first."""
        return sum(self._returns) / len(self._returns) if self._returns else None

    @contextmanager
    def stop_on_signals(self) -> Generator[None, None, None]:
        """Handle signals: the first SIGINT or SIGTERM requests a stop, the next one has its usual effect.

        The earlier signal handlers are restored after the ``with`` block.
        """
        names = (signal.SIGINT, signal.SIGTERM)
        before = {name: signal.getsignal(name) for name in names}

        def ask(*_: Any) -> None:
            self.stop_requested = True
            for name, handler in before.items():
                signal.signal(name, handler)

        for name in names:
            signal.signal(name, ask)
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def flush(self) -> None:
        """Write all reports to their files.

        Raises:
            OSError: The disk is full, or the folder no longer exists. Reports that were not written
                are kept for the next attempt.
        """
        self._flushed = self._clock()
        problem: Optional[OSError] = None
        for lines in (self._metrics, self._episodes, self._events):
            try:
                lines.flush()
            except OSError as error:  # the other files have less data, which may still fit on the disk
                problem = problem or error
        if problem is not None:
            raise problem

    def close(self) -> None:
        """Write the remaining reports and close the files; reports that cannot be written are lost."""
        with suppress(OSError):
            self.flush()
        for lines in (self._metrics, self._episodes, self._events):
            lines.close()

    # -- inside --------------------------------------------------------------------------

    def _handle_requests(self) -> None:
        for command in self._control.new():
            if command == "stop":
                self.stop_requested = True
            elif command == "checkpoint":
                self._save_wanted = True
            elif command in ("pause", "resume"):
                self._paused = command == "pause"
        self._paused = self._paused and not self.stop_requested

    def _save(self, save: Callable[[], None]) -> None:
        save()
        self._save_wanted, self._saved = False, self._clock()
        self.checkpointed(self._step)

    def _pause(self, save: Callable[[], None]) -> None:
        began = self._clock()
        self.event("paused", step=self._step)
        self._print(f"paused at step {self._step:,}")
        while self._paused and not self.stop_requested:
            time.sleep(_PAUSE_LOOK_S)
            self._handle_requests()
            if self._save_wanted:
                self._save(save)
        self._paused = False
        self._paused_s += self._clock() - began
        self._saved += self._clock() - began
        self._marks.clear()
        self.event("resumed", step=self._step)

    def _elapsed(self) -> float:
        return self._clock() - self._began - self._paused_s

    def _report_progress(self) -> None:
        now, step = self._clock(), self._step
        self._progress_at = now
        self._marks.append((now, step))
        while len(self._marks) > 2 and now - self._marks[0][0] > _WINDOW_S:
            self._marks.popleft()
        then, before = self._marks[0]
        rate = (step - before) / (now - then) if now > then else 0.0
        elapsed = self._elapsed()
        left = (self._total - step) / rate if rate > 0 else None
        mean = self.recent_return
        self.event(
            "progress",
            step=step,
            total_steps=self._total,
            mean_return=None if mean is None else _finite(mean),
            episodes=self._count,
            steps_per_s=round(rate, 1),
            elapsed_s=round(elapsed, 2),
            remaining_s=None if left is None else round(left, 2),
        )
        if now - self._printed_at >= _SPOKEN_S:
            self._printed_at = now
            shown = "—" if mean is None else f"{mean:.1f}"
            rest = "" if left is None else f"  {left:4.0f} s left"
            self._print(f"{step:>9,}/{self._total:,} steps  return {shown:>7}  {rate:6.0f} steps/s{rest}")

    def _print(self, text: str) -> None:
        if self._spoken is None:
            return
        try:
            print(text, file=self._spoken, flush=True)
        except OSError as error:
            # The reader of the output has ended, so no message reaches it; on a full disk, the text is no
            # loss.
            self.stop_requested = self.stop_requested or isinstance(error, BrokenPipeError)
            self._spoken = None
            _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that Python can flush it without an error at exit."""
    with suppress(OSError, ValueError):  # a stream without a descriptor has no buffer to flush
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _finite(value: float) -> Optional[float]:
    number = float(value)
    return number if math.isfinite(number) else None


def _now() -> float:
    return round(time.time(), 3)
