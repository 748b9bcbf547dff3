"""What a report decides is one family: of many comparisons, chance would call one side better."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis import Summary, open_run, summarize

SEEDS = 12


def _over_tasks(folder: Path, runs: Any, tasks: int, better_by: float, seed: int) -> Summary:
    """Players ``a`` and ``b`` in so many environments; in the first one ``a`` is better."""
    rng = np.random.default_rng(seed)
    operators: list[dict[str, Any]] = []
    episodes: dict[str, list[Mapping[str, Any]]] = {}
    for task in range(tasks):
        for player in "ab":
            key = f"{player}{task}"
            operators.append({"operator_id": key, "display_name": player, "task": f"Env{task}-v0"})
            lead = better_by if (player, task) == ("a", 0) else 0.0
            episodes[key] = [runs.single(key, i, lead + float(rng.normal())) for i in range(SEEDS)]
    extra = {"experiment": {"operators": operators, "execution": {}}}
    plan = runs.Plan(episodes, run_id=f"run-{seed}", extra=extra)
    return summarize(open_run(runs.write_run(folder, plan)), steps=False)


def test_twenty_tasks_are_one_family(tmp_path: Path, runs: Any) -> None:
    summary = _over_tasks(tmp_path, runs, 20, 40.0, 0)
    assert {c.family for c in summary.comparisons} == {20}
    decided = [v for v in summary.verdicts if v.decided]
    assert [v.task for v in decided] == ["Env0-v0"]
    assert "(Holm, 20 comparisons)" in str(decided[0])


@pytest.mark.full
def test_of_equals_in_many_tasks_few_are_called_better(tmp_path: Path, runs: Any) -> None:
    summaries = [_over_tasks(tmp_path, runs, 20, 0.0, seed) for seed in range(12)]
    wrong = [any(c.verdict != "undecided" for c in summary.comparisons) for summary in summaries]
    assert sum(wrong) <= 2, "each task by itself: 35 % of reports"


def test_operators_and_teams_are_corrected_together(tmp_path: Path, runs: Any) -> None:
    episodes = {
        key: [runs.match(key, i, {"green": 3, "blue": 1}, swapped=bool(i % 2)) for i in range(40)]
        for key in ("m", "n")
    }
    summary = summarize(open_run(runs.write_run(tmp_path, runs.Plan(episodes))))
    assert [c.kind for c in summary.comparisons] == ["operators", "teams", "teams"]
    assert {c.family for c in summary.comparisons} == {3}


# ------------------------------------------------------------------- other opponents


def _against(runs: Any, key: str, opponent: str, wins: int, **settings: Any) -> list[dict[str, Any]]:
    rows = [runs.match(key, i, {"green": int(i % 12 < wins), "blue": 0}, seed=i) for i in range(12)]
    for row in rows:
        for seat in ("blue_0", "blue_1"):
            row["agents"][seat] = {**runs.agent(opponent, seat), **settings}
    return rows


def test_who_meets_other_opponents_plays_another_task(tmp_path: Path, runs: Any) -> None:
    """The same policy against random and against itself is not better than itself."""
    episodes = {"easy": _against(runs, "easy", "random", 11), "hard": _against(runs, "hard", "chaser", 0)}
    summary = summarize(open_run(runs.write_run(tmp_path, runs.Plan(episodes))))
    assert {c.kind for c in summary.comparisons} == {"teams"}
    (refusal,) = summary.refusals
    assert "opponents" in refusal.differs
    said = str(summary.verdicts[0])
    assert said.startswith("easy and hard are not compared: they played different tasks, opponents")
    names = {each["agents"]["blue_0"]["policy"] for rows in episodes.values() for each in rows}
    assert all(name in said for name in names)


@pytest.mark.parametrize(("skill", "compared"), [(3, True), (5, False)])
def test_opponents_with_other_settings_are_others(
    tmp_path: Path, runs: Any, skill: int, compared: bool
) -> None:
    episodes = {key: _against(runs, key, "random", wins) for key, wins in (("a", 11), ("b", 2))}
    operators = [
        {
            "operator_id": key,
            "task": "Soccer",
            "workers": {
                "green_0": {"type": "rl", "settings": {"policy": key}},
                "blue_0": {"type": "baseline", "settings": {"skill": level}},
            },
        }
        for key, level in (("a", 3), ("b", skill))
    ]
    extra = {"experiment": {"operators": operators, "execution": {}}}
    summary = summarize(open_run(runs.write_run(tmp_path, runs.Plan(episodes, extra=extra))))
    assert any(c.kind == "operators" for c in summary.comparisons) == compared
    if not compared:
        assert "opponents blue_0 skill 3 against blue_0 skill 5" in str(summary.verdicts[0])
        assert len({o.task for o in summary.operators}) == 2


def test_who_sits_in_another_seat_plays_another_task(tmp_path: Path, runs: Any) -> None:
    """The first team is what an operator is compared by: here it is the opponent of one of them."""

    def seated(key: str, green: str, blue: str) -> list[dict[str, Any]]:
        rows = [runs.match(key, i, {"green": i % 2, "blue": 0}, seed=i) for i in range(12)]
        for row in rows:
            kinds = {"green_0": green, "green_1": green, "blue_0": blue, "blue_1": blue}
            row["agents"] = {seat: runs.agent(kind, seat) for seat, kind in kinds.items()}
        return rows

    episodes = {"first": seated("first", "chaser", "random"), "second": seated("second", "random", "chaser")}
    summary = summarize(open_run(runs.write_run(tmp_path, runs.Plan(episodes))))
    assert {c.kind for c in summary.comparisons} == {"teams"} and summary.refusals
