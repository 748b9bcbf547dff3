"""What is kept of trainings on both sides, what is trained anew, and a sample that is trained again."""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scipy import stats

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS / "bench"))
    return importlib.import_module("bench_learning")


def named(bench: ModuleType, start: str) -> Any:
    return next(task for task in bench.TASKS if task.name.startswith(start))


def test_what_is_kept_is_of_the_defaults_that_both_sides_have_now(bench: ModuleType) -> None:
    """A default that is changed makes its figures those of another training: they have to be made again."""
    rows = bench.lines(bench.KEPT)
    made = [each for causes in (False, True) for each in bench.trainings("", causes=causes)]
    assert len([each for each in made if each.kept_in(rows)]) == len(rows)


@pytest.mark.parametrize("name", ["ppo on Acrobot-v1, 40,960", "td3 on Pendulum-v1, 5,000"])
def test_sb3_is_not_ahead_in_five_trainings_of_each(bench: ModuleType, name: str) -> None:
    scores = bench.scores_of(named(bench, name), bench.lines(bench.KEPT))
    ours, theirs = scores["ours"], scores["SB3"]
    assert min(len(ours), len(theirs)) >= 5
    for difference in (bench.difference_of, bench.difference_of_middles):
        _, _, high = difference(ours, theirs)
        assert high >= 0


@pytest.mark.full
def test_ppo_is_level(bench: ModuleType) -> None:
    task = named(bench, "ppo on Acrobot-v1")
    for figure in bench.measured(task, bench.scores_of(task, bench.lines(bench.KEPT))):
        assert figure.met, figure.detail


def test_a_line_takes_the_place_of_one_with_other_settings(bench: ModuleType, tmp_path: Path) -> None:
    training = next(bench.trainings("acrobot", 1))
    row: dict[str, Any] = {"task": training.task.name, "side": training.side, "seed": 1, "score": -90.0}
    bench.keep(tmp_path / "kept", {**row, "settings": {}})
    assert training.kept_in(bench.lines(tmp_path / "kept")) is None
    bench.keep(tmp_path / "kept", {**row, "settings": training.settings})
    (line,) = (tmp_path / "kept").read_text().splitlines()
    assert training.kept_in([json.loads(line)])["score"] == -90.0


@pytest.mark.parametrize(
    ("ours", "met", "words"),
    [
        ([-500.0, -499.0], False, "is more than 10 %"),
        ([-500.0, -80.0], False, "is not decided"),
        ([-81.0, -80.5], True, "is no more than 10 %"),
    ],
)
def test_level_is_what_the_whole_interval_says(
    bench: ModuleType, ours: list[float], met: bool, words: str
) -> None:
    for figure in bench.compared(bench.TASKS[0], {"ours": ours, "SB3": [-80.0, -81.0]}, -500.0):
        assert figure.met is met
        assert words in figure.detail


def test_one_training_that_does_not_learn_leaves_the_middle_half_as_it_is(bench: ModuleType) -> None:
    theirs = [-150.0, -160.0, -155.0, -170.0, -165.0, -158.0, -152.0, -163.0]
    ours = [*theirs[1:], -1100.0]
    mean, middle = bench.compared(bench.TASKS[0], {"ours": ours, "SB3": theirs}, -1200.0)
    assert (mean.met, middle.met) == (False, True)
    # Degrees of freedom are whole here: a little wider.
    wanted = stats.ttest_ind(ours, theirs, equal_var=False, trim=0.25).confidence_interval()
    _, low, high = bench.difference_of_middles(ours, theirs)
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=0.5)
    assert low <= wanted.low and high >= wanted.high


def test_each_default_of_before_is_changed_alone_in_both_directions(bench: ModuleType) -> None:
    """So what ``before but for`` and ``now but for`` have in common is that default, from either side."""
    for task in bench.TASKS:
        all_of = {side: bench.Training(task, side, 1).settings for side in (*task.causes, "ours")}
        for name in task.before:
            for one, other in ((f"before but for {name}", "before"), (f"now but for {name}", "ours")):
                first, second = all_of[one], all_of[other]
                assert {key for key in first if first[key] != second[key]} == {name}


@pytest.mark.full
def test_a_sample_of_the_trainings_gives_what_was_kept(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """Chosen by chance, and told: with versions and processor of the lines to the bit, else about as good."""
    seed = random.randrange(1_000_000)
    wanted = list(bench.trainings("acrobot", 5))
    status = bench.again(bench.lines(bench.KEPT), wanted, seed)
    assert status == 0, f"--sample-seed {seed}: {capsys.readouterr().out}"
