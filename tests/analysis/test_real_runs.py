"""A run that the engine itself wrote, with real workers: read and reported.

That such runs are equal at any speed is tests/controllers/engine/test_equal_runs.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gym_gui.analysis import open_run, summarize
from tests.support.runs import operator, played_here, slot

EXPERIMENT: dict[str, Any] = {
    "operators": [operator("random", slot("random")), operator("passive", slot("passive"))],
    "execution": {"num_episodes": 12, "seeds": list(range(1000, 1012))},
}


async def test_a_real_run_is_summarised(tmp_path: Path) -> None:
    run = open_run((await played_here(tmp_path, EXPERIMENT)).folder)
    assert run.record.status == "completed" and run.record.seeds == tuple(range(1000, 1012))
    summary = summarize(run)
    assert str(summary.verdicts[0]).startswith("random is better than passive by ")
    passive = summary.operator("passive")
    assert passive.completed == 12 and passive.decisions is not None
    episodes = list(run.operators["passive"].episodes())
    assert passive.decisions.total == sum(e.length for e in episodes)
    steps = list(run.operators["passive"].steps())
    assert {s.action_source for s in steps} == {"policy"} and all(s.state_sha for s in steps)
    assert sum(s.reward or 0 for s in steps) == sum(e.total_reward or 0 for e in episodes)
