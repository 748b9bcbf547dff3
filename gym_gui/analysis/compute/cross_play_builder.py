"""Computes self-play, cross-play and lifts (:class:`CrossPlay`) from the run folder of a cross-play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from gym_gui.analysis.compute.rated_trainings import trainings_of
from gym_gui.analysis.compute.team_values import MIN_TEAM_SEEDS, TeamValues, read_team_values
from gym_gui.analysis.compute.verdicts import compare_family
from gym_gui.analysis.findings.comparison import Comparison, Verdict
from gym_gui.analysis.findings.cross_play import (
    CrossPlay,
    CrossPlayResult,
    SeatTeam,
    Team,
    TrainedTeams,
    TrainingSpread,
)
from gym_gui.analysis.findings.pairs import Sides
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import TOURNAMENT

_MAX_REASONS = 3


def cross_play_of(run: Run) -> CrossPlay:
    """Compute the results of a cross-play, which may still be running.

    A policy's lift is the change in a team's score when the policy replaces one of the team's copies.

    Raises:
        RunFormatError: The folder does not record the teams, or a row is damaged.
    """
    played = read_team_values(run)
    pool, held_out = played.pool, played.held_out
    own, cross, held = played.own(), played.cross(), played.held()
    others = {"cross-play": cross} if len(pool) > 1 else {}
    others |= {"play with held-out partners": held} if held_out else {}
    pairs = [(_sides("self-play", name, played), played.pairs(own, of)) for name, of in others.items()]
    gaps = dict(zip(others, compare_family(pairs), strict=True))
    lifts = _lifts(played)
    mates = sorted((_mate(played, name) for name in (*pool, *held_out)), key=_by_cross_play)
    order = [mate.policy for mate in mates]
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    return CrossPlay(
        run_id=run.run_id,
        task=str(about.get("task", "")),
        status=run.record.status,
        measure=played.measure,
        seats=played.found.seats,
        called=played.found.called,
        verdicts=tuple(map(_verdict, gaps.values())),
        lifted=tuple(_lift_sentences(lifts, order)),
        policies=tuple(mates),
        teams=tuple(_teams(played, lifts, order)),
        own=played.estimate(own),
        cross=played.estimate(cross) if "cross-play" in gaps else None,
        held=played.estimate(held) if held_out else None,
        cross_gap=gaps["cross-play"].difference if "cross-play" in gaps else None,
        held_gap=gaps["play with held-out partners"].difference if held_out else None,
        notes=tuple(_notes(played, run)),
        games=played.count,
        planned=played.found.planned,
        seeds=len(played.seeds),
        algorithms=tuple(_algorithms(played, run)),
        seated=tuple(_seated(played, order)),
        stay=played.found.seatings == 1,
        fixtures=tuple(played.found.fixtures.values()),
    )


def _verdict(gap: Comparison) -> Verdict:
    return Verdict(gap.claim[:1].upper() + gap.claim[1:], gap.detail, gap.verdict != "undecided")


def _sides(first: str, second: str, played: TeamValues) -> Sides:
    return Sides("operators", "", first, second, first, second, played.measure)


_NOTHING = Estimate(None, None, None, 0, 0, "mean", note="no game")


def _lifts(played: TeamValues) -> dict[tuple[str, str], Comparison]:
    """Compare each policy in one seat of another policy's team with its own copy (Holm-corrected)."""
    found = played.lifts()
    pairs = [(_sides(joins, team, played), pairs) for (joins, team), pairs in found.items()]
    return dict(zip(found, compare_family(pairs), strict=True))


def _by_cross_play(mate: CrossPlayResult) -> tuple[bool, float]:
    shown = next((e for e in (mate.cross, mate.held, mate.own) if e is not None), _NOTHING)
    return mate.held_out, -(shown.value or 0.0)


def _mate(played: TeamValues, name: str) -> CrossPlayResult:
    held_out = name in played.held_out
    others = [other for other in played.pool if other != name]
    cross, held = ([(name, other) for other in among] for among in (others, played.held_out))
    joined = played.pairs(played.mean_of(cross), played.mean_of([(other, other) for other in others]))
    return CrossPlayResult(
        policy=name,
        kind=played.found.players.get(name, ""),
        held_out=held_out,
        own=None if held_out else played.estimate(played.mean_of([(name, name)])),
        cross=played.estimate(played.mean_of(cross)) if others and not held_out else None,
        held=played.estimate(played.mean_of(held)) if held and not held_out else None,
        lift=played.gain(joined) if others else None,
        games=played.games[name],
        failed=played.found.failed[name],
    )


def _teams(
    played: TeamValues, lifts: Mapping[tuple[str, str], Comparison], order: Sequence[str]
) -> Iterator[Team]:
    for policy in order:
        for partner in order:
            if (policy, partner) not in played.teams:
                continue
            value, lift = played.estimate(played.teams[policy, partner]), lifts.get((policy, partner))
            if lift is None:
                yield Team(policy, partner, value)
            else:
                decided = {"first": 1, "second": -1}.get(lift.verdict, 0)
                yield Team(policy, partner, value, lift.difference, lift.p_adjusted, decided)


def _seated(played: TeamValues, order: Sequence[str]) -> Iterator[SeatTeam]:
    for seat in played.found.seats:
        for policy in order:
            for partner in order:
                if (made := played.seated.get((policy, partner), {}).get(seat)) is not None:
                    yield SeatTeam(seat, policy, partner, played.estimate(made))


def _algorithms(played: TeamValues, run: Run) -> Iterator[TrainedTeams]:
    """Yield for each group of trainings the scores with itself, with siblings, with others and held-out."""
    groups: dict[str, list[str]] = defaultdict(list)
    for policy, of in trainings_of(run).items():
        if policy in played.pool:
            groups[of.name].append(policy)
    for name, trainings in groups.items():
        strangers = [other for other in played.pool if other not in trainings]
        partners = {
            "own": {policy: [policy] for policy in trainings},
            "siblings": {policy: [each for each in trainings if each != policy] for policy in trainings},
            "others": dict.fromkeys(trainings, strangers),
            "held": dict.fromkeys(trainings, played.held_out),
        }
        spreads = {what: _spread(played, of) for what, of in partners.items()}
        yield TrainedTeams(name, tuple(trainings), **spreads)


def _spread(played: TeamValues, partners: Mapping[str, Sequence[str]]) -> TrainingSpread | None:
    """Return mean, minimum and maximum of the policies' mean scores; ``None`` if a policy has no game."""
    made: list[float] = []
    for policy, others in partners.items():
        values = [value.mean for value in played.mean_of([(policy, other) for other in others]).values()]
        if not values:
            return None
        made.append(sum(values) / len(values))
    return TrainingSpread(sum(made) / len(made), min(made), max(made)) if made else None


def _lift_sentences(lifts: Mapping[tuple[str, str], Comparison], order: Sequence[str]) -> Iterator[str]:
    """Yield a sentence per policy on the teams that it makes better or worse than their own policy does."""
    for policy in order:
        mine = [(team, lift) for (joins, team), lift in lifts.items() if joins == policy]
        for verdict, does, by in (("first", "lifts", " by"), ("second", "costs", "")):
            effects = [f"{team}{by} {_size(lift)}" for team, lift in mine if lift.verdict == verdict]
            if effects:
                of = wording.names(
                    [f"the team of {effects[0]}", *(f"that of {each}" for each in effects[1:])]
                )
                yield f"{policy} in one seat {does} {of} in {mine[0][1].measure}."
    if lifts and all(lift.verdict == "undecided" for lift in lifts.values()):
        yield "For no policy is it decided whether another policy's team is better or worse with it."


def _size(lift: Comparison) -> str:
    e = lift.difference
    return wording.estimate(e.negated() if lift.verdict == "second" else e)


def _notes(played: TeamValues, run: Run) -> Iterator[str]:
    found = played.found
    if run.record.status == "running":
        yield "The games are not finished: means are of the games so far, in which short games prevail."
    elif (missing := found.planned - played.count) > 0:
        are = "is" if missing == 1 else "are"
        yield f"{wording.count(missing, 'game')} of {found.planned:,} {are} not counted."
    for name, times in found.failed.items():
        yield (
            f"{name} failed in {wording.count(times, 'game')}: nothing is decided from the remaining seeds."
        )
    if found.lost:
        yield f"{wording.count(found.lost, 'game')} failed through no fault of a policy, or were stopped."
    for reason, times in found.reasons.most_common(_MAX_REASONS):
        yield f"{times} x {' '.join(reason.split())}"
    if 0 < len(played.seeds) < MIN_TEAM_SEEDS:
        yield f"With fewer than {MIN_TEAM_SEEDS} seeds no team has an interval: too few seeds may differ."
    if found.halved:
        left = wording.count(found.halved, "game")
        yield f"{left} left out: their seed was not completed in every seating."
    yield (
        "These results hold for these policies on seeds like these; other policies of the same algorithms "
        "may differ."
    )
