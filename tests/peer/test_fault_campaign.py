"""The fault campaign of ``scripts/faults/faults.py``: one here, all of it by ``./scripts/test.sh --full``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.processes.tree import TAG

ROOT = Path(__file__).resolve().parents[2]


def campaign(*arguments: str, within: float) -> str:
    """Carry faults out; each says how it went, and a table is printed at the end."""
    inherited = {key: value for key, value in os.environ.items() if key != TAG}
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/faults/faults.py"), *arguments],
        env=inherited,
        capture_output=True,
        text=True,
        timeout=within,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.full
def test_a_fault() -> None:
    """All guards are killed with the program, and the run is resumed.

    Killed workers and sessions, requests to end and full disks have tests of their own, here and in
    ``tests/cli``.
    """
    told = campaign("--only", "207", "--jobs", "1", within=300)
    assert "1 of 1 faults" in told
