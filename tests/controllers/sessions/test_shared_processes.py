"""Slots that share a worker process play as slots that have one each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs
from gym_gui.workers.process import WorkerProcess
from tests.support.runs import played_here


def experiment(isolation: str) -> dict[str, Any]:
    three = {f"agent_{i}": {"type": "random", "seed": i} for i in range(3)}
    return {
        "operators": [
            {"id": "spread", "task": "mpe2/simple_spread_v3", "workers": three},
            {"id": "apart", "task": "mpe2/simple_spread_v3", "workers": three, "isolation": "slot"},
        ],
        "execution": {"num_episodes": 6, "seeds": 40, "max_steps": 25, "isolation": isolation},
    }


async def test_a_run_is_equal_whichever_slots_share_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    start = WorkerProcess.start

    async def counted(self: WorkerProcess) -> Any:
        started.append(self.launch.agents)
        return await start(self)

    monkeypatch.setattr(WorkerProcess, "start", counted)
    apart = await played_here(tmp_path / "apart", experiment("slot"))
    assert [len(agents) for agents in started] == [1] * 6
    started.clear()
    shared = await played_here(tmp_path / "shared", experiment("worker"))
    assert sorted(len(agents) for agents in started) == [1, 1, 1, 3]
    assert compare_runs(apart.folder, shared.folder) is None
