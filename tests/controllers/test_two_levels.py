"""Hierarchical play from an experiment's own words: manager and skills in processes of their own."""

from __future__ import annotations

from pathlib import Path

from gym_gui.analysis import open_run
from gym_gui.controllers.verification import verify
from gym_gui.core.experiment_data import experiment_from_data
from tests.support.engine import record_run

OPERATOR = {
    "id": "two",
    "task": "MiniGrid-DoorKey-5x5-v0",
    "manager": {"agent": {"type": "baseline", "behavior": "minigrid_manager"}},
    "workers": {"agent": {"type": "baseline", "behavior": "minigrid_skills"}},
}


async def test_a_scripted_manager_and_scripted_skills_open_the_door(tmp_path: Path) -> None:
    (operator,) = experiment_from_data({"operators": [OPERATOR]}, complete=False).operators
    run = open_run(await record_run(tmp_path, (operator, {}), seeds=range(5)))
    recorded = run.operators["two"]
    for episode in recorded.episodes():
        assert episode.success, episode.error
        assert {seat: player.policy for seat, player in episode.agents.items()} == {
            "agent_0": "minigrid_skills",
            "agent_0/goal": "minigrid_manager",
        }
        assert episode.returns["agent_0"] == episode.returns["agent_0/goal"] == episode.total_reward
    assert (await verify(run)).deviations == []
