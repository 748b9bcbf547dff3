"""Which claims are made, and which are not: a verdict says no more than the episodes carry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis import Summary, open_run, render_html, summarize, write_summary
from gym_gui.analysis.exports.export import operator_rows
from gym_gui.analysis.findings.comparison import Comparison

Rows = Sequence[Mapping[str, Any]]


def _summary(folder: Path, runs: Any, episodes: Mapping[str, Rows], **more: Any) -> Summary:
    return summarize(open_run(runs.write_run(folder, runs.Plan(episodes, **more))))


def _operators(summary: Summary) -> Comparison:
    return next(c for c in summary.comparisons if c.kind == "operators")


# ----------------------------------------------------------------- failed episodes


@pytest.fixture
def crashing(runs: Any) -> dict[str, Rows]:
    """``a`` crashes on its ten hard seeds, where ``b`` gets 60; on the easy ones it is a little ahead."""
    rng = np.random.default_rng(0)
    a = [
        runs.single("a", i, None, "random", status="failed", error="policy died")
        if i < 10
        else runs.single("a", i, 90 + rng.normal(), "random", success=True)
        for i in range(20)
    ]
    b = [
        runs.single("b", i, (60 if i < 10 else 84) + rng.normal(), "random", success=i % 2 == 0)
        for i in range(20)
    ]
    return {"a": a, "b": b}


def test_who_fails_on_the_hard_seeds_is_not_better(
    tmp_path: Path, runs: Any, crashing: dict[str, Rows]
) -> None:
    summary = _summary(tmp_path, runs, crashing)
    c = _operators(summary)
    assert (c.verdict, c.p, c.shared, c.pairs) == ("undecided", None, 20, 10)
    assert {c.first: c.failed[0], c.second: c.failed[1]} == {"a": 10, "b": 0}
    verdict = str(summary.verdicts[0])
    assert "is not decided: a failed in 10 of 20 episodes" in verdict
    assert not summary.verdicts[0].decided


def test_failures_are_told_with_what_they_could_hide_in_every_output(
    tmp_path: Path, runs: Any, crashing: dict[str, Rows]
) -> None:
    summary = _summary(tmp_path, runs, crashing)
    c, a = _operators(summary), summary.operator("a")
    assert c.bounds is not None and c.difference.value is not None
    assert c.bounds.low < c.difference.value < c.bounds.high
    assert a.bounds is not None and a.mean.value is not None
    assert a.bounds.low == pytest.approx((10 * a.mean.value + 10 * a.bounds.worst) / 20)
    assert a.success_bounds is not None and (a.success_bounds.low, a.success_bounds.high) == (0.5, 1.0)
    assert summary.to_json()["comparisons"][0]["bounds"]["low"] == c.bounds.low
    for output in (str(summary), render_html(summary)):
        words = " ".join(output.split())
        assert "a failed in 10 of 20 episodes" in words
        assert "50 % to 100 %" in words, "the share of successes is not that of those that ended"
        assert "10 of 20" in words
    row = operator_rows(summary)[0]
    assert row["mean_return_at_worst"] == a.bounds.low and row["success_at_best"] == 1.0


@pytest.mark.parametrize(("lost", "decided"), [(1, True), (2, True), (3, False)])
def test_as_many_failures_on_both_sides_are_borne_up_to_a_tenth(
    tmp_path: Path, runs: Any, lost: int, decided: bool
) -> None:
    episodes = {
        key: [
            runs.single(key, i, None, status="failed", error="x")
            if i < lost
            else runs.single(key, i, level + i % 3)
            for i in range(20)
        ]
        for key, level in (("a", 10.0), ("b", 1.0))
    }
    summary = _summary(tmp_path, runs, episodes)
    assert (_operators(summary).verdict == "first") is decided
    assert f"a failed in {lost} and b in {lost} of 20 episodes" in str(summary.verdicts[0])


def test_what_the_missing_episodes_could_turn_is_not_decided(tmp_path: Path, runs: Any) -> None:
    """Equally many failures, few of them, and still they could turn the sign."""
    gains = [0.1 + 0.01 * (i % 3) for i in range(20)]
    episodes = {
        key: [
            runs.single(key, i, None, status="failed", error="x")
            if i == lost
            else runs.single(key, i, 50.0 * (i % 4) + own * gains[i])
            for i in range(20)
        ]
        for key, own, lost in (("a", 1.0, 0), ("b", 0.0, 1))
    }
    c = _operators(_summary(tmp_path, runs, episodes))
    assert c.bounds is not None and c.bounds.low < 0 < c.bounds.high
    assert c.verdict == "undecided"


def test_a_declared_score_counts_for_every_failure(
    tmp_path: Path, runs: Any, crashing: dict[str, Rows]
) -> None:
    summary = _summary(tmp_path, runs, crashing, execution={"failure_score": 0})
    c, a = _operators(summary), summary.operator("a")
    assert (c.pairs, c.first, c.verdict, c.bounds) == (20, "b", "first", None)
    assert a.mean.n == 20 and a.mean.value == pytest.approx(45, abs=1)
    assert a.success is not None and (a.success.hits, a.success.n) == (10, 20)
    assert "a failed in 10 of 20 episodes, each counted as 0" in str(summary.verdicts[0])
    for output in (str(summary), render_html(summary)):
        assert "are not in the means" not in output and "score for failures" in " ".join(output.split())


def test_a_return_that_is_not_finite_is_a_failure(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "a": [runs.single("a", i, None if i < 4 else 10.0 + i) for i in range(20)],
        "b": [runs.single("b", i, 5.0 + i) for i in range(20)],
    }
    c = _operators(_summary(tmp_path, runs, episodes))
    assert sum(c.failed) == 4 and c.verdict == "undecided"


def test_a_lone_operator_says_how_many_failed(tmp_path: Path, runs: Any, crashing: dict[str, Rows]) -> None:
    verdict = str(_summary(tmp_path, runs, {"a": crashing["a"]}).verdicts[0])
    assert "over 10 of 20 episodes" in verdict


def test_matches_that_failed_keep_teams_undecided(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("m", i, {"green": 3, "blue": 1}, seed=i) for i in range(20)]
    for i in range(6):
        rows[i] = runs.match("m", i, {"green": 0, "blue": 0}, seed=i, status="failed", error="x")
    summary = _summary(tmp_path, runs, {"m": rows})
    (c,) = summary.comparisons
    assert c.verdict == "undecided" and "6 of 20 episodes failed" in str(summary.verdicts[0])


@pytest.mark.parametrize("status", ["running", "stopped"])
def test_a_run_that_is_not_finished_names_nobody_better(tmp_path: Path, runs: Any, status: str) -> None:
    """Short episodes end first, and who looks until the answer suits finds one."""
    episodes = {
        key: [runs.single(key, i, level + i % 3) for i in range(12)]
        for key, level in (("a", 9.0), ("b", 1.0))
    }
    summary = _summary(tmp_path, runs, episodes, status=status)
    assert _operators(summary).verdict == "undecided"
    assert "the run is not finished" in str(summary.verdicts[0])


def test_lines_that_are_missing_from_a_run_that_had_ended_decide_nothing_and_are_named(
    tmp_path: Path, runs: Any
) -> None:
    """A person has taken them out, or they are lost: their content is unknown."""
    episodes = {
        key: [runs.single(key, i, level + i % 3) for i in range(12)]
        for key, level in (("a", 9.0), ("b", 1.0))
    }
    whole = _summary(tmp_path / "whole", runs, episodes, extra={"episodes": {"a": 12, "b": 12}})
    assert _operators(whole).verdict == "first" and not whole.missing
    summary = _summary(tmp_path, runs, episodes, extra={"episodes": {"a": 13, "b": 12}})
    assert _operators(summary).verdict == "undecided"
    assert "1 episode is missing" in str(summary.verdicts[0])
    (told,) = summary.missing
    run_id = summary.runs[0].run_id
    assert told == (
        f"Run {run_id} has ended, but 1 of 25 episodes is missing, of a; "
        f"`mosaic run --resume {run_id}` plays it."
    )
    assert str(summary).index(told[:30]) < str(summary).index("Operator")


@pytest.mark.parametrize(
    ("about", "told"),
    [
        (
            {"status": "failed"},
            "11 of 37 episodes are missing, of a (1), c (1) and d (9); `mosaic run --resume",
        ),
        ({"extra": {"tournament": {}}}, "; `mosaic tournament --resume"),
        (
            {"extra": {"players": {"a": {"agent_0": {"worker_id": "in_process"}}}}},
            "of a (1), c (1) and d (9).",
        ),
        ({"status": "stopped"}, ""),
        ({"status": "running"}, ""),
    ],
    ids=["failed", "tournament", "a program's own objects", "stopped", "on"],
)
def test_one_sentence_says_what_is_missing_of_a_run_and_what_plays_it(
    tmp_path: Path, runs: Any, about: dict[str, Any], told: str
) -> None:
    """However many operators lack episodes; of a run that had not ended, their number is unknown."""
    episodes = {key: [runs.single(key, i, 1.0 + i) for i in range(9)] for key in "abc"} | {"d": []}
    extra = {**about.pop("extra", {}), "episodes": {"a": 10, "b": 8, "c": 10, "d": 9}}
    missing = _summary(tmp_path, runs, episodes, extra=extra, **about).missing
    said = [sentence for sentence in missing if "has ended, but" in sentence]
    assert len(said) == bool(told) and (not told or told in said[0])


def test_a_return_whose_square_is_no_number_counts_as_none(tmp_path: Path, runs: Any) -> None:
    """Nothing can be reckoned with it, as with one that is not finite."""
    episodes = {
        key: [runs.single(key, i, 1e308 if i < lost else level + i % 3) for i in range(12)]
        for key, level, lost in (("a", 9.0, 2), ("b", 1.0, 0))
    }
    summary = _summary(tmp_path, runs, episodes)
    assert _operators(summary).verdict == "undecided"
    assert any("2 gave no finite return" in note for note in summary.operator("a").notes)
    assert summary.operator("a").mean.n == 10


def test_where_a_budget_ended_the_run_two_operators_are_compared_on_the_seeds_that_both_have(
    tmp_path: Path, runs: Any
) -> None:
    """Seeds come in order; that a third is dearer and has played few says nothing of two that played on."""
    played = {"a": (9.0, 20), "b": (1.0, 19), "dear": (5.0, 11)}
    episodes = {
        key: [runs.single(key, i, level + i % 3) for i in range(count)]
        for key, (level, count) in played.items()
    }
    summary = _summary(tmp_path, runs, episodes, status="stopped", extra={"unplayed": 22})
    pairs = {frozenset((c.first, c.second)): c.pairs for c in summary.comparisons}
    sides = (("a", "b"), ("a", "dear"), ("b", "dear"))
    assert [pairs[frozenset(each)] for each in sides] == [19, 11, 11]
    assert {c.verdict for c in summary.comparisons} == {"first"}


@pytest.mark.parametrize("lucky", [0, 3, 12])
def test_whatever_is_compared_can_be_written_down(tmp_path: Path, runs: Any, lucky: int) -> None:
    """Scores of two values have intervals of their own, of NumPy's numbers within."""
    episodes = {
        "a": [runs.single("a", i, float(i < lucky), success=i < lucky) for i in range(12)],
        "b": [runs.single("b", i, 0.0, success=False) for i in range(12)],
    }
    path = runs.write_run(tmp_path, runs.Plan(episodes))
    written = write_summary(summarize(open_run(path)), tmp_path)
    assert json.loads(written.read_text())["comparisons"][0]["pairs"] == 12


# -------------------------------------------------------------------- swapped seats


def test_half_a_seed_of_swapped_seats_counts_nowhere(tmp_path: Path, runs: Any) -> None:
    """Equal teams, a seat worth 4, and a second leg that failed on two seeds."""
    rows = [runs.match("m", i, {"green": 5, "blue": 1}, swapped=bool(i % 2)) for i in range(48)]
    for i in (1, 5):
        rows[i] = runs.match("m", i, {"green": 0, "blue": 0}, swapped=True, status="failed", error="x")
    operator = _summary(tmp_path, runs, {"m": rows}).operator("m")
    green, blue = operator.teams
    assert green.score is not None and (green.score.value, green.score.n) == (3.0, 44)
    assert (green.mean.value, blue.mean.value) == (0.0, 0.0)
    assert green.win is not None and (green.win.hits, green.win.n) == (22, 44)
    assert {slot.mean.n for slot in operator.slots} == {operator.length.n} == {44}
    assert operator.halved == 2 and "2 completed episodes left out" in " ".join(operator.notes)


def test_a_half_failed_seed_decides_nothing_between_teams_or_operators(tmp_path: Path, runs: Any) -> None:
    def legs(key: str, failing: bool) -> Rows:
        return [
            runs.match(key, i, {"green": 0, "blue": 0}, swapped=True, status="failed", error="x")
            if failing and i % 4 == 1
            else runs.match(key, i, {"green": 5, "blue": 1}, swapped=bool(i % 2))
            for i in range(48)
        ]

    summary = _summary(tmp_path, runs, {"m": legs("m", True), "n": legs("n", False)})
    assert all(c.verdict == "undecided" for c in summary.comparisons)
    assert {c.difference.value for c in summary.comparisons} == {0.0}, "each seed in both seatings"
    assert _operators(summary).pairs == 24


def test_returns_of_sides_that_differ_in_size_are_compared_only_where_somebody_wins(
    tmp_path: Path, runs: Any
) -> None:
    def hunt(key: str, i: int, caught: float, **changes: Any) -> Mapping[str, Any]:
        teams = {
            "hunters": {"agents": ["green_0", "blue_0", "blue_1"], "return": 3 * caught, "score": None},
            "prey": {"agents": ["green_1"], "return": -caught, "score": None},
        }
        return runs.match(
            key, i, {"green": 0, "blue": 0}, seed=i, **{"teams": teams, "outcome": None, **changes}
        )

    rows = {
        key: [hunt(key, i, 10.0 + worth + i % 3) for i in range(12)] for key, worth in (("a", 5), ("b", 0))
    }
    (between, *within) = _summary(tmp_path / "hunt", runs, rows).comparisons
    assert (between.kind, between.verdict) == ("operators", "first"), (
        "hunters of one against hunters of another"
    )
    assert [c.verdict for c in within] == ["undecided"] * 2 and [c.p for c in within] == [None] * 2
    assert "differ in size, and neither a winner nor a score tells" in within[0].detail
    won = {"hunters": "win", "prey": "loss"}
    rows = {"a": [hunt("a", i, 10.0 + i % 3, outcome=won) for i in range(12)]}
    (verdict,) = _summary(tmp_path / "won", runs, rows).comparisons
    assert verdict.verdict == "first"


def test_shares_of_swapped_games_count_seeds(tmp_path: Path, runs: Any) -> None:
    """Forty games on twenty seeds are no forty observations."""
    swapped = [
        runs.match("m", i, {"green": 2, "blue": 0} if i % 2 else {"green": 0, "blue": 2}, swapped=bool(i % 2))
        for i in range(40)
    ]
    (team, _) = _summary(tmp_path, runs, {"m": swapped}).operator("m").teams
    assert team.loss is not None and (team.loss.hits, team.loss.n) == (40, 40)
    assert team.loss.low is not None and team.loss.low < 0.85, "20 of 20: [84, 100]; 40 of 40: [91, 100]"


# ------------------------------------------------------------------- repeated seeds


def test_identical_episodes_are_one(tmp_path: Path, runs: Any) -> None:
    episodes = {
        key: [runs.single(key, i, value, seed=7, trajectory_sha256=key) for i in range(20)]
        for key, value in (("a", 9.0), ("b", 1.0))
    }
    summary = _summary(tmp_path, runs, episodes)
    c = _operators(summary)
    assert (c.p, c.verdict, c.difference.units, c.difference.low) == (None, "undecided", 1, None)
    assert summary.operator("a").mean.units == 1
    assert "all episodes are the same, so they are a single observation" in str(summary.verdicts[0])


def test_identical_games_are_one_whatever_their_seeds(tmp_path: Path, runs: Any) -> None:
    """Two deterministic players at a board: seeds change nothing, and ten of them show nothing new."""
    rows = [
        runs.match("m", i, {"green": 3, "blue": 1}, swapped=bool(i % 2), trajectory_sha256=str(i % 2))
        for i in range(20)
    ]
    (c,) = _summary(tmp_path, runs, {"m": rows}).comparisons
    assert (c.p, c.verdict, c.difference.units) == (None, "undecided", 1)


def test_sampled_repeats_of_one_seed_speak_for_that_seed_only(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "a": [runs.single("a", i, 9.0 + i % 4, seed=7) for i in range(20)],
        "b": [runs.single("b", i, 1.0, seed=7) for i in range(20)],
    }
    summary = _summary(tmp_path, runs, episodes)
    c = _operators(summary)
    assert (c.p, c.verdict) == (None, "undecided")
    assert c.difference.low is not None and c.difference.note == "on this seed only"
    assert "in 20 episodes on seed 7 only" in str(summary.verdicts[0])


def test_seeds_that_are_repeated_unevenly_are_remarked_on(tmp_path: Path, runs: Any) -> None:
    rows = [runs.single("a", i, float(i), seed=max(0, i - 12)) for i in range(20)]
    a = _summary(tmp_path, runs, {"a": rows}).operator("a")
    assert a.mean.units == 8
    assert any("seed 0 was played 13 times" in note for note in a.notes)


def test_the_same_seeds_in_another_order_are_the_same_seeds(tmp_path: Path, runs: Any) -> None:
    rng = np.random.default_rng(5)
    luck = rng.normal(0, 100, 12)
    order = rng.permutation(12)
    episodes = {
        "a": [runs.single("a", i, luck[i] + 1 + 0.1 * (i % 3), seed=i) for i in range(12)],
        "b": [runs.single("b", i, luck[s], seed=int(s)) for i, s in enumerate(order)],
    }
    c = _operators(_summary(tmp_path, runs, episodes))
    assert (c.pairs, c.first, c.verdict) == (12, "a", "first")
    assert c.seeds == tuple(range(12)) and min(c.differences) == pytest.approx(1.0)


# ----------------------------------------------------------------- different tasks


def _with(runs: Any, folder: Path, run_id: str, key: str, value: float, **settings: Any) -> Path:
    """A run of one operator whose entry in the experiment has these settings."""
    operators = [{"id": key, "name": key, "env_name": "", "task": "CartPole-v1", **settings}]
    length = settings.get("max_steps") or 400
    rows = [runs.single(key, i, value + i % 3, "random", length=length) for i in range(12)]
    plan = runs.Plan(
        {key: rows}, run_id=run_id, extra={"experiment": {"operators": operators, "execution": {}}}
    )
    return runs.write_run(folder, plan)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (({"max_steps": 200}, {"max_steps": 500}), "max_steps 200 against 500"),
        (({"max_steps": 200}, {}), "max_steps 200 against as usual"),
        (
            ({"env_kwargs": {"size": 8}}, {"env_kwargs": {"size": 16}}),
            "env_kwargs.size 8 against 16",
        ),
        (({"env_kwargs": {"size": 8}}, {}), "env_kwargs.size 8 against as usual"),
        (({"api": "aec"}, {"api": "parallel"}), "api aec against parallel"),
        (({"wrappers": ["TimeAware"]}, {}), "wrappers"),
        (({"env_name": "one"}, {"env_name": "other"}), "env_name one against other"),
    ],
)
def test_other_environments_are_other_tasks(
    tmp_path: Path, runs: Any, settings: tuple[dict[str, Any], ...], says: str
) -> None:
    paths = [
        _with(runs, tmp_path, run_id, key, value, **own)
        for (run_id, key, value), own in zip((("A", "a", 9.0), ("B", "b", 1.0)), settings, strict=True)
    ]
    summary = summarize([open_run(path) for path in paths])
    assert summary.comparisons == () and len({o.task for o in summary.operators}) == 2
    assert str(summary.verdicts[0]).startswith("a and b are not compared: they played different tasks")
    assert says in str(summary.verdicts[0]) and not summary.verdicts[0].decided
    (refusal,) = summary.refusals
    assert (refusal.first, refusal.second) == (("a",), ("b",))
    assert says in " ".join(str(summary).split()) and says in render_html(summary)


def test_runs_that_have_no_environment_in_common_are_not_compared(tmp_path: Path, runs: Any) -> None:
    def played(run_id: str, task: str) -> Path:
        rows = [runs.single("a", i, 1.0 + i) for i in range(8)]
        return runs.write_run(tmp_path, runs.Plan({"a": rows}, run_id=run_id, task=task))

    paths = [played("A", "CartPole-v1"), played("B", "Taxi-v3"), played("C", "CartPole-v1")]
    first = str(summarize([open_run(path) for path in paths]).verdicts[0])
    assert first == (
        "Runs of different environments are not compared: Taxi-v3 in 1 run, CartPole-v1 in 2 runs."
    )
    together = summarize([open_run(path) for path in paths[::2]])
    assert "not compared" not in str(together.verdicts[0])


def test_what_belongs_to_the_agent_makes_no_other_task(tmp_path: Path, runs: Any) -> None:
    workers = {"agent": {"worker_id": "w", "type": "rl", "preprocess": [{"step": "flatten"}]}}
    paths = [
        _with(runs, tmp_path, "A", "a", 9.0, workers=workers, env_kwargs={}, env_name="gymnasium"),
        _with(runs, tmp_path, "B", "b", 1.0, max_steps=None),
    ]
    summary = summarize([open_run(path) for path in paths])
    assert _operators(summary).verdict == "first"
    assert {o.task for o in summary.operators} == {"gymnasium/CartPole-v1"}


def test_a_limit_that_may_be_the_environments_own_sets_nobody_apart(tmp_path: Path, runs: Any) -> None:
    paths = [
        _with(runs, tmp_path, "A", "a", 9.0, max_steps=500),
        _with(runs, tmp_path, "B", "b", 1.0),
    ]
    assert _operators(summarize([open_run(path) for path in paths])).verdict == "first"


def test_swapped_and_fixed_seats_are_not_compared(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "swap": [runs.match("swap", i, {"green": 3, "blue": 1}, swapped=bool(i % 2)) for i in range(24)],
        "fixed": [runs.match("fixed", i, {"green": 3, "blue": 1}) for i in range(24)],
    }
    summary = _summary(tmp_path, runs, episodes)
    assert [c.kind for c in summary.comparisons] == ["teams", "teams"]
    assert "seats swap against fixed" in " ".join(map(str, summary.verdicts))


# --------------------------------------------------------------- what is said beside


def test_a_trained_policy_is_this_checkpoint(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "ppo": [runs.single("ppo", i, 9.0 + i % 3) for i in range(12)],
        "rnd": [runs.single("rnd", i, 1.0, "random") for i in range(12)],
    }
    verdict = _summary(tmp_path, runs, episodes).verdicts[0]
    assert verdict.claim == "ppo (this checkpoint) is better than rnd"


def test_measures_in_conflict_are_said(tmp_path: Path, runs: Any) -> None:
    """``a`` earns more by two lucky episodes; ``b`` is better in the middle, and succeeds more often."""
    episodes = {
        "a": [runs.single("a", i, 1000.0 if i < 2 else 1.0, success=i < 2) for i in range(12)],
        "b": [runs.single("b", i, 5.0, success=i < 9) for i in range(12)],
    }
    notes = " ".join(_summary(tmp_path, runs, episodes).notes)
    assert "a has the higher return, b the higher success: 75 % against 17 %." in notes
    assert "a has the higher mean, b the higher IQM (5.00 against 1.00)" in notes


def test_measures_that_agree_are_not_remarked_on(tmp_path: Path, runs: Any) -> None:
    episodes = {
        key: [runs.single(key, i, level + i % 3, success=i < level) for i in range(12)]
        for key, level in (("a", 9.0), ("b", 1.0))
    }
    assert _summary(tmp_path, runs, episodes).notes == ()


def test_who_was_told_rewards_whatever_the_game_is_said(tmp_path: Path, runs: Any) -> None:
    told = {"green_0": {"type": "llm", "settings": {"tell_rewards": "always"}}, "blue_0": {"type": "llm"}}
    operators = [{"operator_id": "a", "task": "Soccer", "workers": told}]
    episodes = {"a": [runs.single("a", i, 1.0) for i in range(12)]}
    extra = {"experiment": {"operators": operators, "execution": {}}}
    (operator,) = _summary(tmp_path, runs, episodes, extra=extra).operators
    (note,) = (note for note in operator.notes if "tell_rewards" in note)
    assert "green_0" in note and "blue_0" not in note


def test_unequal_numbers_of_episodes_are_said(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "a": [runs.single("a", i, 9.0 + i % 3) for i in range(20)],
        "b": [runs.single("b", i, 1.0) for i in range(12)],
    }
    summary = _summary(tmp_path, runs, episodes)
    assert "a has 20 episodes, b 12: compared are the 12 of each on the same seeds." in summary.notes
    assert _operators(summary).unshared == (8, 0)


def test_no_note_is_printed_with_an_empty_number(tmp_path: Path, runs: Any) -> None:
    """Not one match of swapped seats was completed."""
    rows = [
        runs.match("m", i, {"green": 0, "blue": 0}, swapped=bool(i % 2), status="failed", error="x")
        for i in range(8)
    ]
    operator = _summary(tmp_path, runs, {"m": rows}).operator("m")
    assert not [note for note in operator.notes if ": ." in note or " - " in note]


def test_runs_of_other_versions_are_compared_and_that_is_said(tmp_path: Path, runs: Any) -> None:
    paths = [
        runs.write_run(
            tmp_path,
            runs.Plan(
                {key: [runs.single(key, i, 1.0) for i in range(6)]},
                run_id=key,
                extra={"versions": {"gymnasium": v}},
            ),
        )
        for key, v in (("A", "1.2.0"), ("B", "1.3.0"))
    ]
    notes = summarize([open_run(path) for path in paths]).notes
    assert "The runs were made with different versions: gymnasium 1.2.0 and 1.3.0." in notes
