"""Trainings on other machines: a real sshd on loopback and a real Slurm, on this one machine."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from gym_gui.processes.tree import TAG
from gym_gui.services.submissions.shell import TOKEN
from gym_gui.services.submissions.submission_record import open_submission
from mosaic_worker.training import ask
from tests.cli.test_submissions import begun, profile, submission_of
from tests.support.commands import COMMAND, Mosaic
from tests.support.slurm import slurm
from tests.support.sshd import Sshd, sshd
from tests.support.training import search_trainer
from tests.support.waiting import EXPERIMENT_S, eventually

PPO = (
    *("train", "--worker", "cleanrl_worker", "--algo", "ppo", "--env", "CartPole-v1"),
    *("--set", "num_envs=4", "--set", "num_steps=64"),
)
SEARCH = ("train", "--worker", "search_trainer", "--algo", "search", "--env", "CartPole-v1", "--steps", "200")
LONG = ("--steps", "40000")
"""Enough to be interrupted in."""
GROUP = "runs/ppo_CartPole-v1"
_T = TypeVar("_T")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as found:
        yield found


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[dict[str, str]]:
    with slurm(tmp_path / "slurm") as variables:
        yield variables


def learnt(folder: Path) -> tuple[str, list[Any], list[Any]]:
    """What a training has come to: its weights, its episodes and its metrics, without times."""
    weights = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    metrics = rows_of(folder / "metrics.jsonl")
    return (
        weights,
        [(row["step"], row["return"], row["length"]) for row in rows_of(folder / "episodes.jsonl")],
        [(row["step"], {k: v for k, v in row["m"].items() if "SPS" not in k}) for row in metrics],
    )


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def in_time(command: subprocess.Popen[bytes], mosaic: Mosaic, condition: Callable[[], _T], what: str) -> _T:
    """:func:`eventually` while a command runs; a failure shows what the command has said."""

    def met() -> _T:
        found = condition()
        assert found or command.poll() is None, f"the command ended before: {what}"
        return found

    try:
        return eventually(met, what)
    except AssertionError as error:
        raise AssertionError(f"{error}; it said: {(mosaic.home / 'said').read_text()}") from None


def kept(mosaic: Mosaic, host: str) -> list[Path]:
    """Run folders on a host in which there is a checkpoint to resume."""
    return [file.parent for file in (mosaic.home / host).glob("*/work/*/runs/*/seed*/state/*")]


@pytest.mark.full
def test_a_group_on_two_hosts_is_the_group(mosaic: Mosaic, server: Sshd) -> None:
    asked = (*PPO, "--steps", "2000", "--seeds", "3")
    here = mosaic(*asked, "--out", "here", "--json")
    assert here.status == 0, here.err
    hosts = profile(mosaic, server, "one", "two")
    tried = mosaic(*asked, "--executor", "ssh", "--profile", hosts, "--dry-run")
    assert (tried.status, "6,000 steps in 3 trainings." in tried.out) == (0, True), tried.out + tried.err
    assert "plays 1 training at once" in tried.out
    assert not (mosaic.home / "runs").exists(), "nothing is begun"
    done = mosaic(*asked, "--executor", "ssh", "--profile", hosts, "--json")
    assert done.status == 0, done.err
    told = [(row["seed"], row["status"], row["mean_return"]) for row in done.json()["trainings"]]
    assert told == [(row["seed"], row["status"], row["mean_return"]) for row in here.json()["trainings"]]
    for seed in (1, 2, 3):
        assert learnt(mosaic.home / GROUP / f"seed{seed}") == learnt(mosaic.home / "here" / f"seed{seed}")
    assert not list((mosaic.home / "one").iterdir()), "nothing is left on a host"
    assert "ppo has a mean return of" in mosaic("report", "ppo_CartPole-v1").out
    watched = mosaic("runs", "watch", submission_of(mosaic))
    assert watched.status == 0
    assert "Seed 2: collected on " in watched.out and "2,048 steps, last return " in watched.out
    # A coordinator that was killed before all was removed leaves what it has sent, with its token.
    submission = open_submission(submission_of(mosaic))
    assert submission.cleared
    submission.cleared = False
    submission.save()
    name = submission.folder.name
    handed_in = json.loads((mosaic.home / "data" / "submissions" / f"{name}.json").read_text())
    left = mosaic.home / "one" / name
    left.mkdir()
    (left / TOKEN).write_text(f"{handed_in['token']}\n")
    again = mosaic("train", "--resume", submission.folder)
    assert again.status == 0, again.err
    assert not list((mosaic.home / "one").iterdir()) and open_submission(submission.folder).cleared
    # Said again, with a seed more, that one alone is trained.
    more = mosaic(*asked[:-1], "1,4", "--executor", "ssh", "--profile", hosts)
    assert more.status == 0, more.err
    assert "seed 1 is trained already" in more.err and "1 of 1 trainings done" in more.out


@pytest.mark.full
def test_a_training_that_was_killed_goes_on_from_its_checkpoint(mosaic: Mosaic, server: Sshd) -> None:
    hosts = profile(mosaic, server, "one")
    asked = (*PPO, *LONG, "--seeds", "1", "--executor", "ssh", "--profile", hosts)
    first = begun(mosaic, *asked)
    in_time(first, mosaic, (mosaic.home / GROUP / "seed1/events.jsonl").exists, "it is seen here")
    ask(mosaic.home / GROUP / "seed1", "checkpoint")
    run = in_time(first, mosaic, lambda: kept(mosaic, "one"), "a checkpoint is kept")[0].parent
    told = run / "events.jsonl"  # which a training that is killed in between has not written yet
    in_time(first, mosaic, lambda: '"checkpoint"' in told.read_text(), "it says that one is kept")
    # The coordinator is killed, and then the training: both are resumed.
    first.kill()
    first.wait()
    runner = json.loads((run / "runner.json").read_text())
    os.kill(runner["pid"], signal.SIGKILL)
    done = mosaic("train", "--resume", submission_of(mosaic), "--json")
    assert done.status == 0, done.err
    assert "The training with seed 1, one: " in done.err and "begun again" in done.err
    assert done.json()["trainings"][0]["status"] == "completed"
    rows = [
        json.loads(line) for line in (mosaic.home / GROUP / "seed1/events.jsonl").read_text().splitlines()
    ]
    starts = [row["step"] for row in rows if row["event"] == "start"]
    checkpoints = [row["step"] for row in rows if row["event"] == "checkpoint"]
    assert len(starts) == 2 and starts[1] in checkpoints, "it goes on where its last checkpoint is"
    whole = mosaic(*PPO, *LONG, "--seeds", "1", "--out", "here")
    assert whole.status == 0, whole.err
    assert learnt(mosaic.home / GROUP / "seed1")[0] == learnt(mosaic.home / "here/seed1")[0]


@pytest.mark.full
def test_who_stops_it_goes_on_with_it_and_one_is_ended_by_its_run_folder(
    mosaic: Mosaic, server: Sshd
) -> None:
    hosts = profile(mosaic, server, "one", shards=2)
    first = begun(mosaic, *PPO, *LONG, "--seeds", "2", "--executor", "ssh", "--profile", hosts)
    seen = [mosaic.home / GROUP / f"seed{seed}/events.jsonl" for seed in (1, 2)]
    in_time(first, mosaic, lambda: all(file.exists() for file in seen), "both are seen here")
    first.send_signal(signal.SIGINT)
    assert first.wait(60) == 130, (mosaic.home / "said").read_text()
    assert "checkpoints are kept" in (mosaic.home / "said").read_text()
    here = mosaic(*PPO, *LONG, "--seeds", "2")
    assert here.status == 2
    assert "is on another machine (one). Resume it there with mosaic train --resume " in here.line
    ask(mosaic.home / GROUP / "seed2", "stop")
    done = mosaic("train", "--resume", submission_of(mosaic), "--json")
    assert done.status == 130, done.err
    states = {row["seed"]: row["status"] for row in done.json()["trainings"]}
    assert states[1] == "completed"
    assert "stopped on request: seed 2" in done.err


@pytest.mark.full
def test_one_training_as_a_job_is_gone_on_with_after_a_pre_emption(
    mosaic: Mosaic, cluster: dict[str, str]
) -> None:
    variables = {"MOSAIC_RUNTIME_DIR": mosaic.env["MOSAIC_RUNTIME_DIR"], "SDL_VIDEODRIVER": "dummy"}
    file = mosaic.home / "slurm.yaml"
    data = {
        "partition": "short",
        "time": "10",
        "cpus": 1,
        "mosaic": f"{sys.executable} -m gym_gui",
        "setup": [f"export {key}='{value}'" for key, value in variables.items()],
    }
    file.write_text(yaml.safe_dump(data))
    asked = (*PPO, *LONG, "--seed", "5", "--executor", "slurm", "--profile", file)
    environment = {name: value for name, value in {**mosaic.env, **cluster}.items() if name != TAG}
    with (mosaic.home / "said").open("wb") as said:
        first = subprocess.Popen(
            [*COMMAND, *map(str, asked)],
            cwd=mosaic.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    folder = mosaic.home / "runs/ppo_CartPole-v1_seed5"
    in_time(first, mosaic, (folder / "events.jsonl").exists, "it is seen here")
    ask(folder, "checkpoint")
    states = "runs/submissions/*/cluster/work/*/runs/*/seed*/state/*"
    in_time(first, mosaic, lambda: list(mosaic.home.glob(states)), "a checkpoint is kept")
    job = next(submission_of(mosaic).glob("cluster/arrays/*.job")).read_text()
    subprocess.run(["scontrol", "requeue", f"{job}_1"], env={**os.environ, **cluster}, check=True)
    assert first.wait(EXPERIMENT_S) == 0, (mosaic.home / "said").read_text()
    rows = rows_of(folder / "events.jsonl")
    starts = [row["step"] for row in rows if row["event"] == "start"]
    assert len(starts) == 2 and starts[1] > 0, "the job goes on from its checkpoint"
    assert rows[-1]["event"] == "done" and rows[-1]["status"] == "completed"
    assert f"Policy:  {folder.relative_to(mosaic.home)}" in (mosaic.home / "said").read_text()


@pytest.mark.full
def test_what_a_host_does_not_have_is_one_line(mosaic: Mosaic, server: Sshd) -> None:
    worker = mosaic.home / "data" / "workers" / "search_trainer"
    worker.mkdir(parents=True)
    search_trainer(worker)
    hosts = profile(mosaic, server, "one")
    done = mosaic(*SEARCH, "--seeds", "2", "--executor", "ssh", "--profile", hosts)
    assert done.status == 2
    last = done.err.splitlines()[-1]
    assert "no host can play 2 of 2 trainings: one refuses the training with seed 1: " in last
    assert "search_trainer" in last


def test_what_does_not_go_together_is_one_line(mosaic: Mosaic) -> None:
    hosts = mosaic.home / "hosts.yaml"
    hosts.write_text("hosts: [one]")
    where = ("--executor", "ssh", "--profile", hosts)
    assert "there is no executor 'slurn'" in mosaic.refused(*PPO, "--executor", "slurn")
    assert "needs a list of hosts" in mosaic.refused(*PPO, "--executor", "ssh")
    assert "--profile needs --executor" in mosaic.refused(*PPO, "--profile", hosts)
    assert "--dry-run needs --executor" in mosaic.refused(*PPO, "--dry-run")
    assert "--background cannot be combined with --executor" in mosaic.refused(*PPO, *where, "--background")
    assert "names a seed twice" in mosaic.refused(*PPO, *where, "--seeds", "1,1")
    assert "ppq" in mosaic.refused("train", "--env", "CartPole-v1", "--algo", "ppq", *where)
    resumed = mosaic.refused("train", "--resume", mosaic.home, *where)
    assert "--executor and --resume cannot be combined" in resumed
