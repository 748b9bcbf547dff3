"""No reader of a received file takes more memory than docs/security/received_files.md says."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.bombs import CASES, bomb_rows
from tests.support.commands import ROOT, Mosaic, experiment

MOST_MB = {"long_line": 600}
"""Megabytes that a reader may take beside what was there; where nothing is said, 192."""
TORCH = [name for name in CASES if name.startswith(("sb3", "cleanrl"))]
PLAIN = [name for name in CASES if name not in TORCH]


def peaks(names: list[str]) -> dict[str, dict[str, Any]]:
    """Read bombs in a process of its own, which says what each took."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.bombs", *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, ROOT.glob("3rd_party/*_worker")))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [row["case"] for row in rows] == names, (done.returncode, done.stdout[-500:], done.stderr[-2000:])
    return {row["case"]: row for row in rows}


def check(found: dict[str, dict[str, Any]]) -> None:
    for name, row in found.items():
        assert row["said"].startswith("refused: "), row
        assert row["peak_mb"] <= MOST_MB.get(name, 192), row


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell peaks")
def test_readers_of_descriptions_pickles_messages_and_rows() -> None:
    check(peaks(PLAIN))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell peaks")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_readers_of_tensors() -> None:
    check(peaks(TORCH))


_MEASURED = """
import re, sys
from pathlib import Path
from gym_gui.cli.app import run
status = run(sys.argv[1:])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(f"peak {int(peak) // 1024} status {status}", file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell peaks")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("report", "steps"),
        pytest.param("report", "episodes", marks=pytest.mark.full),
        pytest.param("verify", "steps", marks=pytest.mark.full),
    ],
)
def test_a_few_bytes_of_compressed_rows(mosaic: Mosaic, command: str, name: str) -> None:
    run = mosaic.home / mosaic("run", experiment(mosaic.home), "--json").json()["run"]

    def peak() -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED, command, str(run)],
            cwd=mosaic.home,
            env={**os.environ, **mosaic.env},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        last = done.stderr.splitlines()[-1].split()
        assert last[0] == "peak", done.stderr
        return int(last[1]), done.stderr

    usual, _ = peak()
    (file,) = run.glob(f"operators/*/{name}.jsonl")
    file.unlink()
    bomb_rows(file.with_name(f"{name}.jsonl.zst"), 60)
    assert file.with_name(f"{name}.jsonl.zst").stat().st_size < 20_000
    found, said = peak()
    assert found <= usual + 192, (usual, found, said)
