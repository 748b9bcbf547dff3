"""Implements ``mosaic daemon``: runs, stops and inspects the trainer daemon."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gym_gui.analysis.words.wording import duration
from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import write_json, write_line
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.starting import stop_daemon
from gym_gui.services.trainer.training_records import Health, TrainingRecord

if TYPE_CHECKING:
    from gym_gui.services.trainer.daemon import DaemonSettings


def run_daemon(settings: DaemonSettings) -> int:
    """Run the trainer daemon of the data folder until a signal arrives or its idle time is over.

    Raises:
        UsageError: Another daemon serves the folder, or the settings are invalid.
    """
    from gym_gui.services.trainer.daemon import serve

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(serve(bootstrap_default_services().store, settings))
    return DONE


def stop(*, as_json: bool = False) -> int:
    """Stop the trainer daemon of the data folder, whose trainings continue; return the exit status."""
    stopped = stop_daemon(bootstrap_default_services().store)
    if as_json:
        write_json({"stopped": stopped is not None, "pid": stopped.pid if stopped else None})
    elif stopped is None:
        write_line("No trainer daemon is running.")
    else:
        write_line(f"Stopped (process {stopped.pid}). Running trainings go on.")
    return DONE


def cancel_run(run_id: str, *, as_json: bool = False) -> int:
    """Request that a training save its policy and end; return the exit status."""

    from gym_gui.services.trainer.trainer_client import TrainerClient

    async def cancel() -> None:
        client = await TrainerClient.connect(bootstrap_default_services().store, start=False)
        try:
            await client.cancel(run_id)
        finally:
            await client.close()

    asyncio.run(cancel())
    if as_json:
        write_json({"cancelled": run_id})
    else:
        write_line(f"Stopping: {run_id} saves its policy. To end it at once, cancel it again.")
    return DONE


def show_status(*, as_json: bool = False) -> int:
    """Print the state of the daemon and its trainings; return 1 if there is no daemon."""
    store = bootstrap_default_services().store
    address = find(store)
    if address is None:
        if as_json:
            write_json({"running": False})
        else:
            write_line("No trainer daemon is running. It starts with the first training in the background.")
        return WORK_FAILED
    health, runs = asyncio.run(_health_and_runs(store))
    if as_json:
        write_json({"running": True, **asdict(health), "tcp": address.tcp, "runs": list(map(_row, runs))})
        return DONE
    write_line(f"Trainer daemon of {health.data_folder}: process {health.pid}, MOSAIC {health.version}")
    write_line(f"Up for {duration(health.uptime_s)}; log: {health.log}")
    if address.tcp:
        write_line(f"On TCP: {address.tcp}; token: {address.token}")
    gpus = f", GPUs {', '.join(health.gpus)}" if health.gpus else ", no GPU"
    write_line(f"Machine: {health.cores} cores, {health.memory_mb:,} MB{gpus}")
    write_line(f"Runs: {health.running} on the machine, {health.queued} waiting (room for {health.capacity})")
    for run in runs:
        if not run.has_ended:
            write_line(f"  {_line(run)}")
    return DONE


async def _health_and_runs(store: Store) -> tuple[Health, list[TrainingRecord]]:
    from gym_gui.services.trainer.trainer_client import TrainerClient

    client = await TrainerClient.connect(store, start=False)
    try:
        return await client.health(), await client.runs()
    finally:
        await client.close()


def _line(run: TrainingRecord) -> str:
    what = f"{run.run_id}  {run.state:<9} {run.algorithm} in {run.env_id}"
    if run.place:
        what += f" on {run.place}"
    if run.total_steps:
        what += f", {run.step:,} of {run.total_steps:,} steps"
    if run.position:
        what += f", position {run.position}"
    return f"{what} ({run.reason})" if run.reason else what


def _row(run: TrainingRecord) -> dict[str, Any]:
    return asdict(run)
