"""The benchmark of BDI agents runs in both interpreters, where both are there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.jason import why_not

pytest.importorskip("agentspeak")
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "bench" / "bench_bdi.py"


@pytest.mark.full
def test_it_measures_each_interpreter_that_is_there(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--decisions", "2", "--json", str(tmp_path / "figures.json")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # What a machine makes of two decisions is no measurement: which figures there are counts here.
    assert "Traceback" not in done.stderr, done.stderr
    told = json.dumps(json.loads((tmp_path / "figures.json").read_text()))
    assert "AgentSpeak in Python" in told
    assert ("Jason, memory" in told) is (not why_not())
