"""What cross-play says, as data: how policies do with themselves, with others, with held-out partners.

:func:`~gym_gui.analysis.compute.cross_play_builder.cross_play_of` makes it; the table, the page and
``tournament.json`` only show it.
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
        "of a team, mean over seeds; what a seed gave is the mean of its games, in which seats were changed"
    ),
    "self-play": "all seats of the team are one policy's",
    "cross-play": (
        "one policy in one seat, another one of the pool in all others, each two alike in weight "
        "(Hu, Lerer, Peysakhovich & Foerster 2020)"
    ),
    "held-out": (
        "one policy of the pool in one seat, a partner that is none of the pool in all others: ad hoc "
        "teamwork (Stone, Kaminka, Kraus & Rosenschein 2010)"
    ),
    "lift": (
        "what a team of one policy has more with another one in one of its seats, on the same seeds: what "
        "that one is worth there beside a copy of the team's own"
    ),
    **{key: text for key, text in METHODS.items() if key not in ("mean", "iqm")},
}


@dataclass(frozen=True)
class Team:
    """A policy in one seat, another one (or itself) in all others.

    Attributes:
        policy: Who has one seat.
        partner: Who has the others.
        value: Return or score of the team.
        lift: What that is more than the partner's self-play; ``None`` where the partner is held out, or the
            policy itself.
        p: Of the lift, after Holm's correction over all lifts.
        lifts: Whether the lift is decided: 1 more, -1 less, 0 not decided.
    """

    policy: str
    partner: str
    value: Estimate
    lift: Estimate | None = None
    p: float | None = None
    lifts: int = 0


@dataclass(frozen=True)
class SeatTeam:
    """A policy in one seat that it stays in, another one in all others.

    Attributes:
        seat: Of the policy.
        policy: Who has it.
        partner: Who has the others.
        value: Return or score of the team.
    """

    seat: str
    policy: str
    partner: str
    value: Estimate


@dataclass(frozen=True)
class Mate:
    """One policy.

    Attributes:
        policy: Its name.
        kind: The kind of worker that plays it.
        held_out: Whether it is but a partner of others.
        own: In self-play; ``None`` of a held-out one.
        cross: With the others of the pool; ``None`` where there is none, and of a held-out one.
        held: With held-out partners; likewise.
        lift: What it brings to the teams of the pool in which it takes a seat, at the mean.
        games: Games that count.
        failed: Games that failed at it.
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
class Spread:
    """What the trainings of an algorithm have.

    Attributes:
        mean: At the mean over trainings.
        low: The lowest of them.
        high: The highest.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TrainedTeams:
    """An algorithm whose trainings are policies of the pool, each at its mean over seeds.

    Attributes:
        name: What it is called.
        trainings: Names of its policies.
        own: Self-play.
        siblings: Cross-play with other trainings of the same algorithm; ``None`` of a lone one.
        others: Cross-play with the rest of the pool; ``None`` where there is none.
        held: With held-out partners; likewise.
    """

    name: str
    trainings: tuple[str, ...]
    own: Spread | None
    siblings: Spread | None
    others: Spread | None
    held: Spread | None


@dataclass(frozen=True, kw_only=True)
class CrossPlay(Findings):
    """Everything that cross-play says.

    Attributes:
        measure: ``return`` or ``score``.
        seats: Names of the seats.
        called: What people call seats that the game has names for.
        verdicts: Self-play against cross-play and against play with held-out partners.
        lifted: Sentences of who is worth more, or less, in whose team than one of its own.
        policies: Those of the pool by what they make in cross-play, then those held out.
        teams: Every two that have played together.
        own: Self-play, at the mean of the pool.
        cross: Cross-play, likewise.
        held: With held-out partners, likewise.
        cross_gap: Self-play minus cross-play on the same seeds.
        held_gap: Self-play minus play with held-out partners, likewise.
        algorithms: Those of which whole groups of trainings are in the pool.
        seated: Every two by the seat of the first, where policies stay in their seats; else empty.
        stay: Whether they do.
    """

    measure: str
    seats: tuple[str, ...]
    called: Mapping[str, str]
    verdicts: tuple[Verdict, ...]
    lifted: tuple[str, ...]
    policies: tuple[Mate, ...]
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
    def said(self) -> Sequence[Verdict]:
        """What comes of playing with others."""
        return self.verdicts

    @property
    def remarks(self) -> Sequence[str]:
        """Who lifts whom."""
        return self.lifted

    def team(self, policy: str, partner: str) -> Team | None:
        """``policy`` in one seat, ``partner`` in the others; ``None`` where they have not played."""
        return next((t for t in self.teams if (t.policy, t.partner) == (policy, partner)), None)

    def cell(self, row: str, column: str) -> Team | SeatTeam | None:
        """The team in a row and a column of the matrix; ``None`` where they have not played.

        Of two seats that do not change the row has the first; else it has any one, and the column the rest.
        """
        if self.by_seat:
            first = (t for t in self.seated if t.seat == self.seats[0])
            return next((t for t in first if (t.policy, t.partner) == (row, column)), None)
        return self.team(row, column)

    @property
    def by_seat(self) -> bool:
        """Whether rows and columns of the matrix are the two seats."""
        return self.stay and len(self.seats) == 2

    def fixture(self, row: str, column: str) -> Fixture | None:
        """See the base."""
        return next(iter(self._squares.get((row, column), ())), None)

    def on_record(self, row: str, column: str) -> tuple[int, int]:
        """Games of a field of the matrix that are played, and that are planned; zeros where none are."""
        return counted(self._squares.get((row, column), ()))

    @cached_property
    def _squares(self) -> Mapping[tuple[str, str], Sequence[Fixture]]:
        found: dict[tuple[str, str], list[Fixture]] = defaultdict(list)
        for each in self.fixtures:
            first, second = each.policies[:2] if self.by_seat else who_joins(each.policies)
            cells = {(first, second)}
            if len(self.seats) == 2 and not self.stay:  # who joins whom is the same
                cells.add((second, first))
            for cell in cells:
                found[cell].append(each)
        return found


Found = Standings | CrossPlay
"""What a tournament says: of sides that compete, or of a team whose seats are filled."""
