"""Data classes of a tournament's findings: plain numbers, each with its sample size and its method.

:func:`~gym_gui.analysis.compute.standings_builder.standings_of` builds them; the table, the page and
``tournament.json`` only show them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

from gym_gui.analysis.findings.comparison import Verdict
from gym_gui.analysis.findings.findings import Findings, Fixture, counted
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.statistics.distributions import CONFIDENCE, normal_quantile
from gym_gui.analysis.statistics.summary_numbers import BOOTSTRAP, EXACT_SHARE, METHODS, Estimate

TOO_FEW, NOT_RANDOM = "not enough seeds", "nothing is random"
"""Notes on ratings without an interval."""
NO_GAME = "no game"
"""Note on a policy without a rating."""
APART = "not connected"
"""Note on a policy whose results do not connect it with the others: it has no rating."""
BY_SEED = "bootstrap over seeds, Student's t"

RATING_METHODS: Mapping[str, str] = {
    "rating": (
        "Bradley-Terry with Davidson's draws and Davidson and Beaver's seats (1970, 1977), by maximum "
        "likelihood over all games; 400 points are odds of ten to one, 0 is the mean of the largest group "
        "that results hold together, or of all policies"
    ),
    "regularised": (
        "where results set no limit to how far apart policies are (one has won everything or nothing, or "
        "no policy has lost to one that it has beaten and the rest is drawn), each is given one drawn game "
        "with an average policy, in the fit and in each resample in which it is so"
    ),
    BY_SEED: (
        "95 % interval of a rating: Student's t times its standard error in 999 resamples of whole seeds, "
        "with all the games that were played on them, fixed random seed; the t counts the seeds with a game "
        "that was not drawn"
    ),
    "rank": (
        "95 % confidence sets of all ranks at once: who is ahead or behind with certainty, by simultaneous "
        "intervals of all differences, from the same resamples (Mogstad, Romano, Shaikh & Wilhelm 2024); "
        "where results set no limit to how far two are apart, by a sign test over the seeds that one of them "
        "has won, corrected for all pairs"
    ),
    "points": "mean of a game: 1 for a win, 1/2 for a draw, 0 for a loss",
    BOOTSTRAP: METHODS[BOOTSTRAP],
    EXACT_SHARE: METHODS[EXACT_SHARE],
    "nash": "maximum-entropy Nash equilibrium of the payoff matrix (Balduzzi et al. 2018), by OpenSpiel",
    "alpha-rank": "stationary distribution of alpha-rank (Omidshafiei et al. 2019), alpha 100, by OpenSpiel",
    "openskill": "Plackett-Luce in the order of play (Weng & Lin 2011), by OpenSkill: mean - 3 deviations",
}


@dataclass(frozen=True)
class RankSet:
    """Range of ranks that a policy may have, at 95 %; ranks begin at 1."""

    best: int
    worst: int


@dataclass(frozen=True)
class Standing:
    """Results of one policy in a tournament.

    Attributes:
        policy: Name of the policy.
        kind: Kind of the worker that plays the policy.
        rank: Rank by rating, from 1; policies without a game come last.
        ranks: Possible ranks at 95 %; ``None`` with too few seeds, or while games are still to be played.
        rating: Rating on a scale like Elo's; ``rating`` among the methods describes it.
        points: Mean points of a game: 1 for a win, one half for a draw.
        games: Number of games that count.
        wins: Number of wins against one side; in a game of several sides, each other side counts.
        draws: Number of draws, counted in the same way.
        losses: Number of losses, counted in the same way.
        failed: Number of games in which this policy failed; they count for no policy.
        note: Reason why the rating has no interval; empty if it has one.
        nash: Share in Nash averaging's equilibrium, ``None`` if it could not be computed.
        alpha_rank: Share in alpha-rank's stationary distribution, ``None`` if it could not be computed.
        openskill: OpenSkill's rating from the games in order, ``None`` if it could not be computed.
    """

    policy: str
    kind: str
    rank: int
    ranks: RankSet | None
    rating: Estimate
    points: Estimate
    games: int
    wins: int
    draws: int
    losses: int
    failed: int
    note: str = ""
    nash: float | None = None
    alpha_rank: float | None = None
    openskill: float | None = None


@dataclass(frozen=True)
class Payoff:
    """Two policies and their results against each other.

    Attributes:
        first: One policy.
        second: The other policy.
        points: Mean points of the first policy in a game.
        wins: Games that the first policy won.
        draws: Games that neither policy won.
        losses: Games that the second policy won.
    """

    first: str
    second: str
    points: Estimate
    wins: int
    draws: int
    losses: int

    def winner(self, error: float = (1 - CONFIDENCE) / 2) -> str:
        """Return the better policy, if the difference exceeds the interval; empty if it is undecided.

        Args:
            error: Allowed chance that an equal policy is called better; a smaller value widens the interval.
        """
        e = self.points
        if e.value is None:
            return ""
        if e.low is None or e.high is None:
            # The result is equal on every seed, so it has no interval: enough such seeds decide.
            sure = e.note.endswith("equal") and 0.5**e.units <= error
            low = high = e.value if sure else 0.5
        else:
            wider = normal_quantile(1 - error) / normal_quantile((1 + CONFIDENCE) / 2)
            low, high = e.value - wider * (e.value - e.low), e.value + wider * (e.high - e.value)
        return self.first if low > 0.5 else self.second if high < 0.5 else ""


@dataclass(frozen=True)
class SeatWorth:
    """Advantage of a seat.

    Attributes:
        seat: Name of the seat.
        points: Mean points of a game in this seat.
        advantage: Advantage in rating points, relative to the mean of all seats.
        called: The game's name for the seat, e.g. ``White``.
    """

    seat: str
    points: Estimate
    advantage: Estimate
    called: str


@dataclass(frozen=True, kw_only=True)
class Standings(Findings):
    """All findings of a tournament whose sides compete.

    Attributes:
        schedule: Schedule as text.
        claim: Which policy is best, or that this is undecided; a sentence without its full stop.
        detail: The rest of the sentence.
        policies: Standings of the policies, by rank.
        payoffs: Every two policies that have met, by rank.
        seats: The seats.
        draws: Share of drawn games; in a game of several sides, each two sides that meet count.
        cycles: Sentences about policies that beat each other in a circle.
        algorithms: Algorithms by the ratings of their trainings, if whole groups have met.
        algorithm_verdicts: The main conclusions about algorithms, for the reader of the report.
    """

    schedule: str
    claim: str
    detail: str
    policies: tuple[Standing, ...]
    payoffs: tuple[Payoff, ...]
    seats: tuple[SeatWorth, ...]
    draws: float
    cycles: tuple[str, ...]
    methods: Mapping[str, str] = field(default_factory=lambda: dict(RATING_METHODS))
    algorithms: AlgorithmReport | None = None
    algorithm_verdicts: tuple[Verdict, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain data, as stored in ``tournament.json``."""
        algorithms = None if self.algorithms is None else self.algorithms.to_json()
        return super().to_json() | {"algorithms": algorithms}

    @property
    def said(self) -> Sequence[Verdict]:
        """Verdicts on the best policy, then on the algorithms."""
        best = Verdict(self.claim, self.detail, " is the best of " in self.claim)
        return [best, *self.algorithm_verdicts]

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences about circles."""
        return self.cycles

    def fixture(self, row: str, column: str) -> Fixture | None:
        """Return the pairing in a square of the payoff matrix; ``None`` if the policies are not to meet."""
        return next(iter(self._squares.get(frozenset((row, column)), ())), None)

    def on_record(self, first: str, second: str) -> tuple[int, int]:
        """Return the numbers of played and planned games of two policies; zeros if they are not to meet."""
        return counted(self._squares.get(frozenset((first, second)), ()))

    @cached_property
    def _squares(self) -> Mapping[frozenset[str], Sequence[Fixture]]:
        found: dict[frozenset[str], list[Fixture]] = defaultdict(list)
        for each in self.fixtures:
            for two in combinations(each.policies, 2):
                found[frozenset(two)].append(each)
        return found

    def payoff(self, first: str, second: str) -> Estimate | None:
        """Return the mean points of ``first`` in a game against ``second``; ``None`` if they have not met."""
        for each in self.payoffs:
            if (each.first, each.second) == (first, second):
                return each.points
            if (each.second, each.first) == (first, second):
                e = each.points
                low, high = (None if end is None else 1 - end for end in (e.high, e.low))
                value = None if e.value is None else 1 - e.value
                return Estimate(value, low, high, e.n, e.units, e.statistic, e.method, e.note, e.unseen)
        return None
