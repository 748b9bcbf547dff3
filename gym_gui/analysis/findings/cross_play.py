"""Data classes of cross-play: results of policies in teams with themselves, others and held-out partners.

:func:`~gym_gui.analysis.compute.cross_play_builder.cross_play_of` builds them; the table, the page and
``tournament.json`` only show them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gym_gui.analysis.findings.comparison import Verdict
from gym_gui.analysis.findings.findings import Findings, Fixture, counted
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.statistics.summary_numbers import METHODS, Estimate
from gym_gui.core.experiment.pairings import who_joins

CROSS_PLAY_METHODS: Mapping[str, str] = {
    "value": (
        "mean result of a team over seeds; a seed's result is the mean of its games, in which seats change"
    ),
    "self-play": "one policy plays all seats of the team",
    "cross-play": (
        "one policy plays one seat, another policy of the pool all others; all pairs have equal weight "
        "(Hu, Lerer, Peysakhovich & Foerster 2020)"
    ),
    "held-out": (
        "one policy of the pool plays one seat, a partner from outside the pool all others: ad hoc "
        "teamwork (Stone, Kaminka, Kraus & Rosenschein 2010)"
    ),
    "lift": (
        "change in a team's result if another policy replaces one copy of the team's own policy, on the same "
        "seeds"
    ),
    **{key: text for key, text in METHODS.items() if key not in ("mean", "iqm")},
}


@dataclass(frozen=True)
class Team:
    """Team with a policy in one seat and another policy (or the same) in all others.

    Attributes:
        policy: Policy in the one seat.
        partner: Policy in the other seats.
        value: Return or score of the team.
        lift: ``value`` minus the partner's self-play; ``None`` if the partner is held out or is the policy.
        p: p-value of the lift, after Holm's correction over all lifts.
        lifts: Verdict on the lift: 1 if positive, -1 if negative, 0 if undecided.
    """

    policy: str
    partner: str
    value: Estimate
    lift: Estimate | None = None
    p: float | None = None
    lifts: int = 0


@dataclass(frozen=True)
class SeatTeam:
    """Team with a policy in one seat, which it keeps, and another policy in all others.

    Attributes:
        seat: Seat of the policy.
        policy: Policy in this seat.
        partner: Policy in the other seats.
        value: Return or score of the team.
    """

    seat: str
    policy: str
    partner: str
    value: Estimate


@dataclass(frozen=True)
class CrossPlayResult:
    """Results of one policy in cross-play.

    Attributes:
        policy: Name of the policy.
        kind: Kind of the worker that plays the policy.
        held_out: Whether the policy only serves as a partner of others.
        own: Value in self-play; ``None`` for a held-out policy.
        cross: Value with the others of the pool; ``None`` without others and for a held-out policy.
        held: Value with held-out partners; ``None`` without them and for a held-out policy.
        lift: Mean change of the pool's teams when the policy takes one of their seats.
        games: Number of games that count.
        failed: Number of games that failed because of this policy.
    """

    policy: str
    kind: str
    held_out: bool
    own: Estimate | None
    cross: Estimate | None
    held: Estimate | None
    lift: Estimate | None
    games: int
    failed: int


@dataclass(frozen=True)
class TrainingSpread:
    """Mean and range of a value over the trainings of an algorithm.

    Attributes:
        mean: Mean over trainings.
        low: Lowest value of a training.
        high: Highest value of a training.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TrainedTeams:
    """Results of an algorithm whose trainings are policies of the pool, over its trainings.

    Attributes:
        name: Name of the algorithm.
        trainings: Names of the trainings' policies.
        own: Self-play.
        siblings: Cross-play with other trainings of the same algorithm; ``None`` for a single training.
        others: Cross-play with the rest of the pool; ``None`` if there is no rest.
        held: Play with held-out partners; ``None`` if there are none.
    """

    name: str
    trainings: tuple[str, ...]
    own: TrainingSpread | None
    siblings: TrainingSpread | None
    others: TrainingSpread | None
    held: TrainingSpread | None


@dataclass(frozen=True, kw_only=True)
class CrossPlay(Findings):
    """Results of a cross-play: values of teams, lifts and verdicts.

    Attributes:
        measure: ``return`` or ``score``.
        seats: Names of the seats.
        called: The game's names for seats (such as ``White``), by seat.
        verdicts: Verdicts on self-play against cross-play, and against play with held-out partners.
        lifted: Sentences on teams that do better or worse with another policy than with their own.
        policies: Policies of the pool by their value in cross-play, then held-out policies.
        teams: All pairs that have played together.
        own: Self-play, averaged over the pool.
        cross: Cross-play, averaged over the pool.
        held: Play with held-out partners, averaged over the pool.
        cross_gap: Self-play minus cross-play on the same seeds.
        held_gap: Self-play minus play with held-out partners on the same seeds.
        algorithms: Algorithms of which whole groups of trainings are in the pool.
        seated: All pairs by the seat of the first policy, if policies keep their seats; else empty.
        stay: Whether policies keep their seats on a seed.
    """

    measure: str
    seats: tuple[str, ...]
    called: Mapping[str, str]
    verdicts: tuple[Verdict, ...]
    lifted: tuple[str, ...]
    policies: tuple[CrossPlayResult, ...]
    teams: tuple[Team, ...]
    own: Estimate
    cross: Estimate | None
    held: Estimate | None
    cross_gap: Estimate | None
    held_gap: Estimate | None
    algorithms: tuple[TrainedTeams, ...] = ()
    seated: tuple[SeatTeam, ...] = ()
    stay: bool = False
    methods: Mapping[str, str] = field(default_factory=lambda: dict(CROSS_PLAY_METHODS))

    @property
    def opening_verdicts(self) -> Sequence[Verdict]:
        """Verdicts on self-play against cross-play and held-out partners."""
        return self.verdicts

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences about lifts."""
        return self.lifted

    def team(self, policy: str, partner: str) -> Team | None:
        """Return the team with ``policy`` in one seat, ``partner`` in the others; ``None`` without games."""
        return next((t for t in self.teams if (t.policy, t.partner) == (policy, partner)), None)

    def cell(self, row: str, column: str) -> Team | SeatTeam | None:
        """Return the team in a row and a column of the matrix; ``None`` if it has not played.

        If there are two fixed seats, the row's policy has the first seat. Otherwise the row's policy has any
        one seat and the column's policy the others.
        """
        if self.by_seat:
            first = (t for t in self.seated if t.seat == self.seats[0])
            return next((t for t in first if (t.policy, t.partner) == (row, column)), None)
        return self.team(row, column)

    @property
    def by_seat(self) -> bool:
        """Whether the matrix has the first of two fixed seats in its rows and the second in its columns."""
        return self.stay and len(self.seats) == 2

    def fixture(self, row: str, column: str) -> Fixture | None:
        """Return the pairing in a square of the matrix; ``None`` if no game is planned there."""
        return next(iter(self._squares.get((row, column), ())), None)

    def on_record(self, row: str, column: str) -> tuple[int, int]:
        """Return the numbers of played and planned games in a square of the matrix; zeros without plans."""
        return counted(self._squares.get((row, column), ()))

    @cached_property
    def _squares(self) -> Mapping[tuple[str, str], Sequence[Fixture]]:
        found: dict[tuple[str, str], list[Fixture]] = defaultdict(list)
        for each in self.fixtures:
            first, second = each.policies[:2] if self.by_seat else who_joins(each.policies)
            cells = {(first, second)}
            if len(self.seats) == 2 and not self.stay:  # in a team of two, each policy joins the other
                cells.add((second, first))
            for cell in cells:
                found[cell].append(each)
        return found


Found = Standings | CrossPlay
"""Results of a tournament: standings of competing sides, or cross-play in one team."""
