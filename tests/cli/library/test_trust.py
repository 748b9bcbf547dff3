"""What a file names is not imported, and not started, before a person has allowed it."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import ROOT, Mosaic, experiment

CHECKPOINT = ROOT / "docs" / "examples" / "checkpoints" / "ppo_cartpole"
RUNS_A_PROGRAM: dict[str, Any] = {
    "task": "subprocess:Popen",
    "env_kwargs": {"args": ["touch", "ran"], "close_fds": True},
}
MAZE = """
from pathlib import Path
import gymnasium
Path({ran!r}).touch()
def make(**kwargs):
    return gymnasium.make("CartPole-v1", **kwargs)
class Maze(gymnasium.Env):
    pass
"""


@pytest.fixture
def maze(mosaic: Mosaic) -> Path:
    """A folder with an experiment and the environment that it names; the module says that it ran."""
    folder = mosaic.home / "theirs"
    folder.mkdir()
    write_maze(mosaic, folder)
    experiment(folder, {"task": "maze:make"}, num_episodes=1, seeds=0)
    return folder


def write_maze(mosaic: Mosaic, folder: Path, more: str = "") -> None:
    (folder / "maze.py").write_text(MAZE.format(ran=str(mosaic.home / "ran")) + more)


def file_of(folder: Path) -> Path:
    return next(folder.glob("*.json"))


def imported(mosaic: Mosaic) -> bool:
    return (mosaic.home / "ran").exists()


def refusal(mosaic: Mosaic, *arguments: str | Path) -> str:
    """What a command says that refuses, as people or as programs read it."""
    done = mosaic(*arguments)
    assert done.status == 2, done.err
    return done.err


def forged(run: Path, **operator: Any) -> None:
    """Write into a run's ``run.json`` what its sender liked to."""
    file = run / "run.json"
    header = json.loads(file.read_text())
    header["experiment"]["operators"][0].update(operator)
    file.write_text(json.dumps(header))


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_an_experiment_cannot_have_a_part_of_python_called(mosaic: Mosaic, more: tuple[str, ...]) -> None:
    file = experiment(mosaic.home, RUNS_A_PROGRAM)
    said = mosaic.refused("run", file, *more)
    assert "subprocess:Popen" in said
    assert not imported(mosaic)
    assert "subprocess" in mosaic.refused("run", file, "--trust", *more)
    assert not imported(mosaic)


@pytest.mark.parametrize(
    "command", [("verify",), ("replay", "--json"), ("run", "--resume")], ids=["verify", "replay", "resume"]
)
def test_a_run_that_was_received_imports_nothing(
    mosaic: Mosaic, played: Path, command: tuple[str, ...]
) -> None:
    forged(played, **RUNS_A_PROGRAM)
    assert "subprocess:Popen" in refusal(mosaic, *command, played)
    (played / "maze.py").write_text(MAZE.format(ran=str(mosaic.home / "ran")))
    forged(played, task="maze:make", env_kwargs={})
    said = refusal(mosaic, *command, played)
    assert "maze:make" in said
    assert "--trust" in said
    assert not imported(mosaic)


def test_the_environment_of_a_received_policy_is_not_imported(mosaic: Mosaic) -> None:
    (mosaic.home / "maze.py").write_text(MAZE.format(ran=str(mosaic.home / "ran")))
    library = mosaic.home / "data" / "policies"
    shutil.copytree(CHECKPOINT, library / "theirs")
    about = json.loads((library / "theirs" / "policy.json").read_text())
    (library / "theirs" / "policy.json").write_text(json.dumps({**about, "env_id": "maze:make"}))
    said = refusal(mosaic, "policies", "score", "theirs")
    assert "policy.json imports maze:make" in said
    assert not imported(mosaic)


def test_an_engine_that_a_file_names_is_not_started(mosaic: Mosaic) -> None:
    program = mosaic.home / "engine"
    program.write_text(f"#!/bin/sh\ntouch {mosaic.home / 'ran'}\n")
    program.chmod(0o755)
    engine = {"engine_path": str(program)}
    players = {
        "player_0": {"type": "baseline", "worker_id": "stockfish_worker", "settings": engine},
        "player_1": {"type": "random"},
    }
    file = experiment(mosaic.home, {"task": "chess_v6", "workers": players})
    said = mosaic.refused("run", file)
    assert f"starts {program}" in said or f"the program {program}" in said
    assert not imported(mosaic)


@pytest.mark.parametrize("name", ["prompt_folder", "cassette_file"])
def test_a_file_does_not_say_what_is_read_and_sent(mosaic: Mosaic, name: str) -> None:
    settings = {
        name: "/etc/passwd",
        "client_name": "vllm",
        "model_id": "m",
        "base_url": "http://127.0.0.1:1/v1",
    }
    players = {"agent": {"type": "llm", "settings": settings}}
    said = mosaic.refused("run", experiment(mosaic.home, {"workers": players}), "--dry-run")
    assert "/etc/passwd" in said
    assert "trust" in said


def test_a_file_does_not_say_where_keys_are_sent(mosaic: Mosaic) -> None:
    settings = {"client_name": "vllm", "model_id": "m", "base_url": "https://collector.example/v1"}
    players = {"agent": {"type": "llm", "api_key": "env:OPENAI_API_KEY", "settings": settings}}
    file = experiment(mosaic.home, {"workers": players})
    said = mosaic.refused("run", file, OPENAI_API_KEY="sk-1234567890123456789")
    assert "https://collector.example/v1" in said
    assert "sk-1" not in said


def test_paths_among_the_arguments_of_an_environment_ask(mosaic: Mosaic) -> None:
    said = mosaic.refused("run", experiment(mosaic.home, {"env_kwargs": {"savedir": "~/.ssh"}}), "--dry-run")
    assert str(Path("~/.ssh").expanduser()) in said


def test_an_own_environment_is_allowed_once(mosaic: Mosaic, maze: Path) -> None:
    file = file_of(maze)
    said = mosaic.refused("run", file)
    assert "maze:make" in said
    assert str(maze) in said
    assert "mosaic trust add" in said
    assert "not been allowed" in mosaic.refused("run", file, "--dry-run")
    assert not imported(mosaic)
    # For one call: the next one asks again.
    assert mosaic("run", file, "--trust", "--json").json()["status"] == "completed"
    assert imported(mosaic)
    mosaic.refused("run", file)
    # For good.
    assert mosaic("trust", "add", file).status == 0
    done = mosaic("run", file, "--json")
    assert done.json()["status"] == "completed"
    run = mosaic.home / done.json()["run"]
    assert mosaic("verify", run).status == 0
    assert mosaic("replay", run, "--json").json()["equal"]
    memory = mosaic.home / "config" / "trust.json"
    assert stat.S_IMODE(memory.stat().st_mode) == 0o600
    assert str(maze) in mosaic("trust", "list").out
    assert mosaic("trust", "remove", maze).status == 0
    assert "not been allowed" in mosaic.refused("verify", run)


def test_other_content_asks_again(mosaic: Mosaic, maze: Path) -> None:
    mosaic("trust", "add", maze)
    assert mosaic("run", file_of(maze), "--dry-run").status == 0
    write_maze(mosaic, maze, "# more\n")
    assert "not been allowed" in mosaic.refused("run", file_of(maze), "--dry-run")
    mosaic("trust", "add", maze)
    (maze / "beside.py").write_text("")
    assert "not been allowed" in mosaic.refused("run", file_of(maze), "--dry-run")


def test_what_a_module_imports_is_not_what_was_allowed(mosaic: Mosaic, maze: Path) -> None:
    write_maze(mosaic, maze, "import subprocess\nfrom subprocess import Popen\n")
    for name in ("maze:subprocess.Popen", "maze:Popen", "maze:gymnasium.make", "maze:Path"):
        file = experiment(maze, {"task": name})
        assert "imports from elsewhere" in refusal(mosaic, "run", file, "--dry-run", "--trust")


def test_a_file_may_have_what_was_typed_beside_it(mosaic: Mosaic) -> None:
    write_maze(mosaic, mosaic.home)
    assert mosaic("envs", "check", "maze:make").status == 0
    assert imported(mosaic)


def test_modules_lie_beside_the_experiment(mosaic: Mosaic, maze: Path) -> None:
    """From wherever it is run; and what lies there hides nothing that is installed."""
    for name in ("numpy", "random", "orjson"):
        (maze / f"{name}.py").write_text(f"raise RuntimeError('this is not {name}')\n")
    (maze / "levels.py").write_text("SIZE = 7\n")
    write_maze(mosaic, maze, "import numpy, random, levels\nassert numpy.zeros(levels.SIZE).sum() == 0\n")
    done = mosaic("run", file_of(maze), "--trust", "--json")
    assert done.json()["status"] == "completed"


def test_a_module_that_is_nowhere_names_the_places(mosaic: Mosaic, maze: Path) -> None:
    file = maze / "other.json"
    file.write_text(json.dumps({"operators": [{"id": "a", "task": "labyrinth:make", "type": "random"}]}))
    said = mosaic.refused("run", file)
    assert str(maze) in said
    assert str(mosaic.home) in said
    assert "installed" in said


def test_a_program_is_not_run_to_be_looked_at(mosaic: Mosaic, maze: Path) -> None:
    file = maze / "computed.py"
    file.write_text(
        f"from pathlib import Path\nPath({str(mosaic.home / 'ran')!r}).touch()\n"
        "operators = [dict(id='a', task='CartPole-v1', type='random')]\n"
    )
    assert "program" in mosaic.refused("run", file, "--dry-run")
    assert not imported(mosaic)
    assert mosaic("run", file, "--dry-run", "--trust").status == 0


def test_what_lies_in_the_working_directory_is_not_imported_by_sessions(mosaic: Mosaic) -> None:
    for name in ("orjson", "gymnasium", "msgspec", "crafter", "jax"):
        (mosaic.home / f"{name}.py").write_text(MAZE.format(ran=str(mosaic.home / "ran")))
    done = mosaic("run", experiment(mosaic.home, num_episodes=1, seeds=0), "--json")
    assert done.json()["status"] == "completed"
    assert not imported(mosaic)


def test_a_memory_that_others_may_write_allows_nothing(mosaic: Mosaic, maze: Path) -> None:
    mosaic("trust", "add", maze)
    memory = mosaic.home / "config" / "trust.json"
    memory.chmod(0o666)
    assert "is not a file that only you can write" in mosaic.refused("run", file_of(maze), "--dry-run")
    memory.chmod(0o600)
    memory.write_text(memory.read_text().replace('"format": 1', '"format": 99'))
    assert "newer version" in mosaic.refused("run", file_of(maze), "--dry-run")
    assert "newer version" in mosaic.refused("trust", "add", maze)


@pytest.mark.parametrize(
    "command", [("verify",), ("report",), ("replay", "--json"), ("run", "--resume"), ("run",)], ids=" ".join
)
def test_a_run_of_a_newer_version_is_only_listed(
    mosaic: Mosaic, played: Path, command: tuple[str, ...]
) -> None:
    file = played / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 99}))
    before = {path: path.read_bytes() for path in played.rglob("*") if path.is_file()}
    said = refusal(mosaic, *command, played)
    assert "format 99" in said
    assert "Update MOSAIC" in said
    assert {path: path.read_bytes() for path in played.rglob("*") if path.is_file()} == before
    assert played.name in mosaic("runs", "list").out
