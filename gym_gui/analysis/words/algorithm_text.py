"""Formats a report on training algorithms as sentences and table columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gym_gui.analysis.findings.trainings import AlgorithmReport, AlgorithmResults, AlgorithmSummary
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.plain_columns import Column, wanted_of


@dataclass(frozen=True)
class Row:
    """Row of a table: an algorithm over all environments, or in one environment if ``trained`` is set."""

    algorithm: AlgorithmSummary
    trained: AlgorithmResults | None = None


COLUMNS: tuple[Column[Row], ...] = (
    Column("Algorithm", lambda row: row.algorithm.name, words=True),
    Column("Trainings", lambda row: _count(row)),
    Column("Mean [95 %]", lambda row: wording.estimate((row.trained or row.algorithm).mean)),
    Column("IQM [95 %]", lambda row: wording.estimate((row.trained or row.algorithm).iqm)),
    Column(
        "Lowest",
        lambda row: wording.number(min(row.trained.scores.values()) if row.trained else None),
        lambda rows: any(row.trained for row in rows),
    ),
    Column(
        "Highest",
        lambda row: wording.number(max(row.trained.scores.values()) if row.trained else None),
        lambda rows: any(row.trained for row in rows),
    ),
    Column(
        "Mean rank [95 %]",
        lambda row: "-" if row.algorithm.rank is None else wording.estimate(row.algorithm.rank),
        lambda rows: any(row.algorithm.rank is not None and row.trained is None for row in rows),
    ),
)


def _count(row: Row) -> str:
    if row.trained is None:
        return f"{row.algorithm.trainings:,}"
    done, missing = len(row.trained.scores), len(row.trained.missing)
    return f"{done:,} of {done + missing:,}" if missing else f"{done:,}"


def columns_of(rows: Sequence[Row]) -> list[Column[Row]]:
    """Return the columns that have content for the rows."""
    return wanted_of(COLUMNS, rows)


def tables_of(report: AlgorithmReport) -> Iterator[tuple[str, list[Row]]]:
    """Yield title and rows of each table: all environments together (if scores are normalized), then each."""
    if report.scales:
        yield "All environments, normalized", [Row(algorithm) for algorithm in report.algorithms]
    for env_id in dict.fromkeys(t.env_id for a in report.algorithms for t in a.trained):
        rows = [Row(a, t) for a in report.algorithms for t in a.trained if t.env_id == env_id]
        yield env_id, rows


def values_of(trained: AlgorithmResults) -> str:
    """Return the scores of all trainings as text, each with its seed."""
    scores = [f"{wording.number(score)} (seed {seed})" for seed, score in trained.scores.items()]
    return f"{trained.group}: {', '.join(scores)}"


def scale_lines(report: AlgorithmReport) -> Iterator[str]:
    """Yield lines that explain which scores the normalized scores 0 and 1 stand for."""
    if report.scales:
        yield f"Normalized: 0 is random play, 1 is {report.reference}."
        for env_id, scale in report.scales.items():
            yield f"{env_id}: random {wording.number(scale.random)}, {wording.number(scale.reference)}."
