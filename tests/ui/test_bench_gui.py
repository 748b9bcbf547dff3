"""The instruments that measure the window notice what they are there for."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PyQt6.QtCore import QTimer

from tests.support.debian import need_programs

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def instruments(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS / "bench"))
    return importlib.import_module("bench_gui_instruments")


def test_a_blocked_event_loop_is_noticed_as_often_as_an_event_would_have_been(
    instruments: ModuleType, qapp: Any, qtbot: Any
) -> None:
    waited = instruments.Waited()
    beat = instruments.Beat(waited)
    beat.start()
    QTimer.singleShot(30, lambda: time.sleep(0.2))
    qtbot.waitUntil(lambda: bool(beat.late_ns) and max(beat.late_ns) > 120e6)
    beat.stop()
    samples = beat.samples_ms()
    # 200 ms hold up some forty beats, each a little less than the one before.
    assert sum(1 for late in samples if late > 50) >= 15
    assert instruments.part(samples, 1.0) == samples[-1] >= 120


def test_processor_time_is_not_waiting(instruments: ModuleType) -> None:
    meter = instruments.Meter(instruments.Waited())
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    used = meter.read()
    assert used["cpu_s"] >= 0.1 and used["wall_s"] >= used["cpu_s"] - 0.02
    assert 0 <= used["waited_s"] <= used["wall_s"]


def test_a_window_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    places = {f"MOSAIC_{name}_DIR": str(tmp_path / name) for name in ("DATA", "CACHE", "RUNS")}
    begun = time.monotonic_ns()
    subprocess.run(
        [sys.executable, str(SCRIPTS / "bench" / "bench_gui_window.py"), "start", str(target)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **places},
        check=True,
        timeout=120,
    )
    result = json.loads(target.read_text())
    assert "error" not in result
    assert begun < result["start"]["painted"] <= result["start"]["reacted"] < time.monotonic_ns()
    assert result["start"]["cpu_s"] > 0 and result["longest_ms"] >= 0


@pytest.mark.full
def test_an_operator_elsewhere_is_measured_beside_one_here(tmp_path: Path) -> None:
    need_programs("sshd", "ssh", "ss", packages=("openssh-server", "openssh-client", "iproute2"))
    told = tmp_path / "figures.json"
    command = [sys.executable, str(SCRIPTS / "bench" / "bench_gui.py"), "--quick", "--only", "elsewhere"]
    subprocess.run([*command, "--offscreen", "--json", str(told)], check=False, timeout=240)
    figures = {row["name"]: row["measured"] for row in json.loads(told.read_text())["figures"]}
    assert len(figures) == 5 and min(figures.values()) > 0, "each part was seen"
