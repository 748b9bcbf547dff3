"""Data classes of a report on runs: results of operators, teams and slots, comparisons, verdicts, notes.

:func:`~gym_gui.analysis.compute.summary_builder.summarize` builds them; the table, the page and
``summary.json`` only show them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from gym_gui.analysis.findings.comparison import Comparison, Refusal, Verdict
from gym_gui.analysis.findings.cross_play import CrossPlay
from gym_gui.analysis.findings.matrix_summary import RowSummary, SettingSummary
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.statistics.summary_numbers import METHODS, Bounds, Estimate, Share
from gym_gui.core.enums import FALLBACKS


@dataclass(frozen=True)
class TeamSummary:
    """Results of a configured team, whichever seats its slots had.

    Attributes:
        name: Name of the configured team.
        title: Title of the team; for a single seat that is not swapped, the seat's name, such as ``White``.
        slots: Slots of the team.
        members: Names of the policies or workers that play the slots.
        mean: Mean return.
        iqm: Interquartile mean (IQM) of returns.
        score: Mean of the environment's own score, ``None`` if it has none.
        win: Share of episodes won, ``None`` if the environment names no winner.
        draw: Share of episodes drawn, ``None`` if the environment names no winner.
        loss: Share of episodes lost, ``None`` if the environment names no winner.
        by_seats: Mean score (without scores, mean return) by the team whose seats were played.
    """

    name: str
    title: str
    slots: tuple[str, ...]
    members: tuple[str, ...]
    mean: Estimate
    iqm: Estimate
    score: Estimate | None
    win: Share | None
    draw: Share | None
    loss: Share | None
    by_seats: Mapping[str, Estimate]


@dataclass(frozen=True)
class ModelAnswers:
    """Number of calls that requested one model and were answered by one model.

    Attributes:
        asked: Requested model; empty if the server chose the model.
        by: Model that answered, as the server reports it, else the requested one.
        calls: Number of calls.
    """

    asked: str
    by: str
    calls: int


@dataclass(frozen=True)
class Calls:
    """Calls to models in all episodes, including lost and stopped ones.

    Attributes:
        total: Number of calls.
        failed: Number of calls without a reply.
        replayed: Number of calls answered with recorded replies, which cost nothing.
        input_tokens: Input tokens.
        output_tokens: Output tokens.
        usd: Cost in US dollars as far as prices are known; ``None`` if no price is known.
        unpriced: Number of answered calls whose price is unknown; their cost is not in ``usd``.
        cached_tokens: Input tokens that the server had cached from earlier prompts.
        models: Models that answered, those with the most calls first.
        unsure: Number of requests that timed out or broke off, for which the provider may have charged; their
            cost is not in ``usd``.
        unsure_usd: Largest possible cost of the unsure requests with known prices, in US dollars.
        estimated: Number of calls whose tokens are estimated from text lengths, because the server's count
            was missing or implausible.
    """

    total: int
    failed: int
    replayed: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    unpriced: int
    cached_tokens: int = 0
    models: tuple[ModelAnswers, ...] = ()
    unsure: int = 0
    unsure_usd: float = 0.0
    estimated: int = 0


@dataclass(frozen=True)
class SlotSummary:
    """Player and results of one configured slot.

    Attributes:
        slot: The slot.
        worker_id: Id of the worker that plays the slot.
        worker_type: Kind of the worker.
        policy: Name of the policy, or ``None``.
        mean: Mean return of the slot.
        invalid_actions: Number of unusable answers in all recorded episodes.
        unusable_decisions: Number of decisions whose last answer was unusable; ``None`` if the run is of an
            earlier version and its step rows were not read.
        input_tokens: Input tokens of all calls; if calls are not recorded, of played decisions.
        output_tokens: Output tokens, counted in the same way.
        calls: The slot's calls to models, ``None`` if there were none.
    """

    slot: str
    worker_id: str
    worker_type: str
    policy: str | None
    mean: Estimate
    invalid_actions: int
    unusable_decisions: int | None
    input_tokens: int
    output_tokens: int
    calls: Calls | None = None


@dataclass(frozen=True)
class Decisions:
    """Counts and latencies of decisions, from the step rows.

    Attributes:
        total: Number of decisions in recorded episodes, including those at which an episode failed.
        by_source: Number of decisions by the source that chose the action.
        latency_p50_ms: Median time from request to answer, in milliseconds, within 2 %.
        latency_p95_ms: 95th percentile, within 2 %.
    """

    total: int
    by_source: Mapping[str, int] = field(default_factory=dict[str, int])
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None

    @property
    def fallbacks(self) -> int:
        """Number of actions that the engine chose in place of a policy's action."""
        return sum(self.by_source.get(source, 0) for source in FALLBACKS)


@dataclass(frozen=True)
class OptionSummary:
    """Use of an option by a manager in all recorded episodes.

    Attributes:
        slot: The manager's slot.
        option: The skill with its arguments.
        chosen: Number of times the manager chose the option.
        moves: Mean number of the controller's moves; ``None`` if the option never ended.
        over: Number of times the option ended because the skill was done.
        budget: Number of times the option ended because its moves were used up.
        episode: Number of times the option ended with the episode.
        mean_return: Mean return of the option, from its choice to its end.
    """

    slot: str
    option: str
    chosen: int
    moves: float | None
    over: int
    budget: int
    episode: int
    mean_return: float | None


@dataclass(frozen=True)
class Highlight:
    """Episode that a report shows: the best, the median or the worst of an operator.

    Attributes:
        why: ``best``, ``median`` or ``worst``; ``only`` if there is one episode, ``alike`` if all results
            are equal.
        episode_index: Index of the episode.
        seed: Seed of the episode.
        length: Environment steps.
        value: Result of the episode in ``measure``.
        measure: Name of the measure by which episodes are ranked.
        alike: Number of the operator's episodes with this result, including this one.
        of: Number of ranked episodes.
    """

    why: str
    episode_index: int
    seed: int | None
    length: int
    value: float
    measure: str
    alike: int
    of: int


@dataclass(frozen=True)
class OperatorSummary:
    """Results of one operator of one run.

    Attributes:
        key: Id of the operator, with the run's id if several runs contain this operator id.
        run_id: Id of the run.
        operator_id: Id of the operator in the run.
        name: Name that reports show.
        task: Environment family and id.
        kinds: Kinds of the operator's workers.
        recorded: Number of recorded episodes.
        completed: Number of completed episodes; only these enter means.
        failed: Number of episodes that ended with an error.
        aborted: Number of episodes that were stopped.
        without_return: Number of completed episodes without a finite return; these do not enter means either.
        mean: Mean return (sum over all agents).
        iqm: IQM of the returns.
        length: Mean episode length in environment steps.
        success: Share of episodes that the environment reports as a success; ``None`` if it reports nothing.
        bounds: Bounds of ``mean`` for any results of missing episodes; ``None`` if none is missing.
        success_bounds: Bounds of ``success`` for any results of missing episodes.
        failure_score: Value of a failed episode, ``None`` if the experiment declares none.
        halved: Number of completed episodes left out, because a seating of their seed is missing.
        invalid_actions: Number of unusable answers in all recorded episodes.
        unusable_decisions: Number of decisions whose last answer was unusable, as in :class:`SlotSummary`.
        unusable_causes: Unusable decisions by :class:`~gym_gui.core.enums.UnusableCause`, if recorded.
        decisions: Counts from the step rows; ``None`` if the step rows were not read.
        teams: Results by configured team; one team in cooperative and single-agent environments.
        slots: Results by configured slot.
        notes: Sentences on limits of these results.
        calls: Calls to models by all slots, ``None`` if there were none.
        options: Options that the managers chose, the most frequent first; from the step rows.
        highlights: The best, the median and the worst episode.
    """

    key: str
    run_id: str
    operator_id: str
    name: str
    task: str
    kinds: tuple[str, ...]
    recorded: int
    completed: int
    failed: int
    aborted: int
    without_return: int
    mean: Estimate
    iqm: Estimate
    length: Estimate
    success: Share | None
    invalid_actions: int
    unusable_decisions: int | None
    decisions: Decisions | None
    teams: tuple[TeamSummary, ...]
    slots: tuple[SlotSummary, ...]
    notes: tuple[str, ...] = ()
    unusable_causes: Mapping[str, int] = field(default_factory=dict[str, int])
    calls: Calls | None = None
    bounds: Bounds | None = None
    success_bounds: Bounds | None = None
    failure_score: float | None = None
    halved: int = 0
    options: tuple[OptionSummary, ...] = ()
    highlights: tuple[Highlight, ...] = ()

    @property
    def manager_decisions(self) -> int:
        """Number of times that a manager chose an option."""
        return sum(each.chosen for each in self.options)


@dataclass(frozen=True)
class Failure:
    """Episode that did not complete, with the reason."""

    operator: str
    episode_index: int
    seed: int | None
    status: str
    reason: str


@dataclass(frozen=True)
class RunInfo:
    """A run of a report: id, status, times, commit, seeds, versions, machine and name."""

    run_id: str
    status: str
    started_at: str | None
    finished_at: str | None
    commit: str | None
    seeds: tuple[int, ...]
    versions: Mapping[str, Any]
    machine: Mapping[str, Any]
    name: str = ""

    @property
    def title(self) -> str:
        """Title of the run, such as ``“Baseline” (run 01J…)``; without a name ``run 01J…``."""
        return f"“{self.name}” (run {self.run_id})" if self.name else f"run {self.run_id}"


@dataclass(frozen=True)
class Summary:
    """Contents of a report on one or several runs.

    Attributes:
        runs: Runs that the report covers.
        verdicts: The most important comparisons, in order of importance.
        operators: One entry for each operator.
        comparisons: All comparisons.
        refusals: Comparisons that are refused, because tasks differ.
        failures: All episodes that did not complete.
        notes: Sentences on limits of the results.
        missing: The notes on missing episodes, runs and steps.
        unread: The notes on requested runs that cannot be read.
        unverified: The notes on runs whose records do not match their digests.
        methods: Description of each method by its name.
        matrix: Rows of the matrices that were played.
        settings: Results of matrix players with several settings, each compared with the first setting.
        standings: Results of a tournament, if they were requested; stored in ``tournament.json`` only.
        cross_play: Results of a cross-play, if they were requested; stored in ``tournament.json`` only.
        trainings: Comparisons of algorithms by task, if groups of trainings have played.
    """

    runs: tuple[RunInfo, ...]
    verdicts: tuple[Verdict, ...]
    operators: tuple[OperatorSummary, ...]
    comparisons: tuple[Comparison, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    missing: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    methods: Mapping[str, str] = field(default_factory=lambda: dict(METHODS))
    format: int = 1
    matrix: tuple[RowSummary, ...] = ()
    settings: tuple[SettingSummary, ...] = ()
    standings: Standings | None = None
    cross_play: CrossPlay | None = None
    trainings: tuple[AlgorithmReport, ...] = ()

    @property
    def verdicts_by_task(self) -> Mapping[str, tuple[Verdict, ...]]:
        """Verdicts by environment; all under ``""`` if there is only one."""
        tasks = dict.fromkeys(verdict.task for verdict in self.verdicts)
        return {task: tuple(v for v in self.verdicts if v.task == task) for task in tasks}

    def to_json(self) -> dict[str, Any]:
        """Return plain data, as stored in ``summary.json``. Floats are finite or null."""
        data = asdict(replace(self, trainings=()))
        del data["standings"], data["cross_play"], data["trainings"]
        if self.trainings:
            data["trainings"] = [report.to_json() for report in self.trainings]
        data["verdicts"] = [{**asdict(v), "text": str(v)} for v in self.verdicts]
        return data

    def operator(self, key: str) -> OperatorSummary:
        """Return the operator with this key.

        Raises:
            KeyError: There is no such operator.
        """
        for operator in self.operators:
            if operator.key == key:
                return operator
        raise KeyError(key)
