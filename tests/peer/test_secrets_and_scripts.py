"""Failure 10 of the peer: keys on command lines, pickles, scripts in the program itself, an open port."""

from __future__ import annotations

import contextlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from gym_gui.cli.app import run as run_here
from tests.support.little_workers import PATIENT, little_worker
from tests.support.processes import Offspring
from tests.support.runs import Gate, MosaicRun, operator, slot
from tests.support.waiting import eventually


def of_process(pid: int, what: str) -> bytes:
    """A file of ``/proc``; empty of a process that has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


KEY = "sk-planted-by-a-test-0123456789"


def test_keys_are_nowhere_but_with_the_worker_and_no_port_is_open(
    tmp_path: Path, offspring: Offspring, monkeypatch: pytest.MonkeyPatch
):
    code = PATIENT.replace(
        "        self.folder,",
        "        assert slot.secrets['api_key'].startswith('sk-')\n        self.folder,",
    )
    little_worker(tmp_path / "data/workers", code, "paid_worker")
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("MOSAIC_TEST_GATE", str(gate.folder))
    paid = slot("baseline", worker_id="paid_worker", settings={"at": 0, "api_key": "env:INNOCENT_NAME"})
    plan = {"operators": [operator("paid", paid), operator("other")], "execution": {"num_episodes": 3}}
    run = MosaicRun(tmp_path, offspring, plan, environment={"INNOCENT_NAME": KEY})
    gate.reached()
    pids = offspring.pids()
    assert offspring.workers("paid", "paid_worker")
    for pid in pids:
        assert KEY.encode() not in of_process(pid, "cmdline")
        if pid != run.process.pid:  # a person gave it to the program in its environment
            assert KEY.encode() not in of_process(pid, "environ"), of_process(pid, "cmdline")
        with contextlib.suppress(psutil.NoSuchProcess):
            # Everything speaks through private sockets.
            assert not psutil.Process(pid).net_connections("inet")
    gate.open()
    assert run.wait() == 0, run.err
    written = [path for path in run.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not written and KEY not in run.out + run.err


Refused = Callable[[dict[str, Any]], str]


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Runs one operator with a slot that cannot be, in this process, and returns what is said."""

    def run(player: dict[str, Any]) -> str:
        file = tmp_path / "experiment.json"
        file.write_text(json.dumps({"operators": [operator("victim", player)]}))
        assert run_here(["run", str(file), "--out", str(tmp_path / "runs"), "--json"]) == 2
        said = capsys.readouterr()
        assert not said.out and not (tmp_path / "runs").exists()
        return said.err

    return run


def test_a_literal_key_is_refused(refused: Refused):
    said = refused(slot("baseline", worker_id="operators_worker", settings={"api_key": KEY}))
    assert KEY not in said and "env:" in said


class Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    "name",
    [
        "policy.pt",
        # cleanrl_worker's own tests (test_a_pickle_never_runs) know these as well.
        pytest.param("policy.safetensors", marks=pytest.mark.full),
        pytest.param("policy.pkl", marks=pytest.mark.full),
    ],
)
def test_a_checkpoint_is_never_unpickled(tmp_path: Path, refused: Refused, name: str):
    exploded = tmp_path / "exploded"
    (tmp_path / name).write_bytes(pickle.dumps(Bomb(exploded)))
    said = refused(slot("rl", algorithm="ppo", checkpoint=str(tmp_path / name)))
    assert said.count("\n") <= 2 and str(tmp_path / name) in said
    assert not exploded.exists()
    pickle.loads((tmp_path / name).read_bytes())
    assert exploded.exists(), "it would have run"


def test_an_experiment_script_runs_in_a_process_of_its_own(tmp_path: Path, offspring: Offspring):
    script = (
        "import os\nfrom pathlib import Path\n"
        f"Path({str(tmp_path / 'pid')!r}).write_text(f'{{os.getpid()}}')\n"
        "os.environ['PLANTED'] = 'x'\n"
        "operators = [{'id': 'a', 'task': 'CartPole-v1', 'workers': {'agent': {'type': 'random'}}}]\n"
        "execution = {'num_episodes': 1}\n"
    )
    run = MosaicRun(tmp_path, offspring, script)
    written = eventually(
        lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "the script runs"
    )
    assert int(written) != run.process.pid
    assert run.wait() == 0, run.err
