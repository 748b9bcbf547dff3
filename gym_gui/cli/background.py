"""``mosaic train --background``: the training goes to the daemon, and the terminal is free."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gym_gui.cli.errors import DONE
from gym_gui.cli.output import write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.services.store import Store
from gym_gui.services.trainer import TrainRequest
from gym_gui.services.trainer.client import TrainerClient
from gym_gui.services.trainer.records import TrainingRecord
from gym_gui.services.worker_orchestrator import UnifiedRunConfig


def queue_training(request: TrainRequest, *, priority: int = 0, as_json: bool = False) -> int:
    """Hand a training that was checked to the daemon, and say where it is found.

    Args:
        request: The training.
        priority: Higher runs first.
        as_json: Say it as one JSON object on stdout.

    Returns:
        Exit status.

    Raises:
        UsageError: It cannot be trained in the background as it is.
        MosaicError: The daemon could not be started.
    """
    if request.extra:
        raise UsageError(
            f"{request.extra[0]} is an option that only {request.definition.type_id} knows",
            fix="In the background, give settings that it describes, as --set NAME=VALUE",
        )
    store = Store()
    resume_of = _known_run(request.out, store) if request.resume else ""
    run = asyncio.run(_submit(store, request, priority, resume_of))
    if as_json:
        write_json({"run_id": run.run_id, "state": run.state, "out": str(run.folder)})
        return DONE
    write_line(f"Queued:  {run.run_id}")
    write_line(f"Folder:  {run.folder}")
    write_line("\nHow it is: mosaic daemon --status, or the Train page of the window (mosaic)")
    write_line(f"End it:    mosaic daemon --cancel {run.run_id}")
    return DONE


async def _submit(store: Store, request: TrainRequest, priority: int, resume_of: str) -> TrainingRecord:
    config = UnifiedRunConfig(
        task=request.env_id,
        worker_type=request.definition.type_id,
        algorithm=request.algo,
        seed=request.seed,
        settings=request.settings,
    )
    client = await TrainerClient.connect(store)
    try:
        run_id = await client.submit(config, title=request.title, priority=priority, resume_of=resume_of)
        return next(run for run in await client.runs() if run.run_id == run_id)
    finally:
        await client.close()


def _known_run(folder: Path, store: Store) -> str:
    """The daemon knows runs by their id, which is the name of a folder of its own."""
    if folder.parent != store.data_dir("training").absolute():
        raise UsageError(
            f"{folder} was not trained in the background",
            fix="Go on with it in the foreground: leave out --background",
        )
    return folder.name
