"""Formats the standings of a tournament as sentences and table columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gym_gui.analysis.findings.standings import Payoff, SeatAdvantage, Standing, Standings
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.plain_columns import Column, wanted_of
from gym_gui.analysis.words.wording import whole

_LEGEND = (
    "Rating: Bradley-Terry with draws (Davidson) and seats, 400 points are odds of ten to one. "
    "Intervals: 95 %, by seed. Points: 1 for a win, ½ for a draw."
)
NAME = "Policy"
"""Heading of the column with the names of policies."""


COLUMNS: tuple[Column[Standing], ...] = (
    Column("Rank", lambda s: rank(s), lambda rows: _ranked(rows)),
    Column(NAME, lambda s: s.policy, words=True),
    Column("Kind", lambda s: s.kind, words=True),
    Column("Rating [95 %]", lambda s: rating(s)),
    Column("Points [95 %]", lambda s: made(s.points)),
    Column("Won-drawn-lost", lambda s: f"{whole(s.wins)}-{whole(s.draws)}-{whole(s.losses)}"),
    Column("Failed", lambda s: f"{whole(s.failed)}", lambda rows: any(s.failed for s in rows)),
    Column("Nash", lambda s: wording.percent(s.nash), lambda rows: any(s.nash is not None for s in rows)),
    Column(
        "\N{GREEK SMALL LETTER ALPHA}-rank",
        lambda s: wording.percent(s.alpha_rank),
        lambda rows: any(s.alpha_rank is not None for s in rows),
    ),
    Column(
        "OpenSkill",
        lambda s: wording.number(s.openskill, 1),
        lambda rows: any(s.openskill is not None for s in rows),
    ),
)


def rating_legend(policies: Sequence[Standing]) -> str:
    """Return an explanation of ratings and points, and of possible ranks if there are any."""
    return f"{_LEGEND} In brackets: possible ranks." if _ranked(policies) else _LEGEND


def _ranked(policies: Sequence[Standing]) -> bool:
    return any(each.ranks is not None for each in policies)


def columns_of(policies: Sequence[Standing]) -> list[Column[Standing]]:
    """Return the columns that have content for the policies."""
    return wanted_of(COLUMNS, policies)


def rank(standing: Standing) -> str:
    """Return rank and possible ranks as text, e.g. ``2 (1-3)``; ``-`` if the possible ranks are unknown."""
    if standing.ranks is None:
        return "-"
    best, worst = standing.ranks.best, standing.ranks.worst
    return str(standing.rank) if best == worst else f"{standing.rank} ({best}-{worst})"


def rating(standing: Standing) -> str:
    """Return a rating in whole points as text, with its interval or the reason why it has none."""
    e = standing.rating
    if e.value is None:
        return f"({e.note})" if e.note else "-"
    value = wording.number(e.value, 0)
    if e.low is None or e.high is None:
        return f"{value} ({standing.note or e.note})"
    return f"{value} {wording.interval(e.low, e.high, 0)}"


def made(e: Estimate) -> str:
    """Return the mean points per game in percent, with the interval if there is one."""
    if e.value is None:
        return "-"
    if e.low is None or e.high is None:
        return wording.percent(e.value)
    return f"{wording.percent(e.value)} [{100 * e.low:.0f}, {100 * e.high:.0f}]"


def pair_sentence(payoff: Payoff) -> str:
    """Return a sentence with the first policy's share of the points against the second, and its games."""
    counts = f"{whole(payoff.wins)} won, {whole(payoff.draws)} drawn, {whole(payoff.losses)} lost"
    why = f" ({payoff.points.note})" if payoff.points.low is None and payoff.points.note else ""
    return f"{payoff.first} against {payoff.second}: {made(payoff.points)} of the points{why}; {counts}."


def seat_sentence(seat: SeatAdvantage, among: int) -> str:
    """Return a sentence on a seat's points; it states an advantage only if the interval excludes 0."""
    scored = f"{seat.called} scores {made(seat.points)} of the points"
    e = seat.advantage
    if e.value is None:
        return f"{scored}."
    worth = f"{wording.number(abs(e.value), 0)} rating points"
    if e.low is None or e.high is None:
        return f"{scored}; {worth} {'above' if e.value > 0 else 'below'} the mean of the {among} seats."
    if e.low <= 0 <= e.high:
        between = wording.interval(e.low, e.high, 0)
        return f"{scored}; no seat advantage is shown (95 % interval in rating points: {between})."
    low, high = (e.low, e.high) if e.value > 0 else (-e.high, -e.low)
    what = "an advantage" if e.value > 0 else "a disadvantage"
    return (
        f"{scored}, {what} of {worth} {wording.interval(low, high, 0)} against the mean of the {among} seats."
    )


def played_words(standings: Standings) -> str:
    """Return the numbers of policies, games and seeds, and the schedule, as text."""
    return (
        f"{whole(len(standings.policies))} policies, "
        f"{wording.count(standings.games, 'game')} on {wording.count(standings.seeds, 'seed')}, "
        f"{standings.schedule}"
    )


def seat_lines(standings: Standings) -> Iterator[str]:
    """Yield a sentence on each seat; with two seats only on the first, as the second has the rest."""
    shown = standings.seats[:1] if len(standings.seats) == 2 else standings.seats
    yield from (seat_sentence(seat, len(standings.seats)) for seat in shown)
