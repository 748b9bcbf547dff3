"""Reads a tournament file and checks each policy in all seats."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gym_gui.core.errors import FilePosition, MosaicError
from gym_gui.core.experiment.tournament_pool import assignments_of
from gym_gui.processes.cores import usable_cores
from gym_gui.services.experiment_file import load_tournament
from gym_gui.services.experiments.experiment_positions import place_of_policy
from gym_gui.ui.operators.script_job import (
    OperatorPlan,
    ScriptPlan,
    cast_operator,
    load_plans,
    require_allowed,
    warnings_of,
)

if TYPE_CHECKING:
    from gym_gui.analysis.records.reader import Run
    from gym_gui.controllers.engine.environment_seats import EnvironmentSeats
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
    from gym_gui.controllers.runs.tournament_run import TournamentRun
    from gym_gui.controllers.setup.catalog_cache import CatalogCache
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.core.config import OperatorConfig
    from gym_gui.core.experiment.tournament import Tournament

_T = TypeVar("_T")


async def plan_tournament(path: Path, catalog: CatalogCache, before: Run | None = None) -> ScriptPlan:
    """Read a tournament; return what it will play and which policies cannot play.

    Args:
        path: The tournament's file, or the folder of a run of this tournament.
        catalog: Describes environments.
        before: The run to resume; ``None`` for a new one.

    Raises:
        NotAllowedError: The file names code or programs that the user has not allowed; none was run.
        UsageError: One line that says what is wrong, where in the file, and what to do.
    """
    await catalog.checks()  # This also waits until the workers have been found.
    tournament = await asyncio.to_thread(load_tournament, path)
    await asyncio.to_thread(require_allowed, _operator_of_pool(tournament), tournament.operator.origin)
    checks = _PolicyChecks(path, tournament, catalog, before)
    tournament_run = await asyncio.to_thread(checks.tournament_run)
    processes = tournament.execution.processes or usable_cores()
    plans = await load_plans(checks.plans, catalog, checks.place_of)
    return ScriptPlan(tournament_run.experiment(), tuple(plans), processes, tournament_run)


def pairings_of(plan: ScriptPlan, tournament_run: TournamentRun) -> list[OperatorPlan]:
    """Return the plan of each pairing that is known so far."""
    experiment, limits = (
        tournament_run.experiment(),
        {each.config.operator_id: each for each in plan.operators},
    )
    games = experiment.execution.num_episodes
    found: list[OperatorPlan] = []
    for operator in experiment.operators:
        # The step limit of an episode is the same, no matter which policies play.
        known = limits[tournament_run.pairings[operator.operator_id][0]].most_steps
        found.append(OperatorPlan(operator, None, games, None if known is None else known * games))
    return found


def _operator_of_pool(tournament: Tournament) -> list[OperatorConfig]:
    """Return one operator with every policy of the pool in a slot, to check which code they need."""
    players = [each for player in tournament.policies.values() for each in assignments_of(player)]
    return [replace(tournament.operator, workers={f"{i}": player for i, player in enumerate(players)})]


class _PolicyChecks:
    """Checks the policies of a tournament in a thread; another process describes the environment.

    Args:
        path: The tournament's file or run folder.
        tournament: The tournament that was read from it.
        catalog: Describes environments.
        before: The run to resume; ``None`` for a new one.

    Attributes:
        plans: Result of the check of each policy in all seats.
    """

    def __init__(self, path: Path, tournament: Tournament, catalog: CatalogCache, before: Run | None) -> None:
        self._path, self._tournament, self._catalog, self._before = path, tournament, catalog, before
        self._loop = asyncio.get_running_loop()
        self.plans: list[OperatorPlan] = []

    def tournament_run(self) -> TournamentRun:
        """Check the tournament's policies and return the tournament, ready to play.

        Raises:
            UsageError: The tournament cannot be played with any policies.
        """
        from gym_gui.controllers.runs.tournament_run import TournamentRun

        return TournamentRun.of(
            self._tournament, before=self._before, seats_of=self._seats_of, check=self._check
        )

    def _wait_for(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _env_info(self, config: OperatorConfig) -> EnvironmentInfo:
        from gym_gui.controllers.setup.environment_probe import EnvironmentRequest

        return self._wait_for(self._catalog.env_info(EnvironmentRequest.of(config)))

    def _seats_of(self, config: OperatorConfig) -> EnvironmentSeats:
        return self._env_info(config).seats

    def _check(self, config: OperatorConfig, _objects: Mapping[str, object]) -> ResolvedOperator:
        """Check whether a policy can play all seats; an error is stored in the policy's plan, not raised."""
        from gym_gui.controllers.engine.resolved_operator import unchecked_operator

        name = config.operator_id
        shown = replace(config, display_name=name)
        try:
            env_info = self._env_info(config)
            self._wait_for(self._catalog.probe.cast(config))
            resolved = cast_operator(config, env_info)
        except MosaicError as error:
            sentence, place = self.place_of(config, error)
            self.plans.append(OperatorPlan(shown, None, 0, None, error=sentence, place=place))
            return unchecked_operator(config)
        limit = config.max_steps or env_info.max_episode_steps
        self.plans.append(OperatorPlan(shown, resolved, 0, limit, self._warnings(name)))
        return resolved

    def place_of(self, config: OperatorConfig, error: MosaicError) -> tuple[str, FilePosition | None]:
        """Return an error of a policy as a sentence, and the line of the file that causes it."""
        from gym_gui.controllers.runs.tournament_run import of_policy

        sentence = of_policy(str(error), config.operator_id)
        return sentence, error.place or place_of_policy(self._path, config.operator_id, sentence)

    def _warnings(self, name: str) -> tuple[str, ...]:
        players = list(assignments_of(self._tournament.policies[name]))
        warnings = [w for player in players for w in warnings_of(name, player)]
        return tuple(dict.fromkeys(warnings))
