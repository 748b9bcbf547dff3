"""From run folders to a :class:`~gym_gui.analysis.summary.Summary`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gym_gui.analysis import wording
from gym_gui.analysis.calls import CallTally, collect_calls, summed
from gym_gui.analysis.collect import OperatorData, SquadResult, collect_decisions, collect_episodes
from gym_gui.analysis.estimates import estimate, share, unit_codes
from gym_gui.analysis.outliers import outlier_note
from gym_gui.analysis.pairing import (
    Entry,
    compare_operators,
    compare_teams,
    headline,
    members,
    score_or_return,
)
from gym_gui.analysis.reader import Run
from gym_gui.analysis.summary import (
    Comparison,
    Estimate,
    Failure,
    OperatorSummary,
    RunInfo,
    SlotSummary,
    Summary,
    TeamSummary,
)
from gym_gui.core.enums import EpisodeStatus, Outcome
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import SESSION, WORKER


def summarize(runs: Run | Sequence[Run], *, steps: bool = True) -> Summary:
    """Statistics of one or several runs, also while they are on.

    Operators of the same task are compared pairwise on shared (seed, episode index);
    teams of one operator in the episodes they shared. Failed and aborted episodes are
    kept out of means and comparisons, counted, and listed with their reasons.

    Args:
        runs: Opened run folders.
        steps: Also pass over the step rows, for who chose the actions and latencies.

    Raises:
        RunFormatError: A row is damaged.
    """
    opened = [runs] if isinstance(runs, Run) else list(runs)
    entries = _entries(opened)
    comparisons = compare_operators(entries)
    for entry in entries:
        comparisons += compare_teams(entry)
    return Summary(
        runs=tuple(_run_info(run, entries) for run in opened),
        verdicts=tuple(headline(entries, comparisons)),
        operators=tuple(_operator(entry, steps) for entry in entries),
        comparisons=tuple(comparisons),
        failures=tuple(_failures(entries)),
        notes=tuple(_notes(opened, entries, comparisons)),
    )


def _entries(runs: Sequence[Run]) -> list[Entry]:
    ids = Counter(operator_id for run in runs for operator_id in run.operators)
    names = Counter(operator.name for run in runs for operator in run.operators.values())
    entries: list[Entry] = []
    for run in runs:
        for operator_id, operator in run.operators.items():
            key = operator_id if ids[operator_id] == 1 else f"{run.run_id}/{operator_id}"
            name = operator.name if names[operator.name] == 1 else f"{operator.name} ({key})"
            entries.append(Entry(key, name, run, operator, collect_episodes(operator)))
    return entries


def _run_info(run: Run, entries: Iterable[Entry]) -> RunInfo:
    record = run.record
    played = {
        e.seed
        for entry in entries
        if entry.run is run
        for e in (*entry.data.played, *entry.data.unfinished)
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
    )


# ------------------------------------------------------------------ one operator


def _operator(entry: Entry, steps: bool) -> OperatorSummary:
    data = entry.data
    teams = tuple(_team(data, name) for name in data.squads)
    usable = [e for e in data.played if e.total is not None]
    totals = [e.total for e in usable if e.total is not None]
    seeds = [e.seed for e in usable]
    judged = [(e.success, e.seed) for e in data.played if e.success is not None]
    statuses = Counter(e.status for e in data.unfinished)
    calls = collect_calls(entry.operator)
    of_slots: dict[str, CallTally] = {}
    for (episode, agent), tally in calls.items():
        slot = data.seats.get(episode, {}).get(agent, agent)
        of_slots.setdefault(slot, CallTally()).add(tally)
    return OperatorSummary(
        key=entry.key,
        run_id=entry.run.run_id,
        operator_id=entry.operator.operator_id,
        name=entry.label,
        task=entry.operator.task,
        kinds=tuple(dict.fromkeys(agent.worker_type for agent in data.agents.values() if agent.worker_type)),
        recorded=len(data.played) + len(data.unfinished),
        completed=len(data.played),
        failed=statuses[EpisodeStatus.FAILED],
        aborted=statuses[EpisodeStatus.ABORTED],
        without_return=len(data.played) - len(usable),
        mean=estimate(totals, seeds),
        iqm=estimate(totals, seeds, "iqm"),
        length=estimate([float(e.length) for e in data.played], [e.seed for e in data.played]),
        success=share([hit for hit, _ in judged], [seed for _, seed in judged]) if judged else None,
        invalid_actions=data.invalid.total(),
        decisions=collect_decisions(entry.operator, data.indices) if steps else None,
        teams=teams,
        slots=tuple(_slot(data, slot, of_slots.get(slot, CallTally())) for slot in data.agents),
        notes=tuple(_operator_notes(data, teams)),
        calls=summed(calls.values()).frozen(),
    )


def _team(data: OperatorData, name: str) -> TeamSummary:
    results = [(e.seed, e.squads[name]) for e in data.played if name in e.squads]
    returns = [(seed, r.return_) for seed, r in results if r.return_ is not None]
    scores = [(seed, r.score) for seed, r in results if r.score is not None]
    values, seeds = [value for _, value in returns], [seed for seed, _ in returns]
    ended = [(seed, r.outcome) for seed, r in results if r.outcome is not None]
    win, draw, loss = (
        share([outcome is o for _, outcome in ended], [seed for seed, _ in ended]) if ended else None
        for o in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS)
    )
    return TeamSummary(
        name=name,
        slots=data.squads[name],
        members=members(data, name),
        mean=estimate(values, seeds),
        iqm=estimate(values, seeds, "iqm"),
        score=estimate([v for _, v in scores], [s for s, _ in scores]) if scores else None,
        win=win,
        draw=draw,
        loss=loss,
        by_seats=_by_seats(results),
    )


def _by_seats(results: Sequence[tuple[int | None, SquadResult]]) -> dict[str, Estimate]:
    """A squad's result in each team's seats: shows a seat that favours, or a policy that cannot swap."""
    by_score = score_or_return(r for _, r in results) == "score"
    found: dict[str, list[tuple[int | None, float]]] = {}
    for seed, r in results:
        value = r.score if by_score else r.return_
        if value is not None:
            found.setdefault(r.seats, []).append((seed, value))
    return {seats: estimate([v for _, v in rows], [s for s, _ in rows]) for seats, rows in found.items()}


def _slot(data: OperatorData, slot: str, calls: CallTally) -> SlotSummary:
    agent = data.agents[slot]
    results = [(e.seed, e.returns.get(slot)) for e in data.played]
    usable = [(seed, value) for seed, value in results if value is not None]
    return SlotSummary(
        slot=slot,
        worker_id=agent.worker_id,
        worker_type=agent.worker_type,
        policy=agent.policy,
        mean=estimate([value for _, value in usable], [seed for seed, _ in usable]),
        invalid_actions=data.invalid[slot],
        # An answer that was refused has no row: what it took stands in its call alone.
        input_tokens=calls.input_tokens or data.input_tokens[slot],
        output_tokens=calls.output_tokens or data.output_tokens[slot],
        calls=calls.frozen(),
    )


def _operator_notes(data: OperatorData, teams: Sequence[TeamSummary]) -> Iterable[str]:
    if len(data.played) > 1 and len({e.seed for e in data.played}) == 1:
        yield "One seed was repeated: the intervals hold for this seed and no other."
    if len(data.squads) < 2:
        usable = [(e.total, e.seed) for e in data.played if e.total is not None]
        seeds = [seed for _, seed in usable]
        if note := outlier_note([total for total, _ in usable], unit_codes(seeds), seeds, "mean return"):
            yield note
    if len(data.squads) > 1 and data.played and not data.swapped:
        yield "Seats were fixed: a difference between teams may be the seat's, not the policy's."
    for team in teams if data.swapped else ():
        measure = "score" if team.score else "return"
        parts = [f"{wording.estimate(e)} in the seats of {seats}" for seats, e in team.by_seats.items()]
        yield f"Mean {measure} of {team.name}: {', '.join(parts)}."


# -------------------------------------------------------------- failures and notes


def _failures(entries: Iterable[Entry]) -> Iterable[Failure]:
    for entry in entries:
        for e in entry.data.unfinished:
            yield Failure(entry.key, e.episode, e.seed, e.status.value, e.reason)


def _so_far(run: Run, recorded: int) -> str:
    """Of many episodes in flight the short ones end first: a sample of them is no fair one."""
    planned = mapping(run.record.extra.get("episodes")) or {}
    total = sum(n for n in planned.values() if isinstance(n, int))
    of = f" of {total:,}" if total else ""
    return (
        f"Run {run.run_id} is not finished: {recorded:,}{of} episodes are recorded, "
        "and short episodes come first, so its means may be off."
    )


_LOST = {SESSION: "session process", WORKER: "worker"}


def _begun_again(run: Run) -> Iterable[str]:
    """What was lost on the way, and for what reasons; recorded is what would have been without."""
    for operator_id in run.operators:
        for lost, words in _LOST.items():
            again = [r for r in run.record.retries if (r.operator_id, r.lost) == (operator_id, lost)]
            if again:
                episodes = wording.count(len({r.episode_index for r in again}), "episode")
                reasons = "; ".join(sorted({r.reason for r in again}))
                yield f"Run {run.run_id}: {episodes} of {operator_id} begun again, {words} lost: {reasons}"


def _notes(runs: Sequence[Run], entries: Sequence[Entry], comparisons: Sequence[Comparison]) -> Iterable[str]:
    for run in runs:
        if run.record.status in ("running", "stopped"):
            yield _so_far(run, sum(len(e.data.indices) for e in entries if e.run is run))
        if run.record.problem:
            yield f"Run {run.run_id} ended early: {run.record.problem}"
        yield from _begun_again(run)
    for entry in entries:
        if not entry.data.indices:
            yield f"{entry.label} has no finished episode."
        if lost := sum(e.lost for e in entry.data.unfinished):
            left = wording.count(lost, "episode")
            yield (
                f"{entry.label}: {left} could not be played, a process being lost; "
                f"`mosaic run --resume {entry.run.run_id}` plays them."
            )
    labels: Mapping[str, str] = {entry.key: entry.label for entry in entries}
    for c in comparisons:
        if c.outliers:
            yield f"{labels.get(c.first, c.first)} against {labels.get(c.second, c.second)}: {c.outliers}"
        if c.left_out and c.kind == "operators":
            yield (
                f"{labels[c.first]} against {labels[c.second]}: "
                f"{wording.count(c.left_out, 'shared episode')} left out, not completed by both."
            )
