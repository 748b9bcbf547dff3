"""Comparisons that are looked at while seeds are added, and what reports say of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.compute.interim_analysis import SequentialFamily
from gym_gui.analysis.findings.pairs import Pairs, Sides
from gym_gui.analysis.pages.report_page import render_html
from gym_gui.analysis.statistics.units import Sample
from gym_gui.analysis.words.report_text import looks_in_words

LARGEST = 40


def sides(first: str = "a", second: str = "b") -> Sides:
    return Sides("operators", "", first, second, first, second, "return")


def pairs(differences: Any, **more: Any) -> Pairs:
    samples = tuple(Sample(seed, seed) for seed in range(len(differences)))
    return Pairs(samples, tuple(map(float, differences)), **{"shared": len(differences), **more})


AHEAD = np.random.default_rng(0).normal(2, 1, LARGEST)
LEVEL = np.random.default_rng(1).normal(0, 1, LARGEST)
AB, AC, BC = (frozenset(pair) for pair in ("ab", "ac", "bc"))


def test_what_is_decided_stays_so_with_the_seeds_that_decided_it() -> None:
    family = SequentialFamily([AB], LARGEST)
    looks = [family.evaluate(n, [(sides(), pairs(AHEAD[:n]))]) for n in (4, 8, 12, 16)]
    found = family.decided[AB]
    assert [bool(look) for look in looks] == [True, True, True, False], "it is not looked at again"
    assert found.verdict == "first" and found.pairs == 12
    assert found.stage is not None and (found.stage.seeds, found.stage.largest, found.stage.looks) == (
        12,
        40,
        3,
    )
    assert ", decided after 12 of 40 seeds, p = " in found.detail and "(sequential test)" in found.detail
    assert family.comparison(sides(), pairs(-AHEAD)) is found


def test_it_does_not_matter_who_is_named_first_at_which_look() -> None:
    straight, turned = SequentialFamily([AB], LARGEST), SequentialFamily([AB], LARGEST)
    for n in (4, 8, 12):
        straight.evaluate(n, [(sides(), pairs(AHEAD[:n]))])
        turn = n == 8
        named = (sides("b", "a"), pairs(-AHEAD[:n])) if turn else (sides(), pairs(AHEAD[:n]))
        turned.evaluate(n, [named])
    assert straight.decided[AB].stage == turned.decided[AB].stage


def test_a_family_is_corrected_for_from_the_first_look_on() -> None:
    alone, among = SequentialFamily([AB], LARGEST), SequentialFamily([AB, AC, BC], LARGEST)
    ahead = 0.5 * AHEAD + np.random.default_rng(10).normal(0, 1, LARGEST)
    for n in range(4, LARGEST + 1, 4):
        alone.evaluate(n, [(sides(), pairs(ahead[:n]))])
        others = [(sides("a", "c"), pairs(LEVEL[:n])), (sides("b", "c"), pairs(-LEVEL[:n]))]
        among.evaluate(n, [(sides(), pairs(ahead[:n])), *others])
    assert alone.decided.keys() == among.decided.keys() == {AB}
    first, second = alone.decided[AB], among.decided[AB]
    assert first.stage is not None and second.stage is not None
    assert first.stage.seeds < second.stage.seeds and second.p_adjusted == pytest.approx(3 * second.stage.p)
    assert "Holm, 3 comparisons" in second.detail and "Holm" not in first.detail


def test_who_failed_more_often_is_not_decided_about() -> None:
    """Seeds on which one side alone has failed are missing, and may be what decides."""
    family = SequentialFamily([AB], LARGEST)
    for n in (10, 20, 30, 40):
        seen = family.evaluate(n, [(sides(), pairs(AHEAD[:n], shared=n + 4, failed=(4, 0)))])
    assert seen[AB].p < 0.001 and not family.decided
    assert (
        "a failed in 4 of 44 episodes"
        in family.comparison(sides(), pairs(AHEAD, shared=44, failed=(4, 0))).detail
    )


def test_equal_differences_need_no_interval_and_none_are_no_verdict() -> None:
    family = SequentialFamily([AB, AC], LARGEST)
    for n in (10, 20, 30, 40):
        family.evaluate(n, [(sides(), pairs([2.0] * n)), (sides("a", "c"), pairs([0.0] * n))])
    assert "by 2.00 (all 10 equal)" in family.decided[AB].detail
    undecided = family.comparison(sides("a", "c"), pairs([0.0] * 40))
    assert (
        undecided.verdict == "undecided"
        and "both sides had the same results on all seeds" in undecided.detail
    )


def test_at_the_end_it_is_said_what_was_not_found() -> None:
    family = SequentialFamily([AB], LARGEST)
    for n in (10, 20, 30, 40):
        family.evaluate(n, [(sides(), pairs(LEVEL[:n]))])
    found = family.comparison(sides(), pairs(LEVEL))
    low, high = found.difference.low, found.difference.high
    assert low is not None and high is not None
    assert f"no difference larger than {max(-low, high):.3f} was found" in found.detail
    assert found.verdict == "undecided" and ", after 40 of 40 seeds, p = " in found.detail


# ------------------------------------------------------------------------------ reports


def written(path: Path, runs: Any, looks: Any, n: int = 20, status: str = "completed") -> Path:
    """A run that was to add seeds until it was decided, ``a`` ahead of ``b``."""
    more = {"a": AHEAD, "b": np.zeros(LARGEST)}
    episodes = {
        name: [runs.single(name, i, float(x)) for i, x in enumerate(values[:n])]
        for name, values in more.items()
    }
    execution = {"until": "decided", "num_episodes": LARGEST}
    return runs.write_run(
        path, runs.Plan(episodes, status=status, execution=execution, extra={"looks": looks})
    )


def look(seeds: Any, pair: Any = ("a", "b")) -> dict[str, Any]:
    return {"seeds": seeds, "of": LARGEST, "comparisons": [dict(zip(("first", "second"), pair, strict=True))]}


def test_a_report_takes_the_looks_of_its_run(tmp_path: Path, runs: Any) -> None:
    summary = summarize(open_run(written(tmp_path, runs, [look(10), look(20)])))
    (found,) = summary.comparisons
    assert found.verdict == "first" and found.stage is not None
    assert found.stage.seeds in (10, 20) and f"after {found.stage.seeds} of 40 seeds" in str(
        summary.verdicts[0]
    )
    assert summary.to_json()["comparisons"][0]["stage"]["largest"] == LARGEST


def test_a_report_names_the_test_below_its_tables(tmp_path: Path, runs: Any) -> None:
    summary = summarize(open_run(written(tmp_path / "over", runs, [look(10), look(20)])))
    (stage,) = (c.stage for c in summary.comparisons)
    looks = "1 look" if stage.looks == 1 else f"{stage.looks} looks"
    said = f"sign-flip permutation over paired seeds, {looks} in at most 40 seeds; error rate of 5 %"
    assert said in " ".join(str(summary).split()) and "mosaic power" not in str(summary)
    assert said in render_html(summary)
    begun = summarize(open_run(written(tmp_path / "begun", runs, [look(4)], status="stopped")))
    assert "a difference would need, run: mosaic power RUN." in " ".join(str(begun).split())
    plain = runs.Plan({name: [runs.single(name, i, 1.0) for i in range(9)] for name in "ab"})
    fixed = summarize(open_run(runs.write_run(tmp_path / "fixed", plain)))
    assert "Sequential test" not in str(fixed) and looks_in_words(fixed) == ""


def test_what_came_after_a_look_does_not_change_what_it_saw(tmp_path: Path, runs: Any) -> None:
    """One played on because of others, and failed: that is no reason to doubt what was decided before."""
    first = [runs.single("a", i, float(x)) for i, x in enumerate(AHEAD[:10])]
    played_on = [runs.single("b", i, 0.0) for i in range(10)]
    played_on += [runs.single("b", i, None, status="failed", error="no") for i in range(10, 20)]
    plan = runs.Plan(
        {"a": first, "b": played_on},
        execution={"until": "decided", "num_episodes": LARGEST},
        extra={"looks": [look(5), look(10)]},
        status="failed",
    )
    (found,) = summarize(open_run(runs.write_run(tmp_path, plan))).comparisons
    assert found.verdict == "first" and (found.failed, found.unshared, found.left_out) == ((0, 0), (0, 0), 0)


def test_families_are_those_that_waited_for_each_other(tmp_path: Path, runs: Any) -> None:
    """Operators of one task in a report, whose settings were written in two ways: no look compared across."""
    of = {name: [runs.single(name, i, float(x)) for i, x in enumerate(AHEAD[:20])] for name in "ac"}
    of |= {name: [runs.single(name, i, 0.0) for i in range(20)] for name in "bd"}
    looks = [
        {**look(n, pair), "operators": list(pair)} for n in (10, 20) for pair in (("a", "b"), ("c", "d"))
    ]
    plan = runs.Plan(of, execution={"until": "decided", "num_episodes": LARGEST}, extra={"looks": looks})
    found = {
        frozenset((c.first, c.second)): c
        for c in summarize(open_run(runs.write_run(tmp_path, plan))).comparisons
    }
    assert all(
        found[pair].verdict != "undecided" and found[pair].family == 1 for pair in (AB, frozenset("cd"))
    )
    across = found[frozenset("ad")]
    assert across.verdict == "undecided" and across.p is None and across.stage is None
    assert "seeds were added until another comparison was decided" in across.detail


def test_a_run_in_its_midst_decides_what_its_looks_have_decided(tmp_path: Path, runs: Any) -> None:
    over = summarize(open_run(written(tmp_path / "over", runs, [look(10), look(20)], status="stopped")))
    lost = written(tmp_path / "lost", runs, [look(10), look(20)])
    record = json.loads((lost / "run.json").read_text()) | {"episodes": {"a": 20, "b": 21}}
    (lost / "run.json").write_text(json.dumps(record))
    lacking = summarize(open_run(lost))
    assert lacking.comparisons[0].verdict == "undecided" and "; 1 episode is missing" in str(lacking)
    begun = summarize(open_run(written(tmp_path / "begun", runs, [look(4)], status="running")))
    none = summarize(open_run(written(tmp_path / "none", runs, [], status="running")))
    assert over.comparisons[0].verdict == "first"
    for summary in (begun, none):
        assert summary.comparisons[0].verdict == "undecided" and "the run is not finished" in str(summary)
    assert none.comparisons[0].p is None


@pytest.mark.parametrize(
    "looks",
    [7, [3], [{}], [look("ten")], [look(-1)], [look(99)], [look(10, ("a", "z"))], [{"comparisons": 1}]],
)
def test_looks_that_cannot_be_read_decide_nothing(tmp_path: Path, runs: Any, looks: Any) -> None:
    (found,) = summarize(open_run(written(tmp_path, runs, looks))).comparisons
    assert found.verdict == "undecided" and found.stage is None


def test_runs_that_chose_their_seeds_are_not_tested_against_others(tmp_path: Path, runs: Any) -> None:
    chose = open_run(written(tmp_path / "chose", runs, [look(10), look(20)]))
    other = {"c": [runs.single("c", i, -5.0) for i in range(20)]}
    fixed = open_run(
        runs.write_run(tmp_path / "fixed", runs.Plan(other, run_id="01J0000000000000000000000B"))
    )
    found = {(c.first, c.second): c for c in summarize([chose, fixed]).comparisons}
    assert found["a", "b"].verdict == "first"
    assert found["a", "c"].verdict == "undecided" and found["a", "c"].p is None
    assert "seeds were added until another comparison was decided" in found["a", "c"].detail
