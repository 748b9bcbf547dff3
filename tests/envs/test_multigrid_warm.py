"""MultiGrid's compile cache is filled in one call that tells what it does."""

from __future__ import annotations

import subprocess
import sys

from gym_gui.envs.families.multigrid import warm


def test_warming_reports_itself() -> None:
    said: list[str] = []
    took = warm(said.append)
    assert took > 0
    assert len(said) == 2
    assert said[0].startswith("Compiling MultiGrid") and "ready" in said[1]
    assert warm() < took + 5


def test_set_up_calls_it_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui.envs.warm"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "MultiGrid is ready" in done.stdout
