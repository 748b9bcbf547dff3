"""A tournament that is ended by Ctrl-C goes on where it was, and no game is played twice."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.analysis.compute.standings_builder import standings_of
from tests.support.little_workers import PATIENT, little_worker
from tests.support.processes import Offspring
from tests.support.runs import Gate, MosaicRun
from tests.support.waiting import eventually

GAMES = 6
PATIENT_ONE: dict[str, Any] = {"type": "baseline", "worker_id": "patient_worker", "settings": {"at": 3}}
POOL: dict[str, Any] = {
    "patient": PATIENT_ONE,
    "cycle": {"type": "baseline", "behavior": "cycle"},
    "random": {"type": "random"},
}
PAIRINGS = (("cycle", "random"), ("patient", "random"))
"""The one that is patient waits from its fourth game on."""


def _rows(run: MosaicRun) -> list[tuple[str, int, str]]:
    """Operator, number and beginning of each game that is recorded, one for each line."""
    games = [
        orjson.loads(line)
        for file in sorted(run.folder.glob("operators/*/episodes.jsonl"))
        for line in file.read_bytes().splitlines()
    ]
    return [(game["operator_id"], game["episode_index"], game["started_at"]) for game in games]


@pytest.mark.full
def test_ctrl_c_and_on_again(tmp_path: Path, offspring: Offspring, monkeypatch: pytest.MonkeyPatch) -> None:
    little_worker(tmp_path / "data/workers", PATIENT, "patient_worker")
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("MOSAIC_TEST_GATE", str(gate.folder))
    execution = {"seeds": "range(0, 3)", "concurrency": 2}
    asked = {"task": "tictactoe_v3", "policies": POOL, "schedule": PAIRINGS, "execution": execution}
    run = MosaicRun(tmp_path, offspring, asked, "--processes", "1", command="tournament")
    gate.reached()
    eventually(lambda: len(_rows(run)) >= 2, "games are written")
    run.signal(signal.SIGINT)
    assert run.wait() == 130
    assert f"resume with: mosaic tournament --resume {run.folder}" in run.err
    before = _rows(run)
    assert run.header()["status"] == "stopped" and 2 <= len(before) < 2 * GAMES
    part = standings_of(run.open())
    assert part.claim == "Not decided" and f"of {2 * GAMES} games are played" in part.detail

    gate.open()
    again = MosaicRun(
        tmp_path, offspring, None, "--resume", str(run.folder), "--processes", "1", command="tournament"
    )
    assert again.wait() == 0, again.err
    after = _rows(again)
    assert set(before) <= set(after)
    played = Counter((operator, number) for operator, number, _ in after)
    assert played == Counter((f"{a}_vs_{b}", number) for a, b in PAIRINGS for number in range(GAMES))
    assert standings_of(again.open()).games == 2 * GAMES
