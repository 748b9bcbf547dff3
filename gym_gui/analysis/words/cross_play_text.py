"""Formats results of cross-play (teams mixed from several policies) as sentences and table columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gym_gui.analysis.findings.cross_play import (
    CrossPlay,
    CrossPlayResult,
    SeatTeam,
    Team,
    TrainedTeams,
    TrainingSpread,
)
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.plain_columns import Column, wanted_of
from gym_gui.analysis.words.standings_text import NAME
from gym_gui.analysis.words.wording import whole


def shown(e: Estimate | None) -> str:
    """Return an estimate as text; ``-`` for ``None``."""
    return "-" if e is None else wording.estimate_or_why(e)


COLUMNS: tuple[Column[CrossPlayResult], ...] = (
    Column(NAME, lambda m: f"{m.policy} (held out)" if m.held_out else m.policy, words=True),
    Column("Kind", lambda m: m.kind, words=True),
    Column("Self-play [95 %]", lambda m: shown(m.own)),
    Column("Cross-play [95 %]", lambda m: shown(m.cross), lambda rows: any(m.cross for m in rows)),
    Column("Held-out [95 %]", lambda m: shown(m.held), lambda rows: any(m.held for m in rows)),
    Column("Lift [95 %]", lambda m: shown(m.lift), lambda rows: any(m.lift for m in rows)),
    Column("Failed", lambda m: f"{whole(m.failed)}", lambda rows: any(m.failed for m in rows)),
)
TEAMS: tuple[Column[Team], ...] = (
    Column("In one seat", lambda t: t.policy, words=True),
    Column("In the others", lambda t: t.partner, words=True),
    Column("Result [95 %]", lambda t: shown(t.value)),
    Column("Lift [95 %]", lambda t: shown(t.lift)),
)


def _spread(spread: TrainingSpread | None) -> str:
    """Return mean and range as text, e.g. ``1.20 (0.40 to 1.90)``."""
    if spread is None:
        return "-"
    mean, low, high = (wording.number(value) for value in (spread.mean, spread.low, spread.high))
    return mean if low == high else f"{mean} ({low} to {high})"


ALGORITHM = "Algorithm"
"""Heading of the column with the names of algorithms."""
_TRAINED_TEAMS: tuple[Column[TrainedTeams], ...] = (
    Column(ALGORITHM, lambda a: a.name, words=True),
    Column("Trainings", lambda a: f"{whole(len(a.trainings))}"),
    Column("Self-play", lambda a: _spread(a.own)),
    Column("Its other trainings", lambda a: _spread(a.siblings), lambda rows: any(a.siblings for a in rows)),
    Column("Others of the pool", lambda a: _spread(a.others), lambda rows: any(a.others for a in rows)),
    Column("Held-out", lambda a: _spread(a.held), lambda rows: any(a.held for a in rows)),
)
TRAINED_LEGEND = (
    "Mean over the trainings of an algorithm, with the partners that the column names; in brackets the "
    "lowest and the highest training. Intervals in other tables are over seeds of these trainings only: the "
    "result of another training may lie outside."
)
LEGEND = (
    "Self-play: the policy has all seats. Cross-play: it has one seat, other policies of the pool have the "
    "rest. Held-out: partners from outside the pool have the rest. Lift: how much better teams of other "
    "policies do with it in one seat than without it. Intervals: 95 %, by seed."
)


def columns_of(policies: Sequence[CrossPlayResult]) -> list[Column[CrossPlayResult]]:
    """Return the columns that have content for the policies."""
    return wanted_of(COLUMNS, policies)


def trained_columns(algorithms: Sequence[TrainedTeams]) -> list[Column[TrainedTeams]]:
    """Return the columns that have content for the algorithms."""
    return wanted_of(_TRAINED_TEAMS, algorithms)


def heading(found: CrossPlay) -> str:
    """Return the numbers of policies, held-out partners, games and seeds as one line."""
    pool = sum(not mate.held_out for mate in found.policies)
    partners = len(found.policies) - pool
    held = f" and {wording.count(partners, 'held-out partner')}" if partners else ""
    policies = "1 policy" if pool == 1 else f"{whole(pool)} policies"
    games = f"{wording.count(found.games, 'game')} on {wording.count(found.seeds, 'seed')}"
    return f"cross-play of {policies}{held}, {games}"


def pool_sentence(found: CrossPlay) -> str:
    """Return a sentence with the pool's mean in self-play, cross-play and with held-out partners."""
    means = {"self-play": found.own, "cross-play": found.cross, "with held-out partners": found.held}
    if all(e is None or e.value is None for e in means.values()):
        return "The pool has no mean yet: no seed has been played by all of its teams."
    words = ", ".join(f"{name} {shown(e)}" for name, e in means.items() if e is not None)
    return f"Mean of the pool: {words}."


def means_sentence(found: CrossPlay) -> str:
    """Return :func:`pool_sentence` with the differences between self-play and the other kinds of play."""
    gaps = {
        "self-play minus cross-play": found.cross_gap,
        "self-play minus play with held-out partners": found.held_gap,
    }
    words = ", ".join(f"{name} {shown(e)}" for name, e in gaps.items() if e is not None)
    return pool_sentence(found) + (f" {words[:1].upper()}{words[1:]}." if words else "")


def matrix_title(found: CrossPlay) -> str:
    """Return the title of the matrix of policies and their partners."""
    if found.by_seat:
        first, second = (found.called.get(seat, seat) for seat in found.seats)
        return f"{found.measure.capitalize()} with the row as {first}, the column as {second}"
    rest = "the other" if len(found.seats) == 2 else f"the other {len(found.seats) - 1}"
    return f"{found.measure.capitalize()} with the row in one seat, the column in {rest}"


def team_sentence(found: CrossPlay, team: Team) -> str:
    """Return a sentence with a team's result and its difference from the partner's self-play."""
    who = (
        f"{team.policy} with itself" if team.policy == team.partner else f"{team.policy} with {team.partner}"
    )
    result = f"{who}: {found.measure} {wording.estimate_or_why(team.value)}"
    if team.lift is None or team.lift.value is None:
        return f"{result}."
    more = f"difference from {team.partner} with itself: {wording.estimate_or_why(team.lift)}"
    return f"{result}; {more}{'' if team.lifts else ', not decided'}."


def seat_sentence(found: CrossPlay, team: SeatTeam) -> str:
    """Return a sentence with the result of a team whose policies keep their seats."""
    rest = [found.called.get(seat, seat) for seat in found.seats if seat != team.seat]
    others = rest[0] if len(rest) == 1 else "the others"
    made = f"{found.measure} {wording.estimate_or_why(team.value)}"
    return (
        f"{team.policy} as {found.called.get(team.seat, team.seat)} with {team.partner} as {others}: {made}."
    )


def cell_sentence(found: CrossPlay, team: Team | SeatTeam) -> str:
    """Return the sentence for a cell of the matrix."""
    return seat_sentence(found, team) if isinstance(team, SeatTeam) else team_sentence(found, team)


def seat_sentences(found: CrossPlay) -> Iterator[str]:
    """Yield a sentence for each seating of two different policies; only one of two equal seatings."""
    for team in found.seated:
        again = found.by_seat and team.seat == found.seats[1]
        if team.policy != team.partner and not again:
            yield seat_sentence(found, team)
