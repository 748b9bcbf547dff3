"""Runs on other machines in the hands of a real daemon: shown, told what to do, and taken leave of."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.run_lock import lock_run
from gym_gui.services.store import Store
from gym_gui.services.trainer.remote_training import (
    FAILED,
    RUNNING,
    WAITING,
    RemoteTraining,
    announce,
    read_remote_training,
    write_remote_training,
)
from gym_gui.services.trainer.trainer_client import TrainerClient
from gym_gui.services.trainer.training_folder import RunFolder
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainings.training_groups import read_member
from gym_gui.workers.manifest import read_manifest
from tests.services.trainer.conftest import over, reached
from tests.support.training import search_request

RUN = "01ELSEWHERE"


@pytest.fixture
def folder(store: Store, tmp_path: Path) -> Path:
    """The run folder of a training that waits on another machine, which the daemon is told of."""
    worker = read_manifest(store.data / "workers" / "search_trainer" / "worker.toml")
    request = search_request(worker, tmp_path / "runs" / "seed1", total_steps=100)
    request = replace(request, group="search")
    request.out.mkdir(parents=True)
    (tmp_path / "submission").mkdir()
    RunFolder(request.out).write("train.json", request.row())
    write_remote_training(request.out, RemoteTraining(tmp_path / "submission", "ssh"))
    announce(store.data_dir("training"), RUN, request.out)
    return request.out


@pytest.fixture
def coordinator(folder: Path) -> Iterator[Path]:
    """The submission of the training, which a process follows."""
    submission = folder.parents[1] / "submission"
    lock = lock_run(submission)
    yield submission
    os.close(lock)


def says(folder: Path, **event: object) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps(event) + "\n")


async def test_a_run_elsewhere_is_shown_and_stopped(
    client: TrainerClient, folder: Path, coordinator: Path
) -> None:
    waits = await reached(client, RUN, lambda r: r.state == "queued")
    assert (waits.place, waits.reason, waits.group, waits.position) == ("ssh", "waits on ssh", "search", 0)
    write_remote_training(folder, RemoteTraining(coordinator, "one", RUNNING))
    says(folder, event="start", step=0, total_steps=100)
    says(folder, event="progress", step=40, total_steps=100, mean_return=9.5, episodes=4, steps_per_s=20.0)
    runs = await reached(client, RUN, lambda r: r.step == 40)
    assert (runs.state, runs.place, runs.mean_return, runs.total_steps) == ("running", "one", 9.5, 100)
    await client.pause(RUN)
    await client.cancel(RUN)
    wishes = [json.loads(line)["do"] for line in (folder / "control.jsonl").read_text().splitlines()]
    assert wishes == ["pause", "stop"]
    stops = await reached(client, RUN, lambda r: r.state == "stopping")
    assert stops.reason == "asked to stop"
    # It comes here as it was when it ended there.
    says(folder, event="done", status="stopped", step=60, mean_return=None, wall_s=3.0)
    (folder / "policy.json").write_text("{}")
    (folder / "runner.json").write_text(json.dumps({"pid": 1, "born": "elsewhere/1", "events_at": 0}))
    (folder / "exit.json").write_text(json.dumps({"status": 130, "cause": "asked", "ended_at": 5.0}))
    (folder / "elsewhere.json").unlink()
    ended = await over(client, RUN)
    assert (ended.state, ended.step, ended.policy, ended.place) == ("stopped", 60, str(folder), "one")
    await client.remove(RUN)
    assert await client.runs() == []
    assert folder.is_dir(), "it is no folder of the daemon's own"


async def test_a_run_that_nobody_follows_says_how_it_goes_on(client: TrainerClient, folder: Path) -> None:
    waits = await reached(client, RUN, lambda r: bool(r.reason))
    assert (
        waits.reason
        == f"no process follows it; to continue, run: mosaic train --resume {folder.parents[1]}/submission"
    )
    with pytest.raises(UsageError, match=f"no process follows run {RUN} on ssh"):
        await client.cancel(RUN)


async def test_one_that_failed_and_is_gone_on_with_is_shown_again(
    client: TrainerClient, store: Store, folder: Path, coordinator: Path
) -> None:
    write_remote_training(folder, RemoteTraining(coordinator, "one", FAILED, "one: its process was lost"))
    ended = await over(client, RUN)
    assert (ended.state, ended.reason) == ("failed", "one: its process was lost")
    write_remote_training(folder, RemoteTraining(coordinator, "one", WAITING))
    announce(store.data_dir("training"), RUN, folder)
    await reached(client, RUN, lambda r: r.state == "queued")


def test_a_training_that_is_elsewhere_is_not_begun_here(store: Store, folder: Path) -> None:
    member = read_member(folder)
    assert member is not None and (member.state, member.reason) == ("waiting", "it is on ssh")
    worker = read_manifest(store.data / "workers" / "search_trainer" / "worker.toml")
    request = search_request(worker, folder)
    with pytest.raises(UsageError, match=r"is on another machine \(ssh\).*mosaic train --resume"):
        TrainingProcess.launch(request)
    assert read_remote_training(folder) is not None
    begun = TrainingProcess.launch(replace(request, overwrite=True))
    assert begun.wait(60)
    outcome = begun.outcome()
    assert outcome is not None and outcome.state == "completed"
    assert read_remote_training(folder) is None
