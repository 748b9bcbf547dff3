"""What a training says while it runs: one JSON object or one plain line at a time."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Any, TextIO

from cleanrl_worker.config import PPOConfig


@dataclass
class Stop:
    """Whether the training shall end after the update it is in."""

    requested: bool = False


class Progress:
    """Writes events, each flushed at once.

    Events by name, with their fields besides ``event``:
    ``start`` (algorithm, env_id, seed, total_steps, out), ``progress`` (step, total_steps,
    mean_return or null, steps_per_s, elapsed_s, remaining_s), ``checkpoint`` (step, path),
    ``done`` (status ``completed`` or ``stopped``, step, mean_return or null, wall_s, path),
    ``error`` (kind ``usage`` or ``failed``, message).

    Args:
        as_json: JSON objects for programs instead of lines for people.
        stream: Where to; standard output by default.

    Attributes:
        lost: The reader went away; nothing is written any more.
        every_s: Seconds between two ``progress`` events.
    """

    def __init__(self, as_json: bool, stream: TextIO | None = None) -> None:
        self._as_json = as_json
        self._stream = sys.stdout if stream is None else stream
        self.lost = False
        self.every_s = 0.5 if as_json else 5.0

    def start(self, algorithm: str, config: PPOConfig, out: str) -> None:
        """A training begins."""
        fields = {"env_id": config.env_id, "seed": config.seed, "total_steps": config.total_steps}
        text = (
            f"training {algorithm} in {config.env_id}, seed {config.seed}, {config.total_steps} steps → {out}"
        )
        self._say("start", text, algorithm=algorithm, out=out, **fields)

    def progress(self, step: int, total: int, mean_return: float | None, elapsed: float) -> None:
        """An update is done; ``elapsed`` in seconds."""
        rate = step / max(elapsed, 1e-9)
        remaining = (total - step) / rate
        shown = "—" if mean_return is None else f"{mean_return:.1f}"
        self._say(
            "progress",
            f"{step:>9}/{total} steps  return {shown:>7}  {rate:6.0f} steps/s  {remaining:4.0f} s left",
            step=step,
            total_steps=total,
            mean_return=mean_return,
            steps_per_s=round(rate, 1),
            elapsed_s=round(elapsed, 2),
            remaining_s=round(remaining, 2),
        )

    def checkpoint(self, step: int, path: str) -> None:
        """A checkpoint is on disk."""
        self._say("checkpoint", "", step=step, path=path)

    def done(self, status: str, step: int, mean_return: float | None, wall_s: float, path: str) -> None:
        """The training is over and its policy kept."""
        shown = "" if mean_return is None else f", mean return {mean_return:.1f} over the evaluation seeds"
        self._say(
            "done",
            f"{status} after {step} steps in {wall_s:.0f} s{shown}: {path}",
            status=status,
            step=step,
            mean_return=mean_return,
            wall_s=round(wall_s, 2),
            path=path,
        )

    def error(self, kind: str, message: str) -> None:
        """The training cannot begin or go on; for people on standard error."""
        if self._as_json:
            self._say("error", "", kind=kind, message=message)
        else:
            print(f"error: {message}", file=sys.stderr, flush=True)

    def _say(self, event: str, text: str, **fields: Any) -> None:
        line = json.dumps({"event": event, **fields}) if self._as_json else text
        if self.lost or not line:
            return
        try:
            print(line, file=self._stream, flush=True)
        except BrokenPipeError:
            self.lost = True
            # What Python still holds for the reader goes nowhere, or it complains at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
