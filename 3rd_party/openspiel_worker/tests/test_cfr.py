"""Solved games: what their policy gives away, and that they are solved once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspiel
import pytest

from mosaic_worker.worker import LoadError, Slot
from openspiel_worker.cfr import CfrPlayer
from openspiel_worker.main import OpenSpielWorker
from openspiel_worker.table import Table

NewSlot = Callable[..., Slot]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOSAIC_WORKER_CACHE", str(tmp_path))
    return tmp_path


def solved(new_slot: NewSlot, name: str = "kuhn_poker", **settings: Any) -> CfrPlayer:
    slot = new_slot(name, **{"algorithm": "cfr_plus", **settings})
    return CfrPlayer(Table(slot), slot)


def dealt(*cards: int) -> Any:
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    for card in cards:
        state.apply_action(card)
    return state


def test_more_iterations_give_less_away_and_the_name_says_how_much(new_slot: NewSlot) -> None:
    one, many = solved(new_slot, iterations=1), solved(new_slot, iterations=300)
    assert many.exploitability < 0.001 < one.exploitability
    assert many.name == f"CFR+, 300 iterations, exploitability {many.exploitability:.3g}"
    plain = solved(new_slot, iterations=300, algorithm="cfr")
    assert many.exploitability < plain.exploitability < 0.01
    assert plain.name.startswith("CFR, 300 iterations")


def test_it_plays_as_often_as_the_equilibrium_of_kuhn_poker_does(new_slot: NewSlot) -> None:
    """Who is second bets a king after a pass, always, and a jack one time in three."""
    policy = solved(new_slot, iterations=1000)
    king, jack = dealt(0, 2), dealt(2, 0)
    for state in (king, jack):
        state.apply_action(0)
    assert policy.think([king], 1, 1).shares[1] == pytest.approx(1, abs=0.01)
    assert policy.think([jack], 1, 1).shares[1] == pytest.approx(1 / 3, abs=0.03)
    bets = [policy.think([jack], seed, 1).ranked[0] for seed in range(600)]
    assert sum(bets) / 600 == pytest.approx(1 / 3, abs=0.06)
    assert bets == [policy.think([jack], seed, 1).ranked[0] for seed in range(600)]


def test_it_is_solved_once_and_what_was_kept_is_judged_anew(new_slot: NewSlot, cache: Path) -> None:
    first = solved(new_slot, iterations=50)
    (file,) = cache.rglob("*.json")
    kept = json.loads(file.read_text())
    always_pass = {key: [[0, 1.0], [1, 0.0]] for key in kept}
    file.write_text(json.dumps(always_pass))
    assert solved(new_slot, iterations=50).exploitability > first.exploitability + 0.1
    file.write_text('{"0": [[0,')
    assert solved(new_slot, iterations=50).exploitability == first.exploitability
    file.write_text('{"0": [[0, 1.0], [1, 0.0]]}')
    assert solved(new_slot, iterations=50).exploitability == first.exploitability


def test_without_a_place_to_keep_it_is_solved_each_time(
    new_slot: NewSlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MOSAIC_WORKER_CACHE")
    assert solved(new_slot, iterations=20).exploitability < 0.1


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        (
            "kuhn_poker(players=3)",
            {"game": "kuhn_poker(players=3)"},
            "CFR solves zero-sum games of two players",
        ),
        ("leduc_poker", {"iterations": 0}, "iterations is 0"),
        ("tic_tac_toe", {"algorithm": "minimax"}, "algorithm is 'minimax'"),
        ("connect_four", {}, "connect_four has no hidden information"),
    ],
)
def test_what_cannot_be_solved_is_refused(
    name: str, settings: dict[str, Any], says: str, new_slot: NewSlot
) -> None:
    with pytest.raises(LoadError, match=says):
        OpenSpielWorker().load(new_slot(name, **{"algorithm": "cfr", **settings}))


def test_a_game_that_is_too_large_is_refused(new_slot: NewSlot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openspiel_worker.cfr.MOST_POSITIONS", 50)
    with pytest.raises(LoadError, match="more than 50 courses, too many for CFR: use mcts"):
        solved(new_slot)
