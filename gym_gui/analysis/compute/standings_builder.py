"""Computes the standings of a tournament from its run folder: ratings, payoffs, cycles, seats, notes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gym_gui.analysis.compute.algorithm_verdicts import verdicts_of
from gym_gui.analysis.compute.cycles import MOST, error_of_a_win, find_cycles
from gym_gui.analysis.compute.empirical_games import INSTALL, alpha_rank, nash_averaging, openskill
from gym_gui.analysis.compute.estimates import estimate
from gym_gui.analysis.compute.games import Game, Games, collect_games, matches, points
from gym_gui.analysis.compute.rated_trainings import rated_trainings
from gym_gui.analysis.compute.ratings import Ratings, rate
from gym_gui.analysis.findings.standings import (
    APART,
    NO_GAME,
    NOT_RANDOM,
    TOO_FEW,
    Payoff,
    SeatAdvantage,
    Standing,
    Standings,
)
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.statistics.distributions import CONFIDENCE, MIN_INTERVAL
from gym_gui.analysis.statistics.intervals import MIN_UNITS
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.statistics.units import Sample
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.verdict_words import tournament_verdict_words
from gym_gui.core.experiment.pairings import most_rounds, rounds_from_record, rounds_left, usual_rounds
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import TOURNAMENT

_MAX_REASONS = 3
POINTS = (0.0, 1.0)
"""Points for a lost and for a won game; a draw is half a point."""


def standings_of(run: Run) -> Standings:
    """Compute the ratings, payoffs, cycles and seat advantages of a tournament, which may still be running.

    Raises:
        RunFormatError: The folder does not record the pairings, or a row is damaged.
    """
    found = collect_games(run)
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    ratings = rate(found) if found.count else None
    rounds = _rounds(found, about)
    open_ = bool(found.unplayed or (rounds is not None and rounds.left))
    order = _by_rating(found, ratings, open_=open_)
    payoffs = _payoffs(found, order)
    standings = _policies(found, order, ratings, open_=open_)
    policies = tuple(_extras(found, [*standings], payoffs, open_=open_))
    claim, detail = tournament_verdict_words(policies, found.count, found.planned, found.unplayed, rounds)
    circles = [] if open_ else [*_cycles(order, payoffs)]
    task = str(about.get("task", ""))
    algorithms = None if open_ else rated_trainings(run, policies, task)
    played = [result for games in found.games.values() for result in _pair_points(games)]
    return Standings(
        run_id=run.run_id,
        task=task,
        status=run.record.status,
        schedule=_schedule(about.get("schedule"), rounds),
        claim=claim,
        detail=detail,
        policies=policies,
        payoffs=payoffs,
        seats=tuple(_seats(found, ratings)),
        draws=sum(result == 0.5 for result in played) / len(played) if played else 0.0,
        cycles=tuple(circles),
        notes=tuple(_notes(run, found, ratings, policies, open_=open_)),
        games=found.count,
        planned=found.planned,
        seeds=len({game.sample.seed for games in found.games.values() for game in games}),
        algorithms=algorithms,
        algorithm_verdicts=() if algorithms is None else tuple(verdicts_of(algorithms)),
        fixtures=tuple(found.fixtures.values()),
    )


class _Rounds(NamedTuple):
    """Number of rounds of a Swiss tournament that are already paired, and number of further rounds."""

    paired: int
    left: int


def _rounds(found: Games, about: Mapping[str, object]) -> _Rounds | None:
    paired = rounds_from_record(about.get("rounds"))
    if not paired:
        return None
    asked = (mapping(about.get("schedule")) or {}).get("swiss")
    pool = len(found.policies)
    total = asked if isinstance(asked, int) and asked else min(usual_rounds(pool), most_rounds(pool))
    return _Rounds(len(paired), rounds_left(found.policies, paired, total))


def _schedule(written: object, rounds: _Rounds | None) -> str:
    """Return the schedule as text, such as ``Swiss, 2 of 5 rounds`` or ``round robin``."""
    if rounds is not None:
        of = f"{rounds.paired} of " if rounds.left else ""
        return f"Swiss, {of}{wording.count(rounds.paired + rounds.left, 'round')}"
    return "round robin" if written == "round_robin" else "as the file says"


def _by_rating(found: Games, ratings: Ratings | None, *, open_: bool) -> list[str]:
    """Return the policies ordered by rating, best first; policies without a rating are last."""
    if ratings is None:
        return list(found.policies)
    results = _results(found)

    def place(name: str) -> tuple[bool, bool, float]:
        note = _why_none(name, ratings, [value for value, _ in results[name]])
        return note == NO_GAME, _is_unrated(note, open_=open_), -(ratings.ratings[name].value or 0.0)

    return sorted(found.policies, key=place)


def _results(found: Games) -> dict[str, list[tuple[float, Sample]]]:
    """Return the points of each policy in each of its games, with the seed of the game.

    All games of one seed form one unit, for all opponents.
    """
    rows: dict[str, list[tuple[float, Sample]]] = defaultdict(list)
    for played in found.games.values():
        for game, i, j in matches(played):
            result = points(game.results[i], game.results[j])
            sample = Sample(game.sample.seed, game.sample.round)
            rows[game.policies[i]].append((result, sample))
            rows[game.policies[j]].append((1 - result, sample))
    return rows


def _why_none(name: str, ratings: Ratings | None, values: Sequence[float]) -> str:
    """Return why a policy's rating has no interval; empty if it has one."""
    note = NO_GAME if ratings is None else ratings.notes.get(name, "")
    return _why_apart(values) if note == APART else note


def _is_unrated(note: str, *, open_: bool) -> bool:
    """Return whether a policy has no rating; unconnected policies get none while games may connect them."""
    return note == NO_GAME or (open_ and note == APART)


def _pair_points(games: Sequence[Game]) -> Iterator[float]:
    return (points(game.results[i], game.results[j]) for game, i, j in matches(games))


def _payoffs(found: Games, order: Sequence[str]) -> tuple[Payoff, ...]:
    place = {name: i for i, name in enumerate(order)}
    results: dict[tuple[str, str], list[tuple[float, Sample]]] = defaultdict(list)
    for games in found.games.values():
        for game, i, j in matches(games):
            a, b = game.policies[i], game.policies[j]
            result = points(game.results[i], game.results[j])
            if place[a] > place[b]:
                a, b, result = b, a, 1 - result
            results[a, b].append((result, game.sample))
    return tuple(
        Payoff(
            *pair,
            estimate([value for value, _ in rows], [sample for _, sample in rows], bounds=POINTS),
            *(sum(value == wanted for value, _ in rows) for wanted in (1.0, 0.5, 0.0)),
        )
        for pair in combinations(order, 2)
        if (rows := results.get(pair))
    )


def _policies(
    found: Games, order: Sequence[str], ratings: Ratings | None, *, open_: bool
) -> Iterator[Standing]:
    """Yield the standing of each policy, by rating.

    While games are open, no policy has a rank, because repeated looks would raise the error rate.
    """
    rows = _results(found)
    games = Counter(name for played in found.games.values() for game in played for name in game.policies)
    for i, name in enumerate(order):
        values = [value for value, _ in rows[name]]
        note = _why_none(name, ratings, values)
        rating, ranks = Estimate(None, None, None, 0, 0, "rating", note=note), None
        if ratings is not None and not _is_unrated(note, open_=open_):
            rating, ranks = ratings.ratings[name], None if open_ else ratings.ranks.get(name)
        yield Standing(
            policy=name,
            kind=found.players.get(name, ""),
            rank=i + 1,
            ranks=ranks,
            rating=rating,
            points=estimate(values, [sample for _, sample in rows[name]], bounds=POINTS),
            games=games[name],
            wins=values.count(1.0),
            draws=values.count(0.5),
            losses=values.count(0.0),
            failed=found.failed[name],
            note=note,
        )


def _why_apart(values: Sequence[float]) -> str:
    """Return why the results do not limit a policy's rating, given its points in each game."""
    low, high = min(values), max(values)
    if low > 0:
        return "lost no point" if low == 1 else "lost no game"
    if high < 1:
        return "made no point" if high == 0 else "won no game"
    return APART


def _extras(
    found: Games, policies: Sequence[Standing], payoffs: Sequence[Payoff], *, open_: bool
) -> Iterator[Standing]:
    """Yield standings with Nash averaging, alpha-rank and OpenSkill, as far as they can be computed."""
    names = [standing.policy for standing in policies]
    nash = rank = None
    if not open_ and len(found.seats) == 2 and len(payoffs) == len(names) * (len(names) - 1) // 2:
        matrix = np.zeros((len(names), len(names)))
        for each in payoffs:
            i, j = names.index(each.first), names.index(each.second)
            # Convert points (1, 0.5, 0) to payoffs of a zero-sum game (1, 0, -1).
            matrix[i, j] = 2 * (each.points.value or 0.0) - 1
            matrix[j, i] = -matrix[i, j]
        nash, rank = nash_averaging(matrix), alpha_rank(matrix)
    ladder = openskill([game for games in found.games.values() for game in games])
    for i, standing in enumerate(policies):
        yield replace(
            standing,
            nash=None if nash is None else float(nash[i]),
            alpha_rank=None if rank is None else float(rank[i]),
            openskill=None if ladder is None else ladder.get(standing.policy),
        )


def _seats(found: Games, ratings: Ratings | None) -> Iterator[SeatAdvantage]:
    if ratings is None:
        return
    rows: dict[int, list[tuple[float, Sample]]] = defaultdict(list)
    for games in found.games.values():
        for game, i, j in matches(games):
            result = points(game.results[i], game.results[j])
            sample = Sample(game.sample.seed, game.sample.round)
            rows[i].append((result, sample))
            rows[j].append((1 - result, sample))
    for i, seat in enumerate(found.seats):
        made = estimate([value for value, _ in rows[i]], [sample for _, sample in rows[i]], bounds=POINTS)
        yield SeatAdvantage(seat, made, ratings.seats[seat], found.called.get(seat, seat))


def _cycles(order: Sequence[str], payoffs: Sequence[Payoff]) -> Iterator[str]:
    beaten: list[tuple[str, str]] = []
    error = error_of_a_win(len(order), (1 - CONFIDENCE) / 2)
    for each in payoffs:
        if winner := each.winner(error):
            beaten.append((winner, each.second if winner == each.first else each.first))
    rings = find_cycles(order, beaten)
    made = _points_of(payoffs)
    for ring in rings[:MOST]:
        steps = zip(ring, (*ring[1:], ring[0]), strict=True)
        wins = " and ".join(f"{a} beats {b} ({wording.percent(made[a, b])} of the points)" for a, b in steps)
        circle = wins.replace(" and ", ", ", len(ring) - 2)
        yield f"A circle: {circle}. No ranking of these policies is right."
    if len(rings) > MOST:
        yield f"And {len(rings) - MOST:,} more circles of three."


def _points_of(payoffs: Sequence[Payoff]) -> Mapping[tuple[str, str], float]:
    made = {(each.first, each.second): each.points.value or 0.0 for each in payoffs}
    return {**made, **{(b, a): 1 - value for (a, b), value in made.items()}}


def _notes(
    run: Run, found: Games, ratings: Ratings | None, policies: Sequence[Standing], *, open_: bool
) -> Iterator[str]:
    if open_:
        yield (
            "The tournament is not finished: no policy has a rank yet. Ratings are of the games played so "
            "far, in which short games prevail."
        )
    if found.planned > found.count and run.record.status != "running":
        missing = found.planned - found.count
        are = "is" if missing == 1 else "are"
        yield f"{wording.count(missing, 'game')} of {found.planned:,} {are} not rated."
    for standing in policies:
        if standing.failed:
            yield (
                f"{standing.policy} failed in {wording.count(standing.failed, 'game')}: these do not "
                "count, which may favor it."
            )
    if found.lost:
        yield f"{wording.count(found.lost, 'game')} failed through no fault of a policy, or were stopped."
    for reason, times in found.reasons.most_common(_MAX_REASONS):
        yield f"{times} x {' '.join(reason.split())}"
    if found.halved:
        left = wording.count(found.halved, "game")
        yield f"{left} left out: their seed was not completed in every seating."
    if any(0 < standing.points.units < MIN_INTERVAL for standing in policies):
        yield (
            f"Points of fewer than {MIN_INTERVAL} seeds have no interval, and no circle is claimed from "
            f"them; ratings have one from {MIN_UNITS} seeds on."
        )
    if ratings is not None and ratings.regularized:
        apart = [standing for standing in policies if standing.note not in ("", TOO_FEW, NOT_RANDOM)]
        who = [f"{standing.policy} ({standing.note})" for standing in apart]
        about = f" {', '.join(who)} {'has' if len(who) == 1 else 'have'} no interval." if who else ""
        yield (
            "The results do not limit the ratings of some policies: a drawn game against an average policy "
            f"was added for each policy.{about}"
        )
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    if about.get("trainings") and about.get("schedule") != "round_robin":
        yield "Algorithms are compared only in a round robin; here their trainings are rated."
    same = [key for key, games in found.games.items() if _nothing_random(games)]
    if same:
        yield (
            f"In {wording.count(len(same), 'pairing')} ({wording.names(same)}) all games of a seating are "
            "identical, because nothing in them is random; they count as one game."
        )
    lacks = not open_ and _lacks_matrix_measures(found, policies)
    if (policies and found.count and policies[0].openskill is None) or lacks:
        yield f"Nash averaging, alpha-rank and OpenSkill need packages of their own: {INSTALL}"


def _nothing_random(games: Sequence[Game]) -> bool:
    digests: dict[tuple[str, ...], set[object]] = defaultdict(set)
    for game in games:
        digests[game.policies].add(game.sample.identity)
    alone = all(len(seen) == 1 and None not in seen for seen in digests.values())
    return alone and len(games) > len(digests)


def _lacks_matrix_measures(found: Games, policies: Sequence[Standing]) -> bool:
    met = len(found.games) == len(policies) * (len(policies) - 1) // 2 and all(found.games.values())
    return met and len(found.seats) == 2 and any(s.nash is None or s.alpha_rank is None for s in policies)
