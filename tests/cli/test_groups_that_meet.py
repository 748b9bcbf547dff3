"""Trainings of a group meet, and play together, in a game for several agents: from training to report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands import Mosaic

pytest.importorskip("torch")
pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]

MATCH = "MosaicMultiGrid-S-1v1-IndAgObs-v1"
GROUP = f"ppo_SingleAgent_{MATCH}"
MEMBERS = ["ppo_seed1", "ppo_seed2", "ppo_seed3"]
SHORT = ("--steps", "256", "--num-envs", "2", "--num-steps", "32", "--set", "select=image,direction")


def _file(home: Path, name: str, **changes: Any) -> Path:
    policies = {
        "ppo": {"type": "rl", "checkpoint": f"group:{GROUP}"},
        "chaser": {"type": "baseline", "behavior": "soccer_chaser"},
    }
    data = {"task": MATCH, "policies": policies, "max_steps": 20, **changes}
    path = home / name
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


def test_a_group_is_trained_and_meets_rules_in_a_tournament_and_as_team_mates(mosaic: Mosaic) -> None:
    trained = mosaic("train", "--env", f"SingleAgent/{MATCH}", "--seeds", "3", *SHORT)
    assert trained.status == 0, trained.err
    assert f"Group:   {GROUP}, 3 of 3 trainings done" in trained.out

    played = mosaic("tournament", _file(mosaic.home, "sides.yaml", execution={"seeds": "range(0, 6)"}))
    assert played.status == 0, played.err
    run = mosaic.home / "runs" / played.out.rstrip().rpartition("runs/")[2]
    reported = mosaic("report", run.name)
    assert reported.status == 0, reported.err
    assert all(name in reported.out for name in (*MEMBERS, "chaser"))
    assert "ppo has a rating of " in reported.out and f"in {MATCH} over 3 trainings" in reported.out
    found = json.loads((run / "tournament.json").read_text())
    assert found["games"] == found["planned"] == 6 * 12
    (algorithm,) = found["algorithms"]["algorithms"]
    assert [sorted(each["scores"]) for each in algorithm["trained"]] == [["1", "2", "3"]]
    assert (run / "report.html").read_text().count("<svg") >= 2
    assert mosaic("verify", run).status == 0

    # The same policies on one side of the same game: who gets on with whom.
    team = {"teams": {"team": ["green_0", "blue_0"]}, "held_out": ["chaser"]}
    file = _file(mosaic.home, "team.yaml", **team, execution={"seeds": "range(0, 2)"})
    played = mosaic("tournament", file)
    assert played.status == 0, played.err
    run = mosaic.home / "runs" / played.out.rstrip().rpartition("runs/")[2]
    assert mosaic("report", run.name).status == 0
    found = json.loads((run / "tournament.json").read_text())
    assert {each["policy"] for each in found["policies"]} == {*MEMBERS, "chaser"}
    (algorithm,) = found["algorithms"]
    assert (algorithm["name"], algorithm["trainings"]) == ("ppo", MEMBERS)
    assert algorithm["siblings"] is not None and algorithm["others"] is None
    assert "Its other trainings" in played.out and "Others of the pool" not in played.out
