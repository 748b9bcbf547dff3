"""Which episodes a report shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.pages.film_choice import chosen, scenes_of


def _summary(tmp_path: Path, runs: Any, operators: dict[str, list[dict[str, Any]]], **plan: Any) -> Any:
    return summarize(open_run(runs.write_run(tmp_path, runs.Plan(operators, **plan))))


def test_the_best_the_median_and_the_worst(tmp_path: Path, runs: Any) -> None:
    returns = [3.0, 9.0, 1.0, 9.0, 5.0]
    summary = _summary(tmp_path, runs, {"a": [runs.single("a", i, r) for i, r in enumerate(returns)]})
    found = {h.why: h for h in summary.operator("a").highlights}
    assert {why: h.episode_index for why, h in found.items()} == {"best": 1, "median": 4, "worst": 2}
    assert (found["best"].alike, found["worst"].alike) == (2, 1)
    facts = [scene.facts for scene in scenes_of(summary)]
    assert facts[0] == "episode 1, seed 1001: return 9.00 in 2 steps, as 2 of 5 have"


@pytest.mark.parametrize(
    ("returns", "whys"),
    [([], []), ([2.0], ["only"]), ([2.0] * 3, ["alike"]), ([1.0, 2.0], ["best", "worst"]), ([None], [])],
)
def test_none_is_shown_for_a_reason_that_does_not_hold(
    tmp_path: Path, runs: Any, returns: list[float | None], whys: list[str]
) -> None:
    summary = _summary(tmp_path, runs, {"a": [runs.single("a", i, r) for i, r in enumerate(returns)]})
    assert [h.why for h in summary.operator("a").highlights] == whys


def test_of_teams_the_lead_of_the_first_counts(tmp_path: Path, runs: Any) -> None:
    goals = [{"green": 1, "blue": 1}, {"green": 3, "blue": 0}, {"green": 0, "blue": 2}]
    rows = [runs.match("s", i, g, seed=500 + i) for i, g in enumerate(goals)]
    summary = _summary(tmp_path, runs, {"s": rows}, task="Soccer 2v2")
    found = {h.why: (h.episode_index, h.value, h.measure) for h in summary.operator("s").highlights}
    assert found["best"] == (1, 3.0, "lead of green in score")
    assert found["worst"] == (2, -2.0, "lead of green in score")


def test_every_failed_one_is_shown_and_where_there_are_too_many_one_of_each_operator_first(
    tmp_path: Path, runs: Any
) -> None:
    failed = {"status": "failed", "error": "worker lost"}
    rows = {
        name: [
            *(runs.single(name, i, float(i)) for i in range(3)),
            *(runs.single(name, i, None, **failed) for i in range(3, 8)),
        ]
        for name in ("a", "b")
    }
    summary = _summary(tmp_path, runs, rows)
    scenes = scenes_of(summary)
    assert [s.bad for s in scenes[:8]] == ["", "", "", *["worker lost"] * 5] and len(scenes) == 16
    few = [(s.operator.operator_id, s.title) for s in chosen(scenes, 4)]
    assert few == [("a", "Best"), ("a", "Failed"), ("b", "Best"), ("b", "Failed")]
