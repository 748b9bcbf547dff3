"""A training's side of its run folder: what it reports there, and the requests it finds there.

A training opens no connection to another program while it trains. It appends to files, and readers
(the trainer daemon, a terminal, a person with ``tail -f``) follow them; a reader that is slow, or
gone, does not slow it. Requests reach it the same way, through a file that it reads.

One JSON object per line:

========================  ==================================================================
``events.jsonl``          ``{"event": NAME, "t": UNIX_SECONDS, …}``, see :class:`TrainingRun`
``metrics.jsonl``         ``{"step": N, "t": UNIX_SECONDS, "m": {NAME: NUMBER OR NULL}}``
``episodes.jsonl``        ``{"step": N, "t": UNIX_SECONDS, "return": R, "length": L}``
``control.jsonl``         ``{"do": "pause" | "resume" | "checkpoint" | "stop"}``, written by others
========================  ==================================================================

The policy itself is in the same folder (``policy.json`` and its weights), what a
continuation needs beyond it in ``state/``, the TensorBoard log in ``tensorboard/``, pictures of
the policy at play in ``videos/``.
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
    Lines,
    Wishes,
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
    """Reports of one training, and the commands it is given.

    Events by name, with their fields besides ``event`` and ``t``:
    ``start`` (algorithm, env_id, seed, total_steps, step, pid), ``progress`` (step, total_steps,
    mean_return or null, episodes, steps_per_s, elapsed_s, remaining_s; paused time is in none of
    them), ``checkpoint`` (step), ``video`` (step, file), ``paused`` and ``resumed`` (step),
    ``warning`` (message), ``done`` (status ``completed`` or ``stopped``, step, mean_return of the
    evaluation or null, wall_s), ``error`` (kind ``usage`` or ``failed``, message).

    Use it from one thread. Nothing is lost: what a method was told is on disk after
    :meth:`flush`, after at most 0.25 s of calls to :meth:`advance`, and after the end.

    Args:
        folder: The run folder; it exists.
        spoken: Where a person reads along; ``None`` for nowhere.
        checkpoint_every_s: Seconds of training between two checkpoints.
        clock: Seconds, never backwards.

    Attributes:
        folder: The run folder.
        stop_requested: The training shall keep what it has and end.
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
        self._control = Wishes(folder / CONTROL)
        self._paused = self._save_wanted = False
        self._save_every_s, self._saved = checkpoint_every_s, clock()
        self._returns: Deque[float] = deque(maxlen=_RECENT)
        self._count = 0
        self._total = 0
        self._step = 0
        self._began = self._flushed = clock()
        self._paused_s = 0.0
        self._told = self._spoke = -math.inf
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
        """The training begins, or goes on from ``step``, before which ``episodes`` were finished.

        Args:
            algorithm: Its name.
            env_id: Where it learns.
            seed: Of everything.
            total_steps: Steps after which it ends.
            step: Steps that it has had.
            episodes: Episodes that were finished in them; by default they are counted in the run folder.
            asked: Steps that were asked for, where whole rollouts make more of them; 0: as many.
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
        how = "Training" if not step else f"Going on from step {step:,} with"
        more = f" ({asked:,} asked for, in whole rollouts)" if asked not in (0, total_steps) else ""
        steps = f"{total_steps:,} steps{more}"
        self._print(f"{how} {algorithm} in {env_id}, seed {seed}, {steps} → {self.folder}")

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers at a step, by TensorBoard name; one that is not finite is written as null."""
        clean = {name: _finite(value) for name, value in values.items()}
        self._metrics.add({"step": int(step), "t": _now(), "m": clean})

    def episode(
        self, step: int, total: float, length: int, agents: Optional[Mapping[str, float]] = None
    ) -> None:
        """An episode of the training has ended.

        Args:
            step: Environment steps of the training so far.
            total: Its undiscounted return; of several agents together.
            length: Its steps.
            agents: Undiscounted return of each agent, where there are several.
        """
        self._returns.append(float(total))
        self._count += 1
        row: Dict[str, Any] = {"step": int(step), "t": _now(), "return": _finite(total)}
        row["length"] = int(length)
        if agents is not None:
            row["agents"] = {agent: _finite(each) for agent, each in agents.items()}
        self._episodes.add(row)

    def checkpointed(self, step: int) -> None:
        """A checkpoint is whole on disk."""
        self.event("checkpoint", step=int(step))

    def filmed(self, step: int, file: Path) -> None:
        """A picture or video of the policy as it is now is on disk."""
        self.event("video", step=int(step), file=str(file.relative_to(self.folder)))

    def warn(self, message: str) -> None:
        """Something a person should know; the training goes on."""
        self.event("warning", message=message)
        self._print(f"warning: {message}")

    def done(self, status: str, step: int, mean_return: Optional[float]) -> None:
        """The training is over and its policy kept.

        Args:
            status: ``completed`` or ``stopped``.
            step: Environment steps in all.
            mean_return: Of its evaluation, where there was one.
        """
        self._step = int(step)
        self._tell_progress()
        wall_s = round(self._elapsed(), 2)
        mean = None if mean_return is None else _finite(mean_return)
        self.event("done", status=status, step=int(step), mean_return=mean, wall_s=wall_s)
        shown = "" if mean is None else f", mean return {mean:.1f} over the evaluation seeds"
        self._print(f"{status} after {step:,} steps in {wall_s:.0f} s{shown}: {self.folder}")

    def fail(self, kind: str, message: str) -> None:
        """It cannot begin (``usage``) or go on (``failed``); one sentence for people."""
        with suppress(OSError):  # the error may be that the disk is full
            self.event("error", kind=kind, message=message)
        if self._spoken is not None:
            with suppress(OSError):
                print(f"error: {message}", file=sys.stderr, flush=True)

    def event(self, name: str, **fields: Any) -> None:
        """Any event; it is on disk when this returns, and so is what was reported before."""
        self._events.add({"event": name, "t": _now(), **fields})
        self.flush()

    # -- the loop ------------------------------------------------------------------------

    def advance(self, step: int, save: Callable[[], None]) -> None:
        """Call this after every update: it reports how far the training is and hears commands.

        While the training is paused it does not return.

        Args:
            step: Environment steps so far.
            save: Keeps policy and state on disk; called when a checkpoint is due or asked for.
        """
        self._step = int(step)
        now = self._clock()
        if now - self._told >= _PROGRESS_S:
            self._tell_progress()
        elif now - self._flushed >= _FLUSH_S or self._metrics.size + self._episodes.size > _FLUSH_BYTES:
            self.flush()
        self._hear()
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
        """Within, the first SIGINT or SIGTERM asks the training to stop, the next one ends the program."""
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
        """Hand everything that was reported to the operating system.

        Raises:
            OSError: The disk is full, or the folder is gone. What was not written is kept for
                the next attempt.
        """
        self._flushed = self._clock()
        problem: Optional[OSError] = None
        for lines in (self._metrics, self._episodes, self._events):
            try:
                lines.flush()
            except OSError as error:  # the others are shorter and may still fit
                problem = problem or error
        if problem is not None:
            raise problem

    def close(self) -> None:
        """Write what is left and let go of the files; what the disk does not take is given up."""
        with suppress(OSError):
            self.flush()
        for lines in (self._metrics, self._episodes, self._events):
            lines.close()

    # -- inside --------------------------------------------------------------------------

    def _hear(self) -> None:
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
            self._hear()
            if self._save_wanted:
                self._save(save)
        self._paused = False
        self._paused_s += self._clock() - began
        self._saved += self._clock() - began
        self._marks.clear()
        self.event("resumed", step=self._step)

    def _elapsed(self) -> float:
        return self._clock() - self._began - self._paused_s

    def _tell_progress(self) -> None:
        now, step = self._clock(), self._step
        self._told = now
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
        if now - self._spoke >= _SPOKEN_S:
            self._spoke = now
            shown = "—" if mean is None else f"{mean:.1f}"
            rest = "" if left is None else f"  {left:4.0f} s left"
            self._print(f"{step:>9,}/{self._total:,} steps  return {shown:>7}  {rate:6.0f} steps/s{rest}")

    def _print(self, text: str) -> None:
        if self._spoken is None:
            return
        try:
            print(text, file=self._spoken, flush=True)
        except OSError as error:
            # The reader of the output is gone, and the training has no audience left; on a full disk,
            # the text is no loss.
            self.stop_requested = self.stop_requested or isinstance(error, BrokenPipeError)
            self._spoken = None
            _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    """What Python still holds for a stream goes nowhere, or it would complain at exit."""
    with suppress(OSError, ValueError):  # a stream without a descriptor holds nothing
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _finite(value: float) -> Optional[float]:
    number = float(value)
    return number if math.isfinite(number) else None


def _now() -> float:
    return round(time.time(), 3)
