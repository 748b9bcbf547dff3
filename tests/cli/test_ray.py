"""Experiments that are played as tasks of a real Ray cluster: two nodes on this one machine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml

from gym_gui.analysis import compare_runs
from gym_gui.processes.tree import TAG
from tests.support.commands import COMMAND, Mosaic, experiment
from tests.support.ray import Ray, ray_cluster, ray_folder, second_node
from tests.support.waiting import EXPERIMENT_S, eventually

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]

TWO = ({"id": "chance"}, {"id": "turns", "workers": {"agent": {"type": "baseline", "behavior": "cycle"}}})
LONG = 120
"""Episodes of each operator that are enough to be interrupted in."""
KEY = "sk-planted-0123456789"


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ray]:
    with ray_cluster(ray_folder(tmp_path_factory.mktemp("installed"))) as found:
        yield found


@pytest.fixture
def alone(head: Ray, mosaic: Mosaic, monkeypatch: pytest.MonkeyPatch) -> Ray:
    """The head, and commands that can get in."""
    mosaic.env.update(head.variables)
    if (path := head.variables.get("PYTHONPATH")) is not None:
        monkeypatch.syspath_prepend(path)
    return head


@pytest.fixture
def cluster(alone: Ray) -> Iterator[Ray]:
    """Both nodes."""
    with second_node(alone):
        yield alone


def profile(home: Mosaic, address: str, /, **more: object) -> Path:
    kept = {key: home.env[key] for key in ("MOSAIC_RUNTIME_DIR", "MOSAIC_DATA_DIR", "MOSAIC_CONFIG_DIR")}
    data = {
        "address": address,
        "mosaic": f"{sys.executable} -m gym_gui",
        "setup": [f"export {key}='{value}'" for key, value in {**kept, "SDL_VIDEODRIVER": "dummy"}.items()],
        "folder": str(home.home / "nodes"),
        **more,
    }
    file = home.home / "ray.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


def begun(mosaic: Mosaic, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """A command in a process of its own, that the test ends."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=mosaic.home,
        # It sees to it by itself that it leaves nothing behind when it is killed.
        env={name: value for name, value in mosaic.env.items() if name != TAG},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(mosaic.home / "said").open("ab"),
    )


def submission_of(mosaic: Mosaic) -> Path:
    return next((mosaic.home / "runs" / "submissions").iterdir())


def playing(mosaic: Mosaic) -> set[str]:
    """Nodes on which episodes are being played."""
    rows = "nodes/*/*/work/*/runs/*/operators/*/episodes.jsonl"
    return {file.parents[6].name for file in mosaic.home.glob(rows) if file.stat().st_size}


def commands_there(mosaic: Mosaic) -> list[psutil.Process]:
    """Commands that play shards, wherever they are."""
    places = str(mosaic.home / "nodes")

    def is_there(process: psutil.Process) -> bool:
        try:
            return process.cwd().startswith(places)
        except psutil.Error:
            return False

    return [process for process in psutil.process_iter() if is_there(process)]


def test_an_experiment_on_two_nodes_is_the_experiment(mosaic: Mosaic, cluster: Ray) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=4)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    asked = ("run", file, "--executor", "ray", "--profile", profile(mosaic, cluster.outside))
    done = mosaic(*asked, "--shards", "3", "--json", OPENAI_API_KEY=KEY)
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None
    assert not list((mosaic.home / "nodes").iterdir()), "nothing is left on a node"
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    assert {(row["status"], row["tries"]) for row in record["shards"].values()} == {("collected", 1)}
    kept = [path for place in (cluster.folder, submission_of(mosaic)) for path in place.rglob("*")]
    read = [path for path in kept if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not read, "a key stays where it is"


def test_a_tournament_goes_where_its_needs_are_met(mosaic: Mosaic, cluster: Ray) -> None:
    pool = {"random": {"type": "random"}, "cycle": {"type": "baseline", "behavior": "cycle"}}
    file = mosaic.home / "pool.yaml"
    data = {"task": "tictactoe_v3", "policies": pool, "execution": {"seeds": [0, 1], "processes": 1}}
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    whole = mosaic.home / mosaic("tournament", file, "--json").json()["run"]
    there = profile(mosaic, cluster.address, resources={"second": 1}, memory="256M")
    done = mosaic("tournament", file, "--executor", "ray", "--profile", there, "--shards", "2", "--json")
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None


def test_shards_of_a_node_that_is_lost_are_played_by_the_other(mosaic: Mosaic, cluster: Ray) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=LONG)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    there = profile(mosaic, cluster.address)
    first = begun(mosaic, "run", file, "--executor", "ray", "--profile", there, "--shards", "4")
    eventually(lambda: len(playing(mosaic)) == 2, "both nodes play")
    cluster.lose_second()
    said = mosaic.home / "said"
    assert first.wait(EXPERIMENT_S) == 0, said.read_text()
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    assert compare_runs(whole, Path(record["run"])) is None
    assert mosaic("verify", record["run"]).status == 0
    assert sorted(row["tries"] for row in record["shards"].values())[-1] == 2, said.read_text()
    eventually(lambda: not commands_there(mosaic), "what the lost node played has ended")


def test_who_stops_it_or_is_killed_is_followed_by_another(mosaic: Mosaic, cluster: Ray) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=LONG)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    there = profile(mosaic, cluster.address)
    first = begun(mosaic, "run", file, "--executor", "ray", "--profile", there, "--shards", "4")
    eventually(lambda: len(playing(mosaic)) == 2, "both nodes play")
    runs = {path.name for path in mosaic.home.glob("nodes/*/*/work/*/runs/*")}
    first.send_signal(signal.SIGINT)
    assert first.wait(60) == 130, (mosaic.home / "said").read_text()
    assert not commands_there(mosaic)
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    stopped = sum(row.get("done", 0) for row in record["shards"].values())
    assert stopped > 0
    second = begun(mosaic, "run", "--resume", submission_of(mosaic))
    eventually(lambda: len(playing(mosaic)) == 2, "both nodes play again")
    second.kill()
    second.wait()
    assert commands_there(mosaic), "they go on without it"
    done = mosaic("run", "--resume", submission_of(mosaic), "--json")
    assert done.status == 0, done.err
    merged = Path(done.json()["run"])
    assert compare_runs(whole, merged) is None
    collected = {part["run_id"] for part in json.loads((merged / "run.json").read_text())["shards"]}
    assert runs and runs <= collected, "what was begun is resumed"
    record = json.loads((submission_of(mosaic) / "submission.json").read_text())
    assert max(row["tries"] for row in record["shards"].values()) == 2, "by the second, and not by the third"


def test_what_cannot_be_played_there_is_a_line(mosaic: Mosaic, cluster: Ray) -> None:
    file = experiment(mosaic.home)
    asked = ("run", file, "--executor", "ray", "--profile")
    done = mosaic(*asked, profile(mosaic, cluster.address, cpus=64, resources={"a100": 1}))
    assert done.status == 2
    assert "no node has what a shard needs, CPU 64, a100 1: " in done.err, done.err
    done = mosaic(*asked, profile(mosaic, "127.0.0.1:9"))
    assert (done.status, "no Ray cluster answers at 127.0.0.1:9: " in done.err) == (2, True), done.err
    other = profile(mosaic, cluster.address, mosaic="echo mosaic 0.0.1; :")
    done = mosaic(*asked, other, "--dry-run")
    assert (done.status, "has mosaic 0.0.1, but this machine has mosaic " in done.out) == (2, True), done.err


def test_a_node_that_cannot_be_used_is_named_and_the_others_play(mosaic: Mosaic, alone: Ray) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=LONG)
    there = profile(mosaic, alone.address, mosaic=f'"{sys.executable}$BROKEN" -m gym_gui')
    first = begun(mosaic, "run", file, "--executor", "ray", "--profile", there, "--shards", "4")
    said = mosaic.home / "said"
    eventually(lambda: playing(mosaic), "the head plays")
    with second_node(alone, BROKEN="-is-not-here"):
        assert first.wait(EXPERIMENT_S) == 0, said.read_text()
        # One that joins is checked by the task that comes to it.
        assert "-is-not-here: not found, but this machine has mosaic " in said.read_text()
        again = mosaic("run", file, "--executor", "ray", "--profile", there, "--episodes", "2")
    assert again.status == 0, again.err
    assert "127.0.0.2: has " in again.err and "The node is not used" in again.err, again.err
