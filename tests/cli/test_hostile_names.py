"""Whatever a run folder says reaches the terminal as text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gym_gui.core.printable_text import visible
from gym_gui.services.runs.recorder import STOPPED, Recorder
from tests.support.in_process import run_here

EVIL = "\x1b]0;owned\x07\x9b2J\u202e[red]x[/red]"


@pytest.fixture
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A run whose every word was chosen by another user."""
    evil: str = getattr(request, "param", EVIL)
    operator = {"id": "op", "display_name": f"name {evil}", "task": f"task {evil}", "env_name": evil}
    header = {
        "experiment": {"operators": [operator], "execution": {}},
        "players": {"op": {"agent": {"worker_type": evil, "policy": evil}}},
        "problem": f"why {evil}",
        "versions": {evil: evil},
        "machine": {"platform": evil},
        "commit": evil,
    }
    recorder = Recorder.create(tmp_path / "runs", ["op"], header)
    episode = {"operator_id": "op", "episode_index": 0, "seed": 0, "status": "failed", "length": 1}
    episode |= {"total_reward": 1.0, "returns": {"agent": 1.0}, "error": f"error {evil}"}
    recorder.episode("op", b"", json.dumps(episode).encode() + b"\n")
    recorder.close(STOPPED)
    return recorder.folder


@pytest.mark.parametrize(
    "command",
    [
        ["runs", "list", "runs"],
        ["runs", "show", "RUN"],
        ["runs", "show", "RUN", "--json"],
        ["report", "RUN", "--no-replays"],
        ["report", "RUN", "--json", "--no-replays"],
        ["verify", "RUN"],
        ["run", EVIL],
        [EVIL],
        ["--" + EVIL],
        ["policies", "show", EVIL],
    ],
    ids=lambda command: " ".join(command).encode("ascii", "ignore").decode().replace("\x1b", "")[:24],
)
def test_nothing_of_it_is_obeyed(command: list[str], run: Path, tmp_path: Path) -> None:
    _, out, err = run_here([str(run) if c == "RUN" else c for c in command], tmp_path, dict(os.environ))
    assert out + err
    assert visible(out + err) == out + err
    if command == ["report", "RUN", "--no-replays"]:
        assert "[red]x[/red]" in out


@pytest.mark.parametrize(
    "run", ["x\nWINNER: y", "x\r\nWINNER: y", "x\u2028WINNER: y", "x\x85WINNER: y"], indirect=True
)
@pytest.mark.parametrize(
    "command",
    [
        ["runs", "list", "runs"],
        ["runs", "show", "RUN"],
        ["report", "RUN", "--no-replays"],
        ["verify", "RUN"],
    ],
    ids=" ".join,
)
def test_no_word_of_it_has_a_line_of_its_own(command: list[str], run: Path, tmp_path: Path) -> None:
    _, out, err = run_here([str(run) if c == "RUN" else c for c in command], tmp_path, dict(os.environ))
    lines = (out + err).splitlines()
    assert lines and not [line for line in lines if line.lstrip(" │|").startswith("WINNER")], out + err


def test_an_operator_whose_id_breaks_lines_is_refused(run: Path, tmp_path: Path) -> None:
    (run / "operators" / "x\nWINNER: y").mkdir()
    status, _, err = run_here(["report", str(run), "--no-replays"], tmp_path, dict(os.environ))
    assert status == 2 and err.count("\n") == 1 and "no usable name" in err
