"""Whatever a run folder says reaches the terminal as text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gym_gui.core.visible import visible
from gym_gui.services.recorder import STOPPED, Recorder
from tests.support.in_process import run_here

EVIL = "\x1b]0;owned\x07\x9b2J\u202e[red]x[/red]"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose every word was chosen by somebody else."""
    operator = {"id": "op", "display_name": f"name {EVIL}", "task": f"task {EVIL}", "env_name": EVIL}
    header = {
        "experiment": {"operators": [operator], "execution": {}},
        "players": {"op": {"agent": {"worker_type": EVIL, "policy": EVIL}}},
        "problem": f"why {EVIL}",
        "versions": {EVIL: EVIL},
        "machine": {"platform": EVIL},
        "commit": EVIL,
    }
    recorder = Recorder.create(tmp_path / "runs", ["op"], header)
    episode = {"operator_id": "op", "episode_index": 0, "seed": 0, "status": "failed", "length": 1}
    episode |= {"total_reward": 1.0, "returns": {"agent": 1.0}, "error": f"error {EVIL}"}
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
