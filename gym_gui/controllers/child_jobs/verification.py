"""Verifies a recorded run in a child process."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gym_gui.analysis import Run, open_run
from gym_gui.controllers.child_jobs.child_job import (
    PositionReports,
    question_of_job,
    report_operators,
    run_in_child,
)
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.reexecution.verification import Verification, experiment_of, verify
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.types import AgentID
from gym_gui.services.subprocess_job import LONGEST_CALL_S, answer_job


async def verify_in_child(
    run: Run,
    on_progress: OnProgress | None = None,
    *,
    only: Mapping[str, Collection[int]] | None = None,
    longest_s: float = LONGEST_CALL_S,
) -> Verification:
    """Verify a run in a child process, with :func:`gym_gui.controllers.reexecution.verification.verify`.

    Args:
        run: The run.
        on_progress: Called after every episode.
        only: Episodes to play, by operator; by default all.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Raises:
        NotAllowedError: The run names code that the user has not allowed.
        UsageError: The environment is not installed, or the run cannot be read.
        SubprocessJobError: The environment ended the process, or did not return.
    """
    chosen = None if only is None else {name: sorted(indices) for name, indices in only.items()}
    answer = await run_in_child(
        __name__,
        {"run": str(run.path.absolute()), "only": chosen},
        experiment_of(run).operators,
        on_progress,
        longest_s=longest_s,
    )
    return msgspec.convert(answer, Verification)


class _Onlooker(PositionReports):
    def views(self, resolved: ResolvedOperator) -> Mapping[AgentID, PromptInputs]:
        return {}


def _verify() -> Any:
    asked = question_of_job()
    verified = verify(open_run(Path(asked["run"])), report_operators, _Onlooker(), asked["only"])
    return msgspec.to_builtins(asyncio.run(verified))


if __name__ == "__main__":
    answer_job(_verify)
