"""Tournaments from Python: played in this process, grown, and refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui import tournament
from gym_gui.core.errors import UsageError
from tests.support.groups import group
from tests.support.trained import needs_a_trained_policy

RANDOM = {"type": "random"}


def lowest(observation: Any, legal_actions: Any) -> int:
    return legal_actions[0]


def highest(observation: Any, legal_actions: Any) -> int:
    return legal_actions[-1]


class Chance:
    name = "chance"

    def reset(self, seed: int | None = None) -> None:
        self.rng = np.random.default_rng(seed)

    def select_action(self, observation: Any, legal_actions: Any) -> int:
        return int(self.rng.choice(legal_actions))


POOL: dict[str, Any] = {"lowest": lowest, "chance": Chance}


def _lines(folder: Path) -> dict[str, list[str]]:
    return {
        path.parent.name: path.read_text().splitlines()
        for path in sorted((folder / "operators").glob("*/episodes.jsonl"))
    }


def test_a_pool_meets_from_every_seat_and_a_policy_that_is_added_plays_its_own_games_only(
    tmp_path: Path,
) -> None:
    first = tournament("tictactoe_v3", POOL, seeds=3, out=tmp_path)
    before = _lines(first.folder)
    assert {key: len(rows) for key, rows in before.items()} == {"lowest_vs_chance": 6}
    assert first.standings.games == first.standings.planned == 6
    seated = [json.loads(row)["agents"]["player_1"]["slot"] for row in before["lowest_vs_chance"]]
    assert sorted(seated) == ["player_1"] * 3 + ["player_2"] * 3

    grown = tournament(
        "tictactoe_v3", {**POOL, "highest": highest}, seeds=3, out=tmp_path, resume=first.folder
    )
    after = _lines(first.folder)
    assert grown.folder == first.folder
    assert {key: len(rows) for key, rows in after.items()} == dict.fromkeys(
        ("lowest_vs_chance", "lowest_vs_highest", "chance_vs_highest"), 6
    )
    assert after["lowest_vs_chance"] == before["lowest_vs_chance"]
    assert {each.policy for each in grown.standings.policies} == {"lowest", "chance", "highest"}
    assert set(grown.run.record.extra["players"]) == set(after)
    assert "lowest" in str(grown) and grown.page.read_text().count("<svg") == 2

    longer = tournament(
        "tictactoe_v3", {**POOL, "highest": highest}, seeds=4, out=tmp_path, resume=first.folder
    )
    assert {len(rows) for rows in _lines(longer.folder).values()} == {8}
    assert longer.status == "completed"


def test_swiss_rounds_go_by_results_and_can_be_gone_on_with(tmp_path: Path) -> None:
    pool = {**POOL, "highest": highest, "other": Chance}
    found = tournament("tictactoe_v3", pool, schedule="swiss", seeds=2, out=tmp_path)
    rounds = found.run.record.extra["tournament"]["rounds"]
    assert [len(each["pairings"]) for each in rounds] == [2, 2]
    assert len(found.run.operators) == 4
    late = tournament(
        "tictactoe_v3", {**pool, "late": lowest}, schedule={"swiss": 2}, seeds=2, resume=found.folder
    )
    new = late.run.record.extra["tournament"]["rounds"][2:]
    assert [["late" in pairing for pairing in each["pairings"]] for each in new] == [[True], [True]]


def test_a_policy_that_fails_is_said(tmp_path: Path) -> None:
    def broken(observation: Any, legal_actions: Any) -> int:
        raise ZeroDivisionError

    found = tournament("tictactoe_v3", {**POOL, "broken": broken}, seeds=2, out=tmp_path)
    assert found.status == "failed"
    failed = {each.policy: each.failed for each in found.standings.policies}
    assert failed == {"lowest": 0, "chance": 0, "broken": 8}


def test_teams_are_played_by_one_policy(tmp_path: Path) -> None:
    pool: dict[str, Any] = {"chaser": {"type": "baseline", "behavior": "soccer_chaser"}, "random": RANDOM}
    with pytest.raises(UsageError, match="policy 'chaser'"):
        tournament("tictactoe_v3", pool, seeds=1, out=tmp_path)
    # Two on each side.
    from gym_gui.controllers.runs.tournament_run import TournamentRun
    from gym_gui.core.experiment.tournament import tournament_from_data

    asked = tournament_from_data({"task": "MosaicMultiGrid-S-2v2-IndAgObs-v1", "policies": pool})
    tournament_run = TournamentRun.of(asked)
    (operator,) = tournament_run.experiment().operators
    behaviors = {slot: player.settings["behavior"] for slot, player in operator.workers.items()}
    assert behaviors == {
        "green_0": "soccer_chaser",
        "green_1": "soccer_chaser",
        "blue_0": "random",
        "blue_1": "random",
    }


@pytest.mark.parametrize(
    ("env_id", "options", "said"),
    [
        ("CartPole-v1", {}, "CartPole-v1 has one agent: a tournament needs several"),
        ("simple_spread_v3", {"schedule": "round_robin"}, "on one side: no side can win"),
        ("tictactoe_v3", {"schedule": [["lowest", "chance", "third"]]}, "names 3 policies"),
        ("tictactoe_v3", {"policies": {"lowest": lowest}}, "at least two policies, 1 is named"),
        ("tictactoe_v3", {"seeds": [3, 3]}, "3 is listed 2 times"),
        (
            "tictactoe_v3",
            {"teams": {"us": ["player_1"], "them": ["player_3"]}},
            "no slot is called 'player_3'",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, env_id: str, options: dict[str, Any], said: str) -> None:
    given = {"policies": {**POOL, "third": highest}, "seeds": 1, **options}
    with pytest.raises(UsageError) as refusal:
        tournament(env_id, given.pop("policies"), out=tmp_path, **given)
    assert said in str(refusal.value) and "\n" not in str(refusal.value)
    assert not list(tmp_path.iterdir())


@needs_a_trained_policy
def test_trainings_of_a_group_meet_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_RUNS_DIR", str(tmp_path / "runs"))
    group(tmp_path / "runs", [500.0, 480.0])
    own = [{"step": "select", "key": "own"}]
    found = tournament(
        "tests.support.duel:Poles",
        {"ppo": {"type": "rl", "checkpoint": "group:ppo_CartPole-v1", "preprocess": own}},
        seeds=6,
        teams={"north": ["north"], "south": ["south"]},
        env_kwargs={"agents": ["north", "south"], "steps": 9},
    )
    assert found.status == "completed" and list(found.pairings) == ["ppo_seed1_vs_ppo_seed2"]
    standings = found.standings
    assert [each.draws for each in standings.policies] == [12, 12], "both kept their pole up"
    assert standings.algorithms is not None
    assert [each.trainings for each in standings.algorithms.algorithms] == [2]
    assert "ppo has a rating of 0 in tests.support.duel:Poles over 2 trainings" in str(found)


def test_a_run_is_gone_on_with_as_what_it_is(tmp_path: Path) -> None:
    first = tournament("tictactoe_v3", POOL, seeds=[4, 5], out=tmp_path)
    with pytest.raises(UsageError, match="has games of 'chance', which is no policy"):
        tournament("tictactoe_v3", {"lowest": lowest, "other": Chance}, seeds=[4, 5], resume=first.folder)
    with pytest.raises(UsageError, match="policy 'chance' has changed since the run was begun"):
        tournament("tictactoe_v3", {**POOL, "chance": RANDOM}, seeds=[4, 5], resume=first.folder)
    with pytest.raises(UsageError, match="played on other seeds"):
        tournament("tictactoe_v3", POOL, seeds=[5, 4], resume=first.folder)
    with pytest.raises(UsageError, match="begun with another task"):
        tournament("connect_four_v3", POOL, seeds=[4, 5], resume=first.folder)
