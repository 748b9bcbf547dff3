"""Reads the games of a cross-play: results of each team by seed, and differences between teams."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gym_gui.analysis.compute.collect import OperatorData, collect_episodes
from gym_gui.analysis.compute.estimates import estimate
from gym_gui.analysis.compute.games import Games, pool_of
from gym_gui.analysis.compute.pairing import score_or_return
from gym_gui.analysis.findings.pairs import Pairs
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.statistics.units import Sample
from gym_gui.core.errors import RunFormatError
from gym_gui.core.experiment.pairings import who_joins
from gym_gui.core.record_fields import mapping, strings
from gym_gui.core.records import TOURNAMENT

MIN_TEAM_SEEDS = 20
"""Smallest number of seeds for an interval in cross-play. Teams that seldom fail differ on few seeds: with
ten seeds, intervals of lifts cover the true value in 92 % of cases, and those of self-play in 83 %."""


@dataclass(frozen=True)
class TeamValue:
    """Mean result of a team's games on one seed, and the digests of their trajectories."""

    mean: float
    identity: tuple[str | None, ...]


BySeed = Mapping[int, TeamValue]
"""Team values by the number of the seed in the schedule (0, 1, …)."""


@dataclass
class TeamValues:
    """Results of all games of a cross-play.

    Attributes:
        found: Seats, kinds of players, and failures.
        pool: Policies that are not held out.
        held_out: Policies that are held out.
        teams: Values by the policy in one seat and the policy in the other seats.
        seated: Values as in ``teams``, and by the first policy's seat; only if policies keep their seats.
        seeds: Environment seeds by their number in the schedule.
        measure: ``return`` or ``score``.
        games: Number of games that count, by policy.
        count: Number of games that count, in total.
        finished: Whether the run has ended and no policy failed.
        gone: Number of games that were played but whose lines are missing in the run folder.
    """

    found: Games
    pool: list[str]
    held_out: list[str]
    teams: dict[tuple[str, str], dict[int, TeamValue]] = field(
        default_factory=dict[tuple[str, str], dict[int, TeamValue]]
    )
    seated: dict[tuple[str, str], dict[str, dict[int, TeamValue]]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], dict[str, dict[int, TeamValue]]](dict)
    )
    seeds: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    measure: str = "return"
    games: Counter[str] = field(default_factory=Counter[str])
    count: int = 0
    finished: bool = True
    gone: int = 0

    def own(self) -> BySeed:
        """Return the values of self-play by seed, averaged over the pool."""
        return self.mean_of([(name, name) for name in self.pool])

    def cross(self) -> BySeed:
        """Return the values of cross-play by seed, averaged over the pool; empty for a pool of one."""
        return self.mean_of([(name, other) for name in self.pool for other in self.pool if other != name])

    def held(self) -> BySeed:
        """Return the values with held-out partners by seed, averaged over the pool; may be empty."""
        return self.mean_of([(name, other) for name in self.pool for other in self.held_out])

    def lifts(self) -> dict[tuple[str, str], Pairs]:
        """Pair each team that has another policy in one seat with the same team in self-play.

        Returns:
            Paired values, by joining policy and the team's own policy.
        """
        return {
            (joins, team): self.pairs(self.teams[joins, team], self.teams[team, team])
            for joins in (*self.pool, *self.held_out)
            for team in self.pool
            if joins != team and (joins, team) in self.teams and (team, team) in self.teams
        }

    def mean_of(self, teams: Sequence[tuple[str, str]]) -> dict[int, TeamValue]:
        """Return the mean of several teams by seed, with equal weights, on their common seeds."""
        if not teams or any(team not in self.teams for team in teams):
            return {}
        return _mean([self.teams[team] for team in teams])

    def estimate(self, values: BySeed) -> Estimate:
        """Return the mean of values over seeds with its interval."""
        return estimate([v.mean for v in values.values()], self.samples(values), least=MIN_TEAM_SEEDS)

    def gain(self, pairs: Pairs) -> Estimate:
        """Return the mean of paired differences with its interval."""
        return estimate(pairs.differences, pairs.samples, paired=True, least=pairs.least)

    def samples(self, *values: BySeed) -> list[Sample]:
        """Return one sample for each seed; all ``values`` must have the same seeds."""
        found: list[Sample] = []
        for number in values[0]:
            digests = [digest for of in values for digest in of[number].identity]
            known = None not in digests
            found.append(Sample(self.seeds[number], number, tuple(digests) if known else None))
        return found

    def pairs(self, first: BySeed, second: BySeed) -> Pairs:
        """Pair two sets of values on the seeds that both have."""
        shared = [number for number in first if number in second]
        a, b = ({number: of[number] for number in shared} for of in (first, second))
        differences = tuple(a[number].mean - b[number].mean for number in shared)
        return Pairs(
            tuple(self.samples(a, b)),
            differences,
            len(self.seeds),
            finished=self.finished,
            gone=self.gone,
            least=MIN_TEAM_SEEDS,
        )


def _mean(each: Sequence[BySeed]) -> dict[int, TeamValue]:
    """Return the mean of values by seed, with equal weights, on their common seeds."""
    shared = set(each[0]).intersection(*each[1:])
    return {
        number: TeamValue(
            sum(of[number].mean for of in each) / len(each),
            tuple(digest for of in each for digest in of[number].identity),
        )
        for number in sorted(shared)
    }


def read_team_values(run: Run) -> TeamValues:
    """Read the games of cross-play.

    Raises:
        RunFormatError: The folder does not record the teams, or a row is damaged.
    """
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    found, pairings = pool_of(run)
    held_out = strings(about.get("held_out") or [])
    if held_out is None or not set(held_out) <= set(found.policies):
        where = f"{run.path / 'run.json'}: {TOURNAMENT}"
        raise RunFormatError(where, "'held_out' names a policy that is not in the pool")
    played = TeamValues(found, [name for name in found.policies if name not in held_out], [*held_out])
    data = {pairing: collect_episodes(run.operators[key]) for key, pairing in pairings.items()}
    results = [squad for each in data.values() for e in each.completed for squad in e.squads.values()]
    played.measure = score_or_return(results)
    for key, pairing in pairings.items():
        found.note_played(key, len(data[pairing].indices))
        _add(played, pairing, data[pairing])
    played.gone = sum(run.lost_lines(key, len(data[pairing].indices)) for key, pairing in pairings.items())
    for team, by_seat in played.seated.items():
        if len(by_seat) == len(found.seats):
            played.teams[team] = _mean([by_seat[seat] for seat in found.seats])
    played.finished = run.record.status == "completed" and not found.failed
    return played


def _add(played: TeamValues, pairing: tuple[str, ...], data: OperatorData) -> None:
    """Add the games of one team to ``played``."""
    found, who = played.found, dict(zip(played.found.seats, pairing, strict=True))
    for slot, agent in data.agents.items():
        if agent.worker_type:
            found.players.setdefault(who.get(slot, ""), agent.worker_type)
    values: dict[int, list[tuple[float, str | None]]] = defaultdict(list)

    def number(episode: int) -> int:
        """Return the number of an episode's seed in the schedule."""
        return episode // found.seatings

    for e in data.played:
        squad = next(iter(e.squads.values()), None)
        value = squad.score if played.measure == "score" and squad is not None else e.total
        if value is not None:
            values[number(e.episode)].append((value, e.digest))
            played.seeds[number(e.episode)] = e.seed
    for e in data.unfinished:
        seat = e.reason.split(":", 1)[0]  # the reason begins with the seat if a policy was at fault
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
        at: TeamValue(sum(v for v, _ in rows) / len(rows), tuple(digest for _, digest in rows))
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
    if len(pairing) == 2:  # in a team of two, each policy joins the other
        played.teams[team, joins] = by_seed
