"""A tournament while it is played: no more is said than its games carry, and what is to come is seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gym_gui.analysis import open_run
from gym_gui.analysis.charts.cross_play import CrossPlayChart
from gym_gui.analysis.charts.payoffs import PayoffChart
from gym_gui.analysis.charts.squares import Shade
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.reporting import find_standings
from gym_gui.analysis.words.standings_text import columns_of, rating_legend
from tests.analysis.tournaments.conftest import by_strength, write_tournament
from tests.analysis.tournaments.test_cross_play import write as write_cross_play

STRENGTHS = {"a": 1.0, "b": 0.3, "c": -0.3, "d": -1.0}


def played_so_far(run: Path, games: Mapping[str, int], **changes: object) -> Standings:
    """A tournament of which only so many games of each pairing are on record."""
    for place in (run / "operators").iterdir():
        rows = place / "episodes.jsonl"
        rows.write_text("".join(rows.read_text().splitlines(keepends=True)[: games.get(place.name, 0)]))
    header = json.loads((run / "run.json").read_text())
    header["tournament"] |= changes
    (run / "run.json").write_text(json.dumps({**header, "status": "running"}))
    found = find_standings([open_run(run)])
    assert isinstance(found, Standings)
    return found


def test_nobody_has_a_rank_and_who_is_not_held_together_with_others_no_rating(tmp_path: Path) -> None:
    run = write_tournament(tmp_path, list(STRENGTHS), by_strength(STRENGTHS), range(20))
    found = played_so_far(run, {"a_vs_b": 40, "c_vs_d": 7})
    assert (found.claim, found.detail) == (
        "Not decided",
        ": 46 of 240 games are played",
    )  # the 7th is half a seed
    assert any(note.startswith("The tournament is not finished") for note in found.notes)
    assert all(each.ranks is None and each.nash is None for each in found.policies)
    assert "Rank" not in [column.heading for column in columns_of(found.policies)]
    assert "rank" not in rating_legend(found.policies)
    rated = {each.policy: each.rating.value is not None for each in found.policies}
    assert rated["a"] and rated["b"] and not rated["c"] and not rated["d"]
    assert found.policies[-1].note == "not connected"


@pytest.mark.parametrize("games", [{}, {"a_vs_b": 1}])
def test_before_the_first_whole_seed_the_pool_stands_there_unrated(
    tmp_path: Path, games: Mapping[str, int]
) -> None:
    run = write_tournament(tmp_path, list(STRENGTHS), by_strength(STRENGTHS), range(20))
    found = played_so_far(run, games)
    assert found.claim == "No game counts yet"
    assert [each.rating.value for each in found.policies] == [None] * 4
    assert PayoffChart(found), "the empty matrix is there to be filled"


def test_a_square_is_hollow_filled_in_part_or_full_and_says_so(tmp_path: Path) -> None:
    run = write_tournament(tmp_path, list(STRENGTHS), by_strength(STRENGTHS), range(20))
    chart = PayoffChart(played_so_far(run, {"a_vs_b": 40, "b_vs_c": 10, "a_vs_c": 1}))

    def square(row: str, column: str) -> Shade | None:
        return chart.shade(chart.names.index(row), chart.names.index(column))

    whole, part, begun, hollow = square("a", "b"), square("b", "c"), square("c", "a"), square("a", "d")
    assert whole is not None and whole.played == 1 and whole.number and "played" not in whole.sentence
    assert (
        part is not None and 0 < part.played < 1 and part.number and "10 of 40 games played" in part.sentence
    )
    assert begun is not None and 0 < begun.played < 1 and not begun.number and "1 of 40" in begun.sentence
    assert hollow is not None and hollow.played == 0 and "none of 40 games played yet" in hollow.sentence
    assert chart.shade(0, 0) is None and "Hollow" in chart.caption
    drawn = {
        spot.key: spot.marks for spot in chart.draw(400, 300, lambda text, px: len(text) * px * 0.5).spots
    }
    marks = {len(drawn[chart.names.index(r) * 4 + chart.names.index(c)]) for r, c in (("a", "b"), ("a", "d"))}
    assert len(marks) == 2, "told apart without a color"


def test_rounds_to_come_decide_nothing_yet(tmp_path: Path) -> None:
    met = [("a", "b"), ("c", "d")]
    run = write_tournament(tmp_path, list(STRENGTHS), by_strength(STRENGTHS), range(20), met)
    rounds = [{"pairings": [list(pair) for pair in met], "byes": []}]
    everything = {"a_vs_b": 40, "c_vs_d": 40}
    found = played_so_far(run, everything, schedule="swiss", rounds=rounds)
    assert (found.claim, found.detail) == ("Not decided", ": 1 of 2 rounds are played")
    assert found.schedule == "Swiss, 1 of 2 rounds"
    assert PayoffChart(found).shade(0, 3) is None, "who is not paired has no square"
    only = played_so_far(run, everything, schedule={"swiss": 1}, rounds=rounds)
    assert only.schedule == "Swiss, 1 round" and "rounds" not in only.detail


def test_teams_that_have_not_played_have_hollow_squares(tmp_path: Path) -> None:
    found = write_cross_play(tmp_path, ["a", "b"], lambda who, seed: float(who[0] == who[1]))
    assert {found.on_record("a", "b"), found.on_record("b", "a")} == {found.on_record("a", "b")}
    played, planned = found.on_record("a", "b")
    assert played == planned > 0
    chart = CrossPlayChart.of(found)
    assert all((shade := chart.shade(i, j)) and shade.played == 1 for i in (0, 1) for j in (0, 1))
    assert "Hollow" not in chart.caption
