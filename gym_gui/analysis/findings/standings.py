"""Data classes of a tournament's results: ratings, payoffs, seats, with sample sizes and methods.

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
"""Notes on ratings that have no interval."""
NO_GAME = "no game"
"""Note on a policy that has no rating, because it has no game."""
APART = "not connected"
"""Note on a policy whose results do not limit its rating relative to the other policies."""
BY_SEED = "bootstrap over seeds, Student's t"

RATING_METHODS: Mapping[str, str] = {
    "rating": (
        "Bradley-Terry with Davidson's draws and Davidson and Beaver's seats (1970, 1977), by maximum "
        "likelihood over all games; 400 points are odds of ten to one, 0 is the mean of the largest group "
        "that results hold together, or of all policies"
    ),
    "regularised": (
        "if results do not limit the ratings (a policy has won everything or nothing, or no policy has lost "
        "to one that it has beaten and the rest is drawn), a drawn game against an average policy is added "
        "for each policy, in the fit and in each resample with such results"
    ),
    BY_SEED: (
        "95 % interval of a rating: Student's t times its standard error in 999 resamples of whole seeds, "
        "with all the games that were played on them, fixed random seed; the t counts the seeds with a game "
        "that was not drawn"
    ),
    "rank": (
        "95 % confidence sets of all ranks at once: who is ahead or behind with certainty, by simultaneous "
        "intervals of all differences, from the same resamples (Mogstad, Romano, Shaikh & Wilhelm 2024); "
        "if results do not limit the difference of two policies, by a sign test over the seeds that one of "
        "them has won, corrected for all pairs"
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
    """Range of ranks that a policy may have (95 % confidence set); ranks begin at 1."""

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
        rating: Rating in Elo points, see ``rating`` in :data:`RATING_METHODS`.
        points: Mean points per game: 1 for a win, 0.5 for a draw, 0 for a loss.
        games: Number of games that count.
        wins: Number of wins; in a game of several sides, each other side counts separately.
        draws: Number of draws, counted like wins.
        losses: Number of losses, counted like wins.
        failed: Number of games that failed because of this policy, which do not count.
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
    """Results of two policies against each other.

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
            error: Allowed probability of calling an equal policy better; a smaller value widens the interval.
        """
        e = self.points
        if e.value is None:
            return ""
        if e.low is None or e.high is None:
            # Equal results on all seeds have no interval; a sign test decides.
            sure = e.note.endswith("equal") and 0.5**e.units <= error
            low = high = e.value if sure else 0.5
        else:
            wider = normal_quantile(1 - error) / normal_quantile((1 + CONFIDENCE) / 2)
            low, high = e.value - wider * (e.value - e.low), e.value + wider * (e.high - e.value)
        return self.first if low > 0.5 else self.second if high < 0.5 else ""


@dataclass(frozen=True)
class SeatAdvantage:
    """Advantage of a seat.

    Attributes:
        seat: Name of the seat.
        points: Mean points of a game in this seat.
        advantage: Advantage in rating points, relative to the mean of all seats.
        called: The game's name for the seat, such as ``White``.
    """

    seat: str
    points: Estimate
    advantage: Estimate
    called: str


@dataclass(frozen=True, kw_only=True)
class Standings(Findings):
    """Results of a tournament whose sides compete: ratings, payoffs, seats, cycles and verdicts.

    Attributes:
        schedule: Schedule as text.
        claim: Verdict on the best policy, as text.
        detail: Numbers behind the verdict as text, which continues the claim.
        policies: Standings of the policies, by rank.
        payoffs: Results of each two policies that have met, by rank.
        seats: Advantages of the seats.
        draws: Share of drawn games; in a game of several sides, each two sides that meet count.
        cycles: Sentences about policies that beat each other in a cycle.
        algorithms: Comparison of algorithms by the ratings of their trainings, if groups have met.
        algorithm_verdicts: Verdicts on algorithms.
    """

    schedule: str
    claim: str
    detail: str
    policies: tuple[Standing, ...]
    payoffs: tuple[Payoff, ...]
    seats: tuple[SeatAdvantage, ...]
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
    def opening_verdicts(self) -> Sequence[Verdict]:
        """Verdicts on the best policy, then on the algorithms."""
        best = Verdict(self.claim, self.detail, " is the best of " in self.claim)
        return [best, *self.algorithm_verdicts]

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences about cycles of wins."""
        return self.cycles

    def fixture(self, row: str, column: str) -> Fixture | None:
        """Return the pairing in a square of the payoff matrix; ``None`` if no game is planned there."""
        return next(iter(self._squares.get(frozenset((row, column)), ())), None)

    def on_record(self, first: str, second: str) -> tuple[int, int]:
        """Return the numbers of played and planned games of two policies; zeros if none is planned."""
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
