"""Tests see nothing of what the person at this machine has installed, chosen or allowed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.core import paths
from tests.support.own_pythons import some_textarena

ROOT = Path(__file__).resolve().parents[2]


def test_every_place_is_of_this_run_of_the_tests() -> None:
    home = Path(os.environ["MOSAIC_TESTS_HOME"])
    inside = (paths.config_dir(), paths.data_dir(), paths.cache_dir(), Path(os.environ["XDG_DATA_HOME"]))
    assert all(place.is_relative_to(home) for place in inside), inside
    assert paths.runs_dir() == Path("runs")


@pytest.mark.full
def test_what_the_person_has_installed_is_collected_by_no_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games are listed for the person, and nothing asks what their seats hide."""
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MOSAIC_RUNS_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-person")
    monkeypatch.delenv("MOSAIC_TESTS_HOME", raising=False)
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "COVERAGE_PROCESS_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    some_textarena()
    listed = subprocess.run([sys.executable, "-c", _LISTED], text=True, capture_output=True, check=True)
    assert "textarena/KuhnPoker-v0" in listed.stdout, "the person has nothing that could be seen"
    asked = ("tests/envs/test_what_a_seat_may_know.py", "--collect-only", "-q", "-n", "0", "-m", "")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *asked]
    collected = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert collected.returncode == 0, collected.stdout + collected.stderr
    assert "[open_spiel/kuhn_poker]" in collected.stdout and "[textarena/" not in collected.stdout


_LISTED = "from gym_gui.envs import list_specs; print(*(spec.id for spec in list_specs()))"
