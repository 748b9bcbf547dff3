"""What a report says of algorithms whose order is known, and when it declines to say anything."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from gym_gui.analysis.compute.algorithm_verdicts import verdicts_of
from gym_gui.analysis.compute.algorithms import compare_algorithms
from gym_gui.analysis.findings.trainings import (
    AlgorithmReport,
    LearningCurve,
    MissingTraining,
    Scale,
    TrainedScores,
)
from gym_gui.analysis.pages.algorithm_page import render_algorithm_page
from gym_gui.analysis.reporting import write_algorithms
from gym_gui.analysis.terminal_report import render_algorithms
from gym_gui.core.errors import UsageError

POLE = "CartPole-v1"


def trained(
    name: str, mean: float, n: int = 10, env_id: str = POLE, *, spread: float = 20.0, missing: int = 0
) -> TrainedScores:
    """An algorithm whose trainings are drawn around a mean."""
    rng = np.random.default_rng([n, *name.encode(), *env_id.encode()])
    scores = {seed: float(value) for seed, value in enumerate(rng.normal(mean, spread, n), 1)}
    lost = tuple(
        MissingTraining(n + i, "failed", "the return is not a finite number") for i in range(1, missing + 1)
    )
    steps = np.arange(10.0, 1010.0, 10.0)
    curves = {seed: LearningCurve(steps, score * steps / 1000) for seed, score in scores.items()}
    return TrainedScores(name, f"{name}_{env_id}", env_id, scores, 1000, lost, curves)


def printed(report: AlgorithmReport) -> str:
    """The text without colors."""
    out = io.StringIO()
    render_algorithms(report, Console(file=out, width=200, color_system=None))
    return out.getvalue()


def test_a_planted_order_is_found_over_trainings() -> None:
    report = compare_algorithms([trained("middle", 300), trained("worst", 100), trained("best", 450)])
    assert [algorithm.name for algorithm in report.algorithms] == ["best", "middle", "worst"]
    verdicts = [str(verdict) for verdict in verdicts_of(report)]
    assert verdicts[0].startswith("best is better than middle by ")
    assert "over 10 trainings each, p = " in verdicts[0]
    assert "(Holm, 3 comparisons)" in verdicts[0]
    assert "of pairs of trainings best did better in 100 %" in verdicts[0]
    assert (
        "10 trainings cannot rule out something rarer than about 1 in 4; a loss of more than" in verdicts[0]
    )
    assert all(c.verdict == "first" for c in report.comparisons)
    e = report.algorithms[0].iqm
    assert e.low is not None
    assert e.high is not None
    assert e.low < 450 < e.high
    assert "bootstrap over trainings" in printed(report)
    assert "give no interval" not in printed(report)


def test_equals_are_not_decided() -> None:
    report = compare_algorithms([trained("one", 300), trained("other", 300)])
    (c,) = report.comparisons
    assert c.verdict == "undecided"
    assert "is not decided: difference in mean return" in f"{c.claim}{c.detail}"


@pytest.mark.parametrize("n", [1, 4])
def test_fewer_than_five_trainings_show_every_value_and_no_interval(n: int) -> None:
    report = compare_algorithms([trained("few", 400, n), trained("many", 100, 8)])
    (c,) = report.comparisons
    assert c.verdict == "undecided"
    assert c.p is None
    assert "at least 5 trainings of each are needed" in c.detail
    few = next(a for a in report.algorithms if a.name == "few")
    assert (few.mean.low, few.iqm.low, few.profile[0][1]) == (None, None, None)
    text = printed(report)
    for shown in (text, render_algorithm_page(report)):
        assert "Fewer than 10 trainings, or 5 in an environment, give no interval" in shown
    row = next(line for line in text.splitlines() if line.startswith("few "))
    assert "[" not in row
    for seed, score in few.trained[0].scores.items():
        assert f"{score:.1f} (seed {seed})" in text
    band = next(curve for curve in report.curves if curve.algorithm == "few")
    assert (band.low, len(band.trainings)) == ((), n)


def test_what_failed_or_is_not_done_decides_nothing() -> None:
    """Leaving out the trainings that fail would flatter who fails."""
    failed = compare_algorithms([trained("a", 400, 8, missing=2), trained("b", 100)])
    assert "2 of a_CartPole-v1 failed, and failed trainings are not counted" in failed.comparisons[0].detail
    assert failed.comparisons[0].verdict == "undecided"
    assert any("Seed 9 of a_CartPole-v1 has no score (failed: " in note for note in failed.notes)
    b = trained("b", 100)
    waiting = TrainedScores("b", b.group, POLE, b.scores, 1000, (MissingTraining(11, "running"),))
    running = compare_algorithms([trained("a", 400), waiting])
    assert "1 of b_CartPole-v1 is not finished" in running.comparisons[0].detail


def test_a_profile_falls_from_all_to_the_share_of_the_best() -> None:
    report = compare_algorithms([trained("a", 400), trained("b", 100)])
    for algorithm in report.algorithms:
        shares = [share for share, _, _ in algorithm.profile]
        assert shares == sorted(shares, reverse=True)
        scores = list(algorithm.trained[0].scores.values())
        for level, (share, low, high) in zip(report.levels, algorithm.profile, strict=True):
            assert share == pytest.approx(np.mean(np.array(scores) >= level - 1e-9 * abs(level)))
            assert low is not None
            assert high is not None
            assert low <= share <= high
    assert report.algorithms[1].profile[0][0] == 1.0


def test_curves_are_of_the_last_hundred_episodes_with_a_band() -> None:
    report = compare_algorithms([trained("a", 400)])
    (band,) = report.curves
    assert (band.steps[0], band.steps[-1]) == (10.0, 1000.0)
    first, last = min(band.trainings), -1
    score = report.algorithms[0].trained[0].scores[first]
    assert band.trainings[first][last] == pytest.approx(score * 0.505)  # the mean of 0.01, 0.02 … 1
    bounds = zip(band.low, band.values, band.high, strict=True)
    assert all(low <= value <= high for low, value, high in bounds)


def test_several_environments_are_normalized_by_a_reference_that_is_named() -> None:
    groups = [
        trained(name, mean, 6, env_id, spread=5)
        for name, means in (("ref", (200.0, -100.0)), ("new", (300.0, -60.0)))
        for env_id, mean in zip((POLE, "Acrobot-v1"), means, strict=True)
    ]
    scales = {POLE: Scale(20.0, 200.0), "Acrobot-v1": Scale(-500.0, -100.0)}
    report = compare_algorithms(groups, scales, "the mean of ref there")
    new, ref = report.algorithms
    assert (new.name, ref.name) == ("new", "ref")
    assert new.mean.value == pytest.approx((280 / 180 + 440 / 400) / 2, abs=0.05)
    assert ref.mean.value == pytest.approx(1.0, abs=0.05)
    assert new.rank is not None
    assert new.rank.value == 1.0
    assert "in normalized score over 12 trainings each in 2 environments" in str(verdicts_of(report)[0])
    text = printed(report)
    assert "Normalized: 0 is random play, 1 is the mean of ref there." in text
    assert "Mean rank" in text
    page = render_algorithm_page(report)
    assert "1 is the mean of ref there" in page


def test_what_only_some_were_trained_in_is_left_out_and_named() -> None:
    report = compare_algorithms([trained("a", 400), trained("b", 100), trained("a", 3, env_id="Acrobot-v1")])
    assert report.environments == (POLE,)
    assert report.scales == {}
    assert any(note.startswith("a_Acrobot-v1 is not compared") for note in report.notes)


@pytest.mark.parametrize(
    ("groups", "scales", "words"),
    [
        ([], {}, "no group of trainings was named"),
        ([trained("a", 1), trained("a", 1)], {}, "a in CartPole-v1 was named twice"),
        ([trained("a", 1), trained("b", 1, env_id="Acrobot-v1")], {}, "share no environment"),
        ([TrainedScores("a", "a_x", "x", {})], {}, "no training of a_x is done"),
        (
            [trained("a", 1), trained("a", 1, env_id="x")],
            {POLE: Scale(5.0, 5.0), "x": Scale(0.0, 1.0)},
            "is no better than random play in CartPole-v1 (5.00 against 5.00)",
        ),
    ],
)
def test_what_cannot_be_compared_is_one_clear_line(
    groups: list[TrainedScores], scales: dict[str, Scale], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        compare_algorithms(groups, scales)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_training_equal_has_no_interval_and_can_still_be_decided() -> None:
    def all_at(name: str, score: float) -> TrainedScores:
        return TrainedScores(name, f"{name}_x", "x", dict.fromkeys(range(5), score))

    report = compare_algorithms([all_at("solved", 500.0), all_at("fell", 9.0)])
    (c,) = report.comparisons
    assert (c.verdict, c.difference.low) == ("first", None)
    assert (
        "solved is better than fell by 491.0 in mean return over 5 trainings each" in f"{c.claim}{c.detail}"
    )
    assert "500.0 (all 5 equal)" in printed(report)


def test_the_files_say_the_same(tmp_path: Path) -> None:
    hostile = trained("<b>&\x1b[31m", 300)
    report = compare_algorithms([hostile, trained("b", 100)])
    page = write_algorithms(report, tmp_path)
    text = page.read_text()
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;" in text
    assert "\x1b" not in text
    assert "polygon" in text
    assert "Performance profile" in text
    assert "Learning in CartPole-v1" in text
    assert "<script" not in text
    data = json.loads((tmp_path / "algorithms.json").read_text())
    assert data["comparisons"][0]["claim"] == report.comparisons[0].claim
    assert data["algorithms"][0]["trained"][0]["scores"]["1"] == hostile.scores[1]
    assert data["measure"] == "mean return"
