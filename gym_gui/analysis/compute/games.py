"""Reads the games of a tournament from its run folder: policies by seat, and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gym_gui.analysis.findings.findings import Fixture
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.analysis.statistics.units import Sample
from gym_gui.core.enums import EpisodeStatus, Outcome
from gym_gui.core.errors import RunFormatError
from gym_gui.core.record_fields import mapping, strings
from gym_gui.core.records import TOURNAMENT, EpisodeRecord

_WORTH: Final = {Outcome.WIN: 1.0, Outcome.DRAW: 0.5, Outcome.LOSS: 0.0}


@dataclass(frozen=True)
class Game:
    """A completed game.

    Attributes:
        policies: The policy in each seat.
        results: The result of each policy, by seat; higher is better.
        sample: Seed, round and digest of the game, by which dependent games are recognized.
        order: Start time of the game, by which games are sorted.
    """

    policies: tuple[str, ...]
    results: tuple[float, ...]
    sample: Sample
    order: str = ""


@dataclass
class Games:
    """All games of a tournament.

    Attributes:
        policies: The pool, in its order.
        seats: Names of the seats.
        players: Kind of worker, by policy.
        games: Completed games that count, by operator (pairing).
        halved: Number of completed games that do not count, because a seating of their seed is missing.
        failed: Number of games that failed because of a policy, by policy.
        lost: Number of games that failed for another reason or were stopped.
        reasons: Reasons why games failed, with their counts.
        planned: Number of games that the tournament plans in total.
        seatings: Number of seatings in which a pairing plays each seed; 1 if policies keep their seats.
        called: The game's names for seats (such as ``White``), by seat.
        fixtures: Pairing and its number of recorded games, by operator.
    """

    policies: tuple[str, ...]
    seats: tuple[str, ...]
    players: dict[str, str] = field(default_factory=dict[str, str])
    games: dict[str, list[Game]] = field(default_factory=dict[str, list[Game]])
    halved: int = 0
    failed: Counter[str] = field(default_factory=Counter[str])
    lost: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])
    planned: int = 0
    seatings: int = 2
    called: dict[str, str] = field(default_factory=dict[str, str])
    fixtures: dict[str, Fixture] = field(default_factory=dict[str, Fixture])

    @property
    def count(self) -> int:
        """Number of games that count."""
        return sum(map(len, self.games.values()))

    @property
    def unplayed(self) -> int:
        """Number of planned games of which nothing is recorded."""
        return max(self.planned - self.count - self.halved - self.lost - self.failed.total(), 0)

    def note_played(self, operator_id: str, games: int) -> None:
        """Set the number of recorded games of a pairing."""
        self.fixtures[operator_id] = replace(self.fixtures[operator_id], played=games)


def is_tournament(run: Run) -> bool:
    """Return whether a run's operators are the pairings of a tournament."""
    return TOURNAMENT in run.record.extra


def is_cross_play(run: Run) -> bool:
    """Return whether a run is a cross-play: a tournament whose policies fill the seats of one team."""
    return (mapping(run.record.extra.get(TOURNAMENT)) or {}).get("schedule") == "cross_play"


def policies_by_side(run: Run, operator_id: str) -> dict[str, str]:
    """Return the policy of each side in a pairing of a tournament, by side; empty for cross-play."""
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    met = strings((mapping(about.get("pairings")) or {}).get(operator_id)) or ()
    return {} if is_cross_play(run) else dict(zip(mapping(about.get("sides")) or {}, met, strict=False))


def collect_games(run: Run) -> Games:
    """Read the games of a tournament.

    Raises:
        RunFormatError: The folder does not record the pairings, or a row is damaged.
    """
    found, pairings = pool_of(run)
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    sides = [strings(slots) or () for slots in (mapping(about.get("sides")) or {}).values()]
    for operator_id, met in pairings.items():
        slots = {slot: name for name, of in zip(met, sides, strict=True) for slot in of}
        _collect(found, run.operators[operator_id], slots)
    return found


def pool_of(run: Run) -> tuple[Games, dict[str, tuple[str, ...]]]:
    """Return the pool of a tournament, without games, and the policies of each pairing by operator.

    Raises:
        RunFormatError: The folder does not record the pairings.
    """
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    sides = {side: strings(slots) for side, slots in (mapping(about.get("sides")) or {}).items()}
    pool = mapping(about.get("policies")) or {}
    pairings = mapping(about.get("pairings")) or {}
    where = f"{run.path / 'run.json'}: {TOURNAMENT}"
    if len(sides) < 2 or not all(sides.values()) or len(pool) < 2:
        raise RunFormatError(where, "it does not say who played for which side")
    found = Games(tuple(pool), tuple(sides), seatings=1 if about.get("seats") == "fixed" else len(sides))
    seat_names = [run.operators[each].seat_names for each in pairings if each in run.operators]
    names = seat_names[0] if seat_names else dict[str, str]()
    alone = {side: slots[0] for side, slots in sides.items() if slots is not None and len(slots) == 1}
    found.called.update({side: names[slot] for side, slot in alone.items() if slot in names})
    met_in: dict[str, tuple[str, ...]] = {}
    for operator_id, named in pairings.items():
        met = strings(named)
        if (
            operator_id not in run.operators
            or met is None
            or len(met) != len(sides)
            or not set(met) <= set(pool)
        ):
            raise RunFormatError(where, f"{operator_id!r} is no pairing of its policies")
        planned = run.planned.get(operator_id, 0)
        found.planned += planned
        found.fixtures[operator_id] = Fixture(operator_id, met, 0, planned)
        met_in[operator_id] = met
    for operator_id, operator in run.operators.items():
        if operator_id not in met_in and next(operator.episodes(), None) is not None:
            raise RunFormatError(where, f"it does not say who met in {operator_id!r}")
    return found, met_in


def _collect(found: Games, operator: OperatorRun, slots: Mapping[str, str]) -> None:
    rounds: dict[int, list[Game]] = {}
    episodes = [episode for episode in operator.episodes() if not episode.left_out]
    found.note_played(operator.operator_id, len(episodes))
    for episode in sorted(episodes, key=lambda e: e.episode_index):
        who = {seat: slots.get(agent.slot, "") for seat, agent in episode.agents.items()}
        if "" in who.values():
            slot = next(episode.agents[seat].slot for seat, policy in who.items() if not policy)
            where = f"{operator.path.parents[1] / 'run.json'}: {TOURNAMENT}"
            raise RunFormatError(where, f"{slot!r} of {operator.operator_id!r} is on none of its sides")
        for seat, agent in episode.agents.items():
            if agent.worker_type:
                found.players.setdefault(who[seat], agent.worker_type)
        number = episode.episode_index // len(found.seats)
        if episode.status is not EpisodeStatus.COMPLETED:
            _note_failure(found, episode, who)
        elif (game := _game(episode, who, number)) is not None:
            rounds.setdefault(number, []).append(game)
        else:
            found.lost += 1
    whole = [games for games in rounds.values() if len(games) == len(found.seats)]
    found.halved += sum(len(games) for games in rounds.values() if len(games) < len(found.seats))
    found.games[operator.operator_id] = [game for games in whole for game in games]


def _note_failure(found: Games, episode: EpisodeRecord, who: Mapping[str, str]) -> None:
    if episode.status is EpisodeStatus.ABORTED:
        found.lost += 1
        return
    error = episode.error or "no reason given"
    found.reasons[error] += 1
    # The error of a game that failed because of a policy begins with the policy's seat.
    policy = who.get(error.split(":", 1)[0], "")
    if policy and episode.lost is None:
        found.failed[policy] += 1
    else:
        found.lost += 1


def _game(episode: EpisodeRecord, who: Mapping[str, str], number: int) -> Game | None:
    """Return a completed episode as a game; ``None`` if the result of a side is missing."""
    policies = tuple(who.get(team.agents[0], "") for team in episode.teams.values() if team.agents)
    results = side_results(episode)
    if results is None or len(policies) != len(results) or "" in policies:
        return None
    # Equal games have equal digests; the seating is no part of them.
    sample = Sample(episode.seed, number, episode.trajectory_sha256)
    return Game(policies, results, sample, episode.started_at or "")


def side_results(episode: EpisodeRecord) -> tuple[float, ...] | None:
    """Return each team's result in an episode, in team order; higher is better. ``None`` if unknown."""
    teams = episode.teams
    outcome: Mapping[str, Any] = episode.outcome or {}
    if len(teams) == 2 and all(name in outcome for name in teams):
        return tuple(_WORTH[outcome[name]] for name in teams)
    # With more than two sides, the outcome covers the first side only; scores and returns cover all sides.
    for values in ([team.score for team in teams.values()], [team.return_ for team in teams.values()]):
        known = [value for value in values if value is not None]
        if len(known) == len(teams):
            return tuple(known)
    return None


def matches(games: Sequence[Game]) -> Iterator[tuple[Game, int, int]]:
    """Yield each game with the indices of each two of its seats."""
    for game in games:
        for i in range(len(game.policies)):
            for j in range(i + 1, len(game.policies)):
                yield game, i, j


def points(mine: float, theirs: float) -> float:
    """Return 1 for a win, ½ for a draw, 0 for a loss."""
    return 1.0 if mine > theirs else 0.0 if mine < theirs else 0.5
