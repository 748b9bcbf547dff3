"""Experiments that are played on other machines over ssh: a real sshd on loopback, a home for each host."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from gym_gui.analysis import compare_runs
from gym_gui.processes.tree import TAG
from gym_gui.services.run_lock import lock_run
from gym_gui.services.submissions.submission_record import ShardState, Submission, open_submission
from tests.support.commands import COMMAND, Mosaic, experiment
from tests.support.sshd import Sshd, sshd
from tests.support.waiting import EXPERIMENT_S, eventually

pytestmark = pytest.mark.usefixtures("all_sessions_here")

TWO = ({"id": "chance"}, {"id": "turns", "workers": {"agent": {"type": "baseline", "behavior": "cycle"}}})

DECIDED = (
    *TWO,
    {"id": "as_well", "workers": {"agent": {"type": "random"}}},
)
"""Two that are the same, and one that is worse: it is soon decided."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as found:
        yield found


def profile(mosaic: Mosaic, server: Sshd, *names: str, **more: object) -> Path:
    """A file of hosts, each with folders of its own on the one machine."""
    kept = {
        key: value
        for key, value in mosaic.env.items()
        if key in ("PATH", "PYTHONPATH", "MOSAIC_RUNTIME_DIR") or key.startswith("SDL")
    }
    hosts = [
        {
            "host": name,
            "folder": str(mosaic.home / name),
            "setup": [
                *(f"export {key}='{value}'" for key, value in kept.items()),
                f"export MOSAIC_DATA_DIR={mosaic.home / name}-data",
                f"export MOSAIC_CONFIG_DIR={mosaic.home / name}-config",
            ],
        }
        for name in names
    ]
    data = {
        "ssh_config": str(server.config),
        "mosaic": f"{sys.executable} -m gym_gui",
        "processes": 1,
        "hosts": hosts,
        **more,
    }
    file = mosaic.home / "hosts.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


@pytest.mark.full
def test_an_experiment_on_two_hosts_is_the_experiment(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=4)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    hosts = profile(mosaic, server, "one", "two")
    done = mosaic("run", file, "--executor", "ssh", "--profile", hosts, "--shards", "3", "--json")
    assert done.status == 0, done.err
    merged = Path(done.json()["run"])
    assert compare_runs(whole, merged) is None
    assert not list((mosaic.home / "one").iterdir()), "nothing is left on a host"
    submission = next((mosaic.home / "runs" / "submissions").iterdir())
    assert not (submission / "shards").exists(), "what the run has is not kept twice"
    record = json.loads((submission / "submission.json").read_text())
    assert {row["status"] for row in record["shards"].values()} == {"collected"}
    assert {row["host"] for row in record["shards"].values()} == {"one", "two"}


LONG = 120
"""Episodes of each operator that are enough to be interrupted in."""


def begun(mosaic: Mosaic, *arguments: str | Path, **env: str) -> subprocess.Popen[bytes]:
    """A command in a process of its own, that the test ends."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=mosaic.home,
        # It sees to it by itself that it leaves nothing behind when it is killed.
        env={**{name: value for name, value in mosaic.env.items() if name != TAG}, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(mosaic.home / "said").open("wb"),
    )


def playing(mosaic: Mosaic, host: str) -> list[Path]:
    """Where a host keeps the process ids of shards that play their episodes."""
    runs = (mosaic.home / host).glob("*/work/*/runs/*/operators/*/episodes.jsonl")
    return [file.parents[4] for file in runs if file.stat().st_size]


def submission_of(mosaic: Mosaic) -> Path:
    return next((mosaic.home / "runs" / "submissions").iterdir())


@pytest.mark.full
def test_a_coordinator_that_was_killed_is_followed_by_another(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=LONG)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    hosts = profile(mosaic, server, "one", "two")
    first = begun(mosaic, "run", file, "--executor", "ssh", "--profile", hosts, "--shards", "4")
    eventually(lambda: playing(mosaic, "one") and playing(mosaic, "two"), "both hosts play")
    first.kill()
    first.wait()
    # One of the shards is lost meanwhile: what it has played is kept, and the rest played there.
    place = playing(mosaic, "one")[0]
    for name in ("pid", "run"):
        with suppress(ProcessLookupError):
            os.kill(int((place / "1" / name).read_text()), signal.SIGKILL)
    done = mosaic("run", "--resume", submission_of(mosaic), "--json")
    assert done.status == 0, done.err
    merged = Path(done.json()["run"])
    assert compare_runs(whole, merged) is None
    assert mosaic("verify", merged).status == 0
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    assert sorted(row.get("lost", 0) for row in record["shards"].values())[-1] <= 1
    again = mosaic("run", "--resume", submission_of(mosaic))
    assert (again.status, str(merged) in again.out) == (0, True), again.err


@pytest.mark.full
def test_it_is_decided_as_it_is_here_and_by_whoever_goes_on(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, *DECIDED, num_episodes=60, until="decided", batch=10)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    hosts = profile(mosaic, server, "one", "two")
    first = begun(mosaic, "run", file, "--executor", "ssh", "--profile", hosts, "--shards", "4")

    def in_a_later_batch() -> bool:
        records = (mosaic.home / "runs" / "submissions").glob("*/submission.json")
        return any(len(json.loads(file.read_text())["due"]) > 6 for file in records)

    eventually(in_a_later_batch, "a batch was looked at", within=120)
    first.kill()
    first.wait()
    done = mosaic("run", "--resume", submission_of(mosaic), "--json")
    assert done.status == 0, done.err
    merged = Path(done.json()["run"])
    assert compare_runs(whole, merged) is None
    one, other = (json.loads((run / "run.json").read_text()) for run in (whole, merged))
    assert one["looks"] == other["looks"] and one["episodes"] == other["episodes"]
    assert len(set(one["episodes"].values())) > 1, "who is decided about plays no more"
    assert mosaic("verify", merged).status == 0


@pytest.mark.full
def test_who_stops_it_goes_on_with_it(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=LONG)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    hosts = profile(mosaic, server, "one", "two")
    first = begun(mosaic, "run", file, "--executor", "ssh", "--profile", hosts, "--shards", "4")
    eventually(lambda: playing(mosaic, "one") and playing(mosaic, "two"), "both hosts play")
    first.send_signal(signal.SIGINT)
    assert first.wait(60) == 130, (mosaic.home / "said").read_text()
    assert b"stopped; finished episodes are kept" in (mosaic.home / "said").read_bytes()
    names = [f for each in ("one", "two") for f in (mosaic.home / each).glob("*/work/*/1/run")]
    assert names and not any(Path("/proc", file.read_text().strip()).exists() for file in names)
    done = mosaic("run", "--resume", submission_of(mosaic), "--json")
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None


@pytest.mark.full
def test_who_stops_it_twice_does_not_wait(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=LONG)
    hosts = profile(mosaic, server, "one")
    first = begun(mosaic, "run", file, "--executor", "ssh", "--profile", hosts, "--shards", "2")
    eventually(lambda: playing(mosaic, "one"), "the host plays")
    # A shard that does not listen.
    place = playing(mosaic, "one")[0]
    shard = int((place / "1" / "run").read_text())
    os.kill(shard, signal.SIGSTOP)
    try:
        first.send_signal(signal.SIGINT)
        eventually(
            lambda: b"to not wait for the hosts" in (mosaic.home / "said").read_bytes(), "it says so", 20
        )
        first.send_signal(signal.SIGINT)
        assert first.wait(15) == 130, (mosaic.home / "said").read_text()
    finally:
        os.kill(shard, signal.SIGCONT)
    eventually(lambda: not Path("/proc", str(shard)).exists(), "the shard ends", 30)


@pytest.mark.full
def test_a_host_that_cannot_be_used_is_named_and_the_others_play(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, num_episodes=2)
    hosts = profile(mosaic, server, "one", "two")
    data = yaml.safe_load(hosts.read_text())
    data["hosts"][0]["mosaic"] = "echo mosaic 0.0.1; :"
    hosts.write_text(yaml.safe_dump(data))
    done = mosaic("run", file, "--executor", "ssh", "--profile", hosts, "--shards", "2", "--json")
    assert done.status == 0, done.err
    assert "one: has mosaic 0.0.1, but this machine has mosaic " in done.err
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    assert {row["host"] for row in record["shards"].values()} == {"two"}


@pytest.mark.full
def test_what_a_killed_coordinator_has_sent_is_removed_where_no_shard_was_begun(
    mosaic: Mosaic, tmp_path: Path
) -> None:
    programs, hold = tmp_path / "programs", tmp_path / "hold"
    programs.mkdir()
    hold.touch()
    # The last that is done on a host before a shard is begun there: it waits until the coordinator is killed.
    move = programs / "mv"
    move.write_text(f'#!/bin/sh\nwhile [ -e {hold} ]; do sleep 0.05; done\nexec /bin/mv "$@"\n')
    move.chmod(0o755)
    file, one = experiment(mosaic.home, num_episodes=2), mosaic.home / "one"
    with sshd(tmp_path / "sshd", SetEnv=f"PATH={programs}:{os.defpath}") as server:
        hosts = profile(mosaic, server, "one", "two")
        right = yaml.safe_load(hosts.read_text())
        hosts.write_text(yaml.safe_dump({**right, "hosts": right["hosts"][:1]}))
        first = begun(mosaic, "run", file, "--executor", "ssh", "--profile", hosts, "--shards", "1")
        eventually(lambda: list(one.glob("*.new/token")), "it was sent to the host", EXPERIMENT_S)
        first.kill()
        first.wait()
        hold.unlink()
        submission = submission_of(mosaic)
        eventually((one / submission.name).exists, "it is there as a whole")
        assert not json.loads((submission / "submission.json").read_text())["shards"], "no shard was begun"
        refusing = {**right["hosts"][0], "mosaic": "echo mosaic 0.0.1; :"}
        hosts.write_text(yaml.safe_dump({**right, "hosts": [refusing, right["hosts"][1]]}))
        done = mosaic("run", "--resume", submission, "--profile", hosts, "--json")
        assert (done.status, "Not removed: one" in done.err) == (0, True), done.err
        hosts.write_text(yaml.safe_dump({**right, "hosts": right["hosts"][1:]}))
        done = mosaic("run", "--resume", submission, "--profile", hosts, "--json")
        assert (done.status, open_submission(submission).cleared) == (0, False), done.err
        assert "Not removed: one, which the profile no longer names. Its entry was {" in done.err
        hosts.write_text(yaml.safe_dump(right))
        assert mosaic("run", "--resume", submission, "--profile", hosts).status == 0
    assert not list(one.iterdir()), "nothing is left on a host"


@pytest.mark.full
def test_how_it_is_begun_is_mended_in_the_profile(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, num_episodes=2)
    hosts = profile(mosaic, server, "one")
    right = hosts.read_text()
    wrong = mosaic.home / "wrong"
    wrong.write_text(f'#!/bin/sh\n[ "$1" != --version ] || exec {sys.executable} -m gym_gui "$@"\nexit 2\n')
    wrong.chmod(0o755)
    hosts.write_text(yaml.safe_dump({**yaml.safe_load(right), "mosaic": str(wrong)}))
    done = mosaic("run", file, "--executor", "ssh", "--profile", hosts, "--shards", "2")
    assert (done.status, "one refuses shard 1 of 2" in done.err) == (2, True), done.err
    hosts.write_text(right)
    done = mosaic("run", "--resume", submission_of(mosaic), "--profile", hosts, "--json")
    assert done.status == 0, done.err


@pytest.mark.full
def test_dry_run_checks_each_host_and_leaves_nothing(mosaic: Mosaic, server: Sshd) -> None:
    file = experiment(mosaic.home, num_episodes=2)
    hosts = profile(mosaic, server, "one", "two")
    data = yaml.safe_load(hosts.read_text())
    data["hosts"][0]["mosaic"] = "echo mosaic 0.0.1; :"
    hosts.write_text(yaml.safe_dump(data))
    asked = ("run", file, "--executor", "ssh", "--profile", hosts, "--shards", "2", "--dry-run")
    said = mosaic(*asked, "--json")
    assert said.status == 0, said.err
    one, two = said.json()["places"]
    assert "has mosaic 0.0.1" in one["problem"] and two == {"name": "two", "shards": 1, "problem": None}
    assert said.json()["shards"] == 2
    words = mosaic(*asked).out
    assert "two  plays 1 shard at once" in words, words
    assert not list((mosaic.home / "two").iterdir()) and not (mosaic.home / "runs").exists()
    server.end()
    assert mosaic(*asked).status == 2


@pytest.mark.full
def test_a_tournament_on_a_host_is_the_tournament(mosaic: Mosaic, server: Sshd) -> None:
    pool = {"random": {"type": "random"}, "cycle": {"type": "baseline", "behavior": "cycle"}}
    file = mosaic.home / "pool.yaml"
    data = {"task": "tictactoe_v3", "policies": pool, "execution": {"seeds": [0, 1], "processes": 1}}
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    whole = mosaic.home / mosaic("tournament", file, "--json").json()["run"]
    hosts = profile(mosaic, server, "one")
    done = mosaic("tournament", file, "--executor", "ssh", "--profile", hosts, "--shards", "2", "--json")
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None


def test_what_does_not_go_together_is_one_line(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home)
    hosts = mosaic.home / "hosts.yaml"
    hosts.write_text("hosts: [one]")
    assert "there is no executor 'slurn'" in mosaic.refused("run", file, "--executor", "slurn")
    assert "needs a list of hosts" in mosaic.refused("run", file, "--executor", "ssh")
    assert "--profile needs --executor" in mosaic.refused("run", file, "--profile", hosts)
    arguments = ("run", file, "--executor", "ssh", "--profile", hosts)
    assert "--shard cannot be combined with" in mosaic.refused(*arguments, "--shard", "1/2")
    assert "--processes cannot be combined with" in mosaic.refused(*arguments, "--processes", "2")
    timed = experiment(mosaic.home, name="timed.json", time_budget_s=5)
    assert "time_budget_s holds for the whole run" in mosaic.refused("run", timed, *arguments[2:])
    assert "--time-budget cannot be combined with" in mosaic.refused(*arguments, "--time-budget", "5")
    budget = experiment(mosaic.home, name="budget.json", token_budget=5)
    assert "token_budget holds for the whole run" in mosaic.refused("run", budget, "--shard", "1/2")


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed here")
def test_without_ray_the_line_that_installs_it(mosaic: Mosaic) -> None:
    refused = mosaic.refused("run", experiment(mosaic.home), "--executor", "ray")
    assert refused == "Ray is not installed. Run: mosaic install ray"


def test_one_coordinator_at_a_time(mosaic: Mosaic) -> None:
    folder = mosaic.home / "submission"
    folder.mkdir()
    Submission(folder, "ssh", {"hosts": ["one"]}, "run", 2, 10, mosaic.home / "runs").save()
    held = lock_run(folder)
    try:
        assert "is being written by another process" in mosaic.refused("run", "--resume", folder)
    finally:
        os.close(held)


def test_a_submission_is_watched_by_its_record(mosaic: Mosaic) -> None:
    folder = mosaic.home / "submission"
    folder.mkdir()
    states = {1: ShardState("collected", "one", 1, done=5), 2: ShardState("waiting", done=1)}
    submission = Submission(folder, "ssh", {"hosts": ["one"]}, "run", 2, 10, mosaic.home / "runs", states)
    submission.save()
    done = mosaic("runs", "watch", folder)
    assert done.status == 1
    assert "1 of 2 shards are collected; no process follows the others." in done.out
    assert f"mosaic run --resume {folder}" in done.out
    submission.run = str(mosaic.home / "runs" / "01X")
    submission.save()
    done = mosaic("runs", "watch", folder, "--json")
    assert done.json() == {"run": submission.run, "shards": 1, "of": 2, "episodes": 6, "failed": 0}
    assert done.status == 0
    assert "is no submission" in mosaic.refused("runs", "watch", mosaic.home)
