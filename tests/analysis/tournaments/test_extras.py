"""Nash averaging, alpha-rank and OpenSkill, where their packages are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gym_gui.analysis import open_run
from gym_gui.analysis.compute.cycles import WRONG, error_of_a_win, find_cycles
from gym_gui.analysis.compute.empirical_games import alpha_rank, nash_averaging, openskill
from gym_gui.analysis.compute.games import Game
from gym_gui.analysis.compute.standings_builder import standings_of
from gym_gui.analysis.statistics.units import Sample
from tests.analysis.tournaments.conftest import by_strength

CIRCLE = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
ORDER = np.array([[0.0, 0.8, 0.9], [-0.8, 0.0, 0.5], [-0.9, -0.5, 0.0]])


def test_a_circle_shares_and_an_order_does_not() -> None:
    pytest.importorskip("cvxpy")
    pytest.importorskip("open_spiel.python.algorithms.nash_averaging")
    assert nash_averaging(CIRCLE) == pytest.approx([1 / 3] * 3, abs=1e-3)
    assert nash_averaging(ORDER) == pytest.approx([1, 0, 0], abs=1e-3)


def test_alpha_rank_of_the_same() -> None:
    pytest.importorskip("open_spiel.python.egt.alpharank")
    assert alpha_rank(CIRCLE) == pytest.approx([1 / 3] * 3, abs=1e-3)
    assert alpha_rank(ORDER) == pytest.approx([1, 0, 0], abs=1e-3)


def test_a_ladder_knows_who_wins() -> None:
    pytest.importorskip("openskill")
    games = [Game(("a", "b"), (1.0, 0.0), Sample(seed, 0), f"{seed:02}") for seed in range(10)]
    ladder = openskill(games)
    assert ladder is not None and ladder["a"] > 0 > ladder["b"]


def test_without_them_the_rest_is_said_and_how_to_have_them(
    tmp_path: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("openskill.models", "cvxpy", "open_spiel.python.egt.alpharank"):
        monkeypatch.setitem(sys.modules, name, None)
    strengths = {"a": 0.5, "b": -0.5}
    found = standings_of(open_run(write(["a", "b"], by_strength(strengths), range(8))))
    assert found.policies[0].rating.value is not None
    assert found.policies[0].nash is found.policies[0].openskill is None
    assert found.notes[-1].endswith("mosaic install tournaments")


def test_longer_circles_are_found_where_there_is_none_of_three() -> None:
    ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    assert find_cycles("abcd", ring) == [("a", "b", "c", "d")]
    assert find_cycles("abcd", [*ring, ("c", "a")]) == [("a", "b", "c")]
    assert find_cycles("abc", [("a", "b"), ("b", "c"), ("a", "c")]) == []


@pytest.mark.parametrize("size", [3, 12, 30])
def test_equals_seldom_have_a_circle_however_many_they_are(size: int) -> None:
    error, names = error_of_a_win(size, 0.025), [str(i) for i in range(size)]
    assert error == 0.025 if size < 20 else error < 0.025
    rng = np.random.default_rng(4)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    found = 0
    for _ in range(200):
        drawn = rng.random(len(pairs))
        beaten = [
            p if u < error else p[::-1]
            for p, u in zip(pairs, drawn, strict=True)
            if u < error or u > 1 - error
        ]
        found += bool(find_cycles(names, beaten))
    assert found <= 200 * WRONG + 8


def test_thousands_are_no_trouble() -> None:
    assert 0 < error_of_a_win(20_000, 0.025) < 1e-3
