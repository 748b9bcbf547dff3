"""The simulations behind docs/measurements/calibration*.md: what these promise holds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gym_gui.analysis.statistics.distributions import MIN_INTERVAL

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / "calibration" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


HELD_AT_LEAST = {("two modes, one on 20 %", 10): 89}
"""Per cent, where intervals are known to hold less: one sample in ten shows one of the two modes alone, and
is then a sample of a normal distribution, number for number (docs/measurements/calibration.md)."""


@pytest.fixture(scope="module")
def calibration() -> ModuleType:
    return _loaded("calibration")


@pytest.fixture(scope="module")
def reports(calibration: ModuleType) -> ModuleType:
    """It takes what is drawn from the other script, which is loaded by then."""
    assert calibration.RETURNS
    return _loaded("calibration_verdicts")


@pytest.fixture(scope="module")
def looks() -> ModuleType:
    return _loaded("calibration_looks")


@pytest.fixture(scope="module")
def pairs(looks: ModuleType) -> ModuleType:
    """It takes what is played from the other script, which is loaded by then."""
    assert looks.STUDIED
    return _loaded("calibration_pairs")


def test_means_of_skewed_returns_and_of_scores_hold_the_truth(calibration: ModuleType) -> None:
    lognormal, scores = calibration.coverage(200, ["lognormal", "0 or 1, 95 % ones"], [20])
    for held in (lognormal.mean, lognormal.iqm, lognormal.difference, scores.mean, scores.difference):
        assert held.share + held.error >= 93
    assert lognormal.mean.known < 93, "Student's t does not hold a skew"


@pytest.mark.parametrize(
    "returns", ["-1, 0 or 1, each sign on 10 %", "0, but normal on 10 %", "5 % outliers, 30 times as far"]
)
def test_sparse_returns_and_outliers_hold_the_truth(calibration: ModuleType, returns: str) -> None:
    (found,) = calibration.coverage(150, [returns], [20])
    for held in (found.mean, found.difference):
        assert held.share + held.error >= 93 and held.none < 25


def test_plans_keep_their_promise() -> None:
    script = _loaded("calibration_power")
    for plan in script.plans(150, [1.0, 2.5], [1, 10]):
        assert abs(plan.kept - plan.promised) <= 1.5 * plan.error + 2


def test_equal_ones_in_many_tasks_are_not_told_apart(pairs: ModuleType) -> None:
    (found,) = pairs.over_tasks(60, 20, ["normal"], [12])
    assert found.wrong <= 5 + 1.5 * found.error


def test_shares_of_swapped_games_hold_the_truth(calibration: ModuleType) -> None:
    assert all(held >= 94 for _, _, held in calibration.shares(200))


def test_what_was_not_seen_is_left_open(reports: ModuleType) -> None:
    (few,) = reports.verdicts(15, ["disaster on 3 % (67) against a sure 90"], [12])
    assert few.wrong > 20 and few.sentence == 0, "no data can tell, the sentence does"


@pytest.mark.parametrize(
    "scene",
    [
        "the same policy, one crashes on 30 % hard seeds",
        "the same, half of the second games failed",
        "equal teams, a seat worth 4, seats swapped",
    ],
)
def test_equal_sides_are_not_told_apart(reports: ModuleType, scene: str) -> None:
    (said,) = reports.verdicts(15, [scene], [12])
    assert said.wrong < 20


@pytest.mark.parametrize("operators", [2, 6])
def test_equal_ones_are_not_told_apart_on_a_number_of_seeds(pairs: ModuleType, operators: int) -> None:
    (found,) = pairs.told(100, ["normal"], [20], [operators])
    assert found.wrong <= 5 + 1.5 * found.error


@pytest.mark.parametrize(("operators", "studies"), [(2, 300), (6, 60)])
def test_equal_ones_are_not_told_apart_by_looking_often(
    looks: ModuleType, operators: int, studies: int
) -> None:
    (found,) = looks.looked(studies, ["heavy tails (Student's t, 2 degrees)"], [20], [operators])
    assert found.wrong <= 5 + 1.5 * found.error and found.held >= 88


def test_what_is_much_better_is_found_early(looks: ModuleType) -> None:
    (found,) = looks.looked(60, ["better by two standard deviations"], [50], [2])
    assert found.right >= 95 and found.wrong == 0 and found.played < 20


def test_ratings_hold_the_truth_and_equals_have_no_best() -> None:
    ratings = _loaded("calibration_ratings")
    (few,) = ratings.pools(60, ["2 equal policies, most games drawn"], [6])
    assert few.best <= 5 and few.none_given > 10, "who has won twice and lost never is not the best of two"
    (equals,) = ratings.pools(12, ["6 equal policies"], [8])
    assert equals.rating >= 85 and equals.width > 0
    assert equals.ranks <= 35 and equals.best <= 25


@pytest.mark.full
def test_ratings_of_pools_with_few_decided_games_hold_the_truth() -> None:
    (drawn,) = _loaded("calibration_ratings").pools(60, ["3 equal policies, 97 of 100 games drawn"], [20])
    assert drawn.rating >= 97 and drawn.none_given < 40, "20 seeds with four decided games are as four seeds"


def test_cross_play_holds_the_truth_and_equals_are_not_told_apart(pairs: ModuleType) -> None:
    assert pairs.RESAMPLES
    script = _loaded("calibration_cross_play")
    better, equal = "normal, better by one with itself", "nobody better: 0 or 1, half ones"
    of = {found.what: found for found in script.crossed(60, [better, equal], [20])}
    assert all(found.gap >= 88 and found.lift >= 88 for found in of.values())
    assert of[better].wrong_gap is None
    assert max(of[equal].wrong_gap, of[equal].wrong_lift) <= 15


def test_tables_are_put_into_their_pages_whole() -> None:
    tables = _loaded("calibration_tables")
    rows = [
        {"what": "normal", "operators": 2, "seeds": seeds, "studies": 5_000, "wrong": wrong}
        for seeds, wrong in ((20, 2.84), (10, 2.3))
    ]
    rows.append({"what": "ties", "operators": 2, "seeds": 20, "studies": 500, "wrong": 0.0})
    page = "above\n<!-- calibration: pairs -->\nold\n<!-- end -->\nbelow\n<!-- end -->"
    assert tables.kind_of(rows[0]) == "pairs"
    made = tables.put(page, "pairs", rows)
    assert tables.put(made, "pairs", rows) == made and "old" not in made
    assert made.startswith("above\n") and made.endswith("\nbelow\n<!-- end -->")
    assert "|  | wrong, on 10, 20 seeds (2) | studies |" in made
    assert "| normal | 2.3, 2.8 | 5,000 |" in made
    assert "| ties | -, 0.0 | 500 |" in made
    of_six = [{**row, "operators": 6, "studies": 5_000} for row in rows[:2]]
    both = tables.put(page, "pairs", rows[:2] + of_six)
    assert "| 5,000 studies of each | wrong, on 10, 20 seeds (2) | wrong, on 10, 20 seeds (6) |" in both
    assert "| normal | 2.3, 2.8 | 2.3, 2.8 |" in both
    with pytest.raises(SystemExit, match="no mark"):
        tables.put("nothing", "pairs", rows)


@pytest.mark.parametrize("name", ["looks", "pairs", "trainings", "ratings", "crossed"])
def test_every_table_is_on_its_page(name: str) -> None:
    page = SCRIPTS.parent / "docs" / _loaded("calibration_tables").TABLES[name].page
    table = page.read_text("utf-8").split(f"<!-- calibration: {name} -->")[1].split("<!-- end -->")[0]
    assert table.count("\n|") >= 4


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_looking_often_is_wrong_no_more_than_it_says(
    looks: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    same = [
        "normal",
        "heavy tails (Student's t, 2 degrees)",
        "0 or 1, half ones",
        "ties: whole numbers about 0",
    ]
    found = [*looks.looked(looks.STUDIES, same, [20, 50], [2]), *looks.looked(1_000, same, [20], [6])]
    with capsys.disabled():
        looks.show_looks(found)
    for each in found:
        assert each.wrong <= 5 + each.error, each
        assert each.held >= 92, each


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_intervals_and_verdicts_are_as_good_as_they_say(
    calibration: ModuleType, reports: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    held, won = list(calibration.coverage(1_000)), list(calibration.shares(1_000))
    said = list(reports.verdicts(100))
    with capsys.disabled():
        calibration.show(held, won)
        reports.show(said)
    for c in held:
        if c.n >= MIN_INTERVAL and c.what != "disaster on 3 %":
            for of in (c.mean, c.iqm, c.difference):
                assert not of.number or of.share + of.error >= HELD_AT_LEAST.get((c.what, c.n), 93), c
    assert all(share >= 94 for _, _, share in won)
    for v in said:
        assert v.sentence <= 11, v
        if v.what.startswith("0 or 1, 95 % ones against"):
            assert v.right >= 25, v
