"""Replays a run's recorded actions in the engine and compares every row with the record.

Only the environment is needed: no workers and no API keys. A failed episode is compared as far as it is
recorded. Values that a replay cannot reproduce (who chose an action, who sat in which seat, tokens, calls,
the experiment) are compared with the digests that were written with them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import orjson

from gym_gui.analysis import OperatorRun, Run
from gym_gui.analysis.compute.summary_builder import summarize
from gym_gui.analysis.pages.report_digest import changed_reports
from gym_gui.analysis.read_runs import checked
from gym_gui.analysis.records.compare import EpisodeRows
from gym_gui.analysis.records.record_check import changed_files
from gym_gui.analysis.records.run_digest import FILES
from gym_gui.controllers.engine.appearing_agents import found_by_patterns
from gym_gui.controllers.engine.bound_operator import read_slots
from gym_gui.controllers.engine.resolved_operator import (
    ResolvedOperator,
    checked_permissions,
    make_environment,
    resolve_operator,
)
from gym_gui.controllers.engine.session import SessionController
from gym_gui.controllers.engine.session_events import EpisodeFinished, SessionEvent
from gym_gui.controllers.reexecution.divergence import (
    EPISODE_KEYS,
    Divergence,
    counted,
    key_differs,
    row_differs,
)
from gym_gui.controllers.replays.replay import REPLAY, replay_operator
from gym_gui.controllers.runs.script_execution import OnProgress, OperatorProgress
from gym_gui.core.config import GOAL_SUFFIX, Experiment, OperatorConfig
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.experiment.shards import SHARD
from gym_gui.core.experiment.slot_patterns import ANY
from gym_gui.core.record_digest import KEY, episode_digest
from gym_gui.core.record_fields import integers, mapping
from gym_gui.core.records import has_digests
from gym_gui.core.trusted.trust import Origin
from gym_gui.core.types import AgentID, Decision
from gym_gui.services.runs.recorder import COMPLETED, FAILED, RERUN, RUNNING, read_header
from gym_gui.services.versions import versions_of

_EARLIER_OPTIONS = (
    "an earlier version of MOSAIC recorded the episode; its managers chose among other options, so that "
    "this version cannot replay it"
)


@dataclass
class Verification:
    """Results of comparing a replayed run with its record.

    Attributes:
        episodes: Number of replayed episodes.
        decisions: Number of step rows of the replayed episodes.
        unplayed: Number of episodes without rows, because no session could play them.
        undigested: Number of episodes without a digest of their record, written by an earlier version.
        sealed: Whether the run as a whole has a digest, written when it ended.
        unheld: Report files that cannot be checked: another version made them, or the run had not ended.
        divergences: First difference of each episode that has one, in order.
        versions: Package versions that differ from the run's: name to (then, now).
    """

    episodes: int = 0
    decisions: int = 0
    unplayed: int = 0
    undigested: int = 0
    sealed: bool = False
    unheld: Sequence[str] = ()
    divergences: list[Divergence] = field(default_factory=list[Divergence])
    versions: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    @property
    def uncovered(self) -> str:
        """Parts of the run that could not be checked, as a sentence; ``""`` if all could."""
        parts: list[str] = []
        if self.undigested:
            of = counted(self.undigested, "episode")
            parts.append(f"who chose actions, who sat where, tokens and errors of {of} of an earlier version")
        if not self.sealed:
            parts.append("run.json and calls to models, which get their digest when a run ends")
        if self.unheld:
            named = ", ".join(self.unheld)
            parts.append(f"{named}, of another version or an earlier moment (make anew: mosaic report)")
        return f"Not checked: {'; '.join(parts)}." if parts else ""


class Onlooker(Protocol):
    """Observer of the decisions while a run is replayed."""

    def views(self, resolved: ResolvedOperator) -> Mapping[AgentID, PromptInputs]:
        """Return the prompt inputs that the observer needs, by slot of an operator."""
        ...

    def asked(self, operator_id: str, decision: Decision) -> None:
        """Handle a decision that is about to be answered with the recorded action."""
        ...


async def verify(
    run: Run,
    on_progress: OnProgress | None = None,
    onlooker: Onlooker | None = None,
    only: Mapping[str, Collection[int]] | None = None,
) -> Verification:
    """Replay a run's recorded actions and compare the results with the record.

    Episodes without a line in ``episodes.jsonl`` (the run is still running, or was cut off) are skipped.

    Args:
        run: The run.
        on_progress: Called after every episode.
        onlooker: Observes every decision.
        only: Episodes to play, by operator; by default all. If given, the run's other files are not checked.

    Raises:
        UsageError: The environment is not installed, or the run cannot be read.
    """
    experiment = experiment_of(run)
    resolved_operators = [_with_recorded_players(operator) for operator in experiment.operators]
    result = Verification()
    progress = [OperatorProgress(o.operator_id, o.display_name, 0, 0, 0, 0, 0) for o in experiment.operators]
    for i, resolved in enumerate(resolved_operators):
        result.versions.update(_changed(run.record.versions, versions_of(resolved)))

        def tell(done: int, total: int, failed: int, i: int = i) -> None:
            o = progress[i]
            progress[i] = OperatorProgress(o.operator_id, o.name, done, total, failed, 0, 0)
            if on_progress is not None:
                on_progress(progress[: i + 1])

        recorded = run.operators[resolved.config.operator_id]
        planned = None
        if experiment.execution.until == "decided":
            planned = run.planned.get(recorded.operator_id)
        digested = has_digests(read_header(run.path))
        replay = _Replay(experiment, resolved, recorded, result, tell, planned, onlooker, digested)
        complete = run.record.status in (COMPLETED, FAILED) and not run.record.problem and only is None
        chosen = chosen_episodes(run)
        await replay.play(
            expected=(chosen or {}).get(recorded.operator_id) if complete else (),
            only=None if only is None else only.get(recorded.operator_id, ()),
        )
    if only is None:
        _check_seal(run, result)
    return result


def _check_seal(run: Run, result: Verification) -> None:
    """Compare the files of the run as a whole with their digests, and add differences to ``result``."""
    header = read_header(run.path)
    result.sealed = KEY in header and FILES in header and run.record.status != RUNNING
    # Episodes that differ have been reported already, with details.
    told = {f"operators/{divergence.operator_id}/episodes.jsonl" for divergence in result.divergences}
    for name in changed_files(run, header):
        if name not in told:
            what = f"{name} is not as it was when the run ended"
            if name == "run.json" and not result.sealed:
                what = "run.json of the ended run has lost its digests"
            result.divergences.append(Divergence(None, None, what))
    changed, result.unheld = changed_reports(run, header, checked([run], summarize(run)))
    for name in changed:
        what = f"{name} does not match the run: write it again with mosaic report"
        result.divergences.append(Divergence(None, None, what))


def require_allowed(run: Run) -> None:
    """Refuse a run that names code which the user has not allowed; nothing in the run is imported.

    Raises:
        NotAllowedError: The run names such code.
        UsageError: The run's environment is not installed.
    """
    for operator in experiment_of(run).operators:
        checked_permissions(operator, env_only=True)


def chosen_episodes(run: Run) -> Mapping[str, Collection[int]] | None:
    """Return the episodes of a run that plays a part of its schedule, by operator; ``None`` for all."""
    about = mapping(run.record.extra.get(SHARD)) or mapping(run.record.extra.get(RERUN)) or {}
    chosen = mapping(about.get("episodes"))
    return None if chosen is None else {name: integers(chosen.get(name)) or () for name in run.operators}


def experiment_of(run: Run) -> Experiment:
    """Return the checked experiment of a run, without importing anything that the run names."""
    origin = Origin(str(run.path / "run.json"), str(run.path))
    return experiment_from_data(dict(run.record.experiment), complete=False, origin=origin)


def _with_recorded_players(operator: OperatorConfig) -> ResolvedOperator:
    """Return an operator in whose slots the record plays."""
    environment = make_environment(operator)
    try:
        agents = environment.adapter.possible_agents
        if environment.adapter.is_open_ended:  # the agents are known from the record only
            named = found_by_patterns(environment, read_slots(environment), [*operator.resolved_slots()])
            cast = resolve_operator(replace(operator, workers={}, link_groups=[]), {ANY: REPLAY})
            # The recorded players stay in the configuration, because observers read them.
            config = replace(cast.config, workers=operator.workers, link_groups=operator.link_groups)
            return replace(cast, config=config, slots={**cast.slots, **named})
    finally:
        environment.close()
    return resolve_operator(operator, dict.fromkeys(agents, REPLAY))


def _changed(then: Mapping[str, Any], now: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    return {name: (str(then[name]), now[name]) for name in now if name in then and then[name] != now[name]}


class _Replay:
    """Replays one operator's recorded episodes one at a time and compares each with its record."""

    def __init__(
        self,
        experiment: Experiment,
        resolved: ResolvedOperator,
        recorded: OperatorRun,
        result: Verification,
        tell: Callable[[int, int, int], None],
        planned: int | None,
        onlooker: Onlooker | None,
        digested: bool,
    ) -> None:
        self._onlooker, self._digested = onlooker, digested
        self._limit = experiment.max_steps(resolved.config)
        self._plans = {plan.index: plan for plan in experiment.execution.schedule(len(resolved.seatings))}
        self._resolved, self._operator, self._result, self._tell = resolved, recorded, result, tell
        self._rows = EpisodeRows(recorded)
        self._keep = experiment.execution.record.observations
        self._planned = planned  # number of episodes, if the run was decided early
        self._gaps: Mapping[int, tuple[int, AgentID]] = {}
        self._done = self._total = self._failed = 0

    async def play(self, *, expected: Collection[int] | None, only: Collection[int] | None) -> None:
        """Replay the recorded episodes and report missing ones.

        Args:
            expected: Episodes that should be recorded; ``None`` for all of the schedule.
            only: Episodes to play; ``None`` for all.
        """
        plans = list(self._to_play(only))
        if expected is None:
            expected = [i for i in self._plans if self._planned is None or i < self._planned]
        for index in sorted(set(expected) - self._rows.rows.keys()):
            self._diverges(Divergence(self._operator.operator_id, index, "the episode is missing"))
        self._total = len(plans)
        cut = {i: row for i, row in self._rows.rows.items() if row.get("limit") or row.get("out_of_time")}
        limited = {i: int(row["length"]) for i, row in cut.items()}
        views = self._onlooker.views(self._resolved) if self._onlooker is not None else None
        on_asked = self._asked if self._onlooker is not None else None
        bound, backend = replay_operator(self._resolved, self._rows.steps, limited, views, on_asked)
        self._gaps = backend.gaps
        # Play one episode at a time, so that global state of an environment causes no needless differences.
        controller = SessionController(
            bound, self._on_event, max_steps=self._limit, keep_observations=self._keep
        )
        controller.add(plans)
        controller.close()
        await controller.run()

    def _asked(self, decision: Decision) -> None:
        if self._onlooker is not None:
            self._onlooker.asked(self._operator.operator_id, decision)

    def _to_play(self, only: Collection[int] | None) -> Iterator[EpisodePlan]:
        for index, row in sorted(self._rows.rows.items()):
            if only is not None and index not in only:
                continue
            plan = self._plans.get(index)
            if plan is None:
                self._diverges(
                    Divergence(self._operator.operator_id, index, "the experiment has no such episode")
                )
            elif row["status"] != "completed" and not row["length"] and not any(self._rows.steps(index)):
                self._result.unplayed += 1
                if what := self._altered(row, ()):
                    self._diverges(Divergence(self._operator.operator_id, index, what))
            else:
                yield plan

    def _altered(self, row: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> str:
        """Return a clause if an episode's record no longer matches its digest; ``""`` if it does."""
        if KEY not in row and self._digested:
            return "its line has lost its digest"
        if KEY not in row:
            self._result.undigested += 1
        elif row[KEY] != episode_digest(row, steps):
            return (
                "its line or one of its rows is not as it was recorded (who chose an action, who sat "
                "where, tokens or another value that playing again cannot tell)"
            )
        return ""

    def _diverges(self, divergence: Divergence) -> None:
        self._failed += 1
        self._result.divergences.append(divergence)

    def _on_event(self, event: SessionEvent) -> None:
        """Compare an episode with its record when the engine has finished it."""
        if isinstance(event, EpisodeFinished):
            self._finished(event)

    def _finished(self, episode: EpisodeFinished) -> None:
        played = [orjson.loads(line) for line in episode.steps.splitlines()]
        divergence = self._compare(episode.index, played, orjson.loads(episode.line))
        if divergence is not None:
            self._diverges(divergence)
        self._result.episodes += 1
        self._result.decisions += len(played)
        self._done += 1
        self._tell(self._done, self._total, self._failed)

    def _compare(self, index: int, played: Sequence[Any], episode: Mapping[str, Any]) -> Divergence | None:
        operator, recorded = self._operator.operator_id, self._rows.rows[index]
        rows = list(self._rows.steps(index))
        for then, now in zip(rows, played, strict=False):
            what = row_differs(then, now)
            if what:
                what = _EARLIER_OPTIONS if any(map(_of_earlier_options, rows)) else what
                return Divergence(operator, index, what, then.get("step_index"), then.get("agent_id"))
        error, gap = episode["error"], self._gaps.get(index)
        if gap is not None and (len(rows) > len(played) or recorded["status"] == "completed"):
            return Divergence(operator, index, "the row is missing", *gap)
        if len(rows) > len(played):
            row = rows[len(played)]
            what = f"played again, the episode ends before it{f' ({error})' if error else ''}"
            return Divergence(operator, index, what, row.get("step_index"), row.get("agent_id"))
        # If the engine was stopped, the record just ends.
        keys = [key for key in EPISODE_KEYS if key != "status" or recorded["status"] != "aborted"]
        if recorded.get("out_of_time"):
            keys.remove("outcome")  # decided by the clocks, which a replay does not run
        what = next((w for key in keys if (w := key_differs(key, recorded, episode))), "")
        what = what or self._altered(recorded, rows)
        return Divergence(operator, index, what) if what else None


def _of_earlier_options(row: Mapping[str, Any]) -> bool:
    """Return whether a manager's row was written by an earlier version, which recorded no option."""
    return str(row.get("agent_id")).endswith(GOAL_SUFFIX) and "option" not in row
