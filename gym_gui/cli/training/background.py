"""Implements ``mosaic train --background``: queues trainings at the trainer daemon."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gym_gui.cli.errors import DONE
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.named_training_groups import group_name
from gym_gui.services.bootstrap import Services, bootstrap_default_services
from gym_gui.services.store import Store
from gym_gui.services.trainer import TrainRequest
from gym_gui.services.trainer.request import SavedRequest
from gym_gui.services.trainer.trainer_client import TrainerClient
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.training_groups import setting_difference
from gym_gui.services.worker_orchestrator import UnifiedRunConfig


def queue_trainings(requests: Sequence[TrainRequest], *, priority: int = 0, as_json: bool = False) -> int:
    """Queue checked trainings at the daemon and print their run folders.

    Trainings of a group that are finished, waiting or running stay unchanged; stopped trainings are resumed.

    Args:
        requests: One training, or the trainings of a group.
        priority: Priority; higher numbers start first.
        as_json: Whether to print one JSON object on stdout.

    Returns:
        Exit status.

    Raises:
        UsageError: The trainings have undeclared options, or other settings than their group.
        MosaicError: The daemon could not be started.
    """
    first = requests[0]
    if first.extra:
        raise UsageError(
            f"{first.extra[0]} is no setting that {first.definition.type_id} declares",
            fix="With --background, give declared settings only, as --set NAME=VALUE",
        )
    services = bootstrap_default_services()
    if first.group:
        return _print_group(requests, asyncio.run(_submit_group(services, requests, priority)), as_json)
    resume_of = _known_run(first.out, services.store) if first.resume else ""
    run = asyncio.run(_submit(services, first, priority, resume_of))
    if as_json:
        write_json({"run_id": run.run_id, "state": run.state, "out": str(run.folder)})
        return DONE
    write_line(f"Queued:  {run.run_id}")
    write_line(f"Folder:  {run.folder}")
    write_line("\nStatus:  mosaic daemon --status, or the Train page of the window (mosaic)")
    write_line(f"Cancel:  mosaic daemon --cancel {run.run_id}")
    return DONE


def _print_group(requests: Sequence[TrainRequest], runs: Sequence[TrainingRecord], as_json: bool) -> int:
    name = group_name(requests[0].group, requests[0].env_id)
    if as_json:
        rows = [
            {"seed": run.seed, "run_id": run.run_id, "state": run.state, "out": str(run.folder)}
            for run in runs
        ]
        write_json({"group": name, "trainings": rows})
        return DONE
    write_line(f"Group:   {name}")
    for run in runs:
        write_line(f"Seed {run.seed}: {run.state}, {run.run_id}")
    write_line("\nStatus:  mosaic daemon --status, or the Train page of the window (mosaic)")
    write_line(f"Report when they are done:  mosaic report {name}")
    return DONE


def _config(request: TrainRequest) -> UnifiedRunConfig:
    return UnifiedRunConfig(
        task=request.env_id,
        worker_type=request.definition.type_id,
        algorithm=request.algo,
        seed=request.seed,
        settings=request.settings,
        group=request.group,
    )


async def _submit(services: Services, request: TrainRequest, priority: int, resume_of: str) -> TrainingRecord:
    client = await TrainerClient.connect(services.store)
    try:
        run_id = await services.new_orchestrator(client).submit_run(
            _config(request), title=request.title, priority=priority, resume_of=resume_of
        )
        return next(run for run in await client.runs() if run.run_id == run_id)
    finally:
        await client.close()


async def _submit_group(
    services: Services, requests: Sequence[TrainRequest], priority: int
) -> Sequence[TrainingRecord]:
    client = await TrainerClient.connect(services.store)
    try:
        about = requests[0]
        known = [r for r in await client.runs() if (r.group, r.env_id) == (about.group, about.env_id)]
        for run in known:
            if difference := setting_difference(
                SavedRequest.read(run.folder), replace(about.train_json, seed=run.seed)
            ):
                raise UsageError(
                    f"run {run.run_id} of this group was trained with other settings: {difference}",
                    fix="Choose another name for the group: --group NAME",
                )
        ids: list[str] = []
        for request in requests:
            of_seed = [run for run in known if run.seed == request.seed]
            there = next((run for run in of_seed if run.state == "completed" or not run.has_ended), None)
            if there is not None:
                ids.append(there.run_id)
                continue
            again = next((run.run_id for run in reversed(of_seed) if run.policy), "")
            submit = services.new_orchestrator(client).submit_run
            ids.append(await submit(_config(request), priority=priority, resume_of=again))
        runs = {run.run_id: run for run in await client.runs()}
        return [runs[run_id] for run_id in ids]
    finally:
        await client.close()


def _known_run(folder: Path, store: Store) -> str:
    """Return the id of a run of the daemon, which is the name of the run folder.

    Raises:
        UsageError: The folder is not in the daemon's folder of trainings.
    """
    if folder.parent != store.data_dir("training").absolute():
        raise UsageError(
            f"{folder} was not trained in the background",
            fix="Resume it in the foreground: leave out --background",
        )
    return folder.name
