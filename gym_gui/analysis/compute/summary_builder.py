"""Computes the summary of one or several run folders: verdicts, operators, comparisons, failures, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from gym_gui.analysis.compute.collect import OperatorData, SquadResult, collect_episodes
from gym_gui.analysis.compute.decision_counts import collect_decisions
from gym_gui.analysis.compute.estimates import estimate, share
from gym_gui.analysis.compute.games import is_tournament, policies_by_side
from gym_gui.analysis.compute.headlines import headline
from gym_gui.analysis.compute.highlights import highlights_of
from gym_gui.analysis.compute.matrix_rows import is_match, row_summaries, rows_not_played
from gym_gui.analysis.compute.model_costs import CallTally, collect_calls, summed
from gym_gui.analysis.compute.notes import families_note, missing_notes, operator_notes, summary_notes
from gym_gui.analysis.compute.pairing import (
    STATE_MARK,
    Entry,
    members,
    operator_pairs,
    refusals,
    score_or_return,
    totals,
)
from gym_gui.analysis.compute.run_trainings import training_reports, training_verdicts
from gym_gui.analysis.compute.setting_rows import setting_pairs, setting_summaries
from gym_gui.analysis.compute.tasks import same_tasks, task_of, titles
from gym_gui.analysis.compute.team_pairs import row_pairs, team_pairs
from gym_gui.analysis.compute.verdicts import compare_all
from gym_gui.analysis.findings.comparison import Comparison, Verdict
from gym_gui.analysis.findings.summary import (
    Failure,
    OperatorSummary,
    OptionSummary,
    RunInfo,
    SlotSummary,
    TeamSummary,
)
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.printed_summary import PrintedSummary
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.statistics.summary_numbers import Bounds, Estimate
from gym_gui.analysis.statistics.units import Sample
from gym_gui.core.enums import EpisodeStatus, Outcome
from gym_gui.core.experiment.slot_patterns import slot_for
from gym_gui.core.run_labels import name_of

_DAY: Final = "2026-11-25 "
"""Example of a date, whose length is the length of the date in a start time."""


OnCollected: TypeAlias = Callable[[Sequence[Run], Sequence[Entry]], None]
"""Function that gets the runs, and their operators with the episodes, before the statistics are computed."""


def summarize(
    runs: Run | Sequence[Run], *, steps: bool = True, on_collected: OnCollected | None = None
) -> PrintedSummary:
    """Compute the statistics of one or several runs, which may still be running.

    Operators of the same task are compared pairwise on shared seeds; teams of one operator are compared in
    their common episodes. Failed and aborted episodes are excluded from means and comparisons unless the
    experiment declares a failure score. They are counted and listed with their reasons, and no verdict is
    given that may depend on their absence.

    Args:
        runs: Opened run folders.
        steps: Whether to read the step rows as well, for the sources of actions and for latencies.
        on_collected: Called once all episodes are read.

    Raises:
        RunFormatError: A row is damaged.
    """
    opened = [runs] if isinstance(runs, Run) else list(runs)
    entries = entries_of(opened)
    if on_collected is not None:
        on_collected(opened, entries)
    # In a tournament, and in matrix rows whose sides compete, the sides are compared, not the operators.
    matches = [entry for entry in entries if is_match(entry)]
    others = [entry for entry in entries if not is_match(entry)]
    asked = operator_pairs([entry for entry in others if not is_tournament(entry.run)])
    for run in opened:
        asked += row_pairs([entry for entry in matches if entry.run is run])
    for entry in others:
        asked += team_pairs(entry)
    # All comparisons of a report form one family, whatever the task, so that chance seldom decides one.
    compared = compare_all([*asked, *setting_pairs(entries)])
    comparisons = compared[: len(asked)]
    operators = _operators(entries, steps)
    trainings = tuple(training_reports(entries))
    missing = tuple(missing_notes(opened, entries, operators))
    return PrintedSummary(
        runs=tuple(_run_info(run, entries) for run in opened),
        verdicts=(*rows_not_played(opened), *_verdicts(entries, comparisons, trainings)),
        operators=operators,
        comparisons=tuple(comparisons),
        refusals=tuple(refusals(entries)),
        failures=tuple(_failures(entries)),
        notes=(
            *missing,
            *families_note(entries, comparisons, trainings),
            *summary_notes(opened, entries, comparisons, operators),
        ),
        missing=missing,
        matrix=tuple(row_summaries(entries, operators, comparisons)),
        settings=tuple(setting_summaries(entries, operators, compared)),
        trainings=trainings,
    )


def _verdicts(
    entries: Sequence[Entry], comparisons: Sequence[Comparison], trainings: Sequence[AlgorithmReport]
) -> list[Verdict]:
    """Return all verdicts, with verdicts about groups of trainings first."""
    found = headline(entries, comparisons)
    if not trainings:
        return found
    several = len({entry.title for entry in entries}) > 1
    return [replace(v, task=v.task if several else "") for v in training_verdicts(trainings)] + found


def entries_of(runs: Sequence[Run]) -> list[Entry]:
    """Return the operators of all runs with their episodes, with labels that are unique within each task."""
    ids = Counter(operator_id for run in runs for operator_id in run.operators)
    found = [
        (run, operator, collect_episodes(operator)) for run in runs for operator in run.operators.values()
    ]
    tasks = [task_of(*each) for each in found]
    groups = same_tasks(tasks)
    title = {i: name for group, name in zip(groups, titles(tasks, groups), strict=True) for i in group}
    entries: list[Entry] = []
    for i, (run, operator, data) in enumerate(found):
        key = operator.operator_id
        key = key if ids[key] == 1 else f"{run.run_id}/{key}"
        score = run.record.failure_score
        entries.append(Entry(key, operator.name, run, operator, data, tasks[i], title[i], score))
    return _with_unique_labels(entries)


def _with_unique_labels(entries: Sequence[Entry]) -> list[Entry]:
    """Make labels unique within a task by adding the workers, the run's name or start, or the key."""
    names = Counter((e.title, e.label) for e in entries)
    workers = Counter((e.title, e.label, e.workers) for e in entries)
    called = _run_labels(list({e.run.path: e.run for e in entries}.values()))
    runs = Counter((e.title, e.label, called[e.run.path]) for e in entries)

    def label(e: Entry) -> str:
        if names[e.title, e.label] == 1:
            return e.label
        if workers[e.title, e.label, e.workers] == 1 and e.workers:
            return f"{e.label} ({e.workers})"
        name = called[e.run.path]
        return f"{e.label} ({name if name and runs[e.title, e.label, name] == 1 else e.key})"

    def marked(e: Entry) -> str:
        return f"{label(e)} {STATE_MARK}" if e.data.saw_state else label(e)

    return [replace(entry, label=marked(entry)) for entry in entries]


def _run_labels(runs: Sequence[Run]) -> dict[Path, str]:
    """Return a label by run folder: the run's name, or its start time (without date if all have one date)."""
    named = {run.path: name_of(run.path) for run in runs}
    began = {run.path: _began(run) for run in runs if not named[run.path]}
    if len({when[: len(_DAY)] for when in began.values()}) == 1:
        began = {path: when[len(_DAY) :] for path, when in began.items()}
    return {path: name or began[path] for path, name in named.items()}


def _began(run: Run) -> str:
    """Return a run's start time, such as ``2026-11-25 03:11:07``; empty if it is unknown."""
    return (run.record.started_at or "")[:19].replace("T", " ")


def _run_info(run: Run, entries: Iterable[Entry]) -> RunInfo:
    record = run.record
    played = {
        e.seed
        for entry in entries
        if entry.run is run
        for e in (*entry.data.completed, *entry.data.unfinished)
        if e.seed is not None
    }
    return RunInfo(
        run.run_id,
        record.status,
        record.started_at,
        record.finished_at,
        record.commit,
        record.seeds or tuple(sorted(played)),
        record.versions,
        record.machine,
        name_of(run.path),
    )


# ------------------------------------------------------------------ one operator


def _operators(entries: Sequence[Entry], steps: bool) -> tuple[OperatorSummary, ...]:
    seen: dict[str, list[float]] = {}
    for entry in entries:
        seen.setdefault(entry.title, []).extend(value for value, _ in totals(entry))
    return tuple(_operator(entry, steps, seen[entry.title]) for entry in entries)


def _operator(entry: Entry, steps: bool, seen: Sequence[float]) -> OperatorSummary:
    """Return the summary of one operator; ``seen`` holds the returns of all operators of its task."""
    data, score = entry.data, entry.failure_score
    policies = policies_by_side(entry.run, entry.operator.operator_id)
    teams = tuple(_team(data, name, policies.get(name, "")) for name in data.squads)
    usable = totals(entry)
    values, samples = [value for value, _ in usable], [sample for _, sample in usable]
    statuses = Counter(e.status for e in data.unfinished)
    recorded = len(data.indices)
    missing = recorded - len(values) - len(data.halved)
    judged = _judged(entry)
    calls = collect_calls(entry.operator)
    of_slots: dict[str, CallTally] = {}
    for (episode, agent), tally in calls.items():
        slot = data.seats.get(episode, {}).get(agent) or slot_for(agent, data.agents) or agent
        of_slots.setdefault(slot, CallTally()).add(tally)
        data.call_tokens[episode] += tally.input_tokens + tally.output_tokens
    decisions = collect_decisions(entry.operator, data) if steps else None
    counted = steps or not data.uncounted
    found = OperatorSummary(
        key=entry.key,
        run_id=entry.run.run_id,
        operator_id=entry.operator.operator_id,
        name=entry.label,
        task=entry.title,
        kinds=tuple(dict.fromkeys(agent.worker_type for agent in data.agents.values() if agent.worker_type)),
        recorded=recorded,
        completed=len(data.completed),
        failed=statuses[EpisodeStatus.FAILED],
        aborted=statuses[EpisodeStatus.ABORTED],
        without_return=sum(e.total is None for e in data.completed),
        mean=estimate(values, samples),
        iqm=estimate(values, samples, "iqm"),
        length=estimate([float(e.length) for e in data.played], [e.sample for e in data.played]),
        success=share([hit for hit, _ in judged], [sample for _, sample in judged]),
        invalid_actions=data.invalid.total(),
        unusable_decisions=data.unusable.total() if counted else None,
        unusable_causes=dict(sorted(data.causes.items())),
        decisions=decisions,
        teams=teams,
        slots=tuple(_slot(data, slot, of_slots.get(slot, CallTally()), counted) for slot in data.agents),
        calls=summed(calls.values()).frozen(),
        bounds=_bounds(values, missing, seen) if len(teams) < 2 else None,
        success_bounds=_bounds([float(hit) for hit, _ in judged], recorded - len(judged), (0.0, 1.0))
        if judged
        else None,
        failure_score=score,
        halved=len(data.halved),
        options=_options(data),
        highlights=highlights_of(data),
    )
    return replace(found, notes=tuple(operator_notes(entry, found)))


def _options(data: OperatorData) -> tuple[OptionSummary, ...]:
    found = [
        OptionSummary(
            slot=slot,
            option=option,
            chosen=tally.chosen,
            moves=tally.moves / tally.ended.total() if tally.ended else None,
            over=tally.ended["over"],
            budget=tally.ended["budget"],
            episode=tally.ended["episode"],
            mean_return=tally.earned / tally.chosen,
        )
        for (slot, option), tally in data.options.items()
    ]
    return tuple(sorted(found, key=lambda each: (each.slot, -each.chosen, each.option)))


def _judged(entry: Entry) -> list[tuple[bool, Sample]]:
    """Return whether each episode succeeded, for episodes of which the environment reports it.

    If failed episodes have a declared score, they count as unsuccessful.
    """
    data = entry.data
    found = [(e.success, e.sample) for e in data.played if e.success is not None]
    if found and entry.failure_score is not None and not data.swapped:
        found += [(False, Sample(e.seed, e.round)) for e in data.unfinished if e.failed]
    return found


def _bounds(values: Sequence[float], missing: int, seen: Sequence[float]) -> Bounds | None:
    """Return bounds of a mean, with the lowest and the highest of the values ``seen`` for missing ones.

    ``None`` if no value is missing or nothing was seen.
    """
    if not missing or not seen:
        return None
    worst, best, n = min(seen), max(seen), len(values) + missing
    return Bounds((sum(values) + missing * worst) / n, (sum(values) + missing * best) / n, worst, best)


def _team(data: OperatorData, name: str, policy: str = "") -> TeamSummary:
    results = [(e.sample, e.squads[name]) for e in data.played if name in e.squads]
    returns = [(r.return_, sample) for sample, r in results if r.return_ is not None]
    scores = [(r.score, sample) for sample, r in results if r.score is not None]
    judged = [(r.outcome, sample) for sample, r in results if r.outcome is not None]
    values, samples = [value for value, _ in returns], [sample for _, sample in returns]
    win, draw, loss = (
        share([outcome is o for outcome, _ in judged], [sample for _, sample in judged])
        for o in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS)
    )
    return TeamSummary(
        name=name,
        title=data.team_title(name),
        slots=data.squads[name],
        members=(policy,) if policy else members(data, name),
        mean=estimate(values, samples),
        iqm=estimate(values, samples, "iqm"),
        score=estimate([v for v, _ in scores], [s for _, s in scores]) if scores else None,
        win=win,
        draw=draw,
        loss=loss,
        by_seats=_by_seats(results),
    )


def _by_seats(results: Sequence[tuple[Sample, SquadResult]]) -> dict[str, Estimate]:
    """Return the mean result of a configured team in each team's seats, by team.

    A difference means that seats have an advantage, or that a policy plays worse in other seats.
    """
    by_score = score_or_return(r for _, r in results) == "score"
    found: dict[str, list[tuple[float, Sample]]] = {}
    for sample, r in results:
        value = r.score if by_score else r.return_
        if value is not None:
            found.setdefault(r.seats, []).append((value, sample))
    return {seats: estimate([v for v, _ in rows], [s for _, s in rows]) for seats, rows in found.items()}


def _slot(data: OperatorData, slot: str, calls: CallTally, counted: bool) -> SlotSummary:
    agent = data.agents[slot]
    results = [(e.returns.get(slot), e.sample) for e in data.played]
    usable = [(value, sample) for value, sample in results if value is not None]
    return SlotSummary(
        slot=slot,
        worker_id=agent.worker_id,
        worker_type=agent.worker_type,
        policy=agent.policy,
        mean=estimate([value for value, _ in usable], [sample for _, sample in usable]),
        invalid_actions=data.invalid[slot],
        unusable_decisions=data.unusable[slot] if counted else None,
        # An unusable answer may have no step row, so prefer the tokens in the calls.
        input_tokens=calls.input_tokens or data.input_tokens[slot],
        output_tokens=calls.output_tokens or data.output_tokens[slot],
        calls=calls.frozen(),
    )


def _failures(entries: Iterable[Entry]) -> Iterable[Failure]:
    for entry in entries:
        for e in entry.data.unfinished:
            yield Failure(entry.key, e.episode, e.seed, e.status.value, e.reason)
