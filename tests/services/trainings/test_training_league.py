"""Leagues of trainings are read as they were written, whatever version they are, and damage is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gym_gui.services.trainings.training_league import LeagueFile, read_league
from mosaic_worker.training import LEAGUE

FIRST = {
    "format_version": 1,
    "learner": {"step": 16384, "rating": 60.0},
    "members": [
        {
            "name": "past_000000000",
            "folder": "past_000000000",
            "step": 0,
            "rating": -13.6,
            "won": 452,
            "drawn": 3,
            "lost": 469,
        }
    ],
}


def write(folder: Path, league: Any) -> None:
    (folder / LEAGUE).write_text(league if isinstance(league, str) else json.dumps(league))


def test_the_first_format_is_read(tmp_path: Path) -> None:
    (tmp_path / "past_000000000").mkdir()
    (tmp_path / "past_000000000" / "policy.json").write_text("{}")
    write(tmp_path, FIRST)
    league = read_league(tmp_path)
    assert (league.step, league.rating, league.rated, league.problem) == (16384, 60.0, True, "")
    (member,) = league.members
    assert (member.name, member.step, member.rating) == ("past_000000000", 0, -13.6)
    assert (member.won, member.drawn, member.lost, member.games) == (452, 3, 469, 924)
    assert member.policy == tmp_path / "past_000000000"
    assert (member.plays, member.odds, member.mean_return) == ("", None, None)


def test_the_second_format_says_more(tmp_path: Path) -> None:
    pool = {"name": "mcts_100", "folder": None, "plays": "mcts_100", "step": None, "rating": 130.5}
    far = {"name": "far", "folder": str(tmp_path / "elsewhere"), "step": None, "rating": 1}
    write(
        tmp_path,
        {**FIRST, "format_version": 2, "members": [{**pool, "odds": 0.25, "mean_return": -0.4}, far]},
    )
    search, elsewhere = read_league(tmp_path).members
    assert (search.policy, search.plays, search.step) == (None, "mcts_100", None)
    assert (search.odds, search.mean_return, search.games) == (0.25, -0.4, 0)
    assert elsewhere.policy is None  # its folder is not on this machine


def test_where_all_play_together_nobody_is_rated(tmp_path: Path) -> None:
    members = [{"name": "past_0", "step": 0, "rating": 0.0, "games": 7, "mean_return": 3.5}]
    write(tmp_path, {"format_version": 2, "learner": {"step": 5, "rating": None}, "members": members})
    league = read_league(tmp_path)
    (member,) = league.members
    assert not league.rated and (member.rating, member.games, member.mean_return) == (None, 7, 3.5)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ('{"members": [', "is damaged, or was cut off"),
        ("[]", "is damaged, or was cut off"),
        ('{"members": {}}', "is damaged, or was cut off"),
        ("[" * 100_000, "is damaged, or was cut off"),
        (None, "is not in the run folder"),
    ],
)
def test_damage_is_one_sentence(tmp_path: Path, found: str | None, words: str) -> None:
    if found is not None:
        write(tmp_path, found)
    league = read_league(tmp_path)
    assert words in league.problem and league.problem.count(".") == 2 and league.members == ()


def test_what_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    odd = {"name": "odd", "folder": 7, "step": -1, "rating": 1e300, "won": "many", "odds": 7, "drawn": True}
    write(tmp_path, {"members": [None, {}, {"name": ""}, odd], "learner": []})
    (member,) = read_league(tmp_path).members
    assert (member.policy, member.step, member.rating, member.games, member.odds) == (None,) * 3 + (0, None)


def test_nothing_but_a_file_of_bounded_size_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / LEAGUE)
    assert "cannot be read" in read_league(tmp_path).problem
    (tmp_path / LEAGUE).unlink()
    write(tmp_path, "[" + " " * (5 * 2**20))
    assert "cannot be read" in read_league(tmp_path).problem


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    file = LeagueFile(tmp_path)
    missing = file.read_if_changed()
    assert missing is not None and missing.problem
    assert file.read_if_changed() is None
    write(tmp_path, FIRST)
    first = file.read_if_changed()
    assert first is not None and len(first.members) == 1
    assert file.read_if_changed() is None
    write(tmp_path, {**FIRST, "members": FIRST["members"] * 2})  # type: ignore[operator]
    second = file.read_if_changed()
    assert second is not None and len(second.members) == 2
    (tmp_path / LEAGUE).unlink()
    gone = file.read_if_changed()
    assert gone is not None and "is not in the run folder" in gone.problem
