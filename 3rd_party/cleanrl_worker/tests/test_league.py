"""Who meets whom in a league, and how strong each is said to be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cleanrl_worker.algorithms.league import League, Member
from mosaic_worker.learning.training_command import ConfigError


def league_of(folder: Path, *ratings: float) -> League:
    members = [Member(f"past_{i}", f"past_{i}", i, rating) for i, rating in enumerate(ratings)]
    return League(folder, members, 0.0)


def test_ratings_come_to_what_the_odds_are(tmp_path: Path) -> None:
    """Who wins three of four games is 191 points better, by Elo's formula."""
    league, rng = league_of(tmp_path, 0.0), np.random.default_rng(0)
    apart: list[float] = []
    for i in range(6000):
        league.met(league.members[0], float(rng.random() < 0.75), 0.0)
        if i >= 1000:
            apart.append(league.rating - league.members[0].rating)
    assert np.mean(apart) == pytest.approx(191, abs=15)
    member = league.members[0]
    assert member.won + member.lost == 6000
    assert member.lost / 6000 == pytest.approx(0.75, abs=0.02)


def test_a_draw_between_equals_changes_nothing(tmp_path: Path) -> None:
    league = league_of(tmp_path, 0.0)
    league.met(league.members[0], 0.5, 0.0)
    assert (league.rating, league.members[0].rating, league.members[0].drawn) == (0.0, 0.0, 1)


def odds_by(league: League, matchmaking: str) -> list[float]:
    league.matchmaking = matchmaking
    return league.odds().tolist()


def test_whom_the_learner_meets(tmp_path: Path) -> None:
    league = league_of(tmp_path, -600.0, 0.0, -10.0)
    by_rating = odds_by(league, "rating")
    assert sum(by_rating) == pytest.approx(1.0)
    assert by_rating[2] > 0.5  # the latest
    assert by_rating[1] > 10 * by_rating[0]
    assert odds_by(league, "latest") == [0.0, 0.0, 1.0]
    assert odds_by(league, "uniform") == pytest.approx([1 / 3] * 3)


def test_somebody_of_the_pool_is_no_latest_past_self(tmp_path: Path) -> None:
    """Half of the games are for the latest past self, and not for the latest member of the pool."""
    league = league_of(tmp_path, 0.0, 0.0)
    league.add(Member("mcts", "", None, 0.0, plays="openspiel_worker"))
    assert odds_by(league, "rating") == pytest.approx([1 / 6, 2 / 3, 1 / 6])
    league.members = [league.members[-1]]
    assert odds_by(league, "rating") == [1.0]


def test_partners_with_whom_it_earns_least_are_met_most(tmp_path: Path) -> None:
    league = League(tmp_path, rated=False)
    for name, totals in (("good", [5.0, 7.0]), ("bad", [-3.0]), ("new", [])):
        league.add(Member(name, "", None))
        for total in totals:
            league.met(league.of(name), None, total)
    assert league.of("good").mean_return == 6.0
    assert odds_by(league, "rating") == pytest.approx([2 / 11, 3 / 11, 6 / 11])
    assert (league.rating, league.of("good").won) == (0.0, 0)
    league.write(9)
    found = League.read(tmp_path)
    assert (found.rated, found.of("good").mean_return, found.of("new").mean_return) == (False, 6.0, None)


def test_a_league_that_was_written_is_read_again(tmp_path: Path) -> None:
    league = league_of(tmp_path, -12.34, 5.0)
    for member in league.members:
        league.place(member).mkdir()
        (league.place(member) / "policy.json").write_text("{}")
    league.rating = 7.0
    league.write(123)
    found = League.read(tmp_path)
    assert (found.rating, [member.rating for member in found.members]) == (7.0, [-12.3, 5.0])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be resumed"),
        ('{"format_version": 9}', "format_version is 9"),
        (
            '{"format_version": 1, "members": [{"nam": "x"}], "learner": {"rating": 0}}',
            "cannot be resumed",
        ),
    ],
)
def test_a_damaged_league_is_refused(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "league.json").write_text(content)
    with pytest.raises(ConfigError, match=words):
        League.read(tmp_path)


def test_who_was_deleted_is_named(tmp_path: Path) -> None:
    league_of(tmp_path, 0.0).write(0)
    with pytest.raises(ConfigError, match="past_0, a member of the league, is missing"):
        League.read(tmp_path)


def test_a_league_of_the_first_format_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "past_0").mkdir()
    (tmp_path / "past_0" / "policy.json").write_text("{}")
    row = {"name": "past_0", "folder": "past_0", "step": 0, "rating": -3.5, "won": 1, "drawn": 0, "lost": 2}
    data = {"format_version": 1, "learner": {"step": 5, "rating": 3.5}, "members": [row]}
    (tmp_path / "league.json").write_text(json.dumps(data))
    found = League.read(tmp_path)
    assert (found.rating, found.rated, found.members[0].lost) == (3.5, True, 2)
