"""Parses a run's recorded model replies again, in a child process that plays the run's environments."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from gym_gui.analysis import Run, open_run
from gym_gui.controllers.child_jobs.child_job import (
    PositionReports,
    question_of_job,
    report_alive,
    report_operators,
    run_in_child,
)
from gym_gui.controllers.reexecution.reparsing import Reparsing, recorded_replies, reparse
from gym_gui.controllers.reexecution.verification import experiment_of
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.services.subprocess_job import LONGEST_CALL_S, answer_job


async def reparse_in_child(
    run: Run, on_progress: OnProgress | None = None, *, longest_s: float = LONGEST_CALL_S
) -> Reparsing:
    """Parse a run's recorded model replies again in a child process, with :func:`.reparsing.reparse`.

    Args:
        run: The run.
        on_progress: Called after every episode that was played again.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Raises:
        NotAllowedError: The run names code that the user has not allowed.
        UsageError: No language model played, no reply is recorded, or the environment is not installed.
        SubprocessJobError: The environment ended the process, or did not return.
        MosaicError: The worker cannot parse replies on this machine.
    """
    asked = {"run": str(run.path.absolute())}
    operators = experiment_of(run).operators
    answer = await run_in_child(__name__, asked, operators, on_progress, longest_s=longest_s)
    return msgspec.convert(answer, Reparsing)


def _reparse() -> Any:
    run = open_run(Path(question_of_job()["run"]))
    replies = asyncio.run(recorded_replies(run, report_operators, PositionReports().asked))
    with report_alive():
        return msgspec.to_builtins(asyncio.run(reparse(replies)))


if __name__ == "__main__":
    answer_job(_reparse)
