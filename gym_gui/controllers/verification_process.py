"""A verification in a process of its own: an environment that prints, crashes or hangs spoils nothing."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis import Run, open_run
from gym_gui.controllers.departures import Deviation
from gym_gui.controllers.resolved_operator import ResolvedOperator, vouch
from gym_gui.controllers.script_execution import OnProgress, OperatorProgress
from gym_gui.controllers.verification import Verification, experiment_of, verify
from gym_gui.core.prompt_inputs import PromptInputs
from gym_gui.core.types import AgentID, Decision
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.services.subprocess_job import (
    LONGEST_CALL_S,
    SubprocessJobError,
    answer_job,
    run_foreign_job,
    tell_progress,
)

_BEAT_S: Final = 0.5
"""Time between two signs of life."""


async def verify_apart(
    run: Run, on_progress: OnProgress | None = None, *, longest_s: float = LONGEST_CALL_S
) -> Verification:
    """Play a run again, as :func:`gym_gui.controllers.verification.verify` does.

    Args:
        run: The run.
        on_progress: Told after every episode.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Raises:
        NotAllowedError: The run names code that the person has not allowed.
        UsageError: The environment is not there, or the run cannot be read.
        SubprocessJobError: The environment ended the process, or did not return.
    """
    operators = experiment_of(run).operators
    subjects = [subject for operator in operators for subject in vouch(operator, env_only=True)]
    latest: list[Any] = ["", 0, 0]

    def hear(told: Any) -> None:
        # What the environment prints may look like progress.
        with suppress(TypeError, KeyError, ValueError):
            if "at" in told:
                operator, episode, step = told["at"]
                latest[:] = str(operator), int(episode), int(step)
            elif on_progress is not None:
                on_progress([OperatorProgress(**row) for row in told["operators"]])

    try:
        answer = await run_foreign_job(
            __name__, str(run.path.absolute()), on_progress=hear, subjects=subjects, longest_s=longest_s
        )
    except SubprocessJobError as error:
        raise SubprocessJobError(_ended(latest, error), outcome=error.outcome) from error
    deviations = [Deviation(**row) for row in answer.pop("deviations")]
    versions = {name: (then, now) for name, (then, now) in answer.pop("versions").items()}
    return Verification(**answer, deviations=deviations, versions=versions)


def _ended(latest: Sequence[Any], error: SubprocessJobError) -> str:
    """That the environment did not come back, and about when."""
    operator, episode, step = latest
    where = f" at about operator {operator}, episode {episode}, step {step}" if operator else ""
    outcome = error.outcome or ChildOutcome(ChildStatus.ENDED)
    if outcome.status is ChildStatus.TIMED_OUT:
        return f"the environment {outcome.words}{where}"
    return f"the environment ended its process, which {outcome.words}{where}"


class _Beats:
    """Says now and then which decision is played again."""

    def __init__(self) -> None:
        self._told = 0.0

    def views(self, resolved: ResolvedOperator) -> Mapping[AgentID, PromptInputs]:
        return {}

    def asked(self, operator_id: str, decision: Decision) -> None:
        now = time.monotonic()
        if now - self._told >= _BEAT_S:
            self._told = now
            tell_progress({"at": [operator_id, decision.episode, decision.step]})


def _verify() -> dict[str, Any]:
    def tell(progress: Sequence[OperatorProgress]) -> None:
        tell_progress({"operators": [asdict(each) for each in progress]})

    return asdict(asyncio.run(verify(open_run(Path(sys.argv[1])), tell, _Beats())))


if __name__ == "__main__":
    answer_job(_verify)
