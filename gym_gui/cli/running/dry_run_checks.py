"""Checks of ``--dry-run`` in a separate process: workers load their slots, and model slots play episodes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from gym_gui.controllers.child_jobs.child_job import (
    question_of_job,
    report_alive,
    report_position,
    run_in_child,
)
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.runs.cost_estimate import ModelSlot, estimate_cost
from gym_gui.controllers.runs.experiment_run import ExperimentRun
from gym_gui.controllers.runs.model_slots import DRY_RUN, slots_with
from gym_gui.controllers.runs.operator_execution import RunResult
from gym_gui.controllers.sessions.load_check import LIMIT_S, LoadCheck
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.trusted.trust import Origin
from gym_gui.host.prestart import CommandHosts
from gym_gui.services.subprocess_job import LONGEST_CALL_S, answer_job


@dataclass(frozen=True)
class DryRunResult:
    """Results of a dry run.

    Attributes:
        notes: One sentence per slot whose worker took too long to load.
        model_slots: Estimates for slots that would call a model, from episodes without calls.
    """

    notes: list[str] = field(default_factory=list[str])
    model_slots: list[ModelSlot] = field(default_factory=list[ModelSlot])


async def check_dry_run(
    experiment: Experiment, processes: int, *, models: bool, longest_s: float = LONGEST_CALL_S
) -> DryRunResult:
    """Let workers load their slots, and estimate model calls by a few episodes in which no model is called.

    Args:
        experiment: The experiment, without operators that cannot be played.
        processes: Number of session processes.
        models: Whether to estimate model calls.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Raises:
        NotAllowedError: An operator names code that the user has not allowed.
        UsageError: A worker cannot play its slot.
        SubprocessJobError: An environment crashed the process, or a call did not return.
        MosaicError: An episode could not be played.
    """
    operators = experiment.operators
    asked = {
        "operators": [[operator.to_record(), asdict(operator.origin)] for operator in operators],
        "execution": experiment.execution.to_record(),
        "processes": processes,
        "models": models,
    }
    answer = await run_in_child(__name__, asked, operators, env_only=False, longest_s=longest_s)
    return msgspec.convert(answer, DryRunResult)


def _look_ahead() -> Any:
    asked = question_of_job()
    operators = [
        experiment_from_data({"operators": [record]}, complete=False, origin=Origin(**origin)).operators[0]
        for record, origin in asked["operators"]
    ]
    execution = experiment_from_data(
        {"operators": operators, "execution": asked["execution"]}, complete=False
    ).execution
    experiment = Experiment(operators, execution)
    # The cost estimate loads operators with models; loading them here, too, would contact their server twice.
    model_operators = [o for o in operators if asked["models"] and slots_with(o, DRY_RUN)]
    with CommandHosts(wanted=False) as hosts:
        resolved = [_resolved(o) for o in operators if o not in model_operators]
        with report_alive():  # workers are separate processes; they may take this long
            slow = hosts.run(LoadCheck().check(*resolved))
        notes = [
            f"{agent} of operator {operator} took more than {LIMIT_S:g} s to load and was not checked"
            for operator, agent in slow
        ]
        model_slots: list[ModelSlot] = []
        if model_operators:
            model_slots = hosts.run(estimate_cost(experiment, hosts.open_session, asked["processes"], _run))
        return msgspec.to_builtins(DryRunResult(notes, model_slots))


def _resolved(operator: OperatorConfig) -> ResolvedOperator:
    """Check an operator against its environment, which is created in this process."""
    report_position(operator.operator_id, 0, 0)
    return resolve_operator(operator)


async def _run(run: ExperimentRun) -> RunResult:
    with report_alive():  # environments are in session processes
        return await run.run()


if __name__ == "__main__":
    answer_job(_look_ahead)
