"""From run folders to numbers and verdicts: nothing dropped in silence, squads not seats."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis import Run, Summary, open_run, render_html, summarize
from gym_gui.analysis.compute.collect import OperatorData
from gym_gui.analysis.compute.decision_counts import LatencySketch
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.statistics import intervals
from gym_gui.analysis.words.report_text import all_notes


def _summary(folder: Path, runs: Any, episodes: Any, **more: Any) -> Summary:
    return summarize(open_run(runs.write_run(folder, runs.Plan(episodes, **more))))


def _team_comparison(summary: Summary) -> Comparison:
    return next(c for c in summary.comparisons if c.kind == "teams")


def test_one_operator_in_numbers(tmp_path: Path, runs: Any) -> None:
    totals = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 100.0]
    rows = [
        runs.single("ppo", i, r, length=i + 1, success=i % 2 == 0, invalid_actions={"agent_0": 2})
        for i, r in enumerate(totals)
    ]
    summary = _summary(tmp_path, runs, {"ppo": rows})
    ppo = summary.operator("ppo")
    assert (ppo.mean.value, ppo.iqm.value, ppo.length.value) == (16.0, 4.5, 4.5)
    assert ppo.mean.n == ppo.mean.units == ppo.recorded == ppo.completed == 8
    assert (ppo.iqm.low, ppo.mean.low, ppo.mean.note) == (None, None, "not enough episodes")
    assert ppo.mean.values == tuple(totals), "every value in place of an interval"
    assert "ppo: on each seed 1.00, 2.00, 3.00," in "".join(all_notes(summary))
    assert ppo.success is not None and (ppo.success.hits, ppo.success.n) == (4, 8)
    assert ppo.invalid_actions == 16
    assert ppo.decisions is not None and ppo.decisions.by_source == {"policy": 36}
    assert ppo.kinds == ("rl",) and ppo.slots[0].policy == "ppo:cartpole"


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_few_episodes_say_so(tmp_path: Path, runs: Any, n: int) -> None:
    episodes = {
        "a": [runs.single("a", i, 9.0) for i in range(n)],
        "b": [runs.single("b", i, 1.0) for i in range(n)],
    }
    summary = _summary(tmp_path, runs, episodes)
    a = summary.operator("a")
    assert (a.mean.low, a.mean.high) == (None, None)
    assert a.mean.note == ("not enough episodes" if n else "no completed episodes")
    (comparison,) = summary.comparisons
    assert comparison.verdict == "undecided"
    says = "at least 6 seeds are needed" if n else "they share no seed"
    assert says in str(summary.verdicts[0])
    json.dumps(summary.to_json(), allow_nan=False)


def test_constant_returns_are_decided_by_the_test_not_by_their_spread(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "a": [runs.single("a", i, 500.0) for i in range(6)],
        "b": [runs.single("b", i, 9.0) for i in range(6)],
    }
    summary = _summary(tmp_path, runs, episodes)
    assert summary.operator("a").iqm.note == "all 6 equal"
    verdict = str(summary.verdicts[0])
    assert verdict.startswith("a (this checkpoint) is better than b (this checkpoint) by 491.0")
    assert "in return on 6 shared seeds, p = 0.031" in verdict
    assert "; 6 seeds cannot rule out something rarer than about 1 in 3; " in verdict
    assert verdict.endswith("a loss of more than 758.2 there would reverse this.")
    for e in (summary.operator("a").mean, summary.operator("a").iqm, summary.comparisons[0].difference):
        assert (e.low, e.high, e.unseen) == (None, None, pytest.approx(0.393, abs=0.001))


def test_the_better_one_is_named_first_whatever_the_order(tmp_path: Path, runs: Any) -> None:
    rng = np.random.default_rng(0)
    low, high = rng.normal(10, 2, 20).tolist(), rng.normal(20, 2, 20).tolist()
    episodes = {
        "weak": [runs.single("weak", i, low[i]) for i in range(20)],
        "strong": [runs.single("strong", i, high[i]) for i in range(20)],
    }
    summary = _summary(tmp_path, runs, episodes, names={"strong": "Strong one"})
    (c,) = summary.comparisons
    differences = np.asarray(high) - np.asarray(low)
    assert c.difference.value == pytest.approx(differences.mean())
    assert (c.first, c.second, c.verdict, c.pairs, c.ahead, c.behind) == (
        "strong",
        "weak",
        "first",
        20,
        20,
        0,
    )
    assert c.p is not None and c.p < 0.001 and c.p_adjusted == c.p
    assert c.seeds == tuple(range(1000, 1020))
    assert str(summary.verdicts[0]).startswith("Strong one (this checkpoint) is better than weak")


def test_what_is_not_decided_says_how_many_seeds_would_do(tmp_path: Path, runs: Any) -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(0, 1, 30)
    a += 0.1 - a.mean()
    episodes = {
        "a": [runs.single("a", i, float(x)) for i, x in enumerate(a)],
        "b": [runs.single("b", i, 0.0) for i in range(30)],
    }
    verdict = str(_summary(tmp_path, runs, episodes).verdicts[0])
    assert verdict.startswith("a (this checkpoint) against b (this checkpoint) is not decided: difference")
    assert re.search(
        r"about [\d,]+ more seeds would settle a difference of this size, about \d+ more if it were 0\.\d+, "
        r"the largest that the interval holds; a smaller one takes more\.$",
        verdict,
    )


def test_equal_operators_are_not_decided(tmp_path: Path, runs: Any) -> None:
    episodes = {key: [runs.single(key, i, float(i)) for i in range(10)] for key in ("a", "b")}
    summary = _summary(tmp_path, runs, episodes)
    assert summary.comparisons[0].p == 1.0
    assert "both sides had the same results on all seeds" in str(summary.verdicts[0])


def test_failed_episodes_are_counted_shown_and_in_no_mean(tmp_path: Path, runs: Any) -> None:
    def rows(key: str) -> list[dict[str, Any]]:
        return [runs.single(key, i, 10.0 + i) for i in range(8)]

    broken = rows("a")
    broken[2] = runs.single("a", 2, 900.0, status="failed", error="worker lost: killed (signal 9)")
    broken[5] = runs.single("a", 5, 900.0, status="aborted")
    broken[6] = runs.single("a", 6, None)
    summary = _summary(tmp_path, runs, {"a": broken, "b": rows("b")})
    a = summary.operator("a")
    assert (a.recorded, a.completed, a.failed, a.aborted, a.without_return) == (8, 6, 1, 1, 1)
    assert a.mean.value == pytest.approx(np.mean([10, 11, 13, 14, 17]))
    assert [(f.episode_index, f.status, f.reason) for f in summary.failures] == [
        (2, "failed", "worker lost: killed (signal 9)"),
        (5, "aborted", "stopped"),
    ]
    assert summary.comparisons[0].pairs == 5 and summary.comparisons[0].left_out == 3
    assert any("3 shared episodes left out" in note for note in summary.notes)


def test_pairs_are_by_seed_and_index(tmp_path: Path, runs: Any) -> None:
    a = [runs.single("a", i, 1.0) for i in range(8)]
    b = [runs.single("b", i, 0.0, seed=1000 + i if i < 6 else 7) for i in range(1, 8)]
    (c,) = _summary(tmp_path, runs, {"a": a, "b": b}).comparisons
    assert c.seeds == (1001, 1002, 1003, 1004, 1005) and c.left_out == 0


def test_more_than_two_operators_are_corrected_for(tmp_path: Path, runs: Any) -> None:
    rng = np.random.default_rng(3)
    episodes = {
        key: [runs.single(key, i, float(x)) for i, x in enumerate(rng.normal(level, 1, 12))]
        for key, level in (("a", 0.0), ("b", 0.6), ("c", 1.2))
    }
    summary = _summary(tmp_path, runs, episodes)
    assert [(c.first, c.second) for c in summary.comparisons] == [("c", "b"), ("c", "a"), ("b", "a")]
    assert all(c.family == 3 and c.p is not None and c.p_adjusted is not None for c in summary.comparisons)
    assert sorted(c.p_adjusted for c in summary.comparisons) != sorted(c.p for c in summary.comparisons)  # type: ignore[type-var]
    assert len(summary.verdicts) == 2, "the best against each other one"
    assert "(Holm, 3 comparisons)" in str(summary.verdicts[0])


def test_a_corrected_p_decides(tmp_path: Path, runs: Any) -> None:
    """Six of six seeds: p = 2/64, three times that after Holm; and differences that do not look normal."""
    episodes = {
        key: [runs.single(key, i, level * (1.0 if i < 5 else 9.0)) for i in range(6)]
        for key, level in (("a", 2.0), ("b", 1.0), ("c", 0.0))
    }
    summary = _summary(tmp_path, runs, episodes)
    for c in summary.comparisons:
        assert c.difference.low is None and len(c.difference.values) == 6
        assert (c.p, c.p_adjusted, c.verdict) == (2 / 64, 6 / 64, "undecided")
        assert "at least 7 seeds are needed for 3 comparisons" in c.detail


def test_team_results_follow_the_squad_through_swapped_seats(tmp_path: Path, runs: Any) -> None:
    rows = [
        runs.match("m", i, {"blue": 3, "green": 1} if i % 2 else {"green": 3, "blue": 1}, swapped=bool(i % 2))
        for i in range(16)
    ]
    rows[1]["invalid_actions"]["blue_0"] = 5
    summary = _summary(tmp_path, runs, {"m": rows})
    operator = summary.operator("m")
    green, blue = operator.teams
    assert (green.name, green.members) == ("green", ("soccer_chaser", "random"))
    assert green.win is not None and (green.win.hits, green.win.n) == (16, 16)
    assert green.score is not None and (green.score.value, green.mean.value, blue.mean.value) == (
        3.0,
        2.0,
        -2.0,
    )
    assert {s.slot: (s.policy, s.mean.value, s.invalid_actions) for s in operator.slots} == {
        "green_0": ("soccer_chaser", 2.0, 5),
        "green_1": ("random", 0.0, 0),
        "blue_0": ("random", -2.0, 0),
        "blue_1": ("random", 0.0, 0),
    }
    comparison = _team_comparison(summary)
    assert (comparison.measure, comparison.pairs, comparison.difference.units) == ("score", 16, 8)
    assert comparison.p == 2 / 2**8, "two seatings of a seed are one unit"
    assert str(summary.verdicts[0]).startswith(
        "green (soccer_chaser, random) is better than blue (random, random)"
    )


def test_a_squad_that_plays_in_one_seat_only_is_shown(tmp_path: Path, runs: Any) -> None:
    rows = [
        runs.match("m", i, {"green": 0 if i % 2 else 2, "blue": 0}, swapped=bool(i % 2)) for i in range(16)
    ]
    operator = _summary(tmp_path, runs, {"m": rows}).operator("m")
    assert {seats: e.value for seats, e in operator.teams[0].by_seats.items()} == {"green": 2.0, "blue": 0.0}
    assert (
        "Mean score of green: 2.00 (all 8 equal) in the seats of green, 0 (all 8 equal) in the seats of blue."
        in operator.notes
    )


def test_teams_are_called_by_their_seats_as_long_as_they_stay_there() -> None:
    names, alone = {"player_0": "White"}, {"player_0": ("player_0",), "player_1": ("player_1",)}
    fixed = OperatorData(seat_names=names, squads=alone)
    assert (fixed.team_title("player_0"), fixed.team_title("player_1")) == ("White", "player_1")
    swapped = OperatorData(seat_names=names, squads=alone, seatings=2)
    assert (swapped.team_title("player_0"), swapped.seat_title("player_0")) == ("player_0", "White")
    team = OperatorData(seat_names=names, squads={"green": ("player_0", "player_1")})
    assert team.team_title("green") == "green"


def test_a_seat_advantage_alone_is_no_better_team(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("m", i, {"green": 3, "blue": 1}, swapped=bool(i % 2)) for i in range(16)]
    comparison = _team_comparison(_summary(tmp_path, runs, {"m": rows}))
    assert (comparison.difference.value, comparison.p, comparison.verdict) == (0.0, 1.0, "undecided")


def test_fixed_seats_are_remarked_on(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("m", i, {"green": 3, "blue": 1}) for i in range(8)]
    assert "Seats were fixed" in " ".join(_summary(tmp_path, runs, {"m": rows}).operator("m").notes)


def test_competing_operators_are_compared_by_their_first_team(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "weak": [runs.match("weak", i, {"green": 1, "blue": 2}) for i in range(12)],
        "good": [runs.match("good", i, {"green": 3 + i % 2, "blue": 0}) for i in range(12)],
    }
    summary = _summary(tmp_path, runs, episodes)
    c = next(c for c in summary.comparisons if c.kind == "operators")
    assert (c.first, c.second, c.measure, c.difference.value) == ("good", "weak", "score", 2.5)


def test_one_repeated_seed_is_remarked_on(tmp_path: Path, runs: Any) -> None:
    rows = [runs.single("a", i, float(i), seed=7) for i in range(10)]
    a = _summary(tmp_path, runs, {"a": rows}).operator("a")
    assert a.mean.low is not None and a.mean.units == 10
    assert "One seed was repeated" in a.notes[0]


def test_operators_of_other_tasks_are_not_compared(tmp_path: Path, runs: Any) -> None:
    first = runs.write_run(
        tmp_path, runs.Plan({"a": [runs.single("a", i, 1.0) for i in range(6)]}, run_id="A")
    )
    second = runs.write_run(
        tmp_path,
        runs.Plan({"b": [runs.single("b", i, 2.0) for i in range(6)]}, run_id="B", task="Acrobot-v1"),
    )
    summary = summarize([open_run(first), open_run(second)])
    assert summary.comparisons == ()
    assert [str(v) for v in summary.verdicts] == [
        "Runs of different environments are not compared: CartPole-v1 in 1 run, Acrobot-v1 in 1 run.",
        "gymnasium/CartPole-v1: a has a mean return of 1.00 (all 6 equal) over 6 episodes.",
        "gymnasium/Acrobot-v1: b has a mean return of 2.00 (all 6 equal) over 6 episodes.",
    ]


def test_one_name_stays_one_name_in_every_environment(tmp_path: Path, runs: Any) -> None:
    opened: list[Run] = []
    for run_id, task in (("A", "CartPole-v1"), ("B", "Acrobot-v1")):
        rows = {
            "ppo": [runs.single("ppo", i, 50.0 + i) for i in range(8)],
            "rnd": [runs.single("rnd", i, 10.0 + i % 3, "random") for i in range(8)],
        }
        names = {"ppo": "PPO", "rnd": "Random"}
        folder = runs.write_run(tmp_path, runs.Plan(rows, run_id=run_id, task=task, names=names))
        opened.append(open_run(folder))
    summary = summarize(opened)
    assert [o.name for o in summary.operators] == ["PPO", "Random"] * 2
    apart, *by_task = summary.verdicts_by_task.items()
    assert apart[0] == "" and [task for task, _ in by_task] == [
        "gymnasium/CartPole-v1",
        "gymnasium/Acrobot-v1",
    ]
    for _, verdicts in by_task:
        assert verdicts[0].sentence.startswith("PPO (this checkpoint) is better than Random by ")
    lines = [line for line in str(summary).splitlines()[:6] if line]
    assert lines[0].startswith("Runs of different environments are not compared")
    assert lines[1] == "gymnasium/CartPole-v1:" and lines[2].startswith("  PPO (this checkpoint) is better")
    assert "gymnasium/Acrobot-v1:" in lines
    page = render_html(summary)
    assert page.index("gymnasium/CartPole-v1</p>") < page.index("gymnasium/Acrobot-v1</p>")


def test_policies_of_one_name_are_told_apart_by_their_workers(tmp_path: Path, runs: Any) -> None:
    def of(worker: str, key: str) -> list[Any]:
        who = runs.agent("random") | {"worker_id": worker}
        return [runs.single(key, i, float(i), agents={"agent_0": who}) for i in range(6)]

    names = dict.fromkeys(("a", "b", "c"), "random")
    rows = {"a": of("operators_worker", "a"), "b": of("test_worker", "b")}
    summary = summarize(open_run(runs.write_run(tmp_path / "two", runs.Plan(rows, names=names))))
    assert [o.name for o in summary.operators] == ["random (operators_worker)", "random (test_worker)"]
    rows["c"] = of("test_worker", "c")
    summary = summarize(open_run(runs.write_run(tmp_path / "three", runs.Plan(rows, names=names))))
    labels = ["random (operators_worker)", "random (b)", "random (c)"]
    assert [o.name for o in summary.operators] == labels


@pytest.mark.parametrize(
    ("day", "labels"),
    [
        ("20", ["ppo (12:00:07)", "ppo (12:00:09)"]),
        ("21", ["ppo (2026-11-20 12:00:07)", "ppo (2026-11-21 12:00:09)"]),
    ],
)
def test_runs_of_one_day_are_told_apart_by_their_times(
    tmp_path: Path, runs: Any, day: str, labels: list[str]
) -> None:
    rows = {"a": [runs.single("a", i, float(i)) for i in range(6)]}
    began = {"1": "2026-11-20T12:00:07+00:00", "2": f"2026-11-{day}T12:00:09+00:00"}
    opened = [
        open_run(
            runs.write_run(
                tmp_path / key, runs.Plan(rows, names={"a": "ppo"}, run_id=key, extra={"started_at": at})
            )
        )
        for key, at in began.items()
    ]
    assert sorted(o.name for o in summarize(opened).operators) == labels


def test_team_mates_of_one_name_are_told_apart_by_their_workers(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("soccer", i, {"green": 1, "blue": i % 2}) for i in range(6)]
    for row in rows:
        row["agents"]["blue_0"]["worker_id"] = "test_worker"
    summary = summarize(open_run(runs.write_run(tmp_path, runs.Plan({"soccer": rows}))))
    told = {team.name: team.members for team in summary.operators[0].teams}
    assert told["blue"][0] == "random of test_worker"
    assert told["green"][0] == "soccer_chaser" and told["green"][1].startswith("random of ")


def test_the_same_operator_of_two_runs_is_told_apart(tmp_path: Path, runs: Any) -> None:
    paths = [
        runs.write_run(
            tmp_path, runs.Plan({"a": [runs.single("a", i, reward) for i in range(6)]}, run_id=name)
        )
        for name, reward in (("A", 1.0), ("B", 2.0))
    ]
    summary = summarize([open_run(path) for path in paths])
    assert [o.key for o in summary.operators] == ["A/a", "B/a"]
    assert str(summary.verdicts[0]).startswith(
        "a (B/a, this checkpoint) is better than a (A/a, this checkpoint) by 1"
    )


def test_actions_in_a_policys_place_are_counted_of_finished_episodes_only(tmp_path: Path, runs: Any) -> None:
    def steps(episode: dict[str, Any]) -> list[dict[str, Any]]:
        return runs.step_rows(episode, source=("policy", "noop", "random_legal")[episode["episode_index"]])

    path = runs.write_run(
        tmp_path, runs.Plan({"a": [runs.single("a", i, 1.0) for i in range(3)]}, steps=steps)
    )
    with (path / "operators" / "a" / "steps.jsonl").open("ab") as file:
        file.write(
            runs.dump(runs.step_rows(runs.single("a", 3, 1.0), source="retry")) + b'{"episode_index": 3,'
        )
    decisions = summarize(open_run(path)).operator("a").decisions
    assert decisions is not None
    assert decisions.by_source == {"noop": 2, "policy": 2, "random_legal": 2}
    assert (decisions.total, decisions.fallbacks) == (6, 4)
    assert summarize(open_run(path), steps=False).operator("a").decisions is None


@pytest.mark.parametrize("status", ["running", "stopped"])
def test_a_run_that_is_on_or_was_stopped_is_summarised_so_far(tmp_path: Path, runs: Any, status: str) -> None:
    plan = runs.Plan(
        {"a": [runs.single("a", 0, 1.0)], "b": []}, status=status, extra={"episodes": {"a": 20, "b": 20}}
    )
    summary = summarize(open_run(runs.write_run(tmp_path, plan)))
    assert "is not finished: 1 of 40 episodes are recorded" in summary.notes[0]
    assert any("b has no finished episode" in note for note in summary.notes)


def test_what_befell_a_run_is_told(tmp_path: Path, runs: Any) -> None:
    retries = [{"operator_id": "a", "episode_index": i, "reason": "was killed (signal 9)"} for i in (0, 1)]
    lost = {"reason": "agent_0: worker x was killed (signal 9)", "lost": "worker"}
    retries.append({"operator_id": "a", "episode_index": 2, **lost})
    extra = {"retries": retries, "problem": "no space left", "status": "failed"}
    notes = _summary(tmp_path, runs, {"a": [runs.single("a", 0, 1.0)]}, extra=extra).notes
    assert any(
        "2 episodes of a begun again, session process lost: was killed (signal 9)" in note for note in notes
    )
    assert any("1 episode of a begun again, worker lost: agent_0: worker x was" in note for note in notes)
    assert any("ended early: no space left" in note for note in notes)


def test_what_was_begun_again_stands_in_the_verdict(tmp_path: Path, runs: Any) -> None:
    retries = [
        {"operator_id": "a", "episode_index": i, "reason": "was killed", "lost": "worker"} for i in (0, 0, 3)
    ]
    episodes = {key: [runs.single(key, i, r + i) for i in range(8)] for key, r in (("a", 9.0), ("b", 1.0))}
    told = [str(v) for v in _summary(tmp_path, runs, episodes, extra={"retries": retries}).verdicts]
    assert len(told) == 1 and "; 2 episodes of a begun again" in told[0]
    assert "begun again" not in str(_summary(tmp_path / "calm", runs, episodes).verdicts[0])


def test_latency_quantiles_are_within_two_per_cent() -> None:
    values = np.random.default_rng(0).lognormal(0, 2, 5001)
    sketch = LatencySketch()
    for part in np.split(values, 3):
        sketch.add(part.tolist())
    for q in (0.5, 0.95):
        assert sketch.quantile(q) == pytest.approx(np.quantile(values, q), rel=0.021)
    assert LatencySketch().quantile(0.5) is None


def test_zero_latency_is_zero() -> None:
    sketch = LatencySketch()
    sketch.add([0.0])
    assert sketch.quantile(0.5) == 0.0


def test_a_rare_disaster_that_was_not_seen_is_left_open(tmp_path: Path, runs: Any) -> None:
    """A loses 10,000 on 3 % of seeds, and on none of these: no data can say so, the sentence does."""
    episodes = {
        key: [runs.single(key, i, r + i % 4) for i in range(20)] for key, r in (("a", 100.0), ("b", 90.5))
    }
    summary = _summary(tmp_path, runs, {**episodes, "b": episodes["b"][::-1]})
    assert summary.comparisons[0].verdict == "first"
    told = str(summary.verdicts[0])
    assert "; 20 seeds cannot rule out something rarer than about 1 in 7; a loss of more than " in told
    turning = float(told.split("a loss of more than ")[1].split()[0])
    lead, rare = summary.comparisons[0].difference.value, summary.comparisons[0].difference.unseen
    assert lead is not None and rare is not None
    assert (1 - rare) * lead - rare * turning == pytest.approx(0.0, abs=0.05), "the mean is turned by so much"


def test_what_is_left_open_is_said_of_differences_of_one_size_too(tmp_path: Path, runs: Any) -> None:
    """That a sample shows 0 and 1 is no rule that nothing worse is to come."""
    episodes = {
        "careful": [runs.single("careful", i, 0.0) for i in range(20)],
        "bold": [runs.single("bold", i, float(i % 3 == 0)) for i in range(20)],
    }
    summary = _summary(tmp_path, runs, episodes)
    assert summary.comparisons[0].verdict == "first"
    assert "cannot rule out something rarer than about 1 in 7" in str(summary.verdicts[0])


@pytest.mark.parametrize(("seeds", "decided"), [(5, False), (6, True), (8, True)])
def test_five_operators_far_apart_are_decided_or_told_how_many_seeds(
    tmp_path: Path, runs: Any, seeds: int, decided: bool
) -> None:
    rng = np.random.default_rng(0)
    episodes = {
        key: [runs.single(key, i, 100.0 * level + float(rng.normal())) for i in range(seeds)]
        for level, key in enumerate("abcde")
    }
    summary = _summary(tmp_path, runs, episodes)
    assert {c.verdict for c in summary.comparisons} == {"first" if decided else "undecided"}
    told = str(summary.verdicts[0])
    if decided:
        assert "(t test, Holm, 10 comparisons)" in told and "assumes normal differences" in told
    else:
        assert told.endswith("at least 9 seeds are needed for 10 comparisons.")


def test_why_a_small_p_decides_nothing_is_said(tmp_path: Path, runs: Any) -> None:
    """Equal means, and a skew that the interval knows of."""
    rng = np.random.default_rng(12)
    for trial in range(60):
        drawn = rng.lognormal(0.0, 1.5, 12) - 1.0
        episodes = {
            "a": [runs.single("a", i, float(x)) for i, x in enumerate(drawn)],
            "b": [runs.single("b", i, 0.0) for i in range(12)],
        }
        summary = _summary(tmp_path / str(trial), runs, episodes)
        (c,) = summary.comparisons
        if c.p is not None and c.p < 0.05 and c.verdict == "undecided":
            assert "the 95 % interval does not exclude 0" in str(summary.verdicts[0])
            return
    pytest.fail("no such sample was drawn")


def test_equal_seeds_are_counted_as_seeds(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("m", i, {"green": 1, "blue": 1}, swapped=bool(i % 2)) for i in range(20)]
    (team, _) = _summary(tmp_path, runs, {"m": rows}).operator("m").teams
    assert team.score is not None and team.score.note == "all 10 seeds equal"


def test_the_sum_over_competing_teams_is_not_printed(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("m", i, {"green": 3 + i % 3, "blue": 1}, swapped=bool(i % 2)) for i in range(12)]
    notes = list(all_notes(_summary(tmp_path, runs, {"m": rows})))
    on_each = [note for note in notes if "on each seed" in note]
    assert len(on_each) == 2 and not any("on each seed 0, 0" in note for note in on_each)
    assert "green on each seed 2.00, " in on_each[0]


def test_a_seed_that_decides_is_named(tmp_path: Path, runs: Any) -> None:
    rows = [runs.single("a", i, 100.0 + i % 4) for i in range(20)]
    rows[4] = runs.single("a", 4, -10_000.0)
    summary = _summary(tmp_path, runs, {"a": rows, "b": [runs.single("b", i, 90.0) for i in range(20)]})
    assert summary.comparisons[0].verdict == "undecided"
    named = "1 of 20 seeds (1004) moves the difference in return to"
    assert any(named in note for note in summary.notes)
    assert any("(1004) moves the mean return to" in note for note in summary.operator("a").notes)


def test_scores_of_two_values_are_decided_by_mcnemar(tmp_path: Path, runs: Any) -> None:
    episodes = {
        "a": [runs.single("a", i, 1.0) for i in range(20)],
        "b": [runs.single("b", i, float(i >= 6)) for i in range(20)],
    }
    summary = _summary(tmp_path, runs, episodes)
    (c,) = summary.comparisons
    assert (c.verdict, c.method, c.difference.method) == ("first", "McNemar mid-p", "Bonett-Price")
    share = intervals.share_interval(14, 20)
    mean = summary.operator("b").mean
    assert share is not None and mean.low is not None and mean.high is not None
    assert mean.low <= share.low and mean.high >= share.high, "that only 0 and 1 were seen is no rule"


def test_shares_of_swapped_games_count_seeds(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("m", i, {"green": 3, "blue": 1}, swapped=bool(i % 2)) for i in range(40)]
    win = _summary(tmp_path, runs, {"m": rows}).operator("m").teams[0].win
    assert win is not None and (win.hits, win.n, win.units) == (20, 40, 20)
    assert (win.low, win.high) == pytest.approx((0.272, 0.728), abs=0.001), "10 of 20, not 20 of 40"
