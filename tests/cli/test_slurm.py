"""Experiments that are played as jobs of a real Slurm, on this one machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from gym_gui.analysis import compare_runs
from gym_gui.host.socket_folder import SocketFolder
from gym_gui.processes.tree import TAG
from tests.support.commands import COMMAND, Mosaic, experiment
from tests.support.little_workers import PATIENT, little_worker
from tests.support.runs import Gate
from tests.support.slurm import Cluster, slurm
from tests.support.waiting import eventually

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]

TWO = ({"id": "chance"}, {"id": "turns", "workers": {"agent": {"type": "baseline", "behavior": "cycle"}}})


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with slurm(tmp_path / "slurm") as variables:
        yield variables


def profile(mosaic: Mosaic, /, **more: object) -> Path:
    kept = {"MOSAIC_RUNTIME_DIR": mosaic.env["MOSAIC_RUNTIME_DIR"], "SDL_VIDEODRIVER": "dummy"}
    data = {
        "partition": "short",
        "time": "10",
        "cpus": 1,
        "mosaic": f"{sys.executable} -m gym_gui",
        "processes": 1,
        "setup": [f"export {key}='{value}'" for key, value in kept.items()],
        **more,
    }
    file = mosaic.home / "slurm.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


def test_it_is_decided_as_it_is_here(mosaic: Mosaic, cluster: dict[str, str]) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=40, until="decided", batch=10)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    asked = ("run", file, "--executor", "slurm", "--profile", profile(mosaic))
    done = mosaic(*asked, "--shards", "2", "--json", **cluster)
    assert done.status == 0, done.err
    merged = Path(done.json()["run"])
    assert compare_runs(whole, merged) is None
    one, other = (json.loads((run / "run.json").read_text()) for run in (whole, merged))
    assert one["looks"] == other["looks"] and one["episodes"] == other["episodes"]


def submission_of(mosaic: Mosaic) -> Path:
    return next((mosaic.home / "runs" / "submissions").iterdir())


def test_an_experiment_as_jobs_is_the_experiment(mosaic: Mosaic, cluster: Cluster) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=6)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    asked = ("run", file, "--executor", "slurm", "--profile", profile(mosaic))
    # More shards than an array of this site has tasks.
    done = mosaic(*asked, "--shards", "12", "--json", **cluster)
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None
    assert not (submission_of(mosaic) / "cluster").exists(), "what nodes were given is removed"


def test_a_tournament_as_jobs_is_the_tournament(mosaic: Mosaic, cluster: dict[str, str]) -> None:
    pool = {"random": {"type": "random"}, "cycle": {"type": "baseline", "behavior": "cycle"}}
    file = mosaic.home / "pool.yaml"
    data = {"task": "tictactoe_v3", "policies": pool, "execution": {"seeds": [0, 1], "processes": 1}}
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    whole = mosaic.home / mosaic("tournament", file, "--json").json()["run"]
    asked = (
        "tournament",
        file,
        "--executor",
        "slurm",
        "--profile",
        profile(mosaic),
        "--shards",
        "2",
        "--json",
    )
    done = mosaic(*asked, **cluster)
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None


def test_a_job_that_is_ended_is_begun_again_and_a_killed_coordinator_followed(
    mosaic: Mosaic, cluster: Cluster
) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=120)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    asked = ("run", file, "--executor", "slurm", "--profile", profile(mosaic), "--shards", "4")
    environment = {name: value for name, value in {**mosaic.env, **cluster}.items() if name != TAG}
    first = subprocess.Popen(
        [*COMMAND, *map(str, asked)],
        cwd=mosaic.home,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(mosaic.home / "said").open("wb"),
    )
    rows = "runs/submissions/*/cluster/work/*/runs/*/operators/*/episodes.jsonl"
    eventually(lambda: any(f.stat().st_size for f in mosaic.home.glob(rows)), "a job plays")
    first.kill()
    first.wait()
    job = next(submission_of(mosaic).glob("cluster/arrays/*.job")).read_text()
    subprocess.run(["scancel", f"{job}_1"], env={**os.environ, **cluster}, check=True)
    done = mosaic("run", "--resume", submission_of(mosaic), "--json", **cluster)
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    assert {row["tries"] for row in record["shards"].values()} <= {1, 2}


def test_who_stops_it_while_all_of_it_waits_has_it_out_of_the_queue(mosaic: Mosaic, cluster: Cluster) -> None:
    cluster.ask("scontrol", "update", "PartitionName=short", "State=DOWN")
    asked = ("run", experiment(mosaic.home, num_episodes=4), "--executor", "slurm", "--shards", "4")
    playing = subprocess.Popen(
        [*COMMAND, *map(str, asked), "--profile", str(profile(mosaic))],
        cwd=mosaic.home,
        env={name: value for name, value in {**mosaic.env, **cluster}.items() if name != TAG},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: cluster.ask("squeue", "-h", "-r").count("\n") == 4, "all of it waits", 30)
    playing.send_signal(signal.SIGINT)
    assert "may still be running" not in playing.communicate(timeout=60)[1]
    assert playing.returncode == 130
    assert cluster.ask("squeue", "-h") == ""
    cluster.ask("scontrol", "update", "PartitionName=short", "State=UP")
    done = mosaic("run", "--resume", submission_of(mosaic), "--json", **cluster)
    assert done.status == 0, done.err


def test_what_the_scheduler_refuses_is_one_line(mosaic: Mosaic, cluster: Cluster) -> None:
    file = experiment(mosaic.home)
    asked = ("run", file, "--executor", "slurm", "--profile", profile(mosaic, partition="nowhere"))
    done = mosaic(*asked, **cluster)
    assert done.status == 2
    assert "sbatch: " in done.err and "invalid partition" in done.err.lower(), done.err
    said = mosaic(*asked, "--dry-run", **cluster)
    assert said.status == 2 and "invalid partition" in said.out.lower(), said.out
    right = ("run", file, "--executor", "slurm", "--profile", profile(mosaic), "--dry-run")
    assert mosaic(*right, **cluster).status == 0


ONE_ACCOUNT = """
function slurm_job_submit(job, partitions, user)
    return job.account == "lab" and slurm.SUCCESS or slurm.ESLURM_INVALID_ACCOUNT
end
function slurm_job_modify(job, asked, partitions, user) return slurm.SUCCESS end
return slurm.SUCCESS
"""
"""Where no data base of accounts is, a site's own script says which there are."""


def test_accounts_and_gpus_are_asked_for_and_given(mosaic: Mosaic, tmp_path: Path) -> None:
    file, seen = experiment(mosaic.home, *TWO), mosaic.home / "seen"
    host = socket.gethostname().partition(".")[0]
    node = f"{host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 Gres=gpu:1 State=UNKNOWN"
    files = {"job_submit.lua": ONE_ACCOUNT, "gres.conf": "Name=gpu File=/dev/null\n"}
    more = {"JobSubmitPlugins": "lua", "GresTypes": "gpu", "NodeName": node}
    asked = ("run", file, "--executor", "slurm", "--json", "--profile")
    with slurm(tmp_path / "slurm", files, **more) as cluster:
        refused = mosaic(*asked, profile(mosaic, account="nobody"), **cluster)
        assert refused.status == 2
        assert "sbatch: " in refused.err and "Invalid account" in refused.err, refused.err
        refused = mosaic(*asked, profile(mosaic, account="lab", gpus=2), **cluster)
        assert refused.status == 2
        assert "Requested node configuration is not available" in refused.err, refused.err
        there = profile(mosaic, account="lab", gpus=1)
        data = yaml.safe_load(there.read_text())
        data["setup"].append(f'echo "${{CUDA_VISIBLE_DEVICES-none}}" >>{seen}')
        there.write_text(yaml.safe_dump(data))
        done = mosaic(*asked, there, "--shards", "2", **cluster)
    assert done.status == 0, done.err
    assert seen.read_text().splitlines() == ["0", "0"]


def test_another_version_on_nodes_is_one_line(mosaic: Mosaic, cluster: Cluster) -> None:
    other = mosaic.home / "other version"
    other.write_text("#!/bin/sh\necho mosaic 0.0.1\n")
    other.chmod(0o755)
    there = profile(mosaic, mosaic=f"'{other}'")
    done = mosaic("run", experiment(mosaic.home), "--executor", "slurm", "--profile", there, **cluster)
    assert done.status == 2
    assert "slurm refuses shard 1 of " in done.err, done.err
    assert ": has mosaic 0.0.1, but this machine has mosaic " in done.err
    assert cluster.ask("squeue", "-h") == "", "nothing is left in the queue"
    resume = done.err.rsplit("mosaic run --resume ", 1)[1].split()[0]
    done = mosaic("run", "--resume", resume, "--profile", profile(mosaic), "--json", **cluster)
    assert done.status == 0, done.err


def test_jobs_that_can_never_begin_are_one_line(mosaic: Mosaic, cluster: Cluster) -> None:
    file = experiment(mosaic.home)
    asked = ("run", file, "--executor", "slurm", "--profile")
    # This site takes such a job, and has it wait for ever.
    done = mosaic(*asked, profile(mosaic, time="2:00:00"), **cluster)
    assert done.status == 2
    assert "slurm: the jobs can never start (PartitionTimeLimit)" in done.err, done.err
    assert cluster.ask("squeue", "-h") == "", "nothing is left in the queue"
    done = mosaic(*asked, profile(mosaic, memory="900G"), **cluster)
    assert (done.status, "Requested node configuration is not available" in done.err) == (2, True), done.err
    # Its controller is gone: nothing was handed in, and the submission can be resumed.
    cluster.kill("slurmctld")
    done = mosaic(*asked, profile(mosaic), **cluster)
    assert done.status == 2
    assert "Unable to contact slurm controller" in done.err, done.err
    cluster.start("slurmctld")
    eventually(lambda: cluster.ask("sinfo", "-h", "-o", "%t").strip() == "idle", "the node is idle", 60)
    resume = done.err.rsplit("mosaic run --resume ", 1)[1].split()[0]
    done = mosaic("run", "--resume", resume, "--json", **cluster)
    assert done.status == 0, done.err


def waiting(mosaic: Mosaic, gate: Gate, at: int, **more: object) -> tuple[str | Path, ...]:
    """What plays five episodes one after the other, as one shard; from episode ``at`` on it waits."""
    little_worker(mosaic.home / "data/workers", PATIENT, "patient_worker")
    player = {"type": "baseline", "worker_id": "patient_worker", "settings": {"at": at}}
    file = experiment(mosaic.home, {"workers": {"agent": player}}, num_episodes=5, concurrency=1)
    place = profile(mosaic, **more)
    data = yaml.safe_load(place.read_text())
    gates = {"MOSAIC_TEST_GATE": gate.folder, "MOSAIC_DATA_DIR": mosaic.home / "data"}
    data["setup"] += [f"export {name}='{folder}'" for name, folder in gates.items()]
    place.write_text(yaml.safe_dump(data))
    return ("run", file, "--trust", "--executor", "slurm", "--profile", place, "--shards", "1", "--json")


def test_a_job_that_is_killed_for_memory_is_named(mosaic: Mosaic, tmp_path: Path) -> None:
    gather = {"JobAcctGatherType": "jobacct_gather/linux", "JobAcctGatherParams": "OverMemoryKill"}
    gather["SelectTypeParameters"] = "CR_CPU_Memory"
    asked = waiting(mosaic, Gate(mosaic.home / "gate"), 0, memory="40M")
    with slurm(tmp_path / "slurm", JobAcctGatherFrequency="task=1", **gather) as cluster:
        done = mosaic(*asked, **cluster)
    assert done.status == 1
    assert "shard 1 of 1 is missing: slurm: Exceeded job memory limit" in done.err, done.err
    # A process killed with it may have left a socket folder, which the next process to make one removes.
    SocketFolder(Path(mosaic.env["MOSAIC_RUNTIME_DIR"])).remove()


def test_a_job_whose_time_is_over_keeps_what_it_has_and_is_gone_on_with(
    mosaic: Mosaic, cluster: Cluster
) -> None:
    gate = Gate(mosaic.home / "gate")
    asked = waiting(mosaic, gate, 3, time="2")
    with ThreadPoolExecutor(1) as pool:
        playing = pool.submit(
            subprocess.run,
            [*COMMAND, *map(str, asked)],
            cwd=mosaic.home,
            env={name: value for name, value in {**mosaic.env, **cluster}.items() if name != TAG},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        gate.reached()
        first = next((mosaic.home / "runs/submissions").glob("*/cluster/work/1/1"))
        eventually((first / "code").exists, "it is asked to end in time, and ends")
        gate.open()
        done = playing.result()
    assert done.returncode == 0, done.stderr
    assert "begun again" in done.stderr
    run = Path(json.loads(done.stdout)["run"])
    lines = (run / "operators/op_0/episodes.jsonl").read_text().splitlines()
    assert [json.loads(line)["episode_index"] for line in lines] == [0, 1, 2, 3, 4]
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    assert record["shards"]["1"]["tries"] == 2
