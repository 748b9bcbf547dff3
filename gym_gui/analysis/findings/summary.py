"""What a report says, as data: plain numbers, each with its n and its method.

:func:`~gym_gui.analysis.compute.summary_builder.summarize` makes it; the table, the page and
``summary.json`` only show it.
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
    """A squad: the slots configured as one team, wherever they sat.

    Attributes:
        name: The configured team.
        title: What people call it: ``White``, where it has that seat alone and stays there.
        slots: Its slots.
        members: In words, who plays them.
        mean: Mean return.
        iqm: IQM of returns.
        score: Mean of the environment's own count, ``None`` where it has none.
        win: Share of episodes won, ``None`` where the environment names no winner.
        draw: The same for draws.
        loss: The same for losses.
        by_seats: Mean score (return where there is none) by the team whose seats it sat in.
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
class Answered:
    """Calls for one model that one model has answered.

    Attributes:
        asked: The model that was asked for; empty where the server was left to choose.
        by: The model that answered, as the server says, or as it was asked where that says nothing.
        calls: How many.
    """

    asked: str
    by: str
    calls: int


@dataclass(frozen=True)
class Calls:
    """Calls to models in all episodes, lost and stopped ones included.

    Attributes:
        total: Calls.
        failed: Calls that brought no reply.
        replayed: Calls answered from a cassette (recorded replies); they cost nothing.
        input_tokens: Tokens read.
        output_tokens: Tokens written.
        usd: What they cost in US dollars, as far as prices are known; ``None``: none is.
        unpriced: Answered calls whose price is not known; they are not in ``usd``.
        cached_tokens: Tokens read that the server had kept from earlier prompts.
        models: Which models answered, those with the most calls first.
        unsure: Requests that ran out of time or broke off, for which the provider may have charged; they are
            not in ``usd``.
        unsure_usd: What the unsure requests can have cost at most, as far as prices are known.
        estimated: Calls whose tokens are estimated from the lengths, because the server's count could not be
            believed, or there was none.
    """

    total: int
    failed: int
    replayed: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    unpriced: int
    cached_tokens: int = 0
    models: tuple[Answered, ...] = ()
    unsure: int = 0
    unsure_usd: float = 0.0
    estimated: int = 0


@dataclass(frozen=True)
class SlotSummary:
    """One configured slot: who played it, with what result.

    Attributes:
        slot: The slot.
        worker_id: The worker that filled it.
        worker_type: Its kind.
        policy: Its policy's name, or ``None``.
        mean: Mean return of the slot.
        invalid_actions: Unusable answers in all recorded episodes.
        unusable_decisions: Decisions whose last answer was unusable; ``None``: the run is of an earlier
            version, and its step rows were not read.
        input_tokens: Tokens read; of every call where calls are recorded, else of played decisions.
        output_tokens: Tokens written.
        calls: Its calls to a model, ``None`` where it made none.
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
    """What the step rows say about decisions.

    Attributes:
        total: Decisions in recorded episodes, those at which one failed included.
        by_source: How many by who chose the action.
        latency_p50_ms: Median time from question to answer, within 2 %.
        latency_p95_ms: 95th percentile, within 2 %.
    """

    total: int
    by_source: Mapping[str, int] = field(default_factory=dict[str, int])
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None

    @property
    def fallbacks(self) -> int:
        """Actions that the engine put in a policy's place."""
        return sum(self.by_source.get(source, 0) for source in FALLBACKS)


@dataclass(frozen=True)
class OptionSummary:
    """An option that a manager has chosen, and how it ended, in all recorded episodes.

    Attributes:
        slot: The manager's slot.
        option: The skill with its arguments.
        chosen: How often the manager chose the option.
        moves: Mean number of the controller's moves; ``None`` where no such option has ended.
        over: How often the option ended because the skill was done.
        budget: How often it ended because its moves were spent.
        episode: How often it ended with the episode.
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
    """An episode worth looking at.

    Attributes:
        why: ``best``, ``median`` or ``worst``; ``only`` where there is no other, ``alike`` where all came
            to the same.
        episode_index: The episode.
        seed: Its seed.
        length: Environment steps.
        value: Its result by ``measure``.
        measure: In words, by what episodes were put in order.
        alike: How many of the operator's episodes have this very result, itself included.
        of: How many episodes were put in order.
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
    """One operator of one run.

    Attributes:
        key: Its id, with the run's where several runs are reported.
        run_id: The run.
        operator_id: Its id there.
        name: What people call it.
        task: Environment family and id.
        kinds: Kinds of worker in it.
        recorded: Episodes recorded.
        completed: Those that ended as the environment says; only they enter means.
        failed: Those that something went wrong in.
        aborted: Those that were stopped.
        without_return: Completed ones whose return is not a finite number; left out too.
        mean: Mean return (sum over all agents).
        iqm: IQM of the same.
        length: Mean episode length in environment steps.
        success: Share of successes by the environment's own word, or ``None``.
        bounds: What ``mean`` could be with the episodes that have no result; ``None``: all have one.
        success_bounds: The same for ``success``.
        failure_score: What a failed episode counts as, ``None`` where the experiment does not say.
        halved: Completed episodes left out, as their seed was not completed in every seating.
        invalid_actions: Unusable answers in all recorded episodes.
        unusable_decisions: As of a slot.
        unusable_causes: These by :class:`~gym_gui.core.enums.UnusableCause`, as far as it is recorded.
        decisions: From the step rows; ``None`` where they were not read.
        teams: By squad; one team in cooperative and single-agent environments.
        slots: By configured slot.
        notes: What a reader must know.
        calls: Calls to models of all its slots, ``None`` where there were none.
        options: What its managers have asked for, the most frequent first; from the step rows.
        highlights: Its best, median and worst episode.
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
        """How often its managers have asked for an option."""
        return sum(each.chosen for each in self.options)


@dataclass(frozen=True)
class Failure:
    """An episode that did not complete, and why."""

    operator: str
    episode_index: int
    seed: int | None
    status: str
    reason: str


@dataclass(frozen=True)
class RunInfo:
    """Where the numbers come from."""

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
        """``“Baseline” (run 01J…)``; without a name its id alone."""
        return f"“{self.name}” (run {self.run_id})" if self.name else f"run {self.run_id}"


@dataclass(frozen=True)
class Summary:
    """Everything a report says.

    Attributes:
        runs: The runs it is about.
        verdicts: The comparisons that matter most, first things first.
        operators: One entry per operator.
        comparisons: Every comparison made.
        refusals: Those that cannot be made.
        failures: Every episode that did not complete.
        notes: What a reader must know.
        missing: Those of the notes that say what is not there.
        unread: Those that name runs which were asked for and cannot be read.
        unverified: Those that name runs whose records do not agree with their digests.
        methods: What each named method is.
        matrix: The rows of the matrices that were played.
        settings: The settings of their players, where there are several: each held against the first.
        standings: What the run says as a tournament, where it is one and that was asked for; it is no part
            of ``summary.json``, but a file of its own.
        cross_play: The same of one whose policies fill the seats of one team.
        trainings: By task, what it says of algorithms, where whole groups of trainings have played.
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
        """Verdicts by environment; all under ``""`` where there is one."""
        tasks = dict.fromkeys(verdict.task for verdict in self.verdicts)
        return {task: tuple(v for v in self.verdicts if v.task == task) for task in tasks}

    def to_json(self) -> dict[str, Any]:
        """Plain data, as ``summary.json`` holds it. Floats are finite or null."""
        data = asdict(replace(self, trainings=()))
        del data["standings"], data["cross_play"], data["trainings"]
        if self.trainings:
            data["trainings"] = [report.to_json() for report in self.trainings]
        data["verdicts"] = [{**asdict(v), "text": str(v)} for v in self.verdicts]
        return data

    def operator(self, key: str) -> OperatorSummary:
        """The operator with this key.

        Raises:
            KeyError: There is none.
        """
        for operator in self.operators:
            if operator.key == key:
                return operator
        raise KeyError(key)
