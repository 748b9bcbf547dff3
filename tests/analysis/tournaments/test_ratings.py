"""The model against another's, against its own likelihood, and against what was planted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from gym_gui.analysis.bradley_terry import Comparisons, fit


def _counts(cells: list[tuple[int, int, int, int]], games: np.ndarray, policies: int) -> Comparisons:
    """Games as (units, cells, 3): won, drawn, lost by the first."""
    return Comparisons(
        policies,
        2,
        np.array(cells),
        len(games),
        *(np.ascontiguousarray(games[:, :, k], dtype=float) for k in range(3)),
    )


CELLS = [c for i in range(4) for j in range(i + 1, 4) for c in ((i, 0, j, 1), (j, 0, i, 1))]


def test_it_is_the_maximum_of_its_likelihood() -> None:
    games = np.random.default_rng(3).integers(1, 9, size=(1, len(CELLS), 3))
    found = fit(_counts(CELLS, games, 4))

    def surprise(x: np.ndarray) -> float:
        total = 0.0
        for (i, _, j, _), counts in zip(CELLS, games[0], strict=True):
            d = x[i] - x[j] + x[4]
            odds = np.array([np.exp(d / 2), np.exp(x[5]), np.exp(-d / 2)])
            total -= float(counts @ np.log(odds / odds.sum()))
        return total + 0.5 * x[:4].sum() ** 2

    best = minimize(surprise, np.zeros(6), tol=1e-10).x
    assert found.ratings[0] == pytest.approx(best[:4] - best[:4].mean(), abs=2e-3)
    assert found.seats[0, 0] - found.seats[0, 1] == pytest.approx(best[4], abs=2e-3)
    assert found.draw[0] == pytest.approx(np.exp(best[5]), abs=2e-3)
    assert not found.regularised[0]


def test_without_draws_and_seats_it_is_what_choix_says() -> None:
    choix = pytest.importorskip("choix")
    rng = np.random.default_rng(5)
    games = np.zeros((1, len(CELLS), 3))
    # As many wins from either seat, so that a seat is worth nothing.
    for pair in range(0, len(CELLS), 2):
        won, lost = rng.integers(2, 12, size=2)
        games[0, pair] = (won, 0, lost)
        games[0, pair + 1] = (lost, 0, won)
    wins = [
        (CELLS[cell][0], CELLS[cell][2]) if k == 0 else (CELLS[cell][2], CELLS[cell][0])
        for cell in range(len(CELLS))
        for k in (0, 2)
        for _ in range(int(games[0, cell, k]))
    ]
    theirs = choix.opt_pairwise(4, wins)
    found = fit(_counts(CELLS, games, 4))
    assert found.ratings[0] == pytest.approx(theirs - theirs.mean(), abs=1e-3)
    assert found.seats[0] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert found.draw[0] == 0


def test_who_wins_all_gets_a_finite_rating_and_is_told_apart() -> None:
    games = np.zeros((1, len(CELLS), 3))
    for cell, (i, _, j, _) in enumerate(CELLS):
        games[0, cell] = (3, 0, 0) if i == 0 else (0, 0, 3) if j == 0 else (2, 1, 2)
    found = fit(_counts(CELLS, games, 4))
    assert found.regularised[0]
    assert np.isfinite(found.ratings).all()
    assert found.ratings[0].argmax() == 0
    assert found.groups[0] not in found.groups[1:]
    assert found.ratings[0, 1:].mean() == pytest.approx(0)


def test_many_weightings_are_as_many_fits() -> None:
    games = np.random.default_rng(7).integers(1, 5, size=(6, len(CELLS), 3))
    table = _counts(CELLS, games, 4)
    weights = np.random.default_rng(8).multinomial(6, np.full(6, 1 / 6), size=5).astype(float)
    together = fit(table, weights)
    for row, weight in enumerate(weights):
        alone = _counts(CELLS, (games * weight[:, None, None]).sum(0, keepdims=True), 4)
        assert together.ratings[row] == pytest.approx(fit(alone).ratings[0], abs=1e-6)
