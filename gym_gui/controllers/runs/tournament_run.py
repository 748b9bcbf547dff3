"""Turns a tournament into the operators of an experiment: seats, pairings and rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from gym_gui.analysis.compute.games import collect_games, matches, points
from gym_gui.analysis.records.reader import Run
from gym_gui.controllers.engine.environment_seats import SeatsOf
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator, seats_here
from gym_gui.controllers.runs.tournament_sides import sides_of
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import ExperimentError, MissingDependencyError, RunFormatError, UsageError
from gym_gui.core.experiment.pairings import (
    Pairing,
    SwissRound,
    cross_play,
    round_robin,
    rounds_from_record,
    swiss_round,
    who_joins,
)
from gym_gui.core.experiment.tournament import ENVIRONMENT, Tournament
from gym_gui.core.experiment.tournament_pool import seated
from gym_gui.core.record_fields import mapping, strings
from gym_gui.core.records import TOURNAMENT
from gym_gui.core.validation import short_id

_T = TypeVar("_T")

Check = Callable[[OperatorConfig, Mapping[str, object]], ResolvedOperator]
"""Function that checks an operator, some of whose slots may have in-process policies; raises UsageError."""


@dataclass
class TournamentRun:
    """State of a tournament that is being played. Make one with :meth:`of`.

    Each pairing is an operator whose sides swap seats. A pairing is played only once, so an added policy
    adds only its own games.

    Attributes:
        tournament: The tournament as requested.
        sides: The slots of each side; in cross-play, each slot is a side of its own.
        objects: In-process policies by name and slot; the slot ``""`` stands for every slot.
        pairings: The policies that meet, by operator, in the order in which the pairings were decided.
        rounds: Rounds of a Swiss tournament.
        checked: Operator of each policy, checked with the policy in every slot.
    """

    tournament: Tournament
    sides: Mapping[str, Sequence[str]]
    objects: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    pairings: dict[str, Pairing] = field(default_factory=dict[str, Pairing])
    rounds: list[SwissRound] = field(default_factory=list[SwissRound])
    checked: dict[str, ResolvedOperator] = field(default_factory=dict[str, ResolvedOperator])

    @classmethod
    def of(
        cls,
        tournament: Tournament,
        objects: Mapping[str, Mapping[str, object]] | None = None,
        before: Run | None = None,
        *,
        seats_of: SeatsOf = seats_here,
        check: Check = resolve_operator,
    ) -> TournamentRun:
        """Check a tournament against its environment, its players and the run that it continues.

        Args:
            tournament: The tournament as requested.
            objects: In-process policies by name and slot.
            before: The run that is continued; ``None`` for a new tournament.
            seats_of: Reads the slots and teams of the environment; by default it is made in this process.
            check: Checks an operator in whose slots one policy plays alone; by default in this process.

        Raises:
            UsageError: The environment has no sides that can swap seats, a policy cannot take a seat, or the
                run belongs to another tournament.
        """
        tournament, found = sides_of(tournament, seats_of)
        tournament_run = cls(tournament, found, objects or {})
        sides = len(tournament_run.sides)
        tournament.executed(tournament_run.seatings)
        if not tournament_run.is_cross_play and len(tournament.policies) < sides:
            raise ExperimentError(
                f"{tournament.operator.task} has {sides} sides, and the pool "
                f"{len(tournament.policies)} policies",
                fix="Add policies, until there is one for each side",
            )
        if sides > 2 and tournament.schedule.kind == "swiss":
            raise ExperimentError(
                f"a Swiss tournament needs 2 sides, and {tournament.operator.task} has {sides}",
                fix="Use schedule: round_robin, or list the pairings",
            )
        for i, game in enumerate(tournament.schedule.games):
            if len(game) != sides:
                raise ExperimentError(
                    f"schedule[{i}] names {len(game)} policies, and {tournament.operator.task} has "
                    f"{sides} sides",
                    fix=f"Name {sides} policies",
                )
        if before is not None:
            tournament_run._continue_run(before)
        tournament_run.checked = {
            name: tournament_run._check_policy(name, check) for name in tournament.policies
        }
        tournament_run._plan(before)
        return tournament_run

    def afresh(self) -> TournamentRun:
        """Return a copy of the tournament's current state that can be played independently."""
        return replace(self, pairings=dict(self.pairings), rounds=list(self.rounds))

    @property
    def is_cross_play(self) -> bool:
        """Whether the tournament is cross-play: all agents form one team."""
        return self.tournament.schedule.kind == "cross_play"

    @property
    def seatings(self) -> int:
        """Number of games that a pairing plays on each seed."""
        return 1 if self.tournament.operator.seats == "fixed" else len(self.sides)

    def title(self, pairing: Pairing) -> str:
        """Return the title of a pairing: ``a vs b``, or ``a with b`` in cross-play.

        If policies stay in fixed seats, ``a as SEAT with b`` means that ``b`` has all other seats.
        """
        if not self.is_cross_play:
            return " vs ".join(pairing)
        joins, team = who_joins(pairing)
        seat = pairing.index(joins)
        if self.seatings == 1 and len(self.sides) > 2 and joins != team:
            return f"{joins} as {list(self.sides)[seat]} with {team}"
        return f"{pairing[0]} with {pairing[1]}"

    @property
    def header(self) -> dict[str, Any]:
        """Fields of ``run.json`` about the tournament."""
        about = {
            **self.tournament.to_record(),
            "sides": {side: list(slots) for side, slots in self.sides.items()},
            "pairings": {key: list(pairing) for key, pairing in self.pairings.items()},
        }
        if self.is_cross_play and self.seatings == 1:
            about["seats"] = "fixed"
        if self.tournament.schedule.kind == "swiss":
            about["rounds"] = [
                {"pairings": [list(p) for p in each.pairings], "byes": list(each.byes)}
                for each in self.rounds
            ]
        return {TOURNAMENT: about, "episodes": self.totals}

    @property
    def totals(self) -> dict[str, int]:
        """Number of games of each pairing, by operator id."""
        return dict.fromkeys(self.pairings, self.tournament.executed(self.seatings).num_episodes)

    def experiment(self) -> Experiment:
        """Return the experiment with all games of the rounds so far, including played ones."""
        operators = [self._operator(key, pairing) for key, pairing in self.pairings.items()]
        return Experiment(operators, self.tournament.executed(self.seatings))

    def resolved(self) -> list[ResolvedOperator]:
        """Return the operators of :meth:`experiment`, checked."""
        return [self._resolved(operator) for operator in self.experiment().operators]

    def tried(self, among: Collection[str] | None = None) -> list[str]:
        """Return pairings that together contain every policy, for the test start of sessions.

        Args:
            among: Operators to choose from; by default all.
        """
        unseen, found = set(self.tournament.policies), list[str]()
        for key, pairing in self.pairings.items():
            if unseen & set(pairing) and (among is None or key in among):
                found.append(key)
                unseen -= set(pairing)
        return found

    def next_round(self, run: Run) -> bool:
        """Pair the next round of a Swiss tournament from the results so far.

        Returns:
            Whether there is a next round.
        """
        if self.tournament.schedule.kind != "swiss":
            return False
        found = swiss_round(list(self.tournament.policies), self.rounds, _points(run), self.tournament.rounds)
        if found is None:
            return False
        self.rounds.append(found)
        self._add(found.pairings)
        return True

    # -- who sits where ----------------------------------------------------------------

    def _operator(self, key: str, pairing: Pairing) -> OperatorConfig:
        players = {
            slot: player
            for name, slots in zip(pairing, self.sides.values(), strict=True)
            for slot in slots
            if (player := seated(self.tournament.policies[name], slot)) is not None
        }
        return replace(
            self.tournament.operator,
            operator_id=key,
            display_name=self.title(pairing),
            workers=players,
            named=True,
        )

    def _resolved(self, operator: OperatorConfig) -> ResolvedOperator:
        """Return the checked operator of a pairing, assembled from its checked policies.

        Checking each pairing would take too long, because there may be thousands.
        """
        players = [self.checked[name] for name in self.pairings[operator.operator_id]]
        sides = list(self.sides.values())
        return replace(
            players[0],
            config=operator,
            assignments=_seated([player.assignments for player in players], sides),
            workers=_seated([player.workers for player in players], sides),
            objects=_seated([player.objects for player in players], sides),
            pipelines=_seated([player.pipelines for player in players], sides),
            observation_bytes=max(player.observation_bytes for player in players),
        )

    def _objects(self, pairing: Pairing) -> dict[str, object]:
        players = zip(pairing, self.sides.values(), strict=True)
        return {
            slot: held.get(slot, held.get(""))
            for name, slots in players
            for slot in slots
            if (held := self.objects.get(name, {})).keys() & {slot, ""}
        }

    def _check_policy(self, name: str, check: Check) -> ResolvedOperator:
        everywhere = (name,) * len(self.sides)
        try:
            return check(self._operator(name, everywhere), self._objects(everywhere))
        except MissingDependencyError as error:
            raise UsageError(of_policy(error.message, name), fix=error.fix) from None
        except UsageError as error:
            raise ExperimentError(of_policy(error.message, name), fix=error.fix) from None

    # -- what is played ----------------------------------------------------------------

    def _plan(self, before: Run | None) -> None:
        schedule, policies = self.tournament.schedule, list(self.tournament.policies)
        if schedule.kind == "round_robin":
            self._add(round_robin(policies, len(self.sides)))
        elif schedule.kind == "cross_play":
            fixed = self.seatings == 1
            self._add(cross_play(policies, self.tournament.held_out, len(self.sides), fixed=fixed))
        elif schedule.kind == "written":
            self._add(schedule.games)
        elif before is None:
            first = swiss_round(policies, [], {}, self.tournament.rounds)
            assert first is not None
            self.rounds.append(first)
            self._add(first.pairings)

    def _add(self, pairings: Sequence[Pairing]) -> None:
        def met(pairing: Pairing) -> Pairing:
            """Return a key that is the same for all seatings of one game."""
            return pairing if self.is_cross_play and self.seatings == 1 else tuple(sorted(pairing))

        known = {met(pairing) for pairing in self.pairings.values()}
        for pairing in pairings:
            if met(pairing) not in known:
                self.pairings[short_id(self.title(pairing).replace(" ", "_"))] = pairing

    def _continue_run(self, run: Run) -> None:
        """Take over pairings and rounds from a run that is continued.

        Raises:
            UsageError: The run belongs to another tournament.
        """
        about = mapping(run.record.extra.get(TOURNAMENT))
        if about is None:
            raise UsageError(f"{run.path} is no tournament", fix="Resume it by: mosaic run --resume RUN")
        mine = self.tournament.to_record()
        for key in ENVIRONMENT:
            if about.get(key) != mine.get(key):
                raise UsageError(
                    f"the run was begun with another {key}", fix="Begin a new run: leave --resume out"
                )
        if (about.get("seats") == "fixed") != (self.is_cross_play and self.seatings == 1):
            raise UsageError(
                "policies changed seats when the run was begun, but now a policy names its slots"
                if about.get("seats") != "fixed"
                else "policies stayed in their slots when the run was begun, but now they could change seats",
                fix="Begin a new run: leave --resume out",
            )
        pool, now = mapping(about.get("policies")) or {}, mapping(mine["policies"]) or {}
        for name, player in pool.items():
            if name not in now:
                raise UsageError(
                    f"the run has games of {name!r}, which is no policy of this tournament",
                    fix="Add the policy again, or begin a new run: leave --resume out",
                )
            if now[name] != player:
                raise UsageError(
                    f"policy {name!r} has changed since the run was begun",
                    fix="Give the changed policy another name, so that it plays its own games",
                )
        self._keep_seeds(run)
        where = f"{run.path / 'run.json'}: {TOURNAMENT}"
        for key, named in (mapping(about.get("pairings")) or {}).items():
            met = strings(named)
            if met is None or len(met) != len(self.sides) or not set(met) <= set(pool):
                raise RunFormatError(where, f"{key!r} is no pairing of its policies")
            self.pairings[key] = met
        rounds = rounds_from_record(about.get("rounds"))
        if rounds is None:
            raise RunFormatError(where, "a round cannot be read")
        self.rounds += rounds
        swiss = self.tournament.schedule.kind == "swiss"
        if swiss and self.pairings and not self.rounds:
            raise UsageError(
                "the run was not begun as a Swiss tournament",
                fix="Use schedule: round_robin, or begin a new run",
            )

    def _keep_seeds(self, run: Run) -> None:
        """Check that the tournament's seeds begin with the run's seeds.

        New seeds may only follow the run's seeds, because episodes are numbered in the order of the seeds.
        """
        ran = run.record.seeds
        seeds = self.tournament.executed(self.seatings).seeds
        if seeds[: len(ran)] != tuple(ran):
            raise UsageError(
                "the run was played on other seeds",
                fix="Keep the run's seeds, and add seeds only at their end",
            )


def _seated(players: Sequence[Mapping[str, _T]], sides: Sequence[Sequence[str]]) -> dict[str, _T]:
    """Merge the slot entries of all players, taking from each player those of its side."""
    return {
        slot: of_slot[slot]
        for of_slot, slots in zip(players, sides, strict=True)
        for slot in slots
        if slot in of_slot
    }


def of_policy(message: str, name: str) -> str:
    """Return an error message about a one-policy operator as a message about the policy."""
    return message.replace(f"operator {name!r}", f"policy {name!r}")


def _points(run: Run) -> dict[str, float]:
    """Return the average points per game of each policy."""
    made: dict[str, list[float]] = {}
    for games in collect_games(run).games.values():
        for game, i, j in matches(games):
            result = points(game.results[i], game.results[j])
            made.setdefault(game.policies[i], []).append(result)
            made.setdefault(game.policies[j], []).append(1 - result)
    return {name: sum(results) / len(results) for name, results in made.items()}
