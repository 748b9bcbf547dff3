"""Runs long work in a separate process, so that the window neither waits for it nor holds its memory.

The process runs a module of this project. It reports progress as JSON lines on stderr and writes its
result to stdout. Cancelling the task ends the process and all processes that it started.

A job with foreign code (:func:`run_foreign_job`, and in its process :func:`answer_job`) returns an answer
or an error message even if that code prints, starts threads, exits, or never returns.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import orjson

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.record_fields import mapping
from gym_gui.core.trusted import trust
from gym_gui.core.trusted.subjects import Subject
from gym_gui.processes.child import ManagedChild, lines_of
from gym_gui.processes.child_output import reserve_stdout
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.processes.run_child import FinishedChild, run_child
from gym_gui.workers.environment_variables import engine_environment
from mosaic_worker.failures import described

USAGE = 2
"""Exit status for an error that the user can fix."""

OnProgress = Callable[[Any], None]
"""Type of a callback that gets the value of ``progress`` of each progress line. An exception in it ends the
process and is raised to the caller."""


LONGEST_CALL_S: Final = 120.0
"""Longest time without progress until foreign code counts as hanging. Simulators start within it."""
_LONGEST_START_S: Final = 600.0
"""Longest time until the first progress report, as the process imports this project's modules first."""
_MOST_ANSWER = 64 << 20
"""Largest answer of a job with foreign code, in bytes. A larger answer cannot come from this project."""


class SubprocessJobError(MosaicError):
    """Error for a process that failed for a reason that the user cannot fix.

    Attributes:
        outcome: How the process ended, if that is the reason.
    """

    def __init__(self, message: str, *, fix: str = "", outcome: ChildOutcome | None = None) -> None:
        super().__init__(message, fix=fix)
        self.outcome = outcome


@dataclass(frozen=True)
class Finished:
    """Result of a process that has ended.

    Attributes:
        status: 0 for success, 1 for failed work.
        output: Bytes written to stdout.
        complaint: The last line on stderr that is not a progress report.
    """

    status: int
    output: bytes
    complaint: str

    def json(self) -> Any:
        """Return the output as JSON.

        Raises:
            SubprocessJobError: The output is not valid JSON.
        """
        try:
            return orjson.loads(self.output)
        except orjson.JSONDecodeError:
            raise SubprocessJobError(self.complaint or "the process printed no valid answer") from None


async def run_subprocess_job(
    module: str,
    *arguments: str,
    on_progress: OnProgress | None = None,
    named: Sequence[str] = (),
    folder: Path | None = None,
) -> Finished:
    """Run ``python -m module arguments`` to its end.

    Args:
        module: A module of this project.
        arguments: Its command line.
        on_progress: Called in the event loop with each progress report.
        named: Environment variables to pass on that other processes do not get.
        folder: Working directory of the process.

    Raises:
        UsageError: The process ended with status 2. The message is the process's own.
        SubprocessJobError: The process was killed or ended with a status other than 0, 1 or 2.
    """
    done = await _run(module, arguments, on_progress, named=named, folder=folder)
    outcome = done.outcome
    complaint = outcome.last_line
    if outcome.code == USAGE:
        raise UsageError(complaint or f"{module} refused its arguments")
    if outcome.code not in (0, 1):
        raise SubprocessJobError(complaint or f"{_name(module)} {outcome.words}", outcome=outcome)
    return Finished(outcome.code, done.output, complaint)


async def run_foreign_job(
    module: str,
    *arguments: str,
    question: bytes = b"",
    on_progress: OnProgress | None = None,
    subjects: Iterable[Subject] = (),
    longest_s: float = LONGEST_CALL_S,
) -> Any:
    """Run ``python -m module arguments``, which runs foreign code and ends with :func:`answer_job`.

    Args:
        module: A module of this project.
        arguments: Its command line.
        question: Bytes that the process reads from stdin.
        on_progress: Called in the event loop with each progress report. Foreign code may write reports
            too.
        subjects: Foreign code that the process may use.
        longest_s: Longest time without progress, in seconds.

    Returns:
        The answer.

    Raises:
        UsageError: Raised by the job for an error that the user can fix.
        SubprocessJobError: The process ended without an answer, or was ended because it made no
            progress. Its ``outcome`` says which.
        MosaicError: Raised by the job for another error.
    """
    done = await _run(
        module,
        arguments,
        on_progress,
        subjects=subjects,
        longest_s=longest_s,
        text=question,
        most_bytes=_MOST_ANSWER,
    )
    try:
        answer: Any = orjson.loads(done.output)
        if "result" in answer:
            return answer["result"]
        kind = UsageError if answer["is_usage"] else MosaicError
        problem = kind(str(answer["problem"]), fix=str(answer["fix"]))
    except (orjson.JSONDecodeError, TypeError, KeyError):
        said = f"{_name(module)} {done.outcome.words}"
        raise SubprocessJobError(said, outcome=done.outcome) from None
    raise problem


def answer_job(work: Callable[[], Any]) -> NoReturn:
    """Call ``work``, write its result as JSON to stdout, and end the process.

    This runs in the process of :func:`run_foreign_job`. Output of foreign code goes to stderr, and threads
    that it leaves behind do not keep the process alive. The process may use only the foreign code that was
    handed on to it.
    """
    out = reserve_stdout()
    trust.enforce()
    answer: dict[str, Any]
    try:
        answer = {"result": work()}
    except MosaicError as error:
        is_usage = isinstance(error, UsageError)
        answer = {"problem": error.message, "fix": error.fix, "is_usage": is_usage}
    except (Exception, SystemExit) as error:  # foreign code may raise anything
        answer = {"problem": described(error), "fix": "", "is_usage": False}
    with suppress(BrokenPipeError), os.fdopen(out, "wb") as file:
        file.write(orjson.dumps(answer))
    os._exit(0)


def report_progress(value: Any) -> None:
    """Report progress from the process of a job, at once and on a line of its own."""
    # Foreign code may have left an unfinished line. The reader skips empty lines.
    os.write(2, b"\n" + orjson.dumps({"progress": value}) + b"\n")


def _name(module: str) -> str:
    return f"the process for {module}"


async def _run(
    module: str,
    arguments: Sequence[str],
    on_progress: OnProgress | None,
    *,
    named: Sequence[str] = (),
    folder: Path | None = None,
    subjects: Iterable[Subject] = (),
    longest_s: float | None = None,
    **limits: Any,
) -> FinishedChild:
    more = {name: os.environ[name] for name in named if name in os.environ}
    environment = trust.environment_with_permissions(engine_environment() | more, subjects)
    failures: list[Exception] = []

    async def listen(child: ManagedChild) -> None:
        now = asyncio.get_running_loop().time
        lines = lines_of(child.stderr)
        latest = None if longest_s is None else now() + max(longest_s, _LONGEST_START_S)
        try:
            async with asyncio.timeout_at(latest) as limit:
                async for line in lines:
                    progress = _progress_of(line)
                    if progress is None:
                        child.remember_line(_sentence_of(line))
                        # Else a child that prints without pause would keep the timeout from running.
                        await asyncio.sleep(0)
                        continue
                    if longest_s is not None:
                        limit.reschedule(now() + longest_s)
                    tell(child, progress)
        except TimeoutError:
            child.kill(f"has not returned for {longest_s:g} s", ChildStatus.TIMED_OUT)

    def tell(child: ManagedChild, progress: Any) -> None:
        if on_progress is None or failures:
            return
        try:
            on_progress(progress)
        except Exception as error:  # raised to the caller after stderr has been read to its end
            failures.append(error)
            child.kill("is no longer listened to")

    done = await run_child(
        *(sys.executable, "-P", "-m", module, *arguments),
        name=_name(module),
        environment=environment | {"COLUMNS": "1000", "NO_COLOR": "1"},
        listen=listen,
        folder=folder,
        **limits,
    )
    if failures:
        raise failures[0]
    return done


def _sentence_of(line: str) -> str:
    """Return a line of stderr for people: of a JSON event, its message and then its fix."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return line.removeprefix("mosaic: ")
    row = mapping(event) or {}
    said = [str(row[key]) for key in ("message", "fix") if row.get(key)]
    return ". ".join(part.rstrip(".") for part in said) or line


def _progress_of(line: str) -> Any:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value.get("progress") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
