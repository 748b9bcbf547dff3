"""Failure 9 of the peer: seeds come from Python's randomised ``hash()``, and records are empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs
from tests.support.processes import Offspring
from tests.support.runs import MosaicRun, operator, played_here, slot

PLAN: dict[str, Any] = {
    "operators": [
        operator("cliff", task="FrozenLake-v1"),
        operator(
            "rps",
            {f"player_{k}": slot()["agent"] for k in range(2)},
            task="rps_v2",
            env_name="pettingzoo",
        ),
    ],
    "execution": {"num_episodes": 5, "seeds": [11, 3, 8, 12, 2]},
}


async def test_a_run_is_repeated_exactly_whatever_hash_is(
    tmp_path: Path, offspring: Offspring, monkeypatch: pytest.MonkeyPatch
):
    run = MosaicRun(tmp_path, offspring, PLAN, environment={"PYTHONHASHSEED": "0"})
    assert run.wait() == 0, run.err
    monkeypatch.setenv("PYTHONHASHSEED", "1")  # of the workers; that of this process is any other
    here = await played_here(tmp_path / "here", PLAN)
    assert compare_runs(run.folder, here.folder) is None
    other_seeds = {**PLAN, "execution": {"num_episodes": 5, "seeds": 1}}
    again = await played_here(tmp_path / "again", other_seeds)
    assert compare_runs(run.folder, again.folder) is not None, "other seeds, another run"


async def test_nothing_of_a_record_is_empty(tmp_path: Path):
    plan = {"operators": [operator("cart")], "execution": {"num_episodes": 5, "seeds": 1}}
    run = await played_here(tmp_path, plan)
    steps = run.steps("cart")
    assert len(steps) == sum(e.length for e in run.episodes("cart").values())
    assert len({s.state_sha for s in steps}) == len(steps)
    assert len({tuple(s.action for s in steps if s.episode_index == k) for k in range(5)}) == 5
