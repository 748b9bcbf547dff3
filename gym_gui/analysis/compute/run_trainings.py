"""Compares algorithms by the episodes of their trainings, if a run has groups of trainings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gym_gui.analysis.compute.algorithm_verdicts import verdicts_of
from gym_gui.analysis.compute.algorithms import compare_algorithms
from gym_gui.analysis.compute.pairing import Entry, totals
from gym_gui.analysis.findings.comparison import Verdict
from gym_gui.analysis.findings.trainings import AlgorithmReport, MissingTraining, TrainedScores
from gym_gui.analysis.statistics.stats import mean


def training_reports(entries: Sequence[Entry]) -> Iterator[AlgorithmReport]:
    """Yield a report per task with groups of trainings; nothing while one of the runs is unfinished.

    The score of a training is the mean return of its episodes. A training has no score if an episode is
    missing, or if one failed and the experiment declares no failure score.
    """
    members = [entry for entry in entries if entry.training is not None]
    if not all(entry.run.has_ended for entry in members):
        return
    by_task: dict[str, dict[str, dict[int, Entry]]] = defaultdict(lambda: defaultdict(dict))
    for entry in members:
        if entry.training is not None:
            name, seed = entry.training
            by_task[entry.title][name].setdefault(seed, entry)
    for title, groups in by_task.items():
        found = [_scores(name, title, of_seed) for name, of_seed in groups.items()]
        if scored := [group for group in found if group.scores]:
            yield compare_algorithms(scored)


def _scores(name: str, title: str, of_seed: Mapping[int, Entry]) -> TrainedScores:
    scores: dict[int, float] = {}
    missing: list[MissingTraining] = []
    for seed, entry in sorted(of_seed.items()):
        values = [value for value, _ in totals(entry)]
        lost = len(entry.data.indices) - len(values)
        if lost or not values:
            missing.append(MissingTraining(seed, "failed", f"{lost:,} of its episodes have no return"))
        elif gone := entry.lost_lines:
            are = "is" if gone == 1 else "are"
            missing.append(MissingTraining(seed, "stopped", f"{gone:,} of its episodes {are} missing"))
        else:
            scores[seed] = mean(values)
    return TrainedScores(name, name, title, scores, missing=tuple(missing))


def training_verdicts(reports: Iterable[AlgorithmReport]) -> Iterator[Verdict]:
    """Yield the verdicts of reports on algorithms, with their task."""
    for report in reports:
        for verdict in verdicts_of(report):
            yield Verdict(verdict.claim, verdict.detail, verdict.decided, report.environments[0])
