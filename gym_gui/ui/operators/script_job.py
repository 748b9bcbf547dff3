"""Plans an experiment file for the window, and runs or resumes it with the engine."""

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

from gym_gui.core.errors import FilePosition, MosaicError, UsageError
from gym_gui.core.experiment.matrix_expansion import SlotsAndTeams, without
from gym_gui.core.experiment.matrix_table import missing_in_words
from gym_gui.core.trusted.subjects import RequiredSubject
from gym_gui.core.trusted.trust import require
from gym_gui.processes.cores import usable_cores
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.experiments.experiment_positions import place_of_operator
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

_MIN_MEASURED_S = 0.25
LOADING_S = 30.0
"""Time in seconds after which a check of the slots stops loading policies; the run loads the others."""


@dataclass(frozen=True)
class OperatorPlan:
    """What one operator of an experiment will play.

    Attributes:
        config: The operator.
        resolved: The checked operator with its slots and workers; ``None`` if it cannot play.
        episodes: Number of episodes that it plays.
        most_steps: Largest number of environment steps in all episodes; ``None`` without a step limit.
        warnings: Warnings, as sentences.
        error: Sentence that says why the operator cannot play; empty if it can.
        place: Line of the experiment file that causes the error; ``None`` if it is not known.
    """

    config: OperatorConfig
    resolved: ResolvedOperator | None
    episodes: int
    most_steps: int | None
    warnings: tuple[str, ...] = ()
    error: str = ""
    place: FilePosition | None = None


@dataclass(frozen=True)
class ScriptPlan:
    """What an experiment or a tournament will play.

    Attributes:
        experiment: The experiment; for a tournament, the pairings that are known before it begins.
        operators: Plans of the operators, in order; for a tournament, each policy in all seats.
        processes: Number of session processes that run in parallel.
        tournament_run: The tournament, or ``None`` for an experiment. To play it, call
            :meth:`TournamentRun.afresh`.
        run: Folder of the run that is resumed; ``None`` for a new run.
        done: Numbers of finished and failed episodes of the resumed run, by operator id.
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
        """Number of episodes of all operators; for a tournament, of the pairings that are known."""
        if self.tournament_run is not None:
            return sum(self.tournament_run.totals.values())
        return sum(operator.episodes for operator in self.operators)

    @property
    def not_played(self) -> list[str]:
        """Reasons why rows of a matrix cannot be played, one line per reason."""
        matrix = self.experiment.matrix
        return [] if matrix is None else missing_in_words(matrix.rows)

    @property
    def most_steps(self) -> int | None:
        """Largest number of environment steps of all operators; ``None`` if one has no step limit."""
        steps = [operator.most_steps for operator in self.operators]
        return None if None in steps else sum(step or 0 for step in steps)


async def read_experiment(path: Path, catalog: CatalogCache, *, allow_code: bool) -> Experiment:
    """Read an experiment file.

    A Python file is run in a separate process, and only if ``allow_code`` is set. Environments of a matrix,
    whose slots and teams determine who plays where, are also created in another process.

    Raises:
      ExperimentError: One line that says what is wrong, where in the file, and what to do.
    """
    from gym_gui.controllers.setup.environment_probe import EnvironmentRequest

    loop = asyncio.get_running_loop()

    def places_of(config: OperatorConfig) -> SlotsAndTeams:
        work = catalog.env_info(EnvironmentRequest.of(config))
        env_info = asyncio.run_coroutine_threadsafe(work, loop).result()
        return SlotsAndTeams(env_info.agents, env_info.teams if config.teams is None else config.teams)

    return await asyncio.to_thread(partial(load_experiment, path, allow_code=allow_code, places_of=places_of))


async def plan_experiment(
    experiment: Experiment, catalog: CatalogCache, *, whole: bool = False
) -> ScriptPlan:
    """Return what an experiment will play, and whether each operator can play.

    Args:
        experiment: The experiment.
        catalog: Describes environments.
        whole: Whether rows of a matrix that cannot be played are kept as operators with an error.

    Raises:
        NotAllowedError: The experiment names code or programs that the user has not allowed; none was
            run.
    """
    await catalog.checks()  # This also waits until the workers have been found.
    await asyncio.to_thread(require_allowed, experiment.operators, experiment.operators[0].origin)
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


def require_allowed(operators: Sequence[OperatorConfig], origin: Origin) -> None:
    """Check that the user has allowed the code and programs that a file's operators need.

    Raises:
        NotAllowedError: Some code or program was not allowed.
    """
    from gym_gui.controllers.engine.resolved_operator import needs_of

    needs: list[RequiredSubject] = []
    for operator in operators:
        with suppress(MosaicError):  # The operator's row shows the error.
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


PlaceOf = Callable[["OperatorConfig", MosaicError], tuple[str, FilePosition | None]]
"""Function that turns an operator's error into a sentence and its line in a file."""


async def load_plans(
    plans: Sequence[OperatorPlan], catalog: CatalogCache, place_of: PlaceOf | None = None
) -> list[OperatorPlan]:
    """Load the slots of playable plans in their workers, until 30 s have passed; return the plans.

    A plan gets an error if a worker cannot load its slot.
    """
    until = time.monotonic() + LOADING_S
    found: list[OperatorPlan] = []
    for plan in plans:
        late = time.monotonic() > until
        found.append(
            plan if plan.error or late else await _load_plan(plan, catalog, place_of or _sentence_and_line)
        )
    return found


async def _load_plan(plan: OperatorPlan, catalog: CatalogCache, place_of: PlaceOf) -> OperatorPlan:
    try:
        await catalog.loading_probe.load(plan.config)
    except MosaicError as error:
        sentence, place = await asyncio.to_thread(place_of, plan.config, error)
        return replace(plan, resolved=None, error=sentence, place=place)
    return plan


def _sentence_and_line(config: OperatorConfig, error: MosaicError) -> tuple[str, FilePosition | None]:
    return str(error), _place_of(config, error)


def _place_of(config: OperatorConfig, error: MosaicError) -> FilePosition | None:
    if error.place is not None or not config.origin.file:
        return error.place
    return place_of_operator(Path(config.origin.file), config.operator_id, str(error))


def cast_operator(config: OperatorConfig, env_info: EnvironmentInfo) -> ResolvedOperator:
    """Return an operator with its slots, workers and seats, without creating an environment.

    The operator must have been checked already, in another process.
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
    """Return warnings about a slot's assignment for the user to read before the run.

    Args:
      name: Name of the slot or policy.
      player: The assignment.
    """
    found: list[str] = []
    if player.worker_type == "human" and "script" not in player.settings:
        found.append(f"a person is assigned to {name}: a script asks no person and plays the fallback action")
    try:
        resolve_secrets(player)
    except UsageError as error:
        found.append(error.sentence)
    return found


@dataclass
class OperatorRunProgress:
    """Progress of one operator in a run.

    Attributes:
        done: Number of finished episodes.
        total: Number of scheduled episodes.
        failed: Number of finished episodes that failed.
        steps: Environment steps since the run was started or resumed.
        left_s: Estimated seconds until the operator is finished; ``None`` without an estimate.
        at_most: Whether fewer than ``total`` episodes are enough if they decide all comparisons.
    """

    done: int = 0
    total: int = 0
    failed: int = 0
    steps: int = 0
    left_s: float | None = None
    at_most: bool = False


@dataclass
class _Pace:
    """Measures how fast an operator finishes episodes since the run was started or resumed."""

    done: int
    since: float = field(default_factory=time.monotonic)

    def left(self, done: int, total: int) -> float | None:
        played, took = done - self.done, time.monotonic() - self.since
        if total <= done:
            return 0.0
        return None if played <= 0 or took < _MIN_MEASURED_S else (total - done) * took / played


class ScriptJob(QObject):
    """Run of an experiment, or of a tournament round by round, that can be stopped and resumed.

    Args:
        plan: What to play.
        store: Provides the folders for runs and sockets.
        compress: Whether to compress the records at the end even if the file does not request it.
        parent: Qt owner.

    Attributes:
        folder: The run folder; ``None`` until it is created.
        result: How the run ended; ``None`` until it has ended.
        tournament_run: The tournament; each round is added when it is paired. ``None`` for an experiment.
    """

    progressed = pyqtSignal(object)
    """Emits a mapping from operator id to :class:`OperatorRunProgress`."""
    began = pyqtSignal()
    """Emitted when the run folder was created."""
    paired = pyqtSignal()
    """Emitted when the pairings of a tournament's round are determined and its games begin."""

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
        self._stop_requested = self._running = False

    @property
    def running(self) -> bool:
        """Whether the run is in progress."""
        return self._running

    def begin(self) -> None:
        """Mark the run as in progress, before the event loop starts :meth:`run`."""
        self.result, self._stop_requested, self._running = None, False, True

    async def run(self) -> RunResult:
        """Play to the end, or continue a stopped run; call :meth:`begin` first.

        Raises:
            UsageError: The run cannot begin; the message says what to do. No episode was played.
            MosaicError: A session could not be started.
        """
        self._paces.clear()
        run = self._run = self._make()
        run.watch(*self._watched)
        if self._stop_requested:
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
        """End the run early and keep the recorded episodes."""
        self._stop_requested = True
        if self._run is not None:
            self._run.stop()

    def watch(self, operator_id: str, listener: OnSessionEvent | None) -> None:
        """Send the events of an operator's episodes to a listener; see :meth:`ExperimentRun.watch`."""
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
        standings: dict[str, OperatorRunProgress] = {}
        for state in states:
            pace = self._paces.get(state.operator_id)
            if pace is None and (state.live or state.steps):
                pace = self._paces[state.operator_id] = _Pace(state.done)
            left = pace.left(state.done, state.total) if pace is not None else None
            standings[state.operator_id] = OperatorRunProgress(
                state.done, state.total, state.failed, state.steps, left, state.at_most
            )
        self.progressed.emit(standings)
