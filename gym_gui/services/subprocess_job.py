"""Long work in a process of its own: the window neither waits for it nor carries its memory.

What runs there is one of our own modules. It reports progress as JSON lines on stderr, and
writes its result to stdout. Cancelling the task ends it with all it started.

A job that runs foreign code (:func:`run_foreign_job`, and in its process :func:`answer_job`) gives an answer
or a sentence whatever that code does: prints, starts threads, ends its process, or never returns.
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
from gym_gui.processes.child_output import keep_stdout
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.processes.run_child import FinishedChild, run_child
from gym_gui.workers.environment_variables import engine_environment
from mosaic_worker.failures import described

USAGE = 2
"""Exit status of a command that the person can put right."""

OnProgress = Callable[[Any], None]
"""Told what the process reports: the value of ``progress`` of each of its lines. What it raises ends the
process and is raised to the caller."""


LONGEST_CALL_S: Final = 120.0
"""Time after which foreign code that has not returned is taken to hang: simulators start within it."""
_LONGEST_START_S: Final = 600.0
"""Time until a process has reported for the first time: it imports our own modules until then."""
_MOST_ANSWER = 64 << 20
"""Bytes of what a job with foreign code answers: more is not ours."""


class SubprocessJobError(MosaicError):
    """The process failed for a reason that the user cannot put right.

    Attributes:
        outcome: How it ended, where that is the reason.
    """

    def __init__(self, message: str, *, fix: str = "", outcome: ChildOutcome | None = None) -> None:
        super().__init__(message, fix=fix)
        self.outcome = outcome


@dataclass(frozen=True)
class Finished:
    """How the process ended.

    Attributes:
        status: 0 done, 1 the work failed.
        output: What it wrote to stdout.
        complaint: The last line on stderr that is no progress.
    """

    status: int
    output: bytes
    complaint: str

    def json(self) -> Any:
        """The output as JSON.

        Raises:
            SubprocessJobError: It is none.
        """
        try:
            return orjson.loads(self.output)
        except orjson.JSONDecodeError:
            raise SubprocessJobError(self.complaint or "the process said nothing that can be read") from None


async def run_subprocess_job(
    module: str,
    *arguments: str,
    on_progress: OnProgress | None = None,
    named: Sequence[str] = (),
    folder: Path | None = None,
) -> Finished:
    """Run ``python -m module arguments`` to its end.

    Args:
        module: One of ours.
        arguments: Its command line.
        on_progress: Called in the event loop.
        named: Variables that it gets as well, of those that are kept from others.
        folder: Where it runs.

    Raises:
        UsageError: It ended with status 2, in its own words.
        SubprocessJobError: It was killed, or ended with another status than 0, 1 or 2.
    """
    done = await _run(module, arguments, on_progress, named=named, folder=folder)
    outcome = done.outcome
    complaint = outcome.last_line
    if outcome.code == USAGE:
        raise UsageError(complaint or f"{module} refused")
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
        module: One of ours.
        arguments: Its command line.
        question: What it reads from stdin.
        on_progress: Called in the event loop; foreign code may write progress of its own making.
        subjects: Foreign code that it may use.
        longest_s: Longest time without progress.

    Returns:
        The answer.

    Raises:
        UsageError: Its own, for what a person can fix.
        SubprocessJobError: It ended without an answer, or was ended because it made no progress: its
            ``outcome`` says which.
        MosaicError: Its own.
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
    """In the process of :func:`run_foreign_job`: do ``work``, write what it returns as JSON, and end.

    What foreign code prints goes to stderr; threads that it has left do not keep the process from
    ending. It may use what was handed on to this process alone.
    """
    out = keep_stdout()
    trust.enforce()
    answer: dict[str, Any]
    try:
        answer = {"result": work()}
    except MosaicError as error:
        is_usage = isinstance(error, UsageError)
        answer = {"problem": error.message, "fix": error.fix, "is_usage": is_usage}
    except (Exception, SystemExit) as error:  # the border to foreign code
        answer = {"problem": described(error), "fix": "", "is_usage": False}
    with suppress(BrokenPipeError), os.fdopen(out, "wb") as file:
        file.write(orjson.dumps(answer))
    os._exit(0)


def tell_progress(value: Any) -> None:
    """In the process of a job: report progress, at once and on a line of its own."""
    # Foreign code may have left a line without an end; an empty line is passed over.
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
    environment = trust.handed_on(engine_environment() | more, subjects)
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
                        child.keep(_sentence_of(line))
                        # A child that prints without end lets no time pass here.
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
        except Exception as error:  # raised to the caller; stderr is read on until the process has ended
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
    """A line as a person reads it: what is an event to programs says what is wrong, then what to do."""
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
