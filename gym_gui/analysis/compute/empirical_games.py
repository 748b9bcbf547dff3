"""Rates policies by Nash averaging and alpha-rank (OpenSpiel) of their payoff matrix, and by OpenSkill.

Sources:
    Balduzzi, Tuyls, Perolat & Graepel, "Re-evaluating Evaluation", NeurIPS 2018. Omidshafiei et al.,
    "alpha-Rank: Multi-Agent Evaluation by Evolution", Scientific Reports 9 (2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis.compute.games import Game, points

Floats = NDArray[np.float64]

ALPHA = 100.0
"""Selection intensity of alpha-rank: with larger values, populations adopt better policies more often."""
INSTALL = "mosaic install tournaments"
_LEAST = 1e-9


def nash_averaging(payoffs: Floats) -> Floats | None:
    """Return the maximum-entropy Nash equilibrium of a symmetric zero-sum game.

    Args:
        payoffs: float (n, n), antisymmetric: payoff of the row against the column.

    Returns:
        float (n,), probability of each policy; ``None`` if OpenSpiel's module cannot be imported or fails.
    """
    try:
        found: Any = import_module("open_spiel.python.algorithms.nash_averaging")
        cvxpy: Any = import_module("cvxpy")
    except ImportError:
        return None
    if not payoffs.any():
        return np.full(len(payoffs), 1 / len(payoffs))
    # The module's public function takes an OpenSpiel game; this private one takes the payoff matrix.
    try:
        shares = found._max_entropy_symmetric_nash(payoffs, eps=_LEAST)
    except (cvxpy.error.SolverError, AttributeError):
        return None
    clipped = np.clip(np.asarray(shares, dtype=np.float64).ravel(), 0.0, None)
    return clipped / clipped.sum()


def alpha_rank(payoffs: Floats) -> Floats | None:
    """Return alpha-rank's stationary distribution over policies.

    Args:
        payoffs: float (n, n): payoff of the row against the column.

    Returns:
        float (n,), probability of each policy; ``None`` if OpenSpiel's module cannot be imported.
    """
    try:
        found: Any = import_module("open_spiel.python.egt.alpharank")
    except ImportError:
        return None
    # One population whose members play each other, so one payoff matrix is enough.
    with np.errstate(over="ignore"):  # exp may overflow for a probability that is then 0
        shares: Any = found.compute([payoffs], m=50, alpha=ALPHA)[2]
    return np.asarray(shares, dtype=np.float64).ravel()


def openskill(games: Sequence[Game]) -> Mapping[str, float] | None:
    """Return OpenSkill's rating of each policy, from the games in the order in which they were played.

    Returns:
        Mean minus three standard deviations by policy; ``None`` if the package is not installed.
    """
    try:
        model: Any = import_module("openskill.models").PlackettLuce()
    except ImportError:
        return None
    ratings: dict[str, Any] = {}
    for game in sorted(games, key=lambda g: (g.order, g.sample.seed or 0, g.policies)):
        teams = [[ratings.get(name) or model.rating(name=name)] for name in game.policies]
        # A policy's rank is the number of policies with a better result.
        ranks = [sum(points(other, mine) == 1.0 for other in game.results) for mine in game.results]
        for name, (rating,) in zip(game.policies, model.rate(teams, ranks=ranks), strict=True):
            ratings[name] = rating
    return {name: float(rating.ordinal()) for name, rating in ratings.items()}
