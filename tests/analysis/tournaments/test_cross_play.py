"""Self-play, cross-play and who lifts whom, of teams whose results are known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gym_gui.analysis.compute.cross_play_builder import cross_play_of
from gym_gui.analysis.compute.summary_builder import summarize
from gym_gui.analysis.findings.cross_play import CrossPlay
from gym_gui.analysis.printed_summary import PrintedSummary
from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.reporting import find_standings, found_text
from gym_gui.core.experiment.pairings import cross_play

Made = Callable[[Sequence[str], int], "float | None"]
"""Score of a team: (who sits in each seat, seed); ``None``: the game fails at the first seat."""


def write(
    folder: Path,
    pool: Sequence[str],
    made: Made,
    *,
    held_out: Sequence[str] = (),
    seats: int = 2,
    seeds: int = 20,
    status: str = "completed",
    scores: bool = False,
    identical: bool = False,
    trainings: Sequence[str] = (),
) -> CrossPlay:
    names = [f"seat_{i}" for i in range(seats)]
    everybody = [*pool, *held_out]
    teams = {f"{who[0]}_with_{who[1]}": who for who in cross_play(everybody, held_out, seats)}
    run = folder / "01CROSSPLAY"
    header = {
        "format": 1,
        "run_id": run.name,
        "status": status,
        "experiment": {
            "operators": [{"id": key, "name": key, "task": "game", "seats": "swap"} for key in teams],
            "execution": {"seeds": list(range(seeds))},
        },
        "episodes": dict.fromkeys(teams, seats * seeds),
        "tournament": {
            "task": "game",
            "schedule": "cross_play",
            "policies": dict.fromkeys(everybody),
            "held_out": list(held_out),
            "trainings": {name: {"name": "ppo", "seed": i} for i, name in enumerate(trainings, 1)},
            "sides": {name: [name] for name in names},
            "pairings": {key: list(who) for key, who in teams.items()},
        },
    }
    for key, who in teams.items():
        rows: list[dict[str, Any]] = []
        for index in range(seats * seeds):
            seed, turn = divmod(index, seats)
            slots = [names[(i + turn) % seats] for i in range(seats)]
            seated = [who[names.index(slot)] for slot in slots]
            value = made(seated, seed)
            told = f"{turn}:{0 if identical else index}"
            row: dict[str, Any] = {
                "operator_id": key,
                "episode_index": index,
                "seed": seed,
                "status": "completed",
                "length": 3,
                "agents": {
                    seat: {"worker_id": "w", "worker_type": "baseline", "policy": policy, "slot": slot}
                    for seat, policy, slot in zip(names, seated, slots, strict=True)
                },
                "returns": dict.fromkeys(names, (value or 0.0) / seats),
                "total_reward": value or 0.0,
                "teams": {
                    "team": {"agents": names, "return": 0.0, "score": value if scores else None},
                },
                "trajectory_sha256": hashlib.sha256(f"{key}:{told}".encode()).hexdigest(),
            }
            if value is None:
                row |= {"status": "failed", "error": f"{names[0]}: ZeroDivisionError", "teams": {}}
            rows.append(row)
        place = run / "operators" / key
        place.mkdir(parents=True)
        (place / "steps.jsonl").touch()
        (place / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run / "run.json").write_text(json.dumps(header))
    found = find_standings([open_run(run)])
    assert isinstance(found, CrossPlay)
    return found


def noise(scale: float = 0.3, random_seed: int = 0) -> Callable[[], float]:
    rng = np.random.default_rng(random_seed)
    return lambda: float(rng.normal(0, scale))


SKILL = {"weak": 0.0, "fair": 1.0, "strong": 2.0}


def test_who_plays_better_lifts_others_and_a_team_that_adds_up_has_no_gap(tmp_path: Path) -> None:
    drawn = noise()
    found = write(tmp_path, list(SKILL), lambda who, seed: sum(SKILL[name] for name in who) + drawn())
    assert found.own.value == pytest.approx(2, abs=0.15) and found.cross is not None
    assert found.cross.value == pytest.approx(2, abs=0.15)
    assert "Self-play against cross-play is not decided" in found.verdicts[0].claim
    for joins, team in (("strong", "weak"), ("weak", "fair"), ("fair", "strong")):
        told = found.team(joins, team)
        assert told is not None and told.lift is not None
        more = SKILL[joins] - SKILL[team]
        assert told.lift.value == pytest.approx(more, abs=0.25) and told.lifts == np.sign(more)
    assert found.lifted[0].startswith("strong in one seat lifts the team of weak by ")
    assert " and that of fair by " in found.lifted[0]
    mates = {mate.policy: mate for mate in found.policies}
    assert [mate.policy for mate in found.policies] == ["strong", "fair", "weak"]
    assert mates["strong"].lift is not None and mates["strong"].lift.low is not None
    assert mates["strong"].lift.low > 1 and mates["strong"].games == 3 * 40


def test_equals_are_not_told_apart(tmp_path: Path) -> None:
    drawn = noise()
    found = write(tmp_path, ["a", "b", "c"], lambda who, seed: seed % 3 + drawn(), held_out=["d"])
    assert not any(verdict.decided for verdict in found.verdicts)
    assert found.lifted == (
        "For no policy is it decided whether another policy's team is better or worse with it.",
    )
    assert (
        found.cross_gap is not None and found.cross_gap.low is not None and found.cross_gap.high is not None
    )
    assert found.cross_gap.low < 0 < found.cross_gap.high
    assert not any("no team has an interval" in note for note in found.notes)


@pytest.mark.parametrize("seeds", [8, 19])
def test_few_seeds_have_no_interval_and_it_is_said(tmp_path: Path, seeds: int) -> None:
    drawn = noise()
    found = write(tmp_path, ["a", "b"], lambda who, seed: (who[0] == who[1]) + drawn(), seeds=seeds)
    assert found.cross_gap is not None and (found.cross_gap.low, found.own.low) == (None, None)
    assert any("With fewer than 20 seeds no team has an interval" in note for note in found.notes)
    assert found.verdicts[0].decided, "the test needs six"


def test_scores_come_before_returns_and_three_seats_tell_who_joins(tmp_path: Path) -> None:
    drawn = noise(0.1)

    def made(who: Sequence[str], seed: int) -> float:
        return (3.0 if who.count("b") == 1 else 1.0) + drawn()

    found = write(tmp_path, ["a", "b"], made, seats=3, scores=True)
    assert found.measure == "score"
    joins, host = found.team("b", "a"), found.team("a", "b")
    assert joins is not None and host is not None
    assert joins.value.value == pytest.approx(3, abs=0.1) and host.value.value == pytest.approx(1, abs=0.1)
    assert joins.lifts == 1 and host.lifts == 0


def test_games_that_fail_or_are_not_played_leave_it_open(tmp_path: Path) -> None:
    def made(who: Sequence[str], seed: int) -> float | None:
        return None if who[0] == "b" and seed == 3 else float(who[0] == who[1]) + seed / 100

    found = write(tmp_path / "failed", ["a", "b"], made, status="failed")
    assert not any(verdict.decided for verdict in found.verdicts)
    assert "b failed in 3 games: nothing is decided from the remaining seeds." in found.notes
    assert {mate.policy: mate.failed for mate in found.policies} == {"a": 0, "b": 3}
    found = write(
        tmp_path / "on", ["a", "b"], lambda who, seed: float(who[0] == who[1]) + seed / 100, status="running"
    )
    assert not any(verdict.decided for verdict in found.verdicts)
    assert any(note.startswith("The games are not finished") for note in found.notes)


def test_games_that_have_no_line_any_more_leave_it_open(tmp_path: Path) -> None:
    def made(who: Sequence[str], seed: int) -> float:
        return float(who[0] == who[1]) + 0.1 * np.random.default_rng(seed).random()

    whole = write(tmp_path, ["a", "b"], made)
    assert whole.verdicts[0].decided
    lines = tmp_path / whole.run_id / "operators" / "a_with_b" / "episodes.jsonl"
    lines.write_text("".join(lines.read_text().splitlines(keepends=True)[:-3]))
    found = cross_play_of(open_run(tmp_path / whole.run_id))
    assert not any(verdict.decided for verdict in found.verdicts)
    assert "3 episodes are missing" in str(found.verdicts[0])


def test_where_nothing_is_random_nothing_is_decided(tmp_path: Path) -> None:
    found = write(tmp_path, ["a", "b"], lambda who, seed: float(who[0] == who[1]), identical=True)
    assert found.own.low is None and found.own.units == 1
    assert not any(verdict.decided for verdict in found.verdicts)


def test_it_reaches_the_window_whole_and_is_told_at_any_width(tmp_path: Path) -> None:
    drawn = noise()
    found = write(tmp_path, ["a", "b"], lambda who, seed: float(who[0] == who[1]) + drawn(), held_out=["c"])
    summary = replace(summarize(open_run(tmp_path / "01CROSSPLAY")), cross_play=found)
    assert msgspec.json.decode(msgspec.json.encode(summary), type=PrintedSummary).cross_play == found
    assert "cross_play" not in summary.to_json()
    assert not summary.comparisons, "teams are no operators to choose from"
    for width in (40, 80, 120):
        text = found_text(found, width)
        assert max(map(len, text.splitlines())) <= width
        assert width < 80 or "c (held" in text


def test_trainings_of_one_algorithm_with_themselves_each_other_and_others(tmp_path: Path) -> None:
    """Trainings 1 and 2 agree on a convention, 3 has another one."""
    agreed = {"ppo_seed1": 0, "ppo_seed2": 0, "ppo_seed3": 1, "rules": 1, "idle": 2}

    def made(who: Sequence[str], seed: int) -> float:
        return 10.0 * (len({agreed[name] for name in who}) == 1) + (seed % 3)

    members = ["ppo_seed1", "ppo_seed2", "ppo_seed3"]
    found = write(tmp_path, [*members, "rules"], made, held_out=["idle"], seeds=9, trainings=members)
    (ppo,) = found.algorithms
    assert ppo.own is not None and (ppo.own.mean, ppo.own.low, ppo.own.high) == (11.0, 11.0, 11.0)
    siblings, others = ppo.siblings, ppo.others
    assert siblings is not None and others is not None and ppo.held is not None
    assert (siblings.mean, siblings.low, siblings.high) == pytest.approx((1 + 10 / 3, 1.0, 6.0))
    assert (others.mean, others.low, others.high) == pytest.approx((1 + 10 / 3, 1.0, 11.0))
    assert ppo.held.mean == pytest.approx(1.0)
    told = found_text(found, 140)
    assert "4.33 (1.00 to 6.00)" in told and "another training may lie outside" in told
