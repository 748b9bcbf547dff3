"""Failure 5 of the peer: scripts do not load, and ``max_steps`` is ignored. Ours runs them unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.services.experiment_file import load_experiment
from tests.support.runs import played_here

# Both forms as the peer writes them; only the numbers of episodes are smaller.
NEW_FORM = """
operators = [
    {"id": "a", "name": "A", "env_name": "ENV_NAME", "task": "TASK", "max_steps": 30,
     "workers": {"agent": {"type": "random", "seed": 42}}},
    {"id": "b", "name": "B", "env_name": "ENV_NAME", "task": "TASK",
     "workers": {"agent": {"type": "baseline"}}},
    {"id": "c", "name": "C", "env_name": "ENV_NAME", "task": "TASK",
     "workers": {"agent": {"type": "passive"}}},
]
execution = {"auto_run": False, "num_episodes": 3, "seeds": range(1000, 1010),
             "environment_mode": "procedural",
             "step_delay_ms": 50}
"""
OLD_FORM = """
operators = [
    {"id": "a", "name": "A", "type": "random", "worker_id": "random_worker",
     "env_name": "ENV_NAME", "task": "TASK", "max_steps": 30},
    {"id": "b", "name": "B", "type": "baseline", "worker_id": "random_worker",
     "env_name": "ENV_NAME", "task": "TASK"},
    {"id": "c", "name": "C", "type": "passive", "worker_id": "passive_worker",
     "env_name": "ENV_NAME", "task": "TASK"},
]
execution = {"auto_run": True, "num_episodes": 3, "seeds": 1000, "env_mode": "fixed", "step_delay_ms": 0}
"""


GRID = ("minigrid", "MiniGrid-Empty-8x8-v0", 256)
CART = ("gymnasium", "CartPole-v1", 500)
NEW = (NEW_FORM, [1000, 1001, 1002])
OLD = (OLD_FORM, [1000] * 3)


@pytest.mark.parametrize(
    ("form", "seeds", "env_name", "task", "limit"),
    [
        pytest.param(*NEW, *GRID, id="new-grid"),
        pytest.param(*OLD, *CART, id="old-cart"),
        pytest.param(*OLD, *GRID, id="old-grid", marks=pytest.mark.full),
        pytest.param(*NEW, *CART, id="new-cart", marks=pytest.mark.full),
    ],
)
async def test_it_runs_unchanged(
    tmp_path: Path, form: str, seeds: list[int], env_name: str, task: str, limit: int
):
    script = tmp_path / "experiment.py"
    script.write_text(form.replace("ENV_NAME", env_name).replace("TASK", task))
    run = await played_here(tmp_path / "runs", load_experiment(script, allow_code=True))
    record = run.open().record
    assert record.status == "completed"
    for name in "abc":
        episodes = run.episodes(name)
        assert [episodes[k].seed for k in range(3)] == seeds
        assert run.statuses(name) == ["completed"] * 3
        assert all(0 < e.length <= (30 if name == "a" else limit) for e in episodes.values())
        (player,) = episodes[0].agents.values()
        assert player.worker_id == "operators_worker"
    if env_name == "minigrid":
        # No operator finds the goal in 30 random steps from this start: the limit is what ends its episodes.
        assert {e.length for e in run.episodes("a").values() if not e.success} == {30}
        assert len({s.action for s in run.steps("c")}) == 1, "who is passive does one thing"
    assert {s.action for s in run.steps("b")} == set(range(7 if env_name == "minigrid" else 2))
