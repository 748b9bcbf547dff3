"""Starts child processes that play environments, and exchanges inputs, reports and answers with them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final

import msgspec
import orjson

from gym_gui.controllers.engine.resolved_operator import checked_permissions
from gym_gui.controllers.runs.operator_execution import OnProgress, OperatorProgress
from gym_gui.core.config import OperatorConfig
from gym_gui.core.record_fields import mapping
from gym_gui.core.types import Decision
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.services.subprocess_job import (
    LONGEST_CALL_S,
    SubprocessJobError,
    report_progress,
    run_foreign_job,
)

_REPORT_S: Final = 0.5
"""Seconds between two progress reports of a child process."""
_PROCESS_VARIABLES: Final = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
"""Environment variables that make SDL render into memory, without a window, sound or a screen."""


async def run_in_child(
    module: str,
    question: Mapping[str, Any],
    operators: Iterable[OperatorConfig],
    on_progress: OnProgress | None = None,
    *,
    on_told: Callable[[Mapping[str, Any]], None] | None = None,
    env_only: bool = True,
    longest_s: float = LONGEST_CALL_S,
) -> Any:
    """Run a module of ``controllers.child_jobs`` in a child process, which plays operators' environments.

    Args:
        module: Name of the module.
        question: The job's input as plain data, which :func:`question_of_job` reads in the child process.
        operators: Operators whose environments are played.
        on_progress: Called with each progress report of the operators.
        on_told: Called with every other report. The environment may print text that looks like a report.
        env_only: Whether only the operators' environments are used, and no worker.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Returns:
        The job's answer as plain data.

    Raises:
        NotAllowedError: An operator names code that the user has not allowed.
        UsageError: The job reports an error that the user can fix.
        SubprocessJobError: An environment ended the process, or did not return.
    """
    subjects = [
        subject for operator in operators for subject in checked_permissions(operator, env_only=env_only)
    ]
    latest: list[Any] = ["", 0, 0]

    def hear(told: Any) -> None:
        report = mapping(told)
        if not report:
            return
        progress: list[OperatorProgress] = []
        try:  # what the environment prints may look like a report
            if "at" in report:
                latest[:] = msgspec.convert(report["at"], tuple[str, int, int])
                return
            if "operators" in report:
                progress = msgspec.convert(report["operators"], list[OperatorProgress])
        except msgspec.ValidationError:
            return
        # Callbacks are called outside the try block, so that their own errors are raised.
        if "operators" in report:
            if on_progress is not None:
                on_progress(progress)
        elif on_told is not None:
            on_told(report)

    try:
        return await run_foreign_job(
            module,
            question=orjson.dumps(question),
            on_progress=hear,
            subjects=subjects,
            longest_s=longest_s,
        )
    except SubprocessJobError as error:
        operator, episode, step = latest
        where = f" at about operator {operator}, episode {episode}, step {step}" if operator else ""
        message = not_returned("the environment", error) + where
        raise SubprocessJobError(message, outcome=error.outcome) from error


def not_returned(subject: str, error: SubprocessJobError) -> str:
    """Return a clause that says that ``subject`` did not return or ended its process."""
    outcome = error.outcome or ChildOutcome(ChildStatus.ENDED)
    if outcome.status is ChildStatus.TIMED_OUT:
        return f"{subject} {outcome.words}"
    return f"{subject} ended its process, which {outcome.words}"


# -- in the process ------------------------------------------------------------------------------


def question_of_job() -> dict[str, Any]:
    """Read the input of a child process's job from stdin; start the time limit for environments' calls."""
    report_progress({})
    for name, value in _PROCESS_VARIABLES.items():
        os.environ.setdefault(name, value)
    return orjson.loads(sys.stdin.buffer.read())


class PositionReports:
    """Reports to the parent process which decision of which episode is being played."""

    def __init__(self) -> None:
        self._reported_at = 0.0

    def asked(self, operator_id: str, decision: Decision) -> None:
        """Report the position of a decision that is about to be answered with the recorded action."""
        self.at(operator_id, decision.episode, decision.step)

    def at(self, operator_id: str, episode: int, step: int) -> None:
        """Report the operator, episode and step being played, at most every 0.5 s."""
        now = time.monotonic()
        if now - self._reported_at >= _REPORT_S:
            self._reported_at = now
            report_position(operator_id, episode, step)


def report_position(operator_id: str, episode: int, step: int) -> None:
    """Report the operator, episode and step being played to the parent process, without a rate limit."""
    report_progress({"at": [operator_id, episode, step]})


def report_operators(progress: Sequence[OperatorProgress]) -> None:
    """Report the progress of operators to the parent process."""
    report_progress({"operators": [asdict(each) for each in progress]})


@contextmanager
def report_alive() -> Generator[None]:
    """Report every 0.5 s that the job is alive.

    Use this only while no environment code runs, because it hides a hanging call.
    """
    over = threading.Event()

    def report() -> None:
        while not over.wait(_REPORT_S):
            report_progress({})

    thread = threading.Thread(target=report, name="keep-alive", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
