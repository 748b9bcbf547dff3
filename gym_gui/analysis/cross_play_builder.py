"""From the run folder of cross-play to its :class:`~gym_gui.analysis.cross_play.CrossPlay`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gym_gui.analysis import wording
from gym_gui.analysis.collect import OperatorData, collect_episodes
from gym_gui.analysis.comparison import Comparison, Verdict
from gym_gui.analysis.cross_play import CrossPlay, Mate, SeatTeam, Spread, Team, TrainedTeams
from gym_gui.analysis.estimates import estimate
from gym_gui.analysis.games import Games, pool_of
from gym_gui.analysis.pairing import score_or_return
from gym_gui.analysis.rated_trainings import trainings_of
from gym_gui.analysis.reader import Run
from gym_gui.analysis.summary_numbers import Estimate
from gym_gui.analysis.units import Sample
from gym_gui.analysis.verdicts import Pairs, Sides, compare_family, negated
from gym_gui.core.pairings import who_joins
from gym_gui.core.record_fields import mapping, strings
from gym_gui.core.records import TOURNAMENT

_SHOWN_REASONS = 3


@dataclass(frozen=True)
class _Value:
    """What a team made on a seed, at the mean of its games, and a digest of all that happened in them."""

    mean: float
    identity: tuple[str | None, ...]


_BySeed = Mapping[int, _Value]
"""By number of the seed in the schedule."""


@dataclass
class _Played:
    """All games.

    Attributes:
        found: Seats, who plays each policy, what failed.
        pool: Policies that are not held out.
        held_out: Those that are.
        teams: What was made, by who has one seat and who has the others.
        seated: The same by the seat of the first, where policies stay in their seats.
        seeds: Seeds by their number.
        measure: ``return`` or ``score``.
        games: Games that count, by policy.
        count: All of them.
        finished: Whether the run has come to its end, and nobody failed.
    """

    found: Games
    pool: list[str]
    held_out: list[str]
    teams: dict[tuple[str, str], dict[int, _Value]] = field(
        default_factory=dict[tuple[str, str], dict[int, _Value]]
    )
    seated: dict[tuple[str, str], dict[str, dict[int, _Value]]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], dict[str, dict[int, _Value]]](dict)
    )
    seeds: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    measure: str = "return"
    games: Counter[str] = field(default_factory=Counter[str])
    count: int = 0
    finished: bool = True

    def mean_of(self, teams: Sequence[tuple[str, str]]) -> dict[int, _Value]:
        """Of several teams, each alike in weight: on the seeds that all of them have."""
        if not teams or any(team not in self.teams for team in teams):
            return {}
        return _mean([self.teams[team] for team in teams])

    def estimate(self, values: _BySeed) -> Estimate:
        """Its mean over seeds."""
        return estimate([v.mean for v in values.values()], self.samples(values))

    def samples(self, *values: _BySeed) -> list[Sample]:
        """A seed each, of those that all of them have."""
        found: list[Sample] = []
        for number in values[0]:
            digests = [digest for of in values for digest in of[number].identity]
            known = None not in digests
            found.append(Sample(self.seeds[number], number, tuple(digests) if known else None))
        return found

    def pairs(self, first: _BySeed, second: _BySeed) -> Pairs:
        """The same seeds of both."""
        shared = [number for number in first if number in second]
        a, b = ({number: of[number] for number in shared} for of in (first, second))
        differences = tuple(a[number].mean - b[number].mean for number in shared)
        return Pairs(tuple(self.samples(a, b)), differences, len(self.seeds), finished=self.finished)


def _mean(each: Sequence[_BySeed]) -> dict[int, _Value]:
    """Each alike in weight, on the seeds that all of them have."""
    shared = set(each[0]).intersection(*each[1:])
    return {
        number: _Value(
            sum(of[number].mean for of in each) / len(each),
            tuple(digest for of in each for digest in of[number].identity),
        )
        for number in sorted(shared)
    }


def cross_play_of(run: Run) -> CrossPlay:
    """Self-play, cross-play, held-out partners and who lifts whom, also while it is on.

    Raises:
        RunFormatError: The folder does not say who played with whom, or a row is damaged.
    """
    played = _read(run)
    pool, held_out = played.pool, played.held_out
    played.finished = run.record.status == "completed" and not played.found.failed
    own = played.mean_of([(name, name) for name in pool])
    cross = played.mean_of([(name, other) for name in pool for other in pool if other != name])
    held = played.mean_of([(name, other) for name in pool for other in held_out])
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
        verdicts=tuple(map(_said, gaps.values())),
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
    )


def _said(gap: Comparison) -> Verdict:
    return Verdict(gap.claim[:1].upper() + gap.claim[1:], gap.detail, gap.verdict != "undecided")


def _sides(first: str, second: str, played: _Played) -> Sides:
    return Sides("operators", "", first, second, first, second, played.measure)


_NOTHING = Estimate(None, None, None, 0, 0, "mean", note="no game")


def _read(run: Run) -> _Played:
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    found, pairings = pool_of(run)
    held_out = [name for name in strings(about.get("held_out")) or () if name in found.policies]
    played = _Played(found, [name for name in found.policies if name not in held_out], held_out)
    data = {pairing: collect_episodes(run.operators[key]) for key, pairing in pairings.items()}
    results = [squad for each in data.values() for e in each.completed for squad in e.squads.values()]
    played.measure = score_or_return(results)
    for pairing, each in data.items():
        _add(played, pairing, each)
    for team, by_seat in played.seated.items():
        if len(by_seat) == len(found.seats):
            played.teams[team] = _mean([by_seat[seat] for seat in found.seats])
    return played


def _add(played: _Played, pairing: tuple[str, ...], data: OperatorData) -> None:
    """The games of one team."""
    found, who = played.found, dict(zip(played.found.seats, pairing, strict=True))
    for slot, agent in data.agents.items():
        if agent.worker_type:
            found.players.setdefault(who.get(slot, ""), agent.worker_type)
    values: dict[int, list[tuple[float, str | None]]] = defaultdict(list)

    def number(episode: int) -> int:
        """Of the seed in the schedule, also where no episode says how many seats there are."""
        return episode // found.seatings

    for e in data.played:
        squad = next(iter(e.squads.values()), None)
        value = squad.score if played.measure == "score" and squad is not None else e.total
        if value is not None:
            values[number(e.episode)].append((value, e.digest))
            played.seeds[number(e.episode)] = e.seed
    for e in data.unfinished:
        seat = e.reason.split(":", 1)[0]  # what a policy did wrong begins with its seat
        slot = data.seats.get(e.episode, {}).get(seat, seat)
        played.seeds.setdefault(number(e.episode), e.seed)
        if e.failed:
            found.reasons[e.reason] += 1
        if e.failed and slot in who:
            found.failed[who[slot]] += 1
        else:
            found.lost += 1
    found.halved += len(data.halved)
    by_seed = {
        at: _Value(sum(v for v, _ in rows) / len(rows), tuple(digest for _, digest in rows))
        for at, rows in sorted(values.items())
        if len(rows) == found.seatings
    }
    games = sum(len(v.identity) for v in by_seed.values())
    played.count += games
    played.games.update(dict.fromkeys(set(pairing), games))
    joins, team = who_joins(pairing)
    if found.seatings == 1:
        for seat, policy in zip(found.seats, pairing, strict=True):
            if joins == team or len(pairing) == 2 or policy == joins:
                partner = next((name for name in pairing if name != policy), policy)
                played.seated[policy, partner][seat] = by_seed
        return
    played.teams[joins, team] = by_seed
    if len(pairing) == 2:  # who joins whom is the same
        played.teams[team, joins] = by_seed


def _lifts(played: _Played) -> dict[tuple[str, str], Comparison]:
    """What each is worth in one seat of each other's team, beside a copy of the team's own; one family."""
    found = [
        (joins, team)
        for joins in (*played.pool, *played.held_out)
        for team in played.pool
        if joins != team and (joins, team) in played.teams and (team, team) in played.teams
    ]
    pairs = [
        (_sides(joins, team, played), played.pairs(played.teams[joins, team], played.teams[team, team]))
        for joins, team in found
    ]
    return dict(zip(found, compare_family(pairs), strict=True))


def _by_cross_play(mate: Mate) -> tuple[bool, float]:
    shown = next((e for e in (mate.cross, mate.held, mate.own) if e is not None), _NOTHING)
    return mate.held_out, -(shown.value or 0.0)


def _mate(played: _Played, name: str) -> Mate:
    held_out = name in played.held_out
    others = [other for other in played.pool if other != name]
    cross, held = ([(name, other) for other in among] for among in (others, played.held_out))
    joined = played.pairs(played.mean_of(cross), played.mean_of([(other, other) for other in others]))
    return Mate(
        policy=name,
        kind=played.found.players.get(name, ""),
        held_out=held_out,
        own=None if held_out else played.estimate(played.mean_of([(name, name)])),
        cross=played.estimate(played.mean_of(cross)) if others and not held_out else None,
        held=played.estimate(played.mean_of(held)) if held and not held_out else None,
        lift=estimate(joined.differences, joined.samples, paired=True) if others else None,
        games=played.games[name],
        failed=played.found.failed[name],
    )


def _teams(
    played: _Played, lifts: Mapping[tuple[str, str], Comparison], order: Sequence[str]
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


def _seated(played: _Played, order: Sequence[str]) -> Iterator[SeatTeam]:
    for seat in played.found.seats:
        for policy in order:
            for partner in order:
                if (made := played.seated.get((policy, partner), {}).get(seat)) is not None:
                    yield SeatTeam(seat, policy, partner, played.estimate(made))


def _algorithms(played: _Played, run: Run) -> Iterator[TrainedTeams]:
    """Groups of trainings: what each training makes with itself, with its siblings and with others."""
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


def _spread(played: _Played, partners: Mapping[str, Sequence[str]]) -> Spread | None:
    """Over policies, of what each makes with its partners at the mean; ``None`` where one has no game."""
    made: list[float] = []
    for policy, others in partners.items():
        values = [value.mean for value in played.mean_of([(policy, other) for other in others]).values()]
        if not values:
            return None
        made.append(sum(values) / len(values))
    return Spread(sum(made) / len(made), min(made), max(made)) if made else None


def _lift_sentences(lifts: Mapping[tuple[str, str], Comparison], order: Sequence[str]) -> Iterator[str]:
    """Who is worth more, or less, in whose team than one of its own."""
    for policy in order:
        mine = [(team, lift) for (joins, team), lift in lifts.items() if joins == policy]
        for verdict, does, by in (("first", "lifts", " by"), ("second", "costs", "")):
            told = [f"{team}{by} {_size(lift)}" for team, lift in mine if lift.verdict == verdict]
            if told:
                of = wording.names([f"the team of {told[0]}", *(f"that of {each}" for each in told[1:])])
                yield f"{policy} in one seat {does} {of} in {mine[0][1].measure}."
    if lifts and all(lift.verdict == "undecided" for lift in lifts.values()):
        yield "That somebody lifts another one's team, or costs it something, is not decided of anybody."


def _size(lift: Comparison) -> str:
    e = lift.difference
    return wording.estimate(negated(e) if lift.verdict == "second" else e)


def _notes(played: _Played, run: Run) -> Iterator[str]:
    found = played.found
    if run.record.status == "running":
        yield "The games are not finished."
    elif (missing := found.planned - played.count) > 0:
        are = "is" if missing == 1 else "are"
        yield f"{wording.count(missing, 'game')} of {found.planned:,} {are} not counted."
    for name, times in found.failed.items():
        yield (
            f"{name} failed in {wording.count(times, 'game')}: nothing is decided from what seeds are left."
        )
    if found.lost:
        yield f"{wording.count(found.lost, 'game')} failed at nobody's policy, or were stopped."
    for reason, times in found.reasons.most_common(_SHOWN_REASONS):
        yield f"{times} x {' '.join(reason.split())}"
    if found.halved:
        left = wording.count(found.halved, "game")
        yield f"{left} left out: their seed was not completed in every seating."
    yield (
        "All of this is said of these policies, on seeds like these: others of the same algorithms may do "
        "otherwise."
    )
