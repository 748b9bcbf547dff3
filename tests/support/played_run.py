"""A run of two kinds of environment, played once for all tests of replays and results."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from gym_gui.core.config import OperatorConfig
from gym_gui.services.store import Store
from tests.support.engine import player, record_run


@pytest.fixture(scope="session")
def played_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two operators on CartPole, one of connect four; seeds 1, 2, 3."""
    out = tmp_path_factory.mktemp("played")

    def legal(s: object) -> int:
        choices = s.legal_actions  # type: ignore[attr-defined]
        return choices[(s.seed + s.step_index) % len(choices)]  # type: ignore[attr-defined]

    operators = [
        (OperatorConfig("good", "Good", "", "CartPole-v1", {}), {"agent_0": lambda s: int(s[2] + s[3] > 0)}),
        (OperatorConfig("poor", "Poor", "", "CartPole-v1", {}), {"agent_0": player()}),
        (
            OperatorConfig("four", "Four", "", "connect_four_v3", {}),
            {f"player_{i}": player(legal) for i in (0, 1)},
        ),
    ]
    return asyncio.run(record_run(out, *operators, max_steps=40))


@pytest.fixture
def run(played_run: Path, store: Store) -> Path:
    """A copy of it among the runs of the window."""
    target = store.runs_dir() / played_run.name
    shutil.copytree(played_run, target)
    return target
