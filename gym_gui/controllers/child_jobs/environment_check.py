"""Runs ``mosaic envs check`` in a child process, so that findings are reported even after a crash.

An environment may print, start threads, call ``sys.exit()``, crash or never return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from gym_gui import envs
from gym_gui.controllers.child_jobs.child_job import not_returned, question_of_job
from gym_gui.core.paradigms.check import CheckReport, CheckResult, CheckStatus
from gym_gui.core.trusted.trust import TYPED, require
from gym_gui.services.subprocess_job import (
    LONGEST_CALL_S,
    SubprocessJobError,
    answer_job,
    report_progress,
    run_foreign_job,
)


@dataclass(frozen=True)
class CheckedEnvironment:
    """Findings of the contract check of one environment.

    Attributes:
        env_id: Id of the environment.
        api: Interface that was checked; ``""`` if the environment crashed or hung and no interface was given.
        report: The findings.
    """

    env_id: str
    api: str
    report: CheckReport


async def check_in_child(
    task: str, api: str | None = None, *, longest_s: float = LONGEST_CALL_S
) -> CheckedEnvironment:
    """Check an environment in a child process.

    Args:
        task: Environment, as an id or ``module:factory`` that :func:`gym_gui.envs.resolve` accepts.
        api: Interface to check, or ``None`` for the environment's own.
        longest_s: Seconds after which a call that has not returned counts as hanging.

    Raises:
        UsageError: The environment does not exist or cannot be made.
        NotAllowedError: The environment is code that has not been allowed.
    """
    spec = envs.resolve(task, api=api)
    needs = envs.needs_of(spec, {})
    require(needs, TYPED)
    latest: list[Any] = ["the constructor", None, 0]

    def note(call: Any) -> None:
        if isinstance(call, list) and len(call) == 3:  # pyright: ignore[reportUnknownArgumentType]
            latest[:] = call

    try:
        answer = await run_foreign_job(
            __name__,
            question=orjson.dumps({"task": task, "api": api}),
            on_progress=note,
            subjects=[need.subject for need in needs],
            longest_s=longest_s,
        )
    except SubprocessJobError as error:
        finding = CheckResult("running", CheckStatus.FAILED, _failed_call_words(latest, error))
        return CheckedEnvironment(spec.id, api or "", CheckReport((finding,)))
    findings = (
        CheckResult(row["name"], CheckStatus(row["status"]), row["detail"]) for row in answer["findings"]
    )
    return CheckedEnvironment(answer["env_id"], answer["api"], CheckReport(tuple(findings)))


def _failed_call_words(latest: list[Any], error: SubprocessJobError) -> str:
    """Return a clause that says which call of the environment did not return, with its seed and step."""
    call, seed, step = latest
    return not_returned(call, error) + ("" if seed is None else f" (seed {seed}, step {step})")


def _check() -> dict[str, Any]:
    asked = question_of_job()
    task, api = asked["task"], asked["api"]
    report_progress(["the constructor", None, 0])
    first = envs.make(envs.resolve(task, api=api))
    spec = first.spec  # a user's own environment must be made to know its interface
    first.close()

    def tell(call: str, seed: int | None, step: int) -> None:
        report_progress([call, seed, step])

    report = envs.check(task, api=api, on_call=tell)
    rows = [{"name": f.name, "status": str(f.status), "detail": f.detail} for f in report.findings]
    return {"env_id": spec.id, "api": spec.api, "findings": rows}


if __name__ == "__main__":
    answer_job(_check)
