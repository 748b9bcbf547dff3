"""The example of docs/doorkey.md: its programs and policies are there, and sit where the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui import evaluate
from tests.support.commands import Mosaic

pytestmark = pytest.mark.usefixtures("sessions_here")

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def test_all_of_it_can_be_played(mosaic: Mosaic) -> None:
    done = mosaic("run", EXAMPLES / "doorkey/doorkey.yaml", "--dry-run", "--trust", "--json")
    assert done.status == 0, done.err


@pytest.mark.full
def test_what_was_learnt_serves_a_manager(tmp_path: Path) -> None:
    manager = {"type": "bdi", "settings": {"program": str(EXAMPLES / "bdi/doorkey_manager.asl")}}
    players = {"agent": EXAMPLES / "doorkey/learnt_skills", "agent/goal": manager}
    results = evaluate("MiniGrid-DoorKey-8x8-v0", players, seeds=20, out=tmp_path)
    assert sum(bool(episode.success) for episode in results.episodes) >= 8  # 64 of 100 on the page; random: 1
