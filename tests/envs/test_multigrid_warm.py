"""MultiGrid's compile cache is filled in one call that tells what it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.envs.families.multigrid import warm


def test_warming_reports_itself() -> None:
    said: list[str] = []
    took = warm(said.append)
    assert took > 0
    assert said[0].startswith("Compiling MultiGrid") and "MultiGrid is ready" in said[-1]
    assert warm() < took + 5


def test_set_up_calls_it_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui.envs.warm"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "MultiGrid is ready" in done.stdout


@pytest.mark.full
def test_what_takes_long_says_how_far_it_is(tmp_path: Path) -> None:
    """With an empty cache each function is told as it is ready, and one signature of each is all there is."""
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui.envs.warm"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("Compiling MultiGrid: ")]
    names = [line.removeprefix("Compiling MultiGrid: ").partition(" ")[0] for line in told]
    assert len(names) > 3 and len(names) == len(set(names))
