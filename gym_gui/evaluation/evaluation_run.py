"""Plays episodes from Python and records them in a run folder."""

from __future__ import annotations

import asyncio
import functools
import logging
import operator
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from gym_gui.analysis.words.report_text import failure_in_words, incomplete_in_words
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_events import OnSessionEvent
from gym_gui.controllers.engine.session_interface import Session, SessionSettings
from gym_gui.controllers.runs.experiment_run import ExperimentRun, PlannedExperiment
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig, RecordConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.trusted.trust import TYPED, Origin
from gym_gui.core.validation import ConfigError, shown
from gym_gui.evaluation.players import Players, Policy
from gym_gui.evaluation.results import Results
from gym_gui.services.policies.group_operators import members_of
from gym_gui.services.secrets import resolve_secrets
from mosaic_worker.failures import author_part

_T = TypeVar("_T")
_P = ParamSpec("_P")
_log = logging.getLogger(__name__)


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
    against: Mapping[str, Mapping[str, Policy] | Callable[..., Any]] | None = None,
    until: str = "all",
    batch: int | None = None,
    on_progress: OnProgress | None = None,
    origin: Origin = TYPED,
) -> Results:
    """Play episodes and record them in a run folder.

    ``evaluate`` returns when all episodes are played. ``aevaluate`` is awaited in a running event loop
    (Jupyter, a server). The loop runs other tasks; canceling the call ends the workers and leaves
    a run folder with the finished episodes.

    Args:
        env_id: Environment id, or ``"module:factory"``.
        agents: Policy of each agent; a bare function plays the only agent, a joint policy all of its
            agents. A policy object is used by one episode at a time; pass its class to get one object per
            episode. ``"<agent>/goal"`` adds a manager for an agent.
        seeds: Seeds in order, or their number (0, 1, …, n - 1).
        episodes: Number of episodes; one per seed by default.
        name: Name for people; by default the policies' names.
        out: Folder for the run folder; ``MOSAIC_RUNS_DIR`` or ``runs`` by default.
        max_steps: Environment steps after which an episode is truncated.
        concurrency: Number of episodes in flight.
        api: ``"aec"`` or ``"parallel"``, if the environment offers both.
        seats: ``"swap"`` plays every seed once per rotation of the teams.
        teams: Agents of each team, if these are not the environment's own teams.
        env_kwargs: Keyword arguments for the environment's factory.
        observations: Whether to record observations.
        failure_score: Return that a failed episode counts as. Without it, a failed episode is not counted,
            and a comparison that may depend on its absence is not decided.
        against: Other policies for the same seeds, by name; each in the form of ``agents``.
        until: ``"decided"`` plays only as many seeds as are needed to decide every comparison, at most
            ``seeds`` (``docs/statistics.md``); ``"all"`` plays all seeds.
        batch: Number of seeds between two evaluations of the comparisons; a tenth of all by default.
        on_progress: Receives the progress a few times per second.
        origin: The file that names the environment, if a file does. Names that the caller passes count as
            allowed; names in a file must be allowed first (``docs/security.md``).

    Returns:
        The results, including failed episodes with their errors.

    Raises:
        UsageError: Something to fix: a name, a checkpoint, an agent without a policy.

    Example:
        >>> from gym_gui import evaluate
        >>> results = evaluate("CartPole-v1", lambda obs: int(obs[2] > 0), seeds=range(10))
        >>> print(results)
    """
    try:
        if until == "decided" and not against:
            raise UsageError("until='decided' needs a policy to compare with", fix="Add one to 'against'")
        others = against or {}
        names = [name, *others]
        seated = [Players.of(each) for each in (agents, *others.values())]
        asked = [
            OperatorConfig(
                "evaluation" if i == 0 else f"against_{i}",
                called or each.names,
                "",
                env_id,
                each.slots,
                max_steps=max_steps,
                env_kwargs=env_kwargs,
                manager=each.managers,
                api=api,
                seats=seats,
                teams=teams,
                origin=origin,
            )
            for i, (called, each) in enumerate(zip(names, seated, strict=True))
        ]
        playing = [
            (config, each.objects)
            for written, each in zip(asked, seated, strict=True)
            for config in members_of(written)
        ]
        execution = ExecutionConfig(
            episodes,
            seed_list(seeds),
            concurrency=concurrency,
            record=RecordConfig(observations),
            failure_score=failure_score,
            until=until,
            batch=batch,
        )
        execution.check_distinct()
        planned = PlannedExperiment(
            Experiment([config for config, _ in playing], execution),
            [resolve_operator(config, objects) for config, objects in playing],
        )
        folder = None if out is None else Path(out)
        result = await ExperimentRun(planned, open_here, folder, on_progress=on_progress).run()
    except MosaicError as error:
        raise error.with_traceback(None) from author_part(error.__cause__)
    results = Results(result.folder, result.status)
    if failures := results.summary.failures if result.status == "failed" else ():
        # Printed results contain this, too, but a script that reads only numbers would not see it.
        words = incomplete_in_words(results.summary)
        _log.warning("%s, the first: %s", words, failure_in_words(failures[0]))
    return results


def _to_its_end(job: Callable[_P, Coroutine[Any, Any, _T]], name: str) -> Callable[_P, _T]:
    """Return a blocking function for a coroutine function, with the same parameters and documentation."""

    @functools.wraps(job)
    def played(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return run_to_end(job(*args, **kwargs))
        except MosaicError as error:
            raise error.with_traceback(None) from author_part(error.__cause__)

    played.__name__ = played.__qualname__ = name
    return played


evaluate = _to_its_end(aevaluate, "evaluate")


def seed_list(seeds: Iterable[int] | int) -> Iterable[int]:
    """Return the given seeds, or 0, 1, …, n - 1 if ``seeds`` is the number n."""
    try:
        wanted = operator.index(cast("int", seeds))
    except TypeError:
        if isinstance(seeds, Iterable):
            return seeds if isinstance(seeds, (Sequence, range)) else list(seeds)
        raise ConfigError(f"must be a number or a list, not {shown(seeds)}", where="seeds") from None
    if isinstance(seeds, bool) or wanted < 1:
        raise ConfigError(
            f"{seeds} seeds cannot be played", where="seeds", fix="Pass a number (20: 0 to 19) or a list"
        )
    return range(wanted)


def open_here(resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent) -> Session:
    """Open a session, which plays one operator's episodes, in this process."""
    secrets = {agent: resolve_secrets(a) for agent, a in resolved.assignments.items()}
    return LocalSession(resolved, settings, on_event, secrets)


def run_to_end(job: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine and return its result, even while an event loop runs in this thread (as in Jupyter).

    In a running loop, the coroutine gets a thread with its own loop. The thread lives until the last worker
    has ended, because the Linux kernel kills workers together with the thread that started them.
    """
    running: asyncio.AbstractEventLoop | None = None
    with suppress(RuntimeError):
        running = asyncio.get_running_loop()
    # Outside an except block, so that the traceback of a policy's error does not begin with a RuntimeError.
    if running is None:
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
