"""Keys that are planted where an experiment is handed in, and on a node: each stays where it is."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from gym_gui.analysis import open_run
from gym_gui.processes.tree import TAG
from tests.cli import test_ray, test_slurm, test_submissions
from tests.support.commands import COMMAND, Mosaic
from tests.support.little_workers import PATIENT, little_worker
from tests.support.ray import ray_cluster, ray_folder
from tests.support.runs import Gate, operator, slot
from tests.support.slurm import slurm
from tests.support.sshd import sshd
from tests.support.waiting import eventually

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]

OURS, THEIRS = (f"sk-planted-{where}-{os.urandom(8).hex()}" for where in ("here", "there"))


@dataclass
class Node:
    """Where it is played.

    Attributes:
        profile: The options that name it.
        variables: More for commands.
        logs: What keeps files beside the submission's.
        told: Commands that say what the scheduler knows.
    """

    profile: tuple[str, ...]
    logs: Path
    variables: dict[str, str] = field(default_factory=dict[str, str])
    told: tuple[tuple[str, ...], ...] = ()


@pytest.fixture(params=["ssh", "slurm", "ray"])
def node(request: pytest.FixtureRequest, mosaic: Mosaic, tmp_path: Path) -> Generator[Node]:
    """A node with a file of keys; its set-up lets a worker wait for the test."""
    keys = mosaic.home / "keys of the host"
    keys.touch(0o600)
    keys.write_text(f"INNOCENT_NAME={THEIRS}\n# {THEIRS}\nnot a line of keys: {THEIRS}\n")
    if request.param == "ssh":
        with sshd(tmp_path / "sshd") as server:
            file = test_submissions.profile(mosaic, server, "one", keys=str(keys))
            node = Node(("--executor", "ssh", "--profile", str(file)), tmp_path / "sshd")
            _with_gate(mosaic, file)
            yield node
    elif request.param == "ray":
        with ray_cluster(ray_folder(tmp_path / "installed")) as cluster:
            file = test_ray.profile(mosaic, cluster.address, keys=str(keys))
            status = (sys.executable, "-m", "ray.scripts.scripts", "status", "--address", cluster.address)
            _with_gate(mosaic, file)
            options = ("--executor", "ray", "--profile", str(file))
            yield Node(options, cluster.folder, dict(cluster.variables), (status,))
    else:
        with slurm(tmp_path / "slurm") as cluster:
            file = test_slurm.profile(mosaic, keys=str(keys))
            options = ("--executor", "slurm", "--profile", str(file))
            told = (
                ("squeue", "-o", "%all"),
                ("scontrol", "show", "job", "-dd"),
                ("scontrol", "show", "config"),
            )
            _with_gate(mosaic, file)
            yield Node(options, tmp_path / "slurm", dict(cluster), told)


def _with_gate(mosaic: Mosaic, file: Path) -> None:
    data = yaml.safe_load(file.read_text())
    more = [f"export MOSAIC_TEST_GATE='{mosaic.home}/gate'", f"export MOSAIC_DATA_DIR='{mosaic.home}/data'"]
    for each in (data, *data.get("hosts", ())):
        each["setup"] = [*each.get("setup", ()), *more]
    file.write_text(yaml.safe_dump(data))


def holding(folder: Path, key: str) -> list[str]:
    """Files below a folder that hold a key, by name or content."""
    return [
        str(path)
        for path in folder.rglob("*")
        if key in path.name
        or (path.is_file() and not path.is_symlink() and key.encode() in path.read_bytes())
    ]


def processes(what: str, key: str) -> dict[int, str]:
    """Processes of which a file of ``/proc`` holds a key, with their command lines; not this one."""
    found: dict[int, str] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if int(place.name) != os.getpid() and key.encode() in (place / what).read_bytes():
                found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended meanwhile, or is of another namespace
            pass
    return found


def test_keys_stay_where_they_are(mosaic: Mosaic, node: Node) -> None:
    gate = Gate(mosaic.home / "gate")
    digest = hashlib.sha256(THEIRS.encode()).hexdigest()
    check = (
        "        import hashlib\n"
        "        given = hashlib.sha256(slot.secrets['api_key'].encode()).hexdigest()\n"
        f"        assert given == {digest!r}, 'not the key of the host'\n"
        "        self.folder,"
    )
    little_worker(mosaic.home / "data/workers", PATIENT.replace("        self.folder,", check), "paid_worker")
    paid = slot("baseline", worker_id="paid_worker", settings={"at": 0, "api_key": "env:INNOCENT_NAME"})
    plan = {"operators": [operator("paid", paid)], "execution": {"num_episodes": 2, "processes": 1}}
    file = mosaic.home / "experiment.yaml"
    file.write_text(yaml.safe_dump(plan))
    said = mosaic.home / "said"
    environment = {k: v for k, v in {**mosaic.env, **node.variables}.items() if k != TAG}
    # Also under a name that does not look like a key's, and one that Slurm tells its jobs.
    planted = dict.fromkeys(("INNOCENT_NAME", "OPENAI_API_KEY", "MOSAIC_API_KEY", "SLURM_JWT"), OURS)
    with said.open("wb") as out:
        command = [*COMMAND, "run", str(file), "--trust", *node.profile, "--shards", "1", "--json"]
        first = subprocess.Popen(
            command,
            cwd=mosaic.home,
            env={**environment, **planted},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        eventually(lambda: gate.marks() or first.poll() is not None, "the worker plays")
        assert gate.marks(), said.read_text()
        assert not processes("cmdline", OURS) and not processes("cmdline", THEIRS)
        # A person gave it to the program in its environment; nothing that it has started has it.
        assert set(processes("environ", OURS)) <= {first.pid}
        theirs = processes("environ", THEIRS).values()
        assert theirs and not [line for line in theirs if "gym_gui.host" in line or "mosaic_worker" in line]
        for folder in (mosaic.home, node.logs):
            assert holding(folder, OURS) == []
            assert [Path(path).name for path in holding(mosaic.home, THEIRS)] == ["keys of the host"]
        for told in node.told:
            answer = subprocess.run(
                told, env={**os.environ, **node.variables}, capture_output=True, text=True, check=True
            )
            assert answer.stdout and OURS not in answer.stdout and THEIRS not in answer.stdout
        gate.open()
        assert first.wait(120) == 0, said.read_text()
    finally:
        gate.open()
        first.kill()
        first.wait()
    run = next((mosaic.home / "runs").glob("0*"))
    assert len(open_run(run).operators) == 1
    assert holding(mosaic.home, OURS) == [] and holding(node.logs, OURS) == []
    assert [Path(path).name for path in holding(mosaic.home, THEIRS)] == ["keys of the host"]
