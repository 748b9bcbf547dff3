"""What a report says first: by task, who is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gym_gui.analysis import wording
from gym_gui.analysis.comparison import Comparison, Verdict
from gym_gui.analysis.estimates import estimate
from gym_gui.analysis.pairing import Entry, refusals, totals


def headline(entries: Sequence[Entry], comparisons: Sequence[Comparison]) -> list[Verdict]:
    """By task: the best operator against the others, then the teams; a lone one by itself."""
    best: dict[str, str] = {}
    title = {entry.key: entry.title for entry in entries}
    for c in comparisons:
        if c.kind == "operators":
            best.setdefault(title[c.first], c.first)
    told = [c for c in comparisons if c.kind == "teams" or best[title[c.first]] == c.first]
    verdicts = [
        Verdict(c.claim, c.detail, c.verdict != "undecided", title[c.operator or c.first]) for c in told
    ]
    compared = {key for c in comparisons for key in (c.operator, c.first, c.second)}
    lone = [e for e in entries if e.key not in compared and e.training is None]
    verdicts += [replace(_alone(e), task=e.title) for e in lone]
    # What is refused is about two tasks, so it stands below none.
    refused = [Verdict(r.claim, r.detail, False) for r in refusals(entries)]
    tasks = list(dict.fromkeys(title.values()))
    if len(tasks) < 2:
        return refused + [replace(verdict, task="") for verdict in verdicts]
    return refused + sorted(verdicts, key=lambda verdict: tasks.index(verdict.task))


def _alone(entry: Entry) -> Verdict:
    usable, recorded = totals(entry), len(entry.data.indices)
    if not usable:
        return Verdict(f"{entry.label} has no completed episode", "", False)
    found = estimate([total for total, _ in usable], [sample for _, sample in usable])
    if found.n == recorded:
        detail = f" over {wording.count(found.n, 'episode')}"
    else:
        detail = f" over {found.n:,} of {wording.count(recorded, 'episode')}; the others did not complete"
    failed = sum(e.failed for e in entry.data.unfinished)
    if failed and entry.failure_score is not None:
        detail += f"; {failed:,} failed, each counted as {wording.number(entry.failure_score)}"
    return Verdict(f"{entry.label} has a mean return of {wording.estimate(found)}", detail, False)
