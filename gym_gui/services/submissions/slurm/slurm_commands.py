"""Runs Slurm's commands and parses their output."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gym_gui.core.inherited_environment import inherited
from gym_gui.processes.child import ChildStartError
from gym_gui.processes.outcome import ChildStatus
from gym_gui.processes.run_child import run_child
from gym_gui.processes.tree import TAG
from gym_gui.services.submissions.submission_errors import HostFailedError, HostUnreachableError

PLAY_ARRAY: Final = """#!/bin/sh
# A task of an array: shards, each with its try, that stand on its line of the list.
hand=$(sed -n "${SLURM_ARRAY_TASK_ID}p" "$1")
cd "$2" || exit 1
first=${hand%% *}
# A scheduler that did not answer in time was perhaps asked twice: the first job plays it, also when requeued.
(set -C; echo "$SLURM_ARRAY_JOB_ID" >"work/$first/job") 2>/dev/null
[ "$(cat "work/$first/job")" = "$SLURM_ARRAY_JOB_ID" ] || exit 0
[ "$first" = "$hand" ] && others= || others=${hand#* }
for each in $hand; do
  # One that was ended in time, or lost with its node, is resumed; what is done is not played again.
  case $(cat "work/$each/code" 2>/dev/null) in
    0 | 1 | 2) [ -n "$others" ] || rm -f "work/$each/code" ;;
    *) rm -f "work/$each/code" "work/$each/out" ;;
  esac
done
exec sh "$2/play.sh" "${first%/*}" "${first#*/}" $others 2>>"work/$first/err"
"""
"""Job script of an array. Its arguments are the path of the list and the submission's folder."""
_ANSWER_S: Final = 60.0
_AWAY: Final = (
    *("unable to contact", "timed out", "connection", "temporarily unable", "standby mode"),
    "zero bytes were transmitted",
)
"""Parts of the error messages of Slurm's commands if the controller does not answer at present."""

_ENDED: Final = ("invalid job id", "already completing or completed")
Task = tuple[str, int]
"""Number of a job, and number of the task in its array, from 1."""


class QueuedTask(NamedTuple):
    """A task in the queue, with its state as two letters (``PD``) and the reason why it waits."""

    task: Task
    state: str
    reason: str


async def ask(*command: str) -> str:
    """Run a command of Slurm and return its output.

    Raises:
        HostAwayError: The scheduler does not answer.
        HostFailedError: The scheduler refuses the request.
    """
    more = {key: os.environ[key] for key in ("HOME", "USER", "SLURM_CONF") if key in os.environ}
    # Jobs get the environment of sbatch, which must not contain keys. The tag is removed, because jobs
    # outlive this process.
    line = ("env", "-u", TAG, *command)
    try:
        done = await run_child(*line, name=command[0], environment=inherited() | more, within_s=_ANSWER_S)
    except ChildStartError as error:
        raise HostUnreachableError(str(error)) from error
    if done.outcome.succeeded:
        return done.output.decode("utf-8", "replace")
    said = done.outcome.last_line.removeprefix(f"{command[0]}: ").removeprefix("error: ")
    said = said or done.outcome.words
    away = done.outcome.status is ChildStatus.TIMED_OUT or any(each in said.lower() for each in _AWAY)
    raise (HostUnreachableError if away else HostFailedError)(f"{command[0]}: {said.rstrip('.')}")


async def most_tasks() -> int | None:
    """Return the largest number of tasks in an array, or ``None`` if Slurm does not report it."""
    limit = re.search(r"MaxArraySize\s*=\s*(\d+)", await ask("scontrol", "show", "config"))
    return max(1, int(limit[1]) - 1) if limit else None


async def queued(name: str) -> list[QueuedTask]:
    """Return the tasks in the queue whose job names begin with a text."""
    found: list[QueuedTask] = []
    for line in (await ask("squeue", "-h", "-r", "--me", "-o", "%F %K %t %j %r")).splitlines():
        job, index, state, called, reason = (*line.split(maxsplit=4), "", "", "", "", "")[:5]
        if called.startswith(name) and index.isdigit():
            found.append(QueuedTask((job, int(index)), state, reason))
    return found


async def job_called(name: str) -> str:
    """Return the job number of the queued array with a name; empty if there is none."""
    found = (await ask("squeue", "-h", "--me", f"--name={name}", "-o", "%F")).split()
    return found[0] if found else ""


async def submit(
    name: str, listed: Path, tasks: int, at_once: int, place: Path, script: str, asked: Sequence[str]
) -> str:
    """Submit an array and return its job number.

    Args:
        name: Name of the job.
        listed: List with one line per task that says what the task plays. Errors of a task are written
            beside the list.
        tasks: Number of tasks.
        at_once: Number of tasks that may run at the same time.
        place: Folder of the submission.
        script: Script that each task runs.
        asked: Options of ``sbatch`` for resources.
    """
    said = await ask(
        "sbatch",
        "--parsable",
        f"--job-name={name}",
        f"--array=1-{tasks}%{at_once}",
        "--output=/dev/null",
        # sbatch replaces % and the letter after it in file names.
        f"--error={str(listed.with_suffix('')).replace('%', '%%')}-%a.err",
        "--open-mode=append",
        # Slurm signals the command 60 s before the time limit, so that it can save what it has played.
        "--signal=B:TERM@60",
        *asked,
        script,
        str(listed),
        str(place),
    )
    return said.strip().splitlines()[-1].partition(";")[0]


async def cancel(jobs: Sequence[str], *options: str) -> None:
    """Cancel jobs or tasks of arrays, and ignore those that have ended already.

    Args:
        jobs: Jobs as ``scancel`` takes them.
        options: Options of ``scancel``.
    """
    try:
        await ask("scancel", *options, *jobs)
    except HostFailedError as error:
        if not any(each in error.message.lower() for each in _ENDED):
            raise


async def state_of(task: Task) -> str:
    """Return the state of a job in words; empty if the scheduler has forgotten the job."""
    try:
        said = await ask("scontrol", "show", "job", "-o", "_".join(map(str, task)))
    except HostFailedError:
        return ""
    state = re.search(r"JobState=(\w+)", said)
    return state[1].replace("_", " ").lower() if state else ""
