"""A training's league as a tournament."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.experiment_file import load_tournament
from tests.support.policies import kept_policy

SEARCH = {"worker_id": "openspiel_worker", "type": "planner"}
MEMBERS: list[dict[str, Any]] = [
    {
        "name": "search",
        "folder": None,
        "step": None,
        "player": {"worker_id": "openspiel_worker", "type": "planner"},
    },
    {"name": "past_0", "folder": "past_0", "step": 0, "player": None},
]


def write_league(folder: Path, **about: Any) -> None:
    """A league beside the policy of its training."""
    league = {
        "format_version": 2,
        "env_id": "tictactoe_v3",
        "members": MEMBERS,
        "learner": {"rating": 3.0},
        **about,
    }
    (folder / "league.json").write_text(json.dumps(league))


def test_members_and_the_learner_meet(tmp_path: Path) -> None:
    folder = kept_policy(tmp_path / "run")
    write_league(folder)
    found = load_tournament(folder)
    assert found.operator.task == "tictactoe_v3"
    assert list(found.policies) == ["search", "past_0", "learner"]
    past, learner = found.policies["past_0"], found.policies["learner"]
    assert isinstance(past, WorkerAssignment)
    assert isinstance(learner, WorkerAssignment)
    assert past.settings["checkpoint"] == str(folder / "past_0")
    assert Path(str(learner.settings["checkpoint"])) == folder
    # What it names is said by a file, and has to be allowed where it is no installed worker.
    assert found.operator.origin.file.endswith("league.json")


@pytest.mark.parametrize("about", [{"members": []}, {"env_id": ""}, {"members": "x"}])
def test_what_is_no_league_is_refused(about: dict[str, Any], tmp_path: Path) -> None:
    folder = kept_policy(tmp_path / "run")
    write_league(folder, **about)
    with pytest.raises(ExperimentError, match="is not a league whose members can play"):
        load_tournament(folder)


def test_a_league_without_its_policy_is_refused(tmp_path: Path) -> None:
    write_league(tmp_path)
    with pytest.raises(ExperimentError, match="the training's policy beside it"):
        load_tournament(tmp_path)
