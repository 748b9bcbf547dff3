"""Builds the verdicts at the beginning of a report on algorithms."""

from __future__ import annotations

from gym_gui.analysis.findings.comparison import Verdict
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.words import wording


def verdicts_of(report: AlgorithmReport) -> list[Verdict]:
    """Return the verdicts of the best algorithm against the others; for a single one, its mean score."""
    verdicts = [
        Verdict(c.claim, c.detail, c.verdict != "undecided")
        for c in report.comparisons
        if c.first == report.algorithms[0].name
    ]
    return verdicts or [_alone(report)]


def others_of(report: AlgorithmReport) -> list[Verdict]:
    """Return the verdicts of all comparisons in which the best algorithm has no part."""
    return [
        Verdict(c.claim, c.detail, c.verdict != "undecided")
        for c in report.comparisons
        if c.first != report.algorithms[0].name
    ]


def _alone(report: AlgorithmReport) -> Verdict:
    algorithm = report.algorithms[0]
    where = report.environments[0] if len(report.environments) == 1 else "all environments"
    detail = f" in {where} over {wording.trainings([algorithm.trainings])}"
    return Verdict(
        f"{algorithm.name} has a {report.measure} of {wording.estimate(algorithm.mean)}", detail, False
    )
