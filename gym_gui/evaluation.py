"""``gym_gui.evaluate``: the engine, a run folder and the statistics, in one call from Python."""

from __future__ import annotations

import asyncio
import operator
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis import Run, Summary, open_run, summarize, write_html
from gym_gui.analysis.export import episode_rows, step_rows
from gym_gui.analysis.notebook import notebook_html
from gym_gui.controllers.local_session import LocalSession
from gym_gui.controllers.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.script_execution import OnProgress, OperatorScriptExecutionManager
from gym_gui.controllers.session_events import OnSessionEvent
from gym_gui.controllers.session_interface import Session, SessionSettings
from gym_gui.core.config import (
    GOAL_SUFFIX,
    SINGLE_AGENT,
    ExecutionConfig,
    Experiment,
    OperatorConfig,
    RecordConfig,
    WorkerAssignment,
)
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import MissingDependencyError, MosaicError, PolicyFailure, UsageError
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.core.paths import runs_dir
from gym_gui.core.protocols import check_policy
from gym_gui.core.records import EpisodeRecord
from gym_gui.core.trust import TYPED, Origin, require
from gym_gui.core.validation import ConfigError, shown
from gym_gui.envs import needs_of, resolve
from gym_gui.envs.spec import into_this_python
from gym_gui.services.policy_files import PolicyFile, read_policy_file
from gym_gui.services.policy_library import PolicyLibrary
from gym_gui.services.policy_scores import STANDARD_SEEDS, PolicyScore
from gym_gui.services.secrets import resolve_secrets
from gym_gui.services.versions import commit, machine
from mosaic_worker.failures import own_part

_T = TypeVar("_T")

Policy = Callable[..., Any] | WorkerAssignment | Mapping[str, Any] | str | Path | object
"""A function of the observation, an Operator, Actor or controller object, a class of one of
these (made anew for every episode), a checkpoint's path or ``library:NAME``, or a slot as in an
experiment file."""

_SHORT = {"agent": SINGLE_AGENT, "agent" + GOAL_SUFFIX: SINGLE_AGENT + GOAL_SUFFIX}


@dataclass(frozen=True)
class Results:
    """What an evaluation gave. Printing it prints the comparison.

    Attributes:
        folder: The run folder; ``mosaic report`` and ``mosaic verify`` take it.
        status: ``completed``, ``failed`` (some episode failed) or ``stopped``.
    """

    folder: Path
    status: str

    @cached_property
    def run(self) -> Run:
        """The run folder, opened for reading."""
        return open_run(self.folder)

    @cached_property
    def summary(self) -> Summary:
        """Means, intervals, comparisons."""
        return summarize([self.run])

    @cached_property
    def episodes(self) -> list[EpisodeRecord]:
        """Every episode, in the order of operators and indices."""
        return [
            episode
            for each in self.run.operators.values()
            for episode in sorted(each.episodes(), key=lambda e: e.episode_index)
        ]

    def returns(self, agent: str = "agent_0") -> NDArray[np.float64]:
        """Returns of one agent's seat, float (episodes,); NaN where an episode has none.

        Raises:
            UsageError: No episode has that agent.
        """
        values = [e.returns.get(agent) for e in self.episodes]
        if all(v is None for v in values):
            seats = sorted({seat for e in self.episodes for seat in e.returns})
            raise UsageError(f"no returns of {agent!r}", fix=f"Agents: {', '.join(seats)}")
        return np.array([np.nan if v is None else v for v in values])

    def against(self, *others: Results) -> Summary:
        """Compare with other evaluations on the seeds they share; printing it prints the comparison."""
        return summarize([self.run, *(o.run for o in others)])

    @cached_property
    def page(self) -> Path:
        """The report as one HTML page beside the run's files; written when it is first asked for.

        Raises:
            UsageError: It cannot be written.
        """
        return write_html(self.summary, self.folder, [self.run])

    def to_pandas(self, *, steps: bool = False) -> Any:
        """A ``pandas.DataFrame`` with a row per episode and the columns of an export.

        Args:
            steps: A row per decision instead, those of managers too.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise MissingDependencyError("pandas", f"{into_this_python()} pandas") from error
        return pandas.DataFrame(list(step_rows(self.run) if steps else episode_rows(self.run)))

    def __str__(self) -> str:
        return f"{self.summary}\n" + "\n".join(f"{name + ':':<6}{path}" for name, path in self._places())

    def _repr_html_(self) -> str:
        return notebook_html(self.summary, self._places())

    def _places(self) -> list[tuple[str, Path]]:
        """Run folder and page; without the page where it cannot be written."""
        with suppress(UsageError):
            return [("Run", self.folder), ("Page", self.page)]
        return [("Run", self.folder)]


def evaluate(
    env_id: str,
    agents: Mapping[str, Policy] | Callable[..., Any],
    *,
    seeds: Iterable[int] | int = 20,
    episodes: int | None = None,
    name: str = "",
    out: str | Path | None = None,
    max_steps: int | None = None,
    concurrency: int = 16,
    api: str | None = None,
    seats: str = "fixed",
    teams: Mapping[str, Sequence[str]] | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    observations: bool = False,
    failure_score: float | None = None,
    on_progress: OnProgress | None = None,
    origin: Origin = TYPED,
) -> Results:
    """Play episodes and keep them as a run folder.

    Args:
        env_id: Environment id, or ``"module:factory"``.
        agents: Who plays each agent; a bare function plays the only agent. A policy object
            is held by one episode at a time; pass its class to have one per episode.
            ``"<agent>/goal"`` puts a manager above an agent.
        seeds: Seeds in order, or how many (0, 1, …, n - 1).
        episodes: How many; one per seed by default.
        name: What people read; by default the policies' names.
        out: Folder for the run folder; ``MOSAIC_RUNS_DIR`` or ``runs`` by default.
        max_steps: Environment steps after which an episode is truncated.
        concurrency: Episodes in flight.
        api: ``"aec"`` or ``"parallel"``, where there is a choice.
        seats: ``"swap"`` plays every seed once per rotation of the teams.
        teams: Agents of each team, where the environment's own teams are not meant.
        env_kwargs: For the environment's factory.
        observations: Record observations.
        failure_score: Return that a failed episode counts as; left out, it counts as nothing, and a
            comparison that may rest on its absence is not decided.
        on_progress: Told how far it is, a few times a second.
        origin: The file that names the environment, where one does: what you pass yourself is
            allowed by that, what a file names has to be (``docs/security.md``).

    Returns:
        The results; episodes that failed are in them, with their errors.

    Raises:
        UsageError: Something to fix: a name, a checkpoint, an agent without a policy.

    Example:
        >>> from gym_gui import evaluate
        >>> results = evaluate("CartPole-v1", lambda obs: int(obs[2] > 0), seeds=range(10))
        >>> print(results)
    """
    try:
        return run_to_end(
            aevaluate(
                env_id,
                agents,
                seeds=seeds,
                episodes=episodes,
                name=name,
                out=out,
                max_steps=max_steps,
                concurrency=concurrency,
                api=api,
                seats=seats,
                teams=teams,
                env_kwargs=env_kwargs,
                observations=observations,
                failure_score=failure_score,
                on_progress=on_progress,
                origin=origin,
            )
        )
    except MosaicError as error:
        raise error.with_traceback(None) from own_part(error.__cause__)


async def aevaluate(
    env_id: str,
    agents: Mapping[str, Policy] | Callable[..., Any],
    *,
    seeds: Iterable[int] | int = 20,
    episodes: int | None = None,
    name: str = "",
    out: str | Path | None = None,
    max_steps: int | None = None,
    concurrency: int = 16,
    api: str | None = None,
    seats: str = "fixed",
    teams: Mapping[str, Sequence[str]] | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    observations: bool = False,
    failure_score: float | None = None,
    on_progress: OnProgress | None = None,
    origin: Origin = TYPED,
) -> Results:
    """As :func:`evaluate`, to be awaited where an event loop runs (Jupyter, a server).

    The loop goes on with other tasks while episodes are played; cancelling ends the workers and
    leaves a run folder with what was finished.

    Raises:
        UsageError: Something to fix: a name, a checkpoint, an agent without a policy.
    """
    try:
        given = cast("Mapping[str, Policy]", agents) if isinstance(agents, Mapping) else {"agent": agents}
        seated = _Seated.of(given)
        config = OperatorConfig(
            "evaluation",
            name or seated.names,
            "",
            env_id,
            seated.slots,
            max_steps=max_steps,
            env_kwargs=env_kwargs,
            manager=seated.managers,
            api=api,
            seats=seats,
            teams=teams,
            origin=origin,
        )
        execution = ExecutionConfig(
            episodes,
            seed_list(seeds),
            concurrency=concurrency,
            record=RecordConfig(observations),
            failure_score=failure_score,
        )
        execution.check_distinct()
        manager = OperatorScriptExecutionManager(
            Experiment([config], execution),
            [resolve_operator(config, seated.objects)],
            open_here,
            runs_dir() if out is None else Path(out),
            header={"machine": machine(), "commit": commit(Path(__file__).parent)},
            on_progress=on_progress,
        )
        result = await manager.run()
    except MosaicError as error:
        raise error.with_traceback(None) from own_part(error.__cause__)
    return Results(result.folder, result.status)


@dataclass(frozen=True)
class _Seated:
    """Who plays, sorted: workers by slot, policies held here, and who is above whom."""

    slots: Mapping[str, WorkerAssignment]
    objects: Mapping[str, Policy]
    managers: Mapping[str, WorkerAssignment]
    names: str

    @classmethod
    def of(cls, agents: Mapping[str, Policy]) -> _Seated:
        given = {_SHORT.get(agent, agent): policy for agent, policy in agents.items()}
        slots = {a: as_assignment(p) for a, p in given.items() if is_configured(p)}
        objects = {a: p for a, p in given.items() if a not in slots}
        for policy in objects.values():
            check_policy(policy)
        # A manager's slot exists where the operator names one; an object takes the named one's place.
        managers = {
            a.removesuffix(GOAL_SUFFIX): slots.pop(a, None) or WorkerAssignment(worker_type="random")
            for a in given
            if a.endswith(GOAL_SUFFIX)
        }
        return cls(slots, objects, managers, ", ".join(dict.fromkeys(map(_name, given.values()))))


def seed_list(seeds: Iterable[int] | int) -> Iterable[int]:
    """Seeds as they are, or as many as are asked for."""
    try:
        wanted = operator.index(cast("int", seeds))
    except TypeError:
        if isinstance(seeds, Iterable):
            return seeds if isinstance(seeds, (Sequence, range)) else list(seeds)
        raise ConfigError(f"must be a number or a list, not {shown(seeds)}", where="seeds") from None
    if isinstance(seeds, bool) or wanted < 1:
        raise ConfigError(
            f"{seeds} seeds cannot be played", where="seeds", fix="Say how many (20: 0 to 19), or list them"
        )
    return range(wanted)


def score_policy(
    policy: PolicyFile,
    *,
    seeds: Sequence[int] = STANDARD_SEEDS,
    max_steps: int | None = None,
    on_progress: OnProgress | None = None,
) -> PolicyScore:
    """Play a trained policy in its own environment on the standard seeds; no run folder is left.

    Args:
        policy: The policy.
        seeds: Environment seeds, one episode each.
        max_steps: Environment steps after which an episode is truncated.
        on_progress: Told how far it is, a few times a second.

    Returns:
        Return of each episode; of a joint policy, the sum over the agents it plays.

    Raises:
        UsageError: It cannot play there alone, or its worker is not installed.
        PolicyFailure: An episode failed.
    """
    about = policy.description
    single = about.agents in ((), (SINGLE_AGENT,))
    player = WorkerAssignment(about.worker, "rl", {"checkpoint": str(policy.path)})
    agents = {a: replace(player, checkpoint_agent=a) for a in about.agents} if not single else {}
    with tempfile.TemporaryDirectory(prefix="mosaic-score") as out:
        results = evaluate(
            about.env_id,
            agents or {"agent": player},
            seeds=seeds,
            out=out,
            max_steps=max_steps,
            on_progress=on_progress,
            origin=_origin(policy),
        )
        episodes = results.episodes
    failed = next((e for e in episodes if e.status != EpisodeStatus.COMPLETED), None)
    if failed is not None:
        raise PolicyFailure(f"{policy.title} could not be scored: seed {failed.seed}: {failed.error}")
    # In a completed episode every agent has a return; the order is that of the seeds.
    returns = [sum(r for r in episode.returns.values() if r is not None) for episode in episodes]
    return PolicyScore.now(returns, seeds)


def see_allowed(policy: PolicyFile) -> None:
    """Refuse a policy whose environment is code that the person has not allowed; imports nothing.

    Raises:
        NotAllowedError: It is.
        UsageError: The environment is not there.
    """
    origin = _origin(policy)
    require(needs_of(resolve(policy.description.env_id, origin=origin), {}), origin)


def _origin(policy: PolicyFile) -> Origin:
    return Origin(str(policy.path / "policy.json"))


def open_here(resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent) -> Session:
    """A session in this process."""
    secrets = {agent: resolve_secrets(a) for agent, a in resolved.assignments.items()}
    return LocalSession(resolved, settings, on_event, secrets)


def is_configured(policy: Policy) -> bool:
    """Whether it is a slot of an experiment file, or a checkpoint; else it plays in this process."""
    return isinstance(policy, (WorkerAssignment, Mapping, str, Path))


def as_assignment(policy: Policy) -> WorkerAssignment:
    """The slot that a configured policy stands for."""
    if isinstance(policy, WorkerAssignment):
        return policy
    if isinstance(policy, Mapping):
        slot = dict(cast("Mapping[str, Any]", policy))
    else:
        path = PolicyLibrary().path_of(str(policy))
        file = read_policy_file(Path(path))
        slot = {"type": "rl", "checkpoint": path, **({"worker_id": file.worker_id} if file else {})}
    data = {"operators": [{"id": "evaluation", "task": "any", "workers": {SINGLE_AGENT: slot}}]}
    return experiment_from_data(data, complete=False).operators[0].workers[SINGLE_AGENT]


def _name(policy: Policy) -> str:
    if isinstance(policy, WorkerAssignment):
        return str(policy.settings.get("behavior", policy.worker_id))
    if isinstance(policy, Mapping):
        slot = cast("Mapping[str, Any]", policy)
        return str(slot.get("behavior") or slot.get("worker_id") or slot.get("type", "worker"))
    if isinstance(policy, (str, Path)):
        return Path(policy).stem
    return str(getattr(policy, "name", getattr(policy, "__name__", type(policy).__name__)))


def run_to_end(job: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end, also from inside a notebook's own event loop.

    There it gets a thread with a loop of its own, which lives until the last worker is
    gone: the kernel ends workers with the thread that started them.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(job)
    outcome: list[_T] = []
    problem: list[BaseException] = []

    def body() -> None:
        try:
            outcome.append(asyncio.run(job))
        except BaseException as exc:
            problem.append(exc)

    thread = threading.Thread(target=body, name="mosaic-evaluate")
    thread.start()
    thread.join()
    if problem:
        raise problem[0]
    return outcome[0]


__all__: Sequence[str] = ["Policy", "Results", "aevaluate", "evaluate", "score_policy"]
