"""Groups of trainings in a tournament: which algorithm is better, with the training as the unit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis.compute.standings_builder import standings_of
from gym_gui.analysis.compute.summary_builder import summarize
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.pages.tournament_page import render_found_page
from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.reporting import found_text
from gym_gui.core.errors import RunFormatError
from tests.analysis.tournaments.conftest import by_strength

Write = Callable[..., Path]


def grouped(run: Path, groups: Sequence[str], **changes: Any) -> Standings:
    """The tournament with each ``name_seedN`` as a training of ``name``."""
    file = run / "run.json"
    header = json.loads(file.read_text())
    about = header["tournament"]
    about["trainings"] = {
        name: {"name": name.split("_")[0], "seed": int(name.partition("_seed")[2])}
        for name in about["policies"]
        if name.split("_")[0] in groups
    }
    about |= changes
    file.write_text(json.dumps(header))
    return standings_of(open_run(run))


def trainings(random_seed: int, n: int = 5, **strengths: float) -> dict[str, float]:
    """Trainings of each algorithm, of strengths around its own."""
    rng = np.random.default_rng(random_seed)
    return {
        f"{name}_seed{seed}": mean + rng.normal(0, 0.3)
        for name, mean in strengths.items()
        for seed in range(1, n + 1)
    }


def test_the_better_algorithm_is_found_over_its_trainings(write: Write) -> None:
    strengths = trainings(0, ppo=1.0, dqn=-1.0) | {"random": -2.0}
    run = write(list(strengths), by_strength(strengths), range(8))
    found = grouped(run, ["ppo", "dqn"])
    assert found.algorithms is not None and found.algorithms.measure == "rating"
    (pair,) = found.algorithms.comparisons
    assert (pair.first, pair.verdict) == ("ppo", "first")
    assert pair.p == pytest.approx(2 / 252)  # the most extreme of all ways to share ten trainings out
    claim = found.opening_verdicts[1]
    assert claim.decided and claim.sentence.startswith("ppo is better than dqn by ")
    assert "in rating over 5 trainings each" in claim.sentence
    # Of each, what it is at the mean, and how its trainings differ.
    of_rating = {each.policy: each.rating.value for each in found.policies}
    (trained,) = found.algorithms.algorithms[0].trained
    assert trained.scores == {seed: of_rating[f"ppo_seed{seed}"] for seed in range(1, 6)}
    told = found_text(found)
    assert "ppo is better than dqn" in told and "Lowest" in told and "The unit is the training" in told
    summary = summarize(open_run(run))
    page = render_found_page(found, summary)
    assert "ppo is better than dqn" in page and "Every training" in page
    assert found.to_json()["algorithms"]["measure"] == "rating"


def test_trainings_of_equals_are_not_told_apart_and_few_ones_decide_nothing(write: Write) -> None:
    strengths = trainings(3, ppo=0.0, dqn=0.0)
    found = grouped(write(list(strengths), by_strength(strengths), range(8)), ["ppo", "dqn"])
    assert not found.opening_verdicts[1].decided and "is not decided" in found.opening_verdicts[1].claim
    few = grouped(write_again(write, trainings(0, n=4, ppo=2.0, dqn=-2.0)), ["ppo", "dqn"])
    assert not few.opening_verdicts[1].decided
    assert "at least 5 trainings of each are needed" in few.opening_verdicts[1].sentence


def write_again(write: Write, strengths: dict[str, float]) -> Path:
    """Another tournament in the place of the first."""
    return write(list(strengths), by_strength(strengths), range(8), name="01AGAIN")


def test_one_algorithm_beside_policies_of_no_group_is_said_by_itself(write: Write) -> None:
    strengths = trainings(1, n=3, ppo=1.0) | {"rules": 0.0}
    found = grouped(write(list(strengths), by_strength(strengths), range(6)), ["ppo"])
    assert found.opening_verdicts[1].sentence.startswith("ppo has a rating of ")
    assert "over 3 trainings" in found.opening_verdicts[1].sentence


def test_a_training_at_which_games_failed_has_no_score(write: Write) -> None:
    strengths = trainings(0, ppo=1.0, dqn=-1.0)
    fair = by_strength(strengths)

    def result(first: str, second: str, seed: int) -> float | None:
        return None if second == "dqn_seed2" and seed == 3 else fair(first, second, seed)

    found = grouped(write(list(strengths), result, range(8)), ["ppo", "dqn"])
    assert not found.opening_verdicts[1].decided
    assert "1 of dqn failed, and failed trainings are not counted" in found.opening_verdicts[1].sentence


@pytest.mark.parametrize("changes", [{"schedule": "swiss"}, {"schedule": [["ppo_seed1", "dqn_seed1"]]}])
def test_where_not_everybody_meets_everybody_algorithms_are_not_compared(
    write: Write, changes: dict[str, Any]
) -> None:
    strengths = trainings(0, n=2, ppo=1.0, dqn=-1.0)
    found = grouped(write(list(strengths), by_strength(strengths), range(6)), ["ppo", "dqn"], **changes)
    assert found.algorithms is None and len(found.opening_verdicts) == 1
    assert any("compared only in a round robin" in note for note in found.notes)


def test_trainings_that_a_folder_says_in_no_readable_way_are_one_line_with_its_file(write: Write) -> None:
    run = write(["a", "b"], by_strength({"a": 1.0, "b": 0.0}), range(2))
    with pytest.raises(RunFormatError, match=r"run\.json: tournament: trainings\.a: 'seed' is missing"):
        grouped(run, [], trainings={"a": {"name": "ppo"}})
