"""The model against another's, against its own likelihood, and against what was planted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from gym_gui.analysis.statistics.bradley_terry import Comparisons, Fit, fit
from gym_gui.analysis.statistics.win_graph import do_draws_hide


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


def _best(counts: np.ndarray, policies: int, *, regularized: bool = False) -> np.ndarray:
    """Ratings, what the first seat is worth, and ``v``, by another's maximiser; games as (cells, 3)."""

    def surprise(x: np.ndarray) -> float:
        ratings = x[:policies]
        total = 0.5 * ratings.sum() ** 2 if not regularized else 0.0
        for (i, _, j, _), met in zip(CELLS, counts, strict=True):
            d = x[i] - x[j] + x[policies]
            odds = np.array([np.exp(d / 2), np.exp(x[-1]), np.exp(-d / 2)])
            total -= float(met @ np.log(odds / odds.sum()))
        drawn_with_an_average_one = (ratings / 2 - np.logaddexp(0, ratings)).sum()
        return total - regularized * float(drawn_with_an_average_one)

    return minimize(surprise, np.zeros(policies + 2), tol=1e-10).x


def test_it_is_the_maximum_of_its_likelihood() -> None:
    games = np.random.default_rng(3).integers(1, 9, size=(1, len(CELLS), 3))
    found = fit(_counts(CELLS, games, 4))
    best = _best(games[0], 4)
    assert found.ratings[0] == pytest.approx(best[:4] - best[:4].mean(), abs=2e-3)
    assert found.seats[0, 0] - found.seats[0, 1] == pytest.approx(best[4], abs=2e-3)
    assert found.draw[0] == pytest.approx(np.exp(best[5]), abs=2e-3)
    assert not found.regularized[0]


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
    assert found.regularized[0]
    assert np.isfinite(found.ratings).all()
    assert found.ratings[0].argmax() == 0
    assert found.groups[0] not in found.groups[1:]
    assert found.ratings[0, 1:].mean() == pytest.approx(0)


def test_who_wins_all_is_rated_by_a_drawn_game_with_an_average_one() -> None:
    games = np.zeros((1, len(CELLS), 3))
    for cell, (i, _, j, _) in enumerate(CELLS):
        games[0, cell] = (9, 0, 0) if i == 0 else (0, 0, 9) if j == 0 else (4, 1, 3) if i < j else (2, 1, 5)
    found = fit(_counts(CELLS, games, 4))
    best = _best(games[0], 4, regularized=True)
    assert found.ratings[0] == pytest.approx(best[:4] - best[1:4].mean(), abs=5e-3)


def test_who_has_drawn_and_never_lost_could_be_any_distance_ahead() -> None:
    games = np.zeros((1, len(CELLS), 3))
    for cell, (i, _, j, _) in enumerate(CELLS):
        games[0, cell] = (4, 8, 0) if i == 0 else (0, 7, 5) if j == 0 else (0, 12, 0)
    found = fit(_counts(CELLS, games, 4))
    assert found.regularized[0]
    assert (found.groups[1:] == found.groups[1]).all() and found.groups[0] != found.groups[1]
    best = _best(games[0], 4, regularized=True)
    assert found.ratings[0] == pytest.approx(best[:4] - best[1:4].mean(), abs=5e-3)
    # A single loss to one of them holds all together: what they have drawn says how usual draws are.
    games[0, 0] = (4, 8, 1)
    held = fit(_counts(CELLS, games, 4))
    assert not held.regularized[0] and held.groups.max() == 0
    best = _best(games[0], 4)
    assert held.ratings[0] == pytest.approx(best[:4] - best[:4].mean(), abs=5e-3)


def test_where_ratings_have_no_limit_is_what_a_linear_program_says() -> None:
    rng = np.random.default_rng(4)
    met = np.array(CELLS)[:, [0, 2]]
    results = rng.random((3, len(CELLS), 400)) < rng.choice([0.1, 0.3], size=(3, 1, 400))
    results[1] |= rng.random((len(CELLS), 400)) < 0.5
    results[0, :, ::2] &= (met[:, 0] < met[:, 1])[:, None]  # the first of the pool wins, in half of them
    results[2, :, ::2] &= (met[:, 0] > met[:, 1])[:, None]
    found = do_draws_hide(4, met, *results)
    assert 20 < found.sum() < 380, "or this shows less than it should"
    for number in range(400):
        won, drawn, lost = results[:, :, number]
        if drawn.any() and (won | lost).any():
            assert found[number] == _has_no_limit(met, won, drawn, lost), number


def _has_no_limit(met: np.ndarray, won: np.ndarray, drawn: np.ndarray, lost: np.ndarray) -> bool:
    """Whether ratings ever further apart, with draws ever more usual, never make results less likely."""
    rows, ends = [], []
    for (i, j), *kinds in zip(met, won, drawn, lost, strict=True):
        for of, is_there in enumerate(kinds):
            if not is_there:
                continue
            ways = np.zeros((3, 4))  # by how much each result becomes likelier, beside the draw's step of 1
            ways[0, [i, j]], ways[2, [i, j]] = (0.5, -0.5), (-0.5, 0.5)
            steps = np.array([0.0, 1.0, 0.0])
            for other in {0, 1, 2} - {of}:
                rows.append(ways[other] - ways[of])
                ends.append(steps[of] - steps[other])
    return linprog(np.zeros(4), A_ub=np.array(rows), b_ub=np.array(ends), bounds=(None, None)).status == 0


@pytest.fixture(scope="module")
def resampled() -> tuple[np.ndarray, Comparisons, np.ndarray, Fit]:
    """Few games, most of them won by the stronger: (units, cells, 3), drawn anew by unit."""
    rng = np.random.default_rng(8)
    games = np.zeros((6, len(CELLS), 3))
    for cell, (i, _, j, _) in enumerate(CELLS):
        games[:, cell, 0 if i < j else 2] = 1
        for unit in range(6):
            if rng.random() < 0.12:
                games[unit, cell] = np.roll(games[unit, cell], 1)
    table = _counts(CELLS, games, 4)
    weights = rng.multinomial(6, np.full(6, 1 / 6), size=40).astype(float)
    return games, table, weights, fit(table, weights)


def test_many_weightings_are_as_many_fits(
    resampled: tuple[np.ndarray, Comparisons, np.ndarray, Fit],
) -> None:
    games, _, weights, together = resampled
    assert 0 < together.regularized.sum() < len(weights), "or this shows less than it should"
    anchors = together.groups == np.bincount(together.groups).argmax()
    for row, weight in enumerate(weights):
        alone = fit(_counts(CELLS, (games * weight[:, None, None]).sum(0, keepdims=True), 4))
        ratings = alone.ratings[0] - alone.ratings[0, anchors].mean()
        assert together.ratings[row] == pytest.approx(ratings, abs=1e-6)
        assert together.draw[row] == pytest.approx(alone.draw[0], abs=1e-6)
        assert together.regularized[row] == alone.regularized[0] == (alone.groups.max() > 0)


def test_where_a_fit_begins_is_no_part_of_what_it_finds(
    resampled: tuple[np.ndarray, Comparisons, np.ndarray, Fit],
) -> None:
    _, table, weights, found = resampled
    near = fit(table, weights, fit(table))
    assert near.ratings == pytest.approx(found.ratings, abs=1e-6)
    assert near.seats == pytest.approx(found.seats, abs=1e-6)
    assert (near.regularized == found.regularized).all()
