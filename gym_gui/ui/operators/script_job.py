"""An experiment file on its way through the engine: read, understood, run, resumed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.core.errors import MosaicError, Place, UsageError
from gym_gui.core.experiment.matrix_expansion import Places, without
from gym_gui.core.experiment.matrix_table import missing_in_words
from gym_gui.core.trusted.subjects import Need
from gym_gui.core.trusted.trust import require
from gym_gui.processes.cores import usable_cores
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.experiments.experiment_places import place_of_operator
from gym_gui.services.secrets import resolve_secrets
from gym_gui.workers.registry import WorkerTypeRegistry

if TYPE_CHECKING:
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
    from gym_gui.controllers.engine.session_events import OnSessionEvent
    from gym_gui.controllers.runs.experiment_run import ExperimentRun
    from gym_gui.controllers.runs.operator_execution import OperatorProgress, RunResult
    from gym_gui.controllers.runs.tournament_run import TournamentRun
    from gym_gui.controllers.setup.catalog_cache import CatalogCache
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.core.config import Experiment, OperatorConfig
    from gym_gui.core.experiment.assignment import WorkerAssignment
    from gym_gui.core.trusted.trust import Origin
    from gym_gui.services.store import Store

_RECENT_S = 0.25
LOADING_S = 30.0
"""After so long, what is checked beforehand has no further slots loaded: they are when it is played."""


@dataclass(frozen=True)
class OperatorPlan:
    """What one operator of an experiment will do.

    Attributes:
        config: The operator.
        resolved: It, checked; ``None`` where it cannot play.
        episodes: Episodes it plays.
        most_steps: Environment steps at most; ``None`` where nothing limits an episode.
        warnings: Sentences.
        error: Why it cannot play, as a sentence; empty when it can.
        place: The line of the experiment file that it is about; ``None`` where it is not known.
    """

    config: OperatorConfig
    resolved: ResolvedOperator | None
    episodes: int
    most_steps: int | None
    warnings: tuple[str, ...] = ()
    error: str = ""
    place: Place | None = None


@dataclass(frozen=True)
class ScriptPlan:
    """What an experiment will do.

    Attributes:
        experiment: The experiment; of a tournament, its pairings as far as they are settled before it begins.
        operators: By operator, in its order; of a tournament, each policy in all seats.
        processes: Session processes at work at the same time.
        tournament_run: The tournament, where it is one; it is played as :meth:`TournamentRun.afresh`.
        run: The folder of the run that it resumes; ``None``: it begins a new run.
        done: By operator, how many episodes that run has finished, and how many of these failed.
    """

    experiment: Experiment
    operators: tuple[OperatorPlan, ...]
    processes: int
    tournament_run: TournamentRun | None = None
    run: Path | None = None
    done: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    @property
    def playable(self) -> bool:
        """Whether every operator can play."""
        return not any(operator.error for operator in self.operators)

    @property
    def episodes(self) -> int:
        """Episodes in all; of a tournament, as far as its pairings are settled."""
        if self.tournament_run is not None:
            return sum(self.tournament_run.totals.values())
        return sum(operator.episodes for operator in self.operators)

    @property
    def not_played(self) -> list[str]:
        """Rows of a matrix that cannot be played, a line for each reason."""
        matrix = self.experiment.matrix
        return [] if matrix is None else missing_in_words(matrix.rows)

    @property
    def most_steps(self) -> int | None:
        """Environment steps in all, at most."""
        steps = [operator.most_steps for operator in self.operators]
        return None if None in steps else sum(step or 0 for step in steps)


async def read_experiment(path: Path, catalog: CatalogCache, *, allow_code: bool) -> Experiment:
    """Read an experiment file; a program is run in a separate process, and only where allowed.

    Environments of a matrix, which say who sits where, are made in another process, too.

    Raises:
        ExperimentError: One line that says what is wrong, where, and what to do.
    """
    from gym_gui.controllers.setup.environment_probe import EnvironmentRequest

    loop = asyncio.get_running_loop()

    def places_of(config: OperatorConfig) -> Places:
        work = catalog.env_info(EnvironmentRequest.of(config))
        env_info = asyncio.run_coroutine_threadsafe(work, loop).result()
        return Places(env_info.agents, env_info.teams if config.teams is None else config.teams)

    return await asyncio.to_thread(partial(load_experiment, path, allow_code=allow_code, places_of=places_of))


async def plan_experiment(
    experiment: Experiment, catalog: CatalogCache, *, whole: bool = False
) -> ScriptPlan:
    """Find out what an experiment will do, and whether it can.

    Args:
        experiment: It.
        catalog: Looks at environments.
        whole: Whether rows of a matrix that cannot be played stay in it, as operators that cannot play.

    Raises:
        NotAllowedError: It names what the person has not allowed; nothing of it was touched.
    """
    await catalog.checks()  # by then the workers have been found
    await asyncio.to_thread(see_allowed, experiment.operators, experiment.operators[0].origin)
    operators = [await _plan_operator(experiment, config, catalog) for config in experiment.operators]
    if experiment.matrix is not None and not whole:
        from gym_gui.controllers.runs.matrix_check import why_not

        names = {o.config.operator_id: o.error for o in operators if o.error}
        if names:
            table = experiment.matrix
            said = {name: why_not(table, name, error) for name, error in names.items()}
            experiment = without(experiment, said)
        operators = [operator for operator in operators if not operator.error]
    operators = await load_plans(operators, catalog)
    return ScriptPlan(experiment, tuple(operators), experiment.execution.processes or usable_cores())


def see_allowed(operators: Sequence[OperatorConfig], origin: Origin) -> None:
    """Make sure that the person has allowed what operators of a file need.

    Raises:
        NotAllowedError: Something of it is not allowed.
    """
    from gym_gui.controllers.engine.resolved_operator import needs_of

    needs: list[Need] = []
    for operator in operators:
        with suppress(MosaicError):  # told with the operator's row
            needs += needs_of(operator)
    require(list(dict.fromkeys(needs)), origin)


async def _plan_operator(
    experiment: Experiment, config: OperatorConfig, catalog: CatalogCache
) -> OperatorPlan:
    from gym_gui.controllers.setup.configuration_draft import Draft

    asked = experiment.execution.num_episodes
    try:
        env_info = await catalog.env_info(Draft.of(config).request())
        await catalog.probe.cast(config)
        resolved = await asyncio.to_thread(cast_operator, config, env_info)
        episodes = len(experiment.execution.schedule(len(resolved.seatings)))
    except MosaicError as error:
        place = await asyncio.to_thread(_place_of, config, error)
        return OperatorPlan(config, None, asked, None, error=str(error), place=place)
    limit = experiment.max_steps(config) or env_info.max_episode_steps
    steps = None if limit is None else limit * episodes
    return OperatorPlan(config, resolved, episodes, steps, await asyncio.to_thread(_warnings, config))


PlaceOf = Callable[["OperatorConfig", MosaicError], tuple[str, Place | None]]
"""What is wrong with an operator as a sentence, and where that is in a file."""


async def load_plans(
    plans: Sequence[OperatorPlan], catalog: CatalogCache, place_of: PlaceOf | None = None
) -> list[OperatorPlan]:
    """Plans after the workers of those that can play have loaded their slots, for a limited time."""
    until = time.monotonic() + LOADING_S
    found: list[OperatorPlan] = []
    for plan in plans:
        late = time.monotonic() > until
        found.append(plan if plan.error or late else await _load_plan(plan, catalog, place_of or _told_of))
    return found


async def _load_plan(plan: OperatorPlan, catalog: CatalogCache, place_of: PlaceOf) -> OperatorPlan:
    try:
        await catalog.loading_probe.load(plan.config)
    except MosaicError as error:
        sentence, place = await asyncio.to_thread(place_of, plan.config, error)
        return replace(plan, resolved=None, error=sentence, place=place)
    return plan


def _told_of(config: OperatorConfig, error: MosaicError) -> tuple[str, Place | None]:
    return str(error), _place_of(config, error)


def _place_of(config: OperatorConfig, error: MosaicError) -> Place | None:
    if error.place is not None or not config.origin.file:
        return error.place
    return place_of_operator(Path(config.origin.file), config.operator_id, str(error))


def cast_operator(config: OperatorConfig, env_info: EnvironmentInfo) -> ResolvedOperator:
    """The operator as the runner needs it, without an environment of our own.

    The engine's own check has been passed in another process.
    """
    from gym_gui.controllers.engine.bound_operator import seatings
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator

    assignments = config.resolved_slots()
    workers = {agent: WorkerTypeRegistry.require(player.worker_id) for agent, player in assignments.items()}
    teams = env_info.teams if config.teams is None else config.teams
    seats = seatings(teams, env_info.slots, swap=config.seats == "swap")
    size = max(slot.observation_codec.size_hint for slot in env_info.slots.values())
    about = assignments, workers, env_info.env_id, env_info.package, size
    return ResolvedOperator(config, env_info.slots, seats, *about, teams=teams)


def _warnings(config: OperatorConfig) -> tuple[str, ...]:
    return tuple(w for agent, player in config.resolved_slots().items() for w in warnings_of(agent, player))


def warnings_of(name: str, player: WorkerAssignment) -> list[str]:
    """What a person should know of who plays a slot, or under a name, before it starts."""
    found: list[str] = []
    if player.worker_type == "human" and "script" not in player.settings:
        found.append(f"{name} is a person's slot: a script asks no person and plays its fallback")
    try:
        resolve_secrets(player)
    except UsageError as error:
        found.append(error.sentence)
    return found


@dataclass
class Standing:
    """Where one operator stands.

    Attributes:
        done: Finished episodes.
        total: Episodes of its schedule.
        failed: Of the finished ones, failed ones.
        steps: Environment steps of this part of the run.
        left_s: Estimated seconds to its end; ``None`` while nothing can be said.
        at_most: ``total`` is the most that may be played: fewer where that decides it.
    """

    done: int = 0
    total: int = 0
    failed: int = 0
    steps: int = 0
    left_s: float | None = None
    at_most: bool = False


@dataclass
class _Pace:
    """How fast an operator's episodes have come since it began."""

    done: int
    since: float = field(default_factory=time.monotonic)

    def left(self, done: int, total: int) -> float | None:
        played, took = done - self.done, time.monotonic() - self.since
        if total <= done:
            return 0.0
        return None if played <= 0 or took < _RECENT_S else (total - done) * took / played


class ScriptJob(QObject):
    """Runs a planned experiment, or a tournament round by round; can be stopped and resumed.

    Args:
        plan: What is run.
        store: Where run folders and sockets are.
        compress: Whether the recorded rows are compressed at the end, also where the file does not say so.
        parent: Qt owner.

    Attributes:
        folder: The run folder, once there is one.
        result: How the run ended, once it has.
        tournament_run: The tournament, if the plan is one; each later round is added when it is paired.
    """

    progressed = pyqtSignal(object)
    """Operator id -> :class:`Standing`."""
    began = pyqtSignal()
    """There is a run folder now."""
    paired = pyqtSignal()
    """A round of a tournament is paired, and is played now."""

    def __init__(
        self, plan: ScriptPlan, store: Store, *, compress: bool = False, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._plan, self._store, self._compress = plan, store, compress
        self._run: ExperimentRun | None = None
        self._paces: dict[str, _Pace] = {}
        self._watched: tuple[str, OnSessionEvent | None] = ("", None)
        self.folder: Path | None = None
        self.result: RunResult | None = None
        self.tournament_run = None if plan.tournament_run is None else plan.tournament_run.afresh()
        self._stopped_early = self._running = False

    @property
    def running(self) -> bool:
        """Whether it is on."""
        return self._running

    def begin(self) -> None:
        """Count as running from now on, before :meth:`run` gets its turn."""
        self.result, self._stopped_early, self._running = None, False, True

    async def run(self) -> RunResult:
        """Run to the end, or resume what was stopped; after :meth:`begin`.

        Raises:
            UsageError: Something the person can fix, found before anything was played.
            MosaicError: A session could not be started.
        """
        self._paces.clear()
        run = self._run = self._make()
        run.watch(*self._watched)
        if self._stopped_early:
            run.stop()
        try:
            self.result = await run.run()
            self._take_folder(self.result.folder)
            self._on_progress(run.progress())
        finally:
            self._run, self._running = None, False
        return self.result

    def _make(self) -> ExperimentRun:
        from gym_gui.controllers.runs.experiment_run import ExperimentRun, PlannedExperiment
        from gym_gui.host.host_client import HostSession

        resolved = [each.resolved for each in self._plan.operators if each.resolved is not None]
        delay_ms = self._plan.experiment.execution.step_delay_ms
        steps_per_s = 1000.0 / delay_ms if delay_ms else None
        return ExperimentRun(
            self.tournament_run or PlannedExperiment(self._plan.experiment, resolved),
            partial(HostSession, store=self._store, steps_per_s=steps_per_s),
            self._store.runs_dir(),
            processes=self._plan.processes,
            resume=self.folder or self._plan.run,
            compress=self._compress,
            on_progress=self._on_progress,
            on_round=self._on_round,
        )

    def _on_round(self) -> None:
        if self._run is not None:
            self._on_progress(self._run.progress())
        self.paired.emit()

    def stop(self) -> None:
        """End early; what is done is kept."""
        self._stopped_early = True
        if self._run is not None:
            self._run.stop()

    def watch(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """Look at what an operator plays, as long as it does; see :meth:`ExperimentRun.watch`."""
        self._watched = operator_id, listener
        if self._run is not None:
            self._run.watch(operator_id, listener)

    def _take_folder(self, folder: Path | None) -> None:
        if folder is not None and folder != self.folder:
            self.folder = folder
            self.began.emit()

    def _on_progress(self, states: Sequence[OperatorProgress]) -> None:
        if self._run is not None:
            self._take_folder(self._run.folder)
        standings: dict[str, Standing] = {}
        for state in states:
            pace = self._paces.get(state.operator_id)
            if pace is None and (state.live or state.steps):
                pace = self._paces[state.operator_id] = _Pace(state.done)
            left = pace.left(state.done, state.total) if pace is not None else None
            standings[state.operator_id] = Standing(
                state.done, state.total, state.failed, state.steps, left, state.at_most
            )
        self.progressed.emit(standings)
