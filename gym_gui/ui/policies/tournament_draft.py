"""Draft of a tournament in the window: the policies that can play a game, and the resulting tournament."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gym_gui.core.config import ExecutionConfig, OperatorConfig
from gym_gui.core.enums import WorkerKind
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.tournament import Schedule, Tournament, environment
from gym_gui.core.trusted.trust import TYPED

if TYPE_CHECKING:
    from gym_gui.controllers.runs.tournament_run import TournamentRun
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo

FIRST_GAME: Final = "classic/connect_four_v3"
"""Environment of a tournament if the user chose none."""
_AT_ANY_RATE: Final = ("random", "cycle")
"""Baseline policies that are proposed for the pool of every game, for comparison."""
_LONGEST: Final = 32


@dataclass(frozen=True)
class TournamentRequest:
    """Request to set up a tournament.

    Attributes:
        task: Environment; ``""`` for the default :data:`FIRST_GAME`.
        players: Policies proposed for the pool; those that cannot play in the environment are left out.
    """

    task: str = ""
    players: Sequence[WorkerAssignment] = ()

    @classmethod
    def of(cls, operators: Sequence[OperatorConfig]) -> TournamentRequest:
        """Return a request with the first multi-agent operator's environment, and all policies of
        operators in it.
        """
        several = [each for each in operators if len(each.resolved_slots()) > 1]
        if not several:
            return cls()
        task = several[0].task
        rows = [row for each in several if each.task == task for row in each.resolved_slots().values()]
        return cls(task, tuple(_each_once(rows)))


def _each_once(rows: Sequence[WorkerAssignment]) -> list[WorkerAssignment]:
    found: list[WorkerAssignment] = []
    for row in rows:
        if row not in found and row.worker_type != WorkerKind.HUMAN.value:
            found.append(row)
    return found


@dataclass(frozen=True)
class Candidate:
    """Policy that can play every seat of a game.

    Attributes:
        title: Title of the policy.
        meaning: Description of the policy, as a sentence, or ``""``.
        player: The worker and its settings.
        wanted: Whether the policy is initially selected for the pool.
    """

    title: str
    meaning: str
    player: WorkerAssignment
    wanted: bool


def candidates(
    sheet: EnvironmentInfo, checks: ConfigurationChecks, request: TournamentRequest
) -> list[Candidate]:
    """Return the policies that can play every seat of an environment.

    The order is: policies of the request, policies made for the environment, then all others.
    """
    named = [row for row in request.players if _fits(sheet, checks, row)]
    found = [Candidate(checks.title(row), "", row, wanted=True) for row in named]
    offers = [
        {o.policy.policy_id: o.policy for o in checks.offers(slot) if not o.reason}
        for slot in sheet.slots.values()
    ]
    everywhere = [p for key, p in offers[0].items() if all(key in others for others in offers[1:])]
    usable = [p for p in everywhere if p.complete and p.kind != WorkerKind.HUMAN.value]
    usable = [p for p in usable if _fits(sheet, checks, p.assignment())]
    usable.sort(key=lambda policy: not policy.is_made_for(sheet.env_id))
    for policy in usable:
        player = policy.assignment()
        if any((player.worker_id, player.settings) == (row.worker_id, row.settings) for row in named):
            continue
        usual = policy.policy_id in _AT_ANY_RATE or policy.kind == WorkerKind.PLANNER.value
        wanted = not named and (usual or policy.is_made_for(sheet.env_id))
        found.append(Candidate(policy.title, policy.meaning, player, wanted=wanted))
    return found


def _fits(sheet: EnvironmentInfo, checks: ConfigurationChecks, row: WorkerAssignment) -> bool:
    return not any(checks.problem(slot, row) for slot in sheet.slots.values())


def names_of(chosen: Sequence[Candidate]) -> dict[str, WorkerAssignment]:
    """Return the pool of a tournament: a unique name for each candidate, as files and tables use it."""
    pool: dict[str, WorkerAssignment] = {}
    taken: set[str] = set()
    for each in chosen:
        base = re.sub(r"[^a-z0-9]+", "_", each.title.lower()).strip("_")[:_LONGEST].strip("_") or "policy"
        base = base.replace("_vs_", "_and_").replace("_with_", "_and_")
        name, n = base, 1
        while name in taken:
            n += 1
            name = f"{base}_{n}"
        taken.add(name)
        pool[name] = each.player
    return pool


def tournament_of(
    sheet: EnvironmentInfo, pool: Mapping[str, WorkerAssignment], seeds: int, *, swiss: bool
) -> TournamentRun:
    """Return the tournament of a pool, to show its size, without checking its policies again.

    Raises:
        UsageError: The pool is too small, or the environment allows no games.
    """
    from gym_gui.controllers.engine.resolved_operator import unchecked_operator
    from gym_gui.controllers.runs.tournament_run import TournamentRun

    together = len(sheet.teams) < 2
    asked = Tournament(
        pool,
        environment(sheet.env_id, {}, TYPED),
        Schedule("" if together else "swiss" if swiss else "round_robin"),
        ExecutionConfig(None, seeds=list(range(seeds))),
    )
    return TournamentRun.of(
        asked,
        seats_of=lambda _operator: sheet.seats,
        check=lambda operator, _objects: unchecked_operator(operator),
    )
