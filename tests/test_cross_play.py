"""Cross-play from Python: the seats of a team filled with each policy and with each two."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui import tournament
from gym_gui.core.errors import UsageError

LEVERS = "tests.support.arenas:Levers"


def puller(lever: int) -> Callable[[Any], int]:
    def pull(observation: Any) -> int:
        return lever

    return pull


def broken(observation: Any) -> int:
    raise ZeroDivisionError


CHASER = {"type": "baseline", "behavior": "soccer_chaser"}
POOL: dict[str, Any] = {"left": puller(0), "right": puller(1)}


def lines(folder: Path) -> dict[str, list[str]]:
    return {
        path.parent.name: path.read_text().splitlines()
        for path in sorted((folder / "operators").glob("*/episodes.jsonl"))
    }


def test_two_who_pull_different_levers_do_well_with_themselves_alone(tmp_path: Path) -> None:
    pool = {**POOL, "too": puller(0), "other": puller(3)}
    found = tournament(LEVERS, pool, held_out=["too", "other"], seeds=12, out=tmp_path)
    before = lines(found.folder)
    assert {key: len(rows) for key, rows in before.items()} == dict.fromkeys(
        (
            *("left_with_left", "left_with_right", "right_with_right"),
            *("left_with_too", "right_with_too", "left_with_other", "right_with_other"),
        ),
        24,
    )
    seated = [json.loads(row)["agents"]["agent_0"]["slot"] for row in before["left_with_right"]]
    assert sorted(seated) == ["agent_0"] * 12 + ["agent_1"] * 12

    worth = float(np.mean([np.random.default_rng(seed).uniform(0.5, 1.5) for seed in range(12)]))
    cross = found.cross_play
    assert cross.measure == "return" and cross.games == cross.planned == 7 * 24 and cross.seeds == 12
    assert cross.own.value == pytest.approx(worth) and cross.own.units == 12
    assert cross.own.low is not None and cross.own.low < worth
    assert cross.cross is not None and cross.cross.value == 0
    assert cross.held is not None and cross.held.value == pytest.approx(worth / 4)  # one of four teams
    assert [verdict.decided for verdict in cross.verdicts] == [True, True]
    assert cross.verdicts[0].sentence.startswith("Self-play is better than cross-play by ")
    assert cross.verdicts[1].sentence.startswith("Self-play is better than play with held-out partners by ")
    left = next(mate for mate in cross.policies if mate.policy == "left")
    assert (left.own.value, left.held.value) == pytest.approx((worth, worth / 2))  # pyright: ignore[reportOptionalMemberAccess]
    team = cross.team("right", "left")
    assert team is not None and team.lift is not None and team.lifts == -1
    assert team.lift.value == pytest.approx(-worth)
    assert cross.lifted[0].startswith("left in one seat costs the team of right ")
    assert not any("too in one seat costs the team of left" in sentence for sentence in cross.lifted)
    assert "Self-play is better than cross-play" in str(found) and "left_with_right" not in str(found)
    assert found.page.read_text().count("<svg") == 2
    with pytest.raises(UsageError, match="See cross_play"):
        _ = found.standings

    # Another policy brings its own games, and no others.
    grown = tournament(
        LEVERS,
        {**pool, "late": puller(2)},
        held_out=["too", "other"],
        seeds=12,
        out=tmp_path,
        resume=found.folder,
    )
    after = lines(grown.folder)
    new = {"late_with_late", "left_with_late", "right_with_late", "too_with_late", "other_with_late"}
    assert set(after) - set(before) == new
    assert all(after[key] == rows for key, rows in before.items())


def test_of_three_seats_one_is_another_ones(tmp_path: Path) -> None:
    found = tournament(LEVERS, POOL, seeds=2, out=tmp_path, env_kwargs={"agents": 3})
    rows = lines(found.folder)
    assert {key: len(each) for key, each in rows.items()} == dict.fromkeys(
        (f"{a}_with_{b}" for a, b in product(POOL, POOL)), 6
    )
    slots = [
        next(seat for seat, agent in json.loads(row)["agents"].items() if agent["slot"] == "agent_0")
        for row in rows["left_with_right"]
    ]
    assert sorted(slots) == ["agent_0", "agent_0", "agent_1", "agent_1", "agent_2", "agent_2"]
    assert "the column in the other 2" in str(found)
    assert found.cross_play.verdicts[0].sentence.startswith("Self-play against cross-play is not decided")


def test_one_policy_may_meet_partners_of_no_pool(tmp_path: Path) -> None:
    found = tournament(LEVERS, POOL, held_out=["right"], seeds=6, out=tmp_path)
    cross = found.cross_play
    assert cross.cross is None and cross.cross_gap is None
    assert len(cross.verdicts) == 1 and "held-out partners" in cross.verdicts[0].claim
    assert {key: len(rows) for key, rows in lines(found.folder).items()} == {
        "left_with_left": 12,
        "left_with_right": 12,
    }


def test_where_somebody_fails_nothing_is_decided(tmp_path: Path) -> None:
    found = tournament(LEVERS, {**POOL, "broken": broken}, seeds=8, out=tmp_path)
    assert found.status == "failed"
    cross = found.cross_play
    assert {mate.policy: mate.failed for mate in cross.policies} == {"left": 0, "right": 0, "broken": 48}
    assert cross.seeds == 8 and not any(verdict.decided for verdict in cross.verdicts)
    assert any("broken failed in 48 games" in note for note in cross.notes)
    assert any("ZeroDivisionError" in note for note in cross.notes)


@pytest.mark.parametrize(
    ("env_id", "options", "said"),
    [
        (LEVERS, {"policies": {"left": puller(0)}}, "at least two policies, 1 is named"),
        (LEVERS, {"held_out": ["up"]}, "held_out: no policy is called 'up'"),
        (LEVERS, {"held_out": ["left", "right"]}, "held_out: leaves nobody who would play with them"),
        (LEVERS, {"held_out": ["left", "left"]}, "held_out: 'left' is named twice"),
        (LEVERS, {"schedule": "swiss"}, "on one side: nobody can win. Use schedule: cross_play"),
        (LEVERS, {"policies": {**POOL, "a_with_b": puller(2)}}, "'a_with_b' is no name of a policy"),
        (
            "simple_spread_v3",
            {"policies": {**POOL, "chaser": CHASER}},
            "policy 'chaser': operators_worker cannot",
        ),
        ("tictactoe_v3", {"schedule": "cross_play"}, "the sides of tictactoe_v3 compete"),
        ("tictactoe_v3", {"held_out": ["left"]}, "held-out partners are for one team"),
        ("simple_speaker_listener_v4", {}, "speaker_0 and listener_0 have different spaces"),
    ],
)
def test_what_is_refused(tmp_path: Path, env_id: str, options: dict[str, Any], said: str) -> None:
    given = {"policies": POOL, "seeds": 1, **options}
    with pytest.raises(UsageError) as refusal:
        tournament(env_id, given.pop("policies"), out=tmp_path, **given)
    assert said in str(refusal.value) and "\n" not in str(refusal.value)
    assert not list(tmp_path.iterdir())
