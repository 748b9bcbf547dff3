"""Builds the verdicts at the beginning of a report: which operator is better, by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gym_gui.analysis.compute.estimates import estimate
from gym_gui.analysis.compute.pairing import Entry, refusals, totals
from gym_gui.analysis.findings.comparison import Comparison, Refusal, Verdict
from gym_gui.analysis.words import wording

_MODELS = ("llm", "vlm")


def headline(entries: Sequence[Entry], comparisons: Sequence[Comparison]) -> list[Verdict]:
    """Return the verdicts at the beginning of a report.

    For each task, these are the best operator against the others, the pairs of teams, and operators without
    comparison. Verdicts that something is not compared come first.
    """
    best: dict[str, str] = {}
    title = {entry.key: entry.title for entry in entries}
    for c in comparisons:
        if c.kind == "operators":
            best.setdefault(title[c.first], c.first)
    shown = [c for c in comparisons if c.kind == "teams" or best[title[c.first]] == c.first]
    verdicts = [
        Verdict(c.claim, c.detail, c.verdict != "undecided", title[c.operator or c.first]) for c in shown
    ]
    compared = {key for c in comparisons for key in (c.operator, c.first, c.second)}
    lone = [e for e in entries if e.key not in compared and e.training is None]
    verdicts += [replace(_alone(e), task=e.title) for e in lone]
    # A refusal concerns two tasks, so it is listed before the tasks.
    refused = [*_unanswered(entries), *_apart(entries), *_refused(entries)]
    tasks = list(dict.fromkeys(title.values()))
    if len(tasks) < 2:
        return refused + [replace(verdict, task="") for verdict in verdicts]
    return refused + sorted(verdicts, key=lambda verdict: tasks.index(verdict.task))


def _unanswered(entries: Sequence[Entry]) -> Iterator[Verdict]:
    """Yield a verdict for each model that never gave a playable answer; its results come from fallbacks."""
    for entry in entries:
        for slot, agent in entry.data.agents.items():
            refused, answered = entry.data.unusable[slot], entry.data.output_tokens[slot]
            if agent.worker_type in _MODELS and refused and not answered:
                who = entry.label if len(entry.data.agents) == 1 else f"{slot} of {entry.label}"
                decisions = wording.count(refused, "decision")
                detail = f", in {decisions}: the actions played in its place say nothing about it"
                yield Verdict(f"{who} never gave an answer that could be played", detail, False)


def _apart(entries: Sequence[Entry]) -> Iterator[Verdict]:
    """Yield a verdict that runs are not compared, if no common environment connects them."""
    groups: list[tuple[set[str], set[str]]] = []  # ids of runs, and the environments that connect them
    for run_id in dict.fromkeys(entry.run.run_id for entry in entries):
        runs, tasks = {run_id}, {entry.task.name for entry in entries if entry.run.run_id == run_id}
        for group in [group for group in groups if group[1] & tasks]:
            groups.remove(group)
            runs, tasks = runs | group[0], tasks | group[1]
        groups.append((runs, tasks))
    if len(groups) > 1:
        shown = (
            f"{wording.names(sorted(tasks))} in {wording.count(len(runs), 'run')}" for runs, tasks in groups
        )
        yield Verdict("Runs of different environments are not compared", f": {', '.join(shown)}", False)


def _refused(entries: Sequence[Entry]) -> Iterator[Verdict]:
    """Yield verdicts on operators that are not compared because their environments have different settings.

    Several refusals in one environment become one sentence.
    """
    by_task: dict[str, list[Refusal]] = defaultdict(list)
    names = {entry.key: entry.task.name for entry in entries}
    for refusal in refusals(entries):
        by_task[names[refusal.first[0]]].append(refusal)
    for task, found in by_task.items():
        if len(found) == 1:
            yield Verdict(found[0].claim, found[0].detail, False)
            continue
        ways = len({entry.title for entry in entries if entry.task.name == task})
        differs = list(dict.fromkeys(key for refusal in found for key in refusal.differs))
        claim = f"The {ways} ways in which {task} was set up are not compared"
        yield Verdict(claim, f": they differ in {wording.names(differs)}", False)


def _alone(entry: Entry) -> Verdict:
    usable, recorded = totals(entry), len(entry.data.indices)
    if not usable:
        without = "episode with a finite return" if entry.data.completed else "completed episode"
        return Verdict(f"{entry.label} has no {without}", "", False)
    found = estimate([total for total, _ in usable], [sample for _, sample in usable])
    if found.n == recorded:
        detail = f" over {wording.count(found.n, 'episode')}"
    else:
        detail = f" over {found.n:,} of {wording.count(recorded, 'episode')}; the others did not complete"
    failed = sum(e.failed for e in entry.data.unfinished)
    if failed and entry.failure_score is not None:
        detail += f"; {failed:,} failed, each counted as {wording.number(entry.failure_score)}"
    return Verdict(f"{entry.label} has a mean return of {wording.estimate(found)}", detail, False)
