"""Runs one training in the foreground and prints its progress and result."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gym_gui.analysis.words import wording
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import write_line
from gym_gui.cli.progress import train_progress
from gym_gui.services.policies.policy_parts import joint_slots
from gym_gui.services.policy_files import read_policy_file
from gym_gui.services.trainer import TrainRequest, TrainResult, carry_out
from gym_gui.workers.definition import WorkerTypeDefinition


def trained(request: TrainRequest, *, as_json: bool, note: str = "") -> TrainResult:
    """Run a training in the foreground, show its progress, and return its result.

    Args:
        request: The training.
        as_json: Whether to write progress as JSON lines.
        note: Text after the title that distinguishes this training from others.
    """
    with (
        _sigterm_as_ctrl_c(),
        train_progress(f"{request.algo} in {request.env_id}{note}", as_json=as_json) as show,
    ):
        return carry_out(
            request,
            on_progress=show,
            on_warning=_warn_json if as_json else _warn,
            on_stopping=_print_nothing if as_json else _print_stopping,
        )


def _warn(text: str) -> None:
    print_message(f"warning: {text}")


def _warn_json(text: str) -> None:
    sys.stderr.write(json.dumps({"event": "warning", "message": text}) + "\n")


def _print_stopping() -> None:
    print_message("stopping: the policy is saved; to end at once, press Ctrl-C again")


def _print_nothing() -> None:
    """Print nothing when a training stops, because the JSON result has its status."""


@contextmanager
def _sigterm_as_ctrl_c() -> Generator[None]:
    """Treat SIGTERM as Ctrl-C inside the ``with`` block, so that the policy is kept."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def shown(path: Path) -> str:
    """Return a path as text, relative to the working directory if it is inside."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def in_words(result: TrainResult) -> str:
    """Return the steps and duration of a training and the mean return of its policy, as text."""
    text = f"{result.step:,} steps" + (f" in {result.wall_s:.0f} s" if result.wall_s else "")
    if result.mean_return is None:
        return text
    return f"{text}, mean return {wording.number(result.mean_return)} in its evaluation"


def slot_of(result: TrainResult, definition: WorkerTypeDefinition) -> dict[str, Any]:
    """Return an experiment file's slot (``type``, ``worker_id``, ``checkpoint``) that plays the policy."""
    return {
        "type": definition.kind.value,
        "worker_id": definition.type_id,
        "checkpoint": shown(result.out),
    }


def print_result(result: TrainResult, algo: str, env_id: str, definition: WorkerTypeDefinition) -> None:
    """Print the result of a training, and an operator of an experiment file that plays its policy."""
    write_line(f"Trained: {in_words(result)}")
    write_line(f"Policy:  {shlex.quote(shown(result.out))}")
    file, slot = read_policy_file(result.out), slot_of(result, definition)
    slots = {"workers": {"agent": slot}} if file is None else joint_slots(file.description, slot)
    operator = {"id": algo.lower(), "task": env_id, **slots}
    write_line("\nAs an operator of an experiment file:")
    head, _, tail = json.dumps(operator, ensure_ascii=False).partition('"workers": ')
    write_line(f'  {head.rstrip()}\n   "workers": {tail}')


def result_row(result: TrainResult, definition: WorkerTypeDefinition) -> Mapping[str, Any]:
    """Return the result of a training as a row for JSON."""
    return {
        "out": str(result.out),
        "status": result.status,
        "steps": result.step,
        "mean_return": result.mean_return,
        "wall_s": result.wall_s,
        "slot": slot_of(result, definition),
    }
