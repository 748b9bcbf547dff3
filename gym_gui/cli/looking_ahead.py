"""What a dry run finds out, in a process of its own: it plays environments, and workers load their slots."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from gym_gui.controllers.apart.playing import own_work, play_apart, question_of_job
from gym_gui.controllers.cost_estimate import ModelSlot, estimate_cost
from gym_gui.controllers.load_check import load_all
from gym_gui.controllers.model_slots import DRY_RUN, slots_with
from gym_gui.controllers.operator_execution import RunResult
from gym_gui.controllers.resolved_operator import resolve_operator
from gym_gui.controllers.runs.experiment_run import ExperimentRun
from gym_gui.core.config import Experiment
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.core.trust import Origin
from gym_gui.host.ahead import HostAhead
from gym_gui.services.subprocess_job import answer_job


@dataclass(frozen=True)
class Outlook:
    """What was found out of an experiment.

    Attributes:
        notes: A sentence for each slot whose worker was not waited for.
        slots: Those that would ask a model, played without asking.
    """

    notes: list[str] = field(default_factory=list[str])
    slots: list[ModelSlot] = field(default_factory=list[ModelSlot])


async def look_ahead(experiment: Experiment, processes: int, *, models: bool) -> Outlook:
    """Have workers load their slots, and play a few episodes of those that ask models, without asking.

    Args:
        experiment: What would be played; all of it can be.
        processes: Session processes.
        models: Whether what models would be asked is estimated.

    Raises:
        NotAllowedError: An operator names code that the person has not allowed.
        UsageError: A worker cannot play its slot.
        SubprocessJobError: An environment ended the process, or did not return.
        MosaicError: An episode could not be played.
    """
    operators = experiment.operators
    asked = {
        "operators": [[operator.to_record(), asdict(operator.origin)] for operator in operators],
        "execution": experiment.execution.to_record(),
        "processes": processes,
        "models": models,
    }
    return msgspec.convert(await play_apart(__name__, asked, operators, env_only=False), Outlook)


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
    # Who asks models loads its slots where they are played without asking: so a server is asked once.
    asking = [o for o in operators if asked["models"] and slots_with(o, DRY_RUN)]
    with HostAhead(wanted=False) as hosts:
        with own_work():  # which waits for no environment longer than it says
            notes = hosts.run(load_all([resolve_operator(o) for o in operators if o not in asking]))
        slots: list[ModelSlot] = []
        if asking:
            slots = hosts.run(estimate_cost(experiment, hosts.open_session, asked["processes"], _run))
        return msgspec.to_builtins(Outlook(notes, slots))


async def _run(run: ExperimentRun) -> RunResult:
    with own_work():  # environments are in session processes
        return await run.run()


if __name__ == "__main__":
    answer_job(_look_ahead)
