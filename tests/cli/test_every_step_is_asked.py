"""Whatever plays, ``PolicyMappingService`` is asked for every step that is recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asked import Questions, recorded
from tests.support.commands import Mosaic, experiment

EVALUATE = """
import gym_gui

gym_gui.evaluate("CartPole-v1", lambda seen: int(seen[2] > 0), seeds=3, out="runs")
gym_gui.evaluate("rps_v2", {"player_0": {"type": "random"}, "player_1": lambda seen: 1}, seeds=3, out="two")
"""


def test_every_step_of_a_run_in_processes_is_asked(
    mosaic: Mosaic, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = Questions(tmp_path_factory.mktemp("asked"), monkeypatch)
    path = experiment(mosaic.home, {"id": "a"})
    done = mosaic("run", path, "--processes", "2", "--json", **questions.variables)
    assert done.status == 0, done.err
    rows = recorded(mosaic.home / done.json()["run"])
    assert len(rows) > 10 and questions.asked() == rows


def test_every_step_of_evaluate_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "asked"
    note.mkdir()
    questions = Questions(note, monkeypatch, here=True)
    subprocess.run([sys.executable, "-c", EVALUATE], cwd=tmp_path, check=True)
    rows = [recorded(run) for folder in ("runs", "two") for run in (tmp_path / folder).iterdir()]
    assert all(len(each) > 10 for each in rows) and questions.asked() == rows[0] + rows[1]
