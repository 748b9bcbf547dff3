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


SPEAKER = "simple_speaker_listener_v4"


def convention(shift: int) -> dict[str, Any]:
    """A speaker who names the goal by another word, and the listener who knows which."""

    def speak(color: Any) -> int:
        return (int(np.argmax(color)) + shift) % 3

    def listen(observation: Any) -> int:
        heard = observation[8:]
        if not heard.any():
            return 0
        goal = (int(np.argmax(heard)) - shift) % 3
        x, y = observation[2 + 2 * goal : 4 + 2 * goal]
        if abs(x) > abs(y):
            return 2 if x > 0 else 1
        return 4 if y > 0 else 3

    return {"slots": {"speaker_0": speak, "listener_0": listen}}


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
    assert cross.own.low is None, "twelve seeds are too few"
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
    with pytest.raises(UsageError, match="Use cross_play instead"):
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


def test_speakers_and_listeners_who_belong_together_stay_in_their_slots(tmp_path: Path) -> None:
    pool = {"plain": convention(0), "shifted": convention(1)}
    idle = {"slots": {"speaker_0": puller(0), "listener_0": puller(0)}}
    found = tournament(SPEAKER, {**pool, "idle": idle}, held_out=["idle"], seeds=6, out=tmp_path)
    rows = lines(found.folder)
    teams = ("plain_with_plain", "plain_with_shifted", "shifted_with_plain", "shifted_with_shifted")
    held = ("plain_with_idle", "idle_with_plain", "shifted_with_idle", "idle_with_shifted")
    assert {key: len(each) for key, each in rows.items()} == dict.fromkeys((*teams, *held), 6)
    for each in rows.values():
        agents = json.loads(each[0])["agents"]
        assert {seat: agent["slot"] for seat, agent in agents.items()} == {seat: seat for seat in agents}

    cross = found.cross_play
    assert cross.games == cross.planned == 8 * 6 and cross.seeds == 6
    assert cross.cross is not None and cross.cross_gap is not None
    assert cross.cross_gap.value is not None and cross.cross_gap.value > 5  # the goal is gone to, or another
    seated = {(t.seat, t.policy, t.partner): t.value.value for t in cross.seated}
    one, other = seated["speaker_0", "plain", "shifted"], seated["speaker_0", "shifted", "plain"]
    assert seated["listener_0", "shifted", "plain"] == one and one != other
    team = cross.team("plain", "shifted")
    assert one is not None and other is not None and team is not None
    assert team.value.value == pytest.approx((one + other) / 2)
    # The matrix has speakers beside listeners.
    cell = cross.cell("plain", "shifted")
    assert cell is not None and cell.value.value == one
    told = str(found)
    assert "Return with the row as speaker_0, the column as listener_0" in told
    assert "plain as speaker_0 with shifted as listener_0: return" in found.page.read_text()

    # A late policy brings its own games; a policy that could change seats stays in its slot as well.
    grown = tournament(
        SPEAKER,
        {**pool, "idle": idle, "late": puller(1)},
        held_out=["idle"],
        seeds=6,
        out=tmp_path,
        resume=found.folder,
    )
    assert {"late_with_late", "late_with_plain", "plain_with_late"} <= set(lines(grown.folder)) - set(rows)
    assert lines(grown.folder)["plain_with_idle"] == rows["plain_with_idle"]


def test_three_who_stay_in_their_slots_are_joined_in_each_seat(tmp_path: Path) -> None:
    pool = {
        name: {"slots": {f"agent_{i}": puller(lever) for i in range(3)}}
        for name, lever in (("left", 0), ("right", 1))
    }
    found = tournament(LEVERS, pool, seeds=2, out=tmp_path, env_kwargs={"agents": 3})
    rows = lines(found.folder)
    assert len(rows) == 2 + 2 * 3 and "left_as_agent_1_with_right" in rows
    assert {len(each) for each in rows.values()} == {2}
    cross = found.cross_play
    assert {(t.seat, t.policy) for t in cross.seated if t.policy != t.partner} == set(
        product(("agent_0", "agent_1", "agent_2"), pool)
    )
    assert cross.cross is not None and cross.cross.value == 0
    with pytest.raises(UsageError, match="policies stayed in their slots when the run was begun"):
        tournament(LEVERS, POOL, seeds=2, env_kwargs={"agents": 3}, resume=found.folder)


@pytest.mark.parametrize(
    ("env_id", "options", "said"),
    [
        (LEVERS, {"policies": {"left": puller(0)}}, "at least two policies, 1 is named"),
        (LEVERS, {"held_out": ["up"]}, "held_out: no policy is called 'up'"),
        (LEVERS, {"held_out": ["left", "right"]}, "held_out: leaves no policy to play with them"),
        (LEVERS, {"held_out": ["left", "left"]}, "held_out: 'left' is named twice"),
        (LEVERS, {"schedule": "swiss"}, "on one side: no side can win. Use schedule: cross_play"),
        (LEVERS, {"policies": {**POOL, "a_with_b": puller(2)}}, "'a_with_b' cannot be the name of a policy"),
        (
            "simple_spread_v3",
            {"policies": {**POOL, "chaser": CHASER}},
            "policy 'chaser': operators_worker cannot",
        ),
        ("tictactoe_v3", {"schedule": "cross_play"}, "the sides of tictactoe_v3 compete"),
        ("tictactoe_v3", {"held_out": ["left"]}, "held-out partners need one team"),
        (
            SPEAKER,
            {"policies": {**POOL, "a": {"slots": {"speaker_0": puller(0)}}}},
            "has no player for listener_0",
        ),
        (
            SPEAKER,
            {"policies": {**POOL, "a": {"slots": {"listener": puller(0)}}}},
            "policy 'a': there is no slot 'listener'. Did you mean 'listener_0'?",
        ),
        (
            "tictactoe_v3",
            {"policies": {**POOL, "a": {"slots": {"player_1": puller(0)}}}},
            "policy 'a' has a player for each slot, and the sides of tictactoe_v3 change seats",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, env_id: str, options: dict[str, Any], said: str) -> None:
    given = {"policies": POOL, "seeds": 1, **options}
    with pytest.raises(UsageError) as refusal:
        tournament(env_id, given.pop("policies"), out=tmp_path, **given)
    assert said in str(refusal.value) and "\n" not in str(refusal.value)
    assert not list(tmp_path.iterdir())
