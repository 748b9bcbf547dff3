"""What processes have in common in which a run, or an experiment, is played for a command."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any, Final

import orjson

from gym_gui.controllers.resolved_operator import vouch
from gym_gui.controllers.script_execution import OnProgress, OperatorProgress
from gym_gui.core.config import OperatorConfig
from gym_gui.core.types import Decision
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.services.subprocess_job import (
    LONGEST_CALL_S,
    SubprocessJobError,
    run_foreign_job,
    tell_progress,
)

_BEAT_S: Final = 0.5
"""Time between two signs of life."""


async def play_apart(
    module: str,
    question: Mapping[str, Any],
    operators: Iterable[OperatorConfig],
    on_progress: OnProgress | None = None,
    *,
    on_told: Callable[[Any], None] | None = None,
    env_only: bool = True,
    longest_s: float = LONGEST_CALL_S,
) -> Any:
    """Have one of the modules beside this one play operators' environments, in a process of its own.

    Args:
        module: Its name.
        question: What it is asked: plain data, for :func:`question_of_job`.
        operators: What is played.
        on_progress: Told what the process reports of operators.
        on_told: Told what it reports besides; the environment may print what looks like that.
        env_only: Whether nothing but their environments is used, and no worker.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Returns:
        The answer.

    Raises:
        NotAllowedError: An operator names code that the person has not allowed.
        UsageError: Something the person can fix.
        SubprocessJobError: An environment ended the process, or did not return.
    """
    subjects = [subject for operator in operators for subject in vouch(operator, env_only=env_only)]
    latest: list[Any] = ["", 0, 0]

    def hear(told: Any) -> None:
        # What the environment prints may look like progress.
        with suppress(TypeError, KeyError, ValueError):
            if "at" in told:
                operator, episode, step = told["at"]
                latest[:] = str(operator), int(episode), int(step)
            elif "operators" in told:
                progress = [OperatorProgress(**row) for row in told["operators"]]
                if on_progress is not None:
                    on_progress(progress)
            elif on_told is not None and told:
                on_told(told)

    try:
        return await run_foreign_job(
            module,
            question=orjson.dumps(question),
            on_progress=hear,
            subjects=subjects,
            longest_s=longest_s,
        )
    except SubprocessJobError as error:
        raise SubprocessJobError(_ended(latest, error), outcome=error.outcome) from error


def _ended(latest: Sequence[Any], error: SubprocessJobError) -> str:
    """That the environment did not come back, and about when."""
    operator, episode, step = latest
    where = f" at about operator {operator}, episode {episode}, step {step}" if operator else ""
    outcome = error.outcome or ChildOutcome(ChildStatus.ENDED)
    if outcome.status is ChildStatus.TIMED_OUT:
        return f"the environment {outcome.words}{where}"
    return f"the environment ended its process, which {outcome.words}{where}"


# -- in the process ------------------------------------------------------------------------------


def question_of_job() -> dict[str, Any]:
    """What the process is asked; from here on its time counts as that of environments."""
    tell_progress({})
    return orjson.loads(sys.stdin.buffer.read())


class Beats:
    """Says now and then which decision is played."""

    def __init__(self) -> None:
        self._told = 0.0

    def asked(self, operator_id: str, decision: Decision) -> None:
        """A decision is about to be answered from the record."""
        self.at(operator_id, decision.episode, decision.step)

    def at(self, operator_id: str, episode: int, step: int) -> None:
        """So far it is."""
        now = time.monotonic()
        if now - self._told >= _BEAT_S:
            self._told = now
            tell_progress({"at": [operator_id, episode, step]})


def tell_operators(progress: Sequence[OperatorProgress]) -> None:
    """Report how far operators are."""
    tell_progress({"operators": [asdict(each) for each in progress]})


@contextmanager
def own_work() -> Generator[None]:
    """Say all the time that the process is at work: no foreign code runs in it meanwhile."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(_BEAT_S):
            tell_progress({})

    thread = threading.Thread(target=beat, name="beats", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
