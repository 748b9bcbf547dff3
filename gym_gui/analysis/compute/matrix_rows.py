"""Summarizes the rows of a matrix experiment: results, and rows that could not be played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gym_gui.analysis.compute.pairing import Entry
from gym_gui.analysis.findings.comparison import Comparison, Verdict
from gym_gui.analysis.findings.matrix_summary import RowSummary
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.plain_columns import Column
from gym_gui.core.errors import RunFormatError
from gym_gui.core.experiment.matrix_table import MatrixRow, MatrixTable, by_problem
from gym_gui.core.validation import ConfigError

MOST_NAMED = 12
"""Largest number of rows that one sentence names."""


def matrix_of(run: Run) -> MatrixTable | None:
    """Return the matrix of a run, whose operators are its rows; ``None`` if the run has no matrix.

    Raises:
        RunFormatError: The matrix cannot be read.
    """
    recorded = run.record.experiment.get("matrix")
    if recorded is None:
        return None
    try:
        return MatrixTable.from_record(recorded)
    except ConfigError as error:
        raise RunFormatError(str(run.path / "run.json"), error.message) from None


def is_match(entry: Entry) -> bool:
    """Return whether an operator is a matrix row with competing sides, which are compared with each other."""
    return len(entry.data.squads) > 1 and entry.run.record.experiment.get("matrix") is not None


def rows_not_played(runs: Iterable[Run]) -> list[Verdict]:
    """Return one sentence per reason on the matrix rows that were not played."""
    found: list[Verdict] = []
    for run in runs:
        table = matrix_of(run)
        for problem, rows in by_problem(() if table is None else table.rows).items():
            names = [row.name for row in rows]
            left = len(names) - MOST_NAMED
            *most, last = [*names[:MOST_NAMED], *([f"{left:,} others"] if left > 0 else [])]
            named = f"{', '.join(most)} and {last} were" if most else f"{last} was"
            found.append(Verdict(f"{named} not played", f": {problem}", False))
    return found


def row_summaries(
    entries: Sequence[Entry], operators: Sequence[OperatorSummary], comparisons: Sequence[Comparison]
) -> list[RowSummary]:
    """Return the results of each matrix row of the entries' runs.

    Raises:
        RunFormatError: A matrix cannot be read.
    """
    by_key = {operator.key: operator for operator in operators}
    of_teams = {c.operator: c for c in comparisons if c.kind == "teams"}
    found: list[RowSummary] = []
    for run in {entry.run.run_id: entry.run for entry in entries}.values():
        keys = {entry.operator.operator_id: entry.key for entry in entries if entry.run is run}
        table = matrix_of(run)
        for row in () if table is None else table.rows:
            key = keys.get(row.operator, "")
            found.append(_row(run.run_id, row, by_key.get(key), of_teams.get(key)))
    return found


def _row(
    run_id: str, row: MatrixRow, operator: OperatorSummary | None, between: Comparison | None
) -> RowSummary:
    sides = [" + ".join(seats) for seats in row.sides.values()]
    if operator is None:
        return RowSummary(run_id, row.name, row.title, row.task, row.players, problem=row.problem)
    competes = len(operator.teams) > 1
    two = between is not None and len(sides) == len(operator.teams) == 2
    better = ""
    if competes and between is not None:
        decided = {"first": 0, "second": 1}.get(between.verdict)
        undecided = "same players" if two and sides[0] == sides[1] else "not decided"
        better = undecided if decided is None else sides[decided] if two else "see below"
    return RowSummary(
        run_id,
        row.name,
        row.title,
        operator.task,
        row.players,
        operator.key,
        operator.completed,
        None if competes else operator.mean,
        between.difference if two and between is not None else None,
        between.measure if two and between is not None else "",
        between.p_adjusted if two and between is not None else None,
        better,
    )


MATRIX_COLUMNS: tuple[Column[RowSummary], ...] = (
    Column("Row", lambda row: row.name, words=True),
    Column("Run", lambda row: row.run_id, lambda rows: len({row.run_id for row in rows}) > 1, words=True),
    Column("Played by", lambda row: row.players, words=True),
    Column("Task", lambda row: row.task, lambda rows: len({row.task for row in rows}) > 1, words=True),
    Column("Episodes", lambda row: f"{row.episodes:,}" if row.operator else "-"),
    Column(
        "Return [95 %]",
        lambda row: "-" if row.mean is None else wording.estimate_or_why(row.mean),
        lambda rows: any(row.mean is not None for row in rows),
    ),
    Column(
        "Difference [95 %]",
        lambda row: "-" if row.difference is None else wording.estimate_or_why(row.difference),
        lambda rows: any(row.difference is not None for row in rows),
    ),
    Column("Better", lambda row: "not played" if not row.operator else row.better or "-", words=True),
)
"""Columns of the table of matrix rows; a difference is that of the first side minus the second side."""
