"""``mosaic replay --as-python``: a program that plays the episode where MOSAIC cannot be imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from gym_gui.processes.tree import TAG
from tests.support.commands import Mosaic, experiment
from tests.support.processes import Offspring

pytestmark = pytest.mark.usefixtures("all_sessions_here")

ALONE = (
    "import runpy, sys\n"
    "sys.modules.update(gym_gui=None, mosaic_worker=None)\n"  # importing them raises
    "runpy.run_path(sys.argv[1], run_name='__main__')\n"
)
LAKE: dict[str, Any] = {"task": "FrozenLake-v1", "env_kwargs": {"map_name": "8x8"}}
GAMES: dict[str, dict[str, Any]] = {
    "lake": LAKE,
    "cut_off": {**LAKE, "max_steps": 3},
    "pendulum": {"task": "Pendulum-v1", "max_steps": 20},
    "minigrid": {"task": "MiniGrid-DoorKey-5x5-v0", "max_steps": 20},
    "connect_four": {"task": "connect_four_v3"},
    "cut_off_game": {"task": "connect_four_v3", "max_steps": 5},
    "cards": {"task": "leduc_holdem_v4"},
    "spread": {"task": "simple_spread_v3", "api": "parallel", "env_kwargs": {"max_cycles": 8}},
    "pistons": {"task": "pistonball_v6", "api": "parallel", "max_steps": 3, "env_kwargs": {"n_pistons": 3}},
    "rooms": {"task": "MosaicMultiGrid-S-2v2-IndAgObs-v1", "max_steps": 2},
}
AGENTS = {
    "connect_four": ("player_0", "player_1"),
    "cut_off_game": ("player_0", "player_1"),
    "cards": ("player_0", "player_1"),
    "spread": ("agent_0", "agent_1", "agent_2"),
    "pistons": ("piston_0", "piston_1", "piston_2"),
    "rooms": ("green_0", "green_1", "blue_0", "blue_1"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random players in every game, for all tests; it is not to be changed."""
    home = tmp_path_factory.mktemp("loops")
    mosaic = Mosaic(home, Offspring(f"loops-{os.getpid()}-{os.urandom(4).hex()}"))
    listed = [
        {"id": name, "workers": {seat: {"type": "random"} for seat in AGENTS.get(name, ("agent",))}, **game}
        for name, game in GAMES.items()
    ]
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as runtime:
        path = experiment(home, *listed)
        done = mosaic("run", path, "--json", **{TAG: "tests", "MOSAIC_RUNTIME_DIR": runtime})
    assert done.status == 0, done.err
    return home / done.json()["run"]


def alone(program: Path) -> subprocess.CompletedProcess[str]:
    """Run a program where MOSAIC cannot be imported."""
    variables = {**os.environ, "SDL_VIDEODRIVER": "dummy", "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, "-c", ALONE, str(program)],
        cwd=program.parent,
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def written(mosaic: Mosaic, run: Path, operator: str, episode: int = 1) -> Path:
    """The program of an episode, in a file."""
    done = mosaic("replay", run, "--operator", operator, "--episode", str(episode), "--as-python")
    assert done.status == 0, done.err
    program = mosaic.home / "episode.py"
    program.write_text(done.out)
    return program


@pytest.mark.parametrize(
    "operator",
    [
        pytest.param(name, marks=[] if name in {"cut_off", "cut_off_game", "spread"} else [pytest.mark.full])
        for name in GAMES
        if name != "rooms"
    ],
)
def test_the_program_plays_the_episode_without_mosaic(mosaic: Mosaic, run: Path, operator: str) -> None:
    program = written(mosaic, run, operator)
    done = alone(program)
    assert done.returncode == 0, done.stderr
    lines = (run / "operators" / operator / "episodes.jsonl").read_text().splitlines()
    (length,) = (row["length"] for row in map(json.loads, lines) if row["episode_index"] == 1)
    assert done.stdout.splitlines()[-1] == f"{length} steps, every reward as recorded"


@pytest.mark.parametrize(
    ("operator", "reward"),
    [
        pytest.param("pendulum", "-", marks=pytest.mark.full),
        ("connect_four", "1.0"),
        pytest.param("spread", "-", marks=pytest.mark.full),
    ],
)
def test_another_reward_than_the_recorded_one_is_noticed(
    mosaic: Mosaic, run: Path, operator: str, reward: str
) -> None:
    program = written(mosaic, run, operator)
    text = program.read_text()
    at = text.rindex(reward, 0, text.index("\nenv = "))
    program.write_text(f"{text[:at]}9{text[at:].removeprefix('-')}")
    done = alone(program)
    assert done.returncode == 1 and "AssertionError" in done.stderr and "recorded" in done.stderr


def test_what_stands_in_a_record_is_never_run(mosaic: Mosaic, run: Path) -> None:
    header = json.loads((run / "run.json").read_text())
    (operator,) = [each for each in header["experiment"]["operators"] if each["id"] == "lake"]
    copy = mosaic.home / "a\nimport os; os.abort()"
    place = copy / "operators" / "lake"
    place.mkdir(parents=True)
    for file in (run / "operators" / "lake").iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    operator["name"] = 'x""" # '
    header["experiment"]["operators"], header["versions"] = [operator], {"a\nimport os; os.abort()": "1"}
    (copy / "run.json").write_text(json.dumps(header))
    assert alone(written(mosaic, copy, "lake")).returncode == 0


def test_what_mosaic_alone_can_play_is_refused_in_one_line(mosaic: Mosaic, run: Path) -> None:
    refused = mosaic.refused("replay", run, "--operator", "rooms", "--as-python")
    assert "cannot be played without MOSAIC" in refused
    assert "cannot be combined with --video or --json" in mosaic.refused(
        "replay", run, "--as-python", "--video", "x.mp4"
    )
