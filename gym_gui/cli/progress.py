"""Shows the progress of long work: a bar in a terminal, plain lines elsewhere, JSON on request.

All output goes to stderr, so that stdout contains only results.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from gym_gui.analysis.words import wording
from gym_gui.core import terminal

if TYPE_CHECKING:
    from gym_gui.controllers.runs.script_execution import OnProgress, OperatorProgress
    from gym_gui.core.live import Compiling
    from gym_gui.services.trainer import TrainProgress

_LINE_EVERY_S = 5.0
_NARROW = 80
"""Width of the terminal, in columns, below which progress bars show no time."""

OnTrainProgress = Callable[["TrainProgress"], None]


@contextmanager
def run_progress(*, as_json: bool) -> Generator[OnProgress]:
    """Yield a function that shows the progress of operators: bars in a terminal, else lines."""
    console = terminal.console(stderr=True)
    if as_json:
        yield _json_lines()
    elif console.is_terminal:
        columns: list[ProgressColumn] = [
            _name(console),
            BarColumn(bar_width=None),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[note]}", style="red", markup=False, table_column=Column(no_wrap=True)),
        ]
        with _progress(console, columns, TimeRemainingColumn()) as progress:
            yield _bars(progress)
    else:
        yield _plain_lines()


@contextmanager
def train_progress(title: str, *, as_json: bool) -> Generator[OnTrainProgress]:
    """Yield a function that shows the progress of a training.

    Args:
        title: Name of the training.
        as_json: Whether to write JSON lines instead.
    """
    console = terminal.console(stderr=True)
    if as_json:
        yield _train_json
    elif console.is_terminal:
        columns: list[ProgressColumn] = [
            _name(console),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f}%", table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True)),
        ]
        with _progress(console, columns, _Remaining()) as progress:
            yield _train_bar(progress, title)
    else:
        yield _train_lines()


@contextmanager
def compile_progress(title: str) -> Generator[Callable[[Compiling], None]]:
    """Yield a function that shows how many functions have been compiled, from its first call on.

    Args:
        title: Name of the work.
    """
    console = terminal.console(stderr=True)
    if not console.is_terminal:
        yield _compile_lines(title)
        return
    columns: list[ProgressColumn] = [
        _name(console),
        BarColumn(bar_width=None),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn("functions", table_column=Column(no_wrap=True)),
    ]
    with _progress(console, columns, TimeElapsedColumn()) as progress:
        yield _compile_bar(progress, title)


@contextmanager
def bytes_progress(title: str, *, as_json: bool) -> Generator[Callable[[int, int], None]]:
    """Yield a function that shows how many bytes of a total have been read.

    Args:
        title: Name of the work.
        as_json: Whether to write JSON lines instead.
    """
    console = terminal.console(stderr=True)
    if console.is_terminal and not as_json:
        columns: list[ProgressColumn] = [_name(console), BarColumn(bar_width=None), DownloadColumn()]
        with _progress(console, columns, TimeRemainingColumn()) as progress:
            task = progress.add_task(title, total=None)
            yield lambda done, total: progress.update(task, total=total, completed=done)
    else:
        yield _bytes_lines(title, as_json=as_json)


@contextmanager
def count_progress(title: str) -> Generator[Callable[[int, int], None]]:
    """Yield a function that shows how many of a number of items are done, if stderr is a terminal.

    Args:
        title: Name of the work.
    """
    console = terminal.console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns: list[ProgressColumn] = [_name(console), BarColumn(bar_width=None), MofNCompleteColumn()]
    with _progress(console, columns, TimeElapsedColumn()) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, total=total, completed=done)


class _Remaining(ProgressColumn):
    """Progress column with the remaining time, as the training's process estimates it."""

    def render(self, task: Task) -> Text:
        seconds = task.fields.get("remaining_s")
        return Text("" if seconds is None else f"{_clock(seconds)} left", style="cyan")


def _name(console: Console) -> TextColumn:
    # Long names are shortened, so that they leave space for the bar and do not wrap.
    column = Column(no_wrap=True, overflow="ellipsis", max_width=max(console.width // 3, 12))
    return TextColumn("{task.description}", markup=False, table_column=column)


def _progress(console: Console, columns: list[ProgressColumn], clock: ProgressColumn) -> Progress:
    if console.width >= _NARROW:
        columns.append(clock)
    return Progress(*columns, console=console, expand=console.width < _NARROW)


def _note(p: OperatorProgress) -> str:
    parts = ["at most" if p.at_most else "", f"{p.failed} failed" if p.failed else ""]
    return ", ".join(part for part in parts if part)


def _bars(progress: Progress) -> OnProgress:
    tasks: dict[str, TaskID] = {}
    waiting = [progress.add_task("Starting workers", total=None, note="")]

    def show(states: Sequence[OperatorProgress]) -> None:
        while waiting:
            progress.remove_task(waiting.pop())
        for p in states:
            if p.operator_id not in tasks:
                tasks[p.operator_id] = progress.add_task(p.name, total=p.total, note="")
            progress.update(
                tasks[p.operator_id], description=p.name, completed=p.done, total=p.total, note=_note(p)
            )

    return show


def _plain_lines() -> OnProgress:
    printed: dict[str, tuple[float, int]] = {}

    def show(states: Sequence[OperatorProgress]) -> None:
        now = time.monotonic()
        for p in states:
            when, done = printed.get(p.operator_id, (now - _LINE_EVERY_S + 1, -1))
            complete = p.done >= p.total
            if p.done != done and (complete or now - when >= _LINE_EVERY_S):
                printed[p.operator_id] = (now, p.done)
                note = f", {p.failed} failed" if p.failed else ""
                most = "at most " if p.at_most else ""
                sys.stderr.write(f"{p.name}: {p.done} of {most}{p.total} episodes{note}\n")
        sys.stderr.flush()

    return show


def _json_lines() -> OnProgress:
    last = ""

    def show(states: Sequence[OperatorProgress]) -> None:
        nonlocal last
        data = [
            {
                "operator_id": p.operator_id,
                "done": p.done,
                "total": p.total,
                "failed": p.failed,
                "steps": p.steps,
                **({"at_most": True} if p.at_most else {}),
            }
            for p in states
        ]
        line = json.dumps({"progress": data})
        if line != last:
            last = line
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    return show


def _train_json(p: TrainProgress) -> None:
    sys.stderr.write(json.dumps({"progress": dataclasses.asdict(p)}) + "\n")
    sys.stderr.flush()


def _return(p: TrainProgress) -> str:
    if p.paused:
        return "paused"
    return "" if p.mean_return is None else f"return {wording.number(p.mean_return)}"


def _train_bar(progress: Progress, title: str) -> OnTrainProgress:
    task = progress.add_task(title, total=None, note="starting")

    def show(p: TrainProgress) -> None:
        total = p.total_steps or None
        progress.update(task, total=total, completed=p.step, note=_return(p), remaining_s=p.remaining_s)

    return show


def _train_lines() -> OnTrainProgress:
    printed, paused, step = time.monotonic() - _LINE_EVERY_S + 1, False, -1

    def show(p: TrainProgress) -> None:
        nonlocal printed, paused, step
        if (not p.steps_per_s or p.step == step) and p.paused == paused:
            return  # the training has only begun, or nothing has changed
        if p.step < p.total_steps and p.paused == paused and time.monotonic() - printed < _LINE_EVERY_S:
            return
        printed, paused, step = time.monotonic(), p.paused, p.step
        words = [f"{p.step:,} of {p.total_steps:,} steps", _return(p), f"{p.steps_per_s:,.0f} steps/s"]
        if p.step < p.total_steps and p.remaining_s is not None:
            words.append(f"{_clock(p.remaining_s)} left")
        sys.stderr.write(", ".join(word for word in words if word) + "\n")
        sys.stderr.flush()

    return show


def _compile_bar(progress: Progress, title: str) -> Callable[[Compiling], None]:
    tasks: list[TaskID] = []

    def show(state: Compiling) -> None:
        if not tasks:
            tasks.append(progress.add_task(title, total=state.total))
        progress.update(tasks[0], total=state.total, completed=len(state.functions))

    return show


def _compile_lines(title: str) -> Callable[[Compiling], None]:
    begun, printed = time.monotonic(), -1

    def show(state: Compiling) -> None:
        nonlocal printed
        if printed < 0:
            printed = 0
            sys.stderr.write(f"{title}: {state.total} functions, once on this machine\n")
        for name in state.functions[printed:]:
            sys.stderr.write(f"{title}: {name} is ready ({time.monotonic() - begun:.0f} s)\n")
        printed = len(state.functions)
        sys.stderr.flush()

    return show


def _bytes_lines(title: str, *, as_json: bool) -> Callable[[int, int], None]:
    printed = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal printed
        if time.monotonic() - printed < _LINE_EVERY_S:
            return
        printed = time.monotonic()
        data = {"progress": {"bytes": done, "total_bytes": total}}
        line = json.dumps(data) if as_json else f"{title}: {done / max(total, 1):.0%}"
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    return show


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
