"""Trainings that are tasks of a real Ray cluster: two nodes on this one machine."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import psutil
import pytest

from mosaic_worker.training import ask
from tests.cli.test_ray import alone, begun, cluster, head, profile, submission_of
from tests.cli.training.test_remote_train import GROUP, LONG, PPO, SEARCH, learnt, rows_of
from tests.support.commands import Mosaic, experiment
from tests.support.ray import Ray, second_node
from tests.support.training import search_trainer
from tests.support.waiting import LONG_S, eventually

__all__ = ["alone", "cluster", "head"]

STEPS = "6000"
SLOW = "runs/search_CartPole-v1"

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]


def seeds(mosaic: Mosaic, name: str, group: str = GROUP) -> list[Path]:
    """A file of the run folders of seeds 1 and 2, as it is here."""
    return [mosaic.home / group / f"seed{seed}" / name for seed in (1, 2)]


def slow(mosaic: Mosaic, *more: str) -> tuple[str, ...]:
    """A training that takes half a minute and little of a core, by a worker that nodes have as well."""
    worker = mosaic.home / "data" / "workers" / "search_trainer"
    worker.mkdir(parents=True)
    search_trainer(worker)
    return (*SEARCH[:-1], STEPS, "--set", "step_s=0.005", *more)


def steps(folder: Path, event: str) -> list[int]:
    """At which steps a training has said so."""
    return [row["step"] for row in rows_of(folder / "events.jsonl") if row["event"] == event]


def test_a_group_on_two_nodes_is_the_group(mosaic: Mosaic, cluster: Ray) -> None:
    asked = (*PPO, "--steps", "2000", "--seeds", "2")
    here = mosaic(*asked, "--out", "here", "--json")
    assert here.status == 0, here.err
    there = profile(mosaic, cluster.outside)
    done = mosaic(*asked, "--executor", "ray", "--profile", there, "--json")
    assert done.status == 0, done.err
    told = [(row["seed"], row["status"], row["mean_return"]) for row in done.json()["trainings"]]
    assert told == [(row["seed"], row["status"], row["mean_return"]) for row in here.json()["trainings"]]
    for seed in (1, 2):
        assert learnt(mosaic.home / GROUP / f"seed{seed}") == learnt(mosaic.home / "here" / f"seed{seed}")
    assert not list((mosaic.home / "nodes").iterdir()), "nothing is left on a node"
    watched = mosaic("runs", "watch", submission_of(mosaic))
    assert "Seed 2: collected on ray, 2,048 steps, last return " in watched.out


def test_a_training_whose_node_is_lost_goes_on_from_what_was_brought(mosaic: Mosaic, cluster: Ray) -> None:
    asked = slow(mosaic, "--seeds", "2")
    there = profile(mosaic, cluster.address)
    first = begun(mosaic, *asked, "--executor", "ray", "--profile", there)
    eventually(
        lambda: all(file.exists() for file in seeds(mosaic, "events.jsonl", SLOW)), "both are seen here"
    )
    for folder in seeds(mosaic, "", SLOW):
        ask(folder, "checkpoint")
        ask(folder, "pause")
    brought = next(mosaic.home.glob("nodes/*/keeper"))
    eventually(lambda: {"1-1", "2-1"} <= {file.name for file in brought.iterdir()}, "both are brought")
    eventually(lambda: all(steps(folder, "paused") for folder in seeds(mosaic, "", SLOW)), "both stand still")
    # Who follows them is killed, and then a node is lost.
    first.kill()
    first.wait()
    cluster.lose_second()
    for folder in seeds(mosaic, "", SLOW):
        ask(folder, "resume")
    done = mosaic("train", "--resume", submission_of(mosaic), "--json")
    assert done.status == 0, done.err
    assert "begun again" in done.err
    assert {row["status"] for row in done.json()["trainings"]} == {"completed"}
    starts = [steps(folder, "start") for folder in seeds(mosaic, "", SLOW)]
    assert sorted(map(len, starts)) == [1, 2], "the other one has gone on"
    moved = next(folder for folder in seeds(mosaic, "", SLOW) if len(steps(folder, "start")) == 2)
    assert steps(moved, "start")[1] in steps(moved, "checkpoint")
    seed = moved.name.removeprefix("seed")
    whole = mosaic(*SEARCH[:-1], STEPS, "--seeds", f"{seed},", "--out", "here")
    assert whole.status == 0, whole.err
    there, here = (
        json.loads((at / "policy.json").read_text()) for at in (moved, mosaic.home / "here" / moved.name)
    )
    assert (there["total_steps"], there["weights"]) == (here["total_steps"], here["weights"])


def test_who_stops_them_goes_on_with_them_and_one_is_ended_by_its_run_folder(
    mosaic: Mosaic, cluster: Ray
) -> None:
    there = profile(mosaic, cluster.address)
    first = begun(mosaic, *PPO, *LONG, "--seeds", "2", "--executor", "ray", "--profile", there)
    eventually(lambda: all(file.exists() for file in seeds(mosaic, "events.jsonl")), "both are seen here")
    first.send_signal(signal.SIGINT)
    assert first.wait(90) == 130, (mosaic.home / "said").read_text()
    assert "checkpoints are kept" in (mosaic.home / "said").read_text()
    ask(mosaic.home / GROUP / "seed2", "stop")
    done = mosaic("train", "--resume", submission_of(mosaic), "--json")
    assert done.status == 130, done.err
    states = {row["seed"]: row["status"] for row in done.json()["trainings"]}
    assert states[1] == "completed"
    assert "stopped on request: seed 2" in done.err
    starts = steps(mosaic.home / GROUP / "seed1", "start")
    assert len(starts) == 2 and starts[1] > 0, "it goes on where it was"


def test_a_keeper_that_is_killed_is_followed_by_another(mosaic: Mosaic, alone: Ray) -> None:
    there = profile(mosaic, alone.address)
    asked = slow(mosaic, "--seeds", "1")
    first = begun(mosaic, *asked, "--executor", "ray", "--profile", there)
    folder = seeds(mosaic, "", SLOW)[0]
    eventually((folder / "events.jsonl").exists, "it is seen here")
    for wish in ("checkpoint", "pause"):
        ask(folder, wish)
    place = next(mosaic.home.glob("nodes/*/keeper"))
    eventually((place / "1-1").exists, "it is brought")
    token = alone.variables["RAY_AUTH_TOKEN_PATH"]
    keepers = [each for each in psutil.process_iter() if each.name().startswith("ray::Keeper")]
    (keeper,) = (each for each in keepers if each.environ().get("RAY_AUTH_TOKEN_PATH") == token)
    keeper.kill()
    assert first.wait(LONG_S) == 0, (mosaic.home / "said").read_text()
    starts = steps(folder, "start")
    assert len(starts) == 2 and starts[1] >= steps(folder, "checkpoint")[0]


def test_gpus_are_asked_for_and_given(mosaic: Mosaic, alone: Ray) -> None:
    seen = mosaic.home / "seen"
    there = profile(mosaic, alone.address, gpus=1)
    lines = json.dumps(f'echo "$NODE {{CUDA_VISIBLE_DEVICES-none}}" >> {seen}')
    there.write_text(there.read_text().replace("setup:", f"setup:\n- {lines}").replace("{C", "${C"))
    asked = (*PPO, "--steps", "300", "--executor", "ray", "--profile", there)
    refused = mosaic(*asked, "--dry-run")
    assert refused.status == 2
    assert "no node has what a training needs, CPU 1, GPU 1: " in refused.out
    assert not (mosaic.home / "runs").exists(), "nothing is begun"
    with second_node(alone, gpus=1, NODE="second"):
        done = mosaic(*asked)
        assert done.status == 0, done.err
        trained = seen.read_text().splitlines()
        done = mosaic("run", experiment(mosaic.home), "--executor", "ray", "--profile", there)
        assert done.status == 0, done.err
    played = seen.read_text().splitlines()[len(trained) :]
    for lines in (trained, played):
        assert "second 0" in lines and {line.split()[0] for line in lines} == {"second"}
