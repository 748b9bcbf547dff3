"""Compares the settings of each player of a matrix experiment on the same seeds.

A setting is, for example, a prompt, a strategy or a temperature. The sample is the seeds, not the calls or
decisions, because those of one episode are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gym_gui.analysis.compute.estimates import estimate
from gym_gui.analysis.compute.matrix_rows import matrix_of
from gym_gui.analysis.compute.pairing import Entry, operator_pairs
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.findings.matrix_summary import SettingSummary
from gym_gui.analysis.findings.pairs import Pairs, Sides
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.plain_columns import Column
from gym_gui.core.experiment.matrix_table import MatrixRow


def setting_pairs(entries: Sequence[Entry]) -> list[tuple[Sides, Pairs] | Comparison]:
    """Return the paired results of each two settings of a player, for tasks in which sides compete.

    Other rows are compared by :func:`~gym_gui.analysis.compute.pairing.operator_pairs`.

    Raises:
        RunFormatError: A matrix cannot be read.
    """
    return [pair for _, played in _of_players(entries) for pair in _competing_pairs(list(played.values()))]


def setting_summaries(
    entries: Sequence[Entry], operators: Sequence[OperatorSummary], comparisons: Sequence[Comparison]
) -> list[SettingSummary]:
    """Return the results of each setting of each player on each task.

    Args:
        entries: The operators with their data.
        operators: Summaries of the same operators.
        comparisons: All comparisons, including those of :func:`setting_pairs`.

    Raises:
        RunFormatError: A matrix cannot be read.
    """
    by_key = {operator.key: operator for operator in operators}
    known = {frozenset((c.first, c.second)): c for c in comparisons if c.kind == "operators"}
    return [
        _setting(run_id, row, played.get(row.operator), next(iter(played.values()), None), by_key, known)
        for (run_id, rows), played in _of_players(entries)
        for row in rows
    ]


def _of_players(
    entries: Sequence[Entry],
) -> Iterator[tuple[tuple[str, list[MatrixRow]], dict[str, Entry]]]:
    """Yield, for each player with several settings on a task, run id and rows, and entries by operator id."""
    for run in {entry.run.run_id: entry.run for entry in entries}.values():
        table = matrix_of(run)
        of_run = {entry.operator.operator_id: entry for entry in entries if entry.run is run}
        for rows in _by_player(() if table is None else table.rows):
            yield (
                (run.run_id, rows),
                {row.operator: of_run[row.operator] for row in rows if row.operator in of_run},
            )


def _by_player(rows: Iterable[MatrixRow]) -> list[list[MatrixRow]]:
    """Group rows that differ only in their setting; groups with one setting are left out."""
    found: dict[str, list[MatrixRow]] = {}
    for row in rows:
        if row.setting:
            found.setdefault(row.name.removesuffix(f".{row.setting}"), []).append(row)
    return [of for of in found.values() if len({row.operator or row.setting for row in of}) > 1]


def _competing_pairs(entries: Sequence[Entry]) -> list[tuple[Sides, Pairs] | Comparison]:
    """Return the paired results of one player's rows if sides compete in them, else an empty list."""
    if len({len(entry.data.squads) > 1 for entry in entries}) != 1 or len(entries[0].data.squads) < 2:
        return []
    return operator_pairs(entries)


def _setting(
    run_id: str,
    row: MatrixRow,
    entry: Entry | None,
    first: Entry | None,
    operators: Mapping[str, OperatorSummary],
    pairs: Mapping[frozenset[str], Comparison],
) -> SettingSummary:
    if entry is None or first is None:
        return SettingSummary(run_id, row.players, row.task, row.setting)
    operator = operators[entry.key]
    team = operator.teams[0] if len(operator.teams) > 1 else None
    result = operator.mean if team is None else team.score or team.mean
    unusable = [(float(e.unusable), e.sample) for e in entry.data.played if e.unusable is not None]
    tokens = entry.data.call_tokens
    found = SettingSummary(
        run_id,
        row.players,
        operator.task,
        row.setting,
        operator.key,
        operator.completed,
        result,
        "score" if team is not None and team.score else "return",
        unusable=estimate([v for v, _ in unusable], [s for _, s in unusable]) if unusable else None,
        tokens=estimate(
            [float(tokens[e.episode]) for e in entry.data.played], [e.sample for e in entry.data.played]
        )
        if tokens
        else None,
    )
    if entry is first:
        return found
    between = pairs.get(frozenset((entry.key, first.key)))
    if between is None:
        return replace(found, better="not compared")
    ours = between.first == entry.key
    words = {"first": "better", "second": "worse"} if ours else {"first": "worse", "second": "better"}
    return replace(
        found,
        difference=between.difference if ours else _negative(between.difference),
        p_adjusted=between.p_adjusted,
        better=words.get(between.verdict, "not decided"),
    )


def _negative(e: Estimate) -> Estimate:
    """Return a difference with the opposite sign."""
    ends = (None if end is None else -end for end in (e.value, e.high, e.low))
    value, low, high = ends
    return replace(e, value=value, low=low, high=high, values=tuple(-each for each in e.values))


def _estimate_or_dash(e: Estimate | None) -> str:
    return "-" if e is None else wording.estimate_or_why(e)


def _p_value(p: float) -> str:
    """Return a p-value as text without ``p``, for a column with the heading ``p``."""
    return wording.p_value(p).removeprefix("p ").removeprefix("= ")


SETTING_COLUMNS: tuple[Column[SettingSummary], ...] = (
    Column("Played by", lambda row: row.players, words=True),
    Column("Task", lambda row: row.task, lambda rows: len({row.task for row in rows}) > 1, words=True),
    Column("Setting", lambda row: row.setting, words=True),
    Column("Episodes", lambda row: f"{row.episodes:,}" if row.operator else "-"),
    Column("Result [95 %]", lambda row: _estimate_or_dash(row.result) if row.operator else "not played"),
    Column("Difference [95 %]", lambda row: _estimate_or_dash(row.difference)),
    Column(
        "p",
        lambda row: "-" if row.p_adjusted is None else _p_value(row.p_adjusted),
        lambda rows: any(row.p_adjusted is not None for row in rows),
    ),
    Column("Better", lambda row: row.better or "-", words=True),
    Column(
        "Unusable / ep. [95 %]",
        lambda row: _estimate_or_dash(row.unusable),
        lambda rows: any(row.unusable is not None and row.unusable.value for row in rows),
    ),
    Column(
        "Tokens / ep. [95 %]",
        lambda row: _estimate_or_dash(row.tokens),
        lambda rows: any(row.tokens is not None for row in rows),
    ),
)
"""Columns of the table of settings, grouped by player and task. Differences are to the first setting of the
group, on the same seeds."""
