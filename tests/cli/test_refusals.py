"""What a person gets wrong: one line that names the fix, status 2, nothing launched or written."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import ROOT, Mosaic, experiment

# A refused run was to have a session process, which was begun beside; tests/host shows that it is ended.
pytestmark = pytest.mark.usefixtures("all_sessions_here")

CHECKPOINT = ROOT / "docs" / "examples" / "checkpoints" / "ppo_cartpole"
RL = {"type": "rl", "worker_id": "cleanrl_worker"}


@pytest.mark.parametrize(
    ("operator", "says"),
    [
        ({"task": "CartPole-v7"}, "Did you mean 'CartPole-v1'?"),
        ({"task": "Zaxxon-v0"}, "mosaic envs list"),
        ({"env_name": "minigird"}, "Did you mean 'minigrid'?"),
        ({"env_name": "minigrid"}, "leave it out"),
        ({"task": "no_such_module:make"}, "no_such_module"),
        ({"workers": {"agent": {"type": "baseline", "worker_id": "operaters"}}}, "Did you mean 'operators"),
        ({"workers": {"agent": {"type": "quantum"}}}, "quantum"),
        ({"workers": {"agent": {"type": "rl", "worker_id": "operators_worker"}}}, "baseline"),
        ({"workers": {"agnet_7": {"type": "random"}}}, "agnet_7"),
        ({"wrokers": {}}, "Did you mean 'workers'?"),
        ({"workers": {"agent": {"type": "random", "behaviour": "noop"}}}, "behaviour"),
        ({"workers": {"agent": {"type": "random", "settings": {"behavior": "dance"}}}}, "dance"),
        ({"id": "../up"}, "../up"),
        ({"id": "x" * 300}, "id"),
        ({"api": "parallel"}, "parallel"),
        ({"env_kwargs": {"color": "red"}}, "color"),
    ],
)
def test_a_wrong_name_in_an_experiment(mosaic: Mosaic, operator: dict[str, Any], says: str) -> None:
    assert says in mosaic.refused("run", experiment(mosaic.home, operator))


@pytest.mark.parametrize(
    ("execution", "says"),
    [
        ({"num_episodes": 5, "seeds": [1, 2]}, "seeds"),
        ({"num_epsiodes": 5}, "Did you mean 'num_episodes'?"),
        ({"environment_mode": "chaotic"}, "procedural"),
        ({"environment_mode": "fixed", "env_mode": "procedural"}, "env_mode"),
    ],
)
def test_a_wrong_schedule(mosaic: Mosaic, execution: dict[str, Any], says: str) -> None:
    assert says in mosaic.refused("run", experiment(mosaic.home, **execution))


def test_two_operators_of_one_name(mosaic: Mosaic) -> None:
    assert "is used by an earlier operator" in mosaic.refused(
        "run", experiment(mosaic.home, {"id": "a"}, {"id": "a"})
    )


def test_a_path_spelled_twice(mosaic: Mosaic) -> None:
    slot = {**RL, "checkpoint": "a", "policy_path": "b"}
    line = mosaic.refused("run", experiment(mosaic.home, {"workers": {"agent": slot}}))
    assert "checkpoint" in line
    assert "policy_path" in line


def _checkpoint(mosaic: Mosaic, path: Path | str, **operator: Any) -> str:
    slot = {**RL, "checkpoint": str(path)}
    path = experiment(mosaic.home, {"workers": {"agent": slot}, **operator})
    return mosaic.refused("run", path)


def test_a_checkpoint_of_another_environment(mosaic: Mosaic) -> None:
    line = _checkpoint(mosaic, CHECKPOINT, task="Acrobot-v1")
    assert "CartPole" in line or "shape" in line or "(6,)" in line


class _Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


def test_what_the_worker_refuses_ends_the_command(mosaic: Mosaic) -> None:
    """The worker was started for it, unlike in all else here: a checkpoint that would run code."""
    mark = mosaic.home / "ran"
    (mosaic.home / "model.pt").write_bytes(pickle.dumps(_Bomb(mark)))
    assert "pickle" in _checkpoint(mosaic, mosaic.home / "model.pt")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit(3)", "exit"),
        ("import os; os._exit(0)", "ended with exit status 0"),
        ("data = bytearray(30 << 30)", "memory"),
        ("operators = [object()]", "operators"),
        ("import os; os.system('touch ran')", "process"),
        ("operators = [", "not valid Python"),
    ],
)
def test_an_experiment_program_that_goes_wrong(mosaic: Mosaic, code: str, says: str) -> None:
    path = mosaic.home / "experiment.py"
    path.write_text(f"x = len('program')\n{code}\n")
    line = mosaic.refused("run", path)
    assert says.lower() in line.lower()
    assert "experiment.py" in line


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("binary.py", bytes(range(256)) * 40, "UTF-8"),
        ("empty.py", b"", "operators"),
        ("empty.yaml", b"", "empty.yaml"),
        ("empty.json", b"", "JSON"),
        ("notes.txt", b"operators", ".py"),
        ("twice.json", b'{"operators": [], "operators": []}', "twice"),
        ("deep.json", b"[" * 100_000, "deep.json"),
        ("none.py", b"operators = []", "operators"),
    ],
)
def test_a_file_that_is_no_experiment(mosaic: Mosaic, name: str, content: bytes, says: str) -> None:
    path = mosaic.home / name
    path.write_bytes(content)
    assert says in mosaic.refused("run", path)


def test_a_file_that_is_not_there(mosaic: Mosaic) -> None:
    experiment(mosaic.home, name="experiment.yaml")
    assert "Did you mean 'experiment.yaml'?" in mosaic.refused("run", "experimnet.yaml")
    assert "Give the path of an experiment file" in mosaic.refused("run", "elsewhere/nothing.py")


def test_a_file_that_is_none(mosaic: Mosaic) -> None:
    (mosaic.home / "folder").mkdir()
    os.mkfifo(mosaic.home / "pipe.py")
    assert "run.json" in mosaic.refused("run", "folder")
    assert "not a file" in mosaic.refused("run", "pipe.py")


def test_an_out_folder_that_is_a_file(mosaic: Mosaic) -> None:
    path = experiment(mosaic.home)
    assert "--out" in mosaic.refused("run", path, "--out", path)
    assert "--out" in mosaic.refused("run", path, "--out", path / "below")


def test_an_out_folder_that_may_not_be_written(mosaic: Mosaic) -> None:
    # Even root may make no folder there.
    line = mosaic.refused("run", experiment(mosaic.home), "--out", "/proc/mosaic/runs")
    assert "/proc/mosaic/runs" in line
    assert "--out" in line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "experiment file"),
        (["run", "--bogus"], "mosaic run --help"),
        (["run", "a.py", "--episodes", "0"], "--episodes"),
        (["run", "a.py", "--resume", "b"], "no run at b"),
        (["run", "--resume", "nowhere"], "mosaic runs list"),
        (["run", "--resume", "."], "run.json"),
        (["rum"], "run"),
        (["workers", "chekc"], "check"),
        (["workers", "check", "nobody"], "mosaic workers list"),
        (["workers", "check", "operators", "--set", "behavior"], "KEY=VALUE"),
        (["workers", "check", "operators", "--set", "checkpoint=library:nope"], "mosaic policies list"),
        (["workers", "install", "operater"], "Did you mean"),
        (["envs", "list", "minigird"], "Did you mean 'minigrid'?"),
        (["envs", "list", "box2d"], "mosaic envs install box2d"),
        (["envs", "install", "minigird"], "Did you mean 'minigrid'?"),
        (["install", "gui2"], "Did you mean 'gui'?"),
        (["envs", "check", "CartPole-v1", "--api", "aec"], "gymnasium"),
        (["runs", "list", "nowhere"], "folder"),
        (["runs", "show", "nowhere"], "mosaic runs list"),
        (["report", "nowhere"], "mosaic runs list"),
        (["report"], "RUN"),
        (["verify", "nowhere"], "nowhere"),
        (["train"], "--env"),
        (["train", "CartPole-v1", "--env", "CartPole-v1"], "CartPole-v1"),
        (["train", "--env", "CartPole-v1", "--worker", "nobody"], "mosaic workers list"),
        (["train", "--env", "CartPole-v1", "--worker", "operators"], "does not train"),
        (["train", "--env", "CartPole-v1", "--algo", "pppo"], "pppo"),
        (["train", "--env", "chess_v6", "--algo", "ppo"], "in turn"),
        (["train", "--env", "CartPole-v1", "--seed", "-1"], "--seed"),
    ],
)
def test_a_wrong_command(mosaic: Mosaic, arguments: list[str], says: str) -> None:
    if not (set(arguments) & {"mujoco"} and _has("mujoco")):
        assert says in mosaic.refused(*arguments)


def _has(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None


def test_a_damaged_run_is_refused(mosaic: Mosaic) -> None:
    run = mosaic.home / "runs" / "01X"
    run.mkdir(parents=True)
    (run / "run.json").write_text('{"run_id": "01X", "experiment"')
    assert "run.json" in mosaic.refused("runs", "show", run)
    assert "run.json" in mosaic.refused("run", "--resume", run)
    assert json.loads(mosaic("runs", "list", "--json").out)[0]["status"] == "damaged"


@pytest.mark.parametrize("arguments", [("run", "experiment.json"), ("rum",), ("verify", "nowhere")])
def test_a_process_of_its_own_says_the_same(mosaic: Mosaic, arguments: tuple[str, ...]) -> None:
    experiment(mosaic.home, {"task": "CartPole-v7"})
    before = sorted(mosaic.home.rglob("*"))
    line = mosaic.is_refused(mosaic.process(*arguments), before)
    assert line == mosaic.refused(*arguments)
