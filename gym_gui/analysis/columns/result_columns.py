"""Declares the columns of the table of operators, for terminal, page, window and files.

To add a column, add it here and, if needed, add its value to
:class:`~gym_gui.analysis.findings.summary.OperatorSummary`. All outputs then have the column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gym_gui.analysis.columns.call_columns import CALL_COLUMNS, per_episode
from gym_gui.analysis.columns.cells import REPORTS, Cell, ColumnOutput, ResultColumn, ResultRow
from gym_gui.analysis.columns.option_columns import option_in_words
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.statistics.summary_numbers import Bounds, Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import C, Locale
from gym_gui.core.enums import UnusableCause, kind_word

# ------------------------------------------------------------------------- who it is


def _name(row: ResultRow, locale: Locale) -> Cell:
    if row.option is not None:
        return Cell(f"      {option_in_words(row.option, locale)}")
    if row.team is not None:
        return Cell(f"      {row.team.title}: {', '.join(row.team.members)}")
    policies = dict.fromkeys(slot.policy or slot.worker_id for slot in row.operator.slots)
    return Cell(row.operator.name, below=", ".join(policies))


def _name_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {"run_id": o.run_id, "operator_id": o.operator_id, "name": o.name, "task": o.task}


def _players(row: ResultRow) -> str | None:
    """Return the tooltip of an operator: its policy in each slot, and its language models."""
    if row.team is not None or row.option is not None:
        return None
    players = [f"{s.slot}: {s.policy or s.worker_id} ({s.worker_type})" for s in row.operator.slots]
    if row.operator.calls and row.operator.calls.models:
        players.append(f"Model: {wording.models(row.operator.calls)}")
    return "\n".join([f"{row.operator.name} in {row.operator.task}", *players])


def _kinds(row: ResultRow, locale: Locale) -> Cell:
    words = " + ".join(map(kind_word, row.kinds))
    return Cell(words or locale.none, kinds=row.kinds)


def _kind_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {"kinds": "+".join(o.kinds)}


# ----------------------------------------------------------------- what it has reached


def _by_team(row: ResultRow) -> bool:
    return row.team is None and row.competes


def _some_alone(rows: Sequence[ResultRow], place: ColumnOutput) -> bool:
    """Return whether to show returns of all agents; a terminal omits them if teams compete everywhere."""
    return place is not ColumnOutput.TERMINAL or not all(row.competes for row in rows)


def _scored(rows: Sequence[ResultRow], _: ColumnOutput) -> bool:
    return any(row.competes and team.score for row in rows for team in row.operator.teams)


def _not_scored(rows: Sequence[ResultRow], place: ColumnOutput) -> bool:
    return not _scored(rows, place)


def _any_compete(rows: Sequence[ResultRow], _: ColumnOutput) -> bool:
    return any(row.competes for row in rows)


def _value(row: ResultRow, locale: Locale) -> Cell:
    e = row.estimate
    return Cell("by team" if e is None else wording.number(e.value, locale=locale))


def _interval(row: ResultRow, locale: Locale) -> Cell:
    e = row.estimate
    if e is None:
        return Cell("")
    if e.low is None or e.high is None:
        return Cell(e.note.replace("episodes", "ep.") or locale.none)
    digits = wording.decimals(e.value, e.low, e.high)
    low, high = (wording.number(end, digits, locale) for end in (e.low, e.high))
    return Cell(f"{low} – {high}")  # noqa: RUF001  # a range


def _basis(row: ResultRow) -> str | None:
    """Return the tooltip of an estimate: number of episodes, number of seeds, and method."""
    e = row.estimate
    if e is None:
        return None
    could = bounds_in_words(row.operator) if row.team is None else ""
    about = f"{wording.count(e.n, 'episode')}, {wording.count(e.units, 'independent seed')}. {e.method}"
    return f"{about}\nMean of {could}, with observed values in place of missing ones" if could else about


def bounds_in_words(operator: OperatorSummary, locale: Locale = C) -> str:
    """Return the bounds of the mean if episodes are missing (``all 20: 75.8 to 92.3``); else empty."""
    b = operator.bounds
    if b is None:
        return ""
    digits = wording.decimals(b.low, b.high)
    low, high = (wording.number(end, digits, locale) for end in (b.low, b.high))
    return f"all {wording.number(operator.recorded, 0, locale)}: {low} to {high}"


def _mean(row: ResultRow, locale: Locale) -> Cell:
    if _by_team(row):
        return Cell("by team")
    o = row.operator
    full = wording.estimate_or_why(o.mean, locale)
    return Cell(wording.number(o.mean.value, locale=locale), full, bounds_in_words(o, locale))


def _mean_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {**_estimate("mean_return", o.mean), **_bounds("mean_return", o.bounds)}


def _iqm(row: ResultRow, locale: Locale) -> Cell:
    return Cell("by team" if _by_team(row) else wording.estimate_or_why(row.operator.iqm, locale))


def _iqm_values(o: OperatorSummary) -> Mapping[str, Any]:
    return _estimate("iqm_return", o.iqm)


def _estimate(name: str, e: Estimate) -> dict[str, Any]:
    return {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}


def _bounds(name: str, b: Bounds | None) -> dict[str, Any]:
    return {f"{name}_at_worst": b.low if b else None, f"{name}_at_best": b.high if b else None}


def _episodes(row: ResultRow, _: Locale) -> Cell:
    o = row.operator
    if o.completed == o.recorded:
        return Cell(f"{o.completed}")
    return Cell(f"{o.completed} of {o.recorded}", alarming=True)


def _episode_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {
        "recorded": o.recorded,
        "completed": o.completed,
        "failed": o.failed,
        "aborted": o.aborted,
        "halved": o.halved,
        "failure_score": o.failure_score,
    }


def _won(row: ResultRow, locale: Locale) -> Cell:
    return Cell(wording.percent(row.team.win.value if row.team and row.team.win else None, locale))


def _any_success(rows: Sequence[ResultRow], _: ColumnOutput) -> bool:
    return any(row.operator.success for row in rows)


def _success(row: ResultRow, locale: Locale) -> Cell:
    """Return the share of successful episodes, or its range if some episodes have no result."""
    share, could = row.operator.success, row.operator.success_bounds
    if share is None:
        return Cell(locale.none)
    if could is not None:
        low, high = (wording.percent(end, locale) for end in (could.low, could.high))
        return Cell(f"{low.removesuffix(' %')} to {high}")
    return Cell(wording.percent(share.value, locale), wording.share(share, locale))


def _success_values(o: OperatorSummary) -> Mapping[str, Any]:
    value, n = (o.success.value, o.success.n) if o.success else (None, None)
    return {"success": value, "success_n": n, **_bounds("success", o.success_bounds)}


# ------------------------------------------------------------------------- how it played


def _length(row: ResultRow, locale: Locale) -> Cell:
    return Cell(wording.number(row.operator.length.value, 0, locale))


def _length_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {"length": o.length.value}


def _unusable(row: ResultRow, locale: Locale) -> Cell:
    """Return the share of unusable decisions; if the total is unknown, the number of decisions or answers."""
    o = row.operator
    if o.unusable_decisions is None:
        return Cell(wording.count(o.invalid_actions, "answer", locale))
    if o.unusable_decisions and o.decisions and o.decisions.total:
        return Cell(wording.percent(o.unusable_decisions / o.decisions.total, locale))
    return Cell(wording.number(o.unusable_decisions, 0, locale))


def _unusable_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {"unusable": o.unusable_decisions, "unusable_answers": o.invalid_actions}


_CAUSES: Mapping[str, str] = {
    UnusableCause.UNREADABLE: "unreadable",
    UnusableCause.ILLEGAL: "illegal",
    UnusableCause.TIME_OUT: "too late",
    UnusableCause.MODEL_ERROR: "no reply",
    UnusableCause.OTHER: "other",
}


def _any_causes(rows: Sequence[ResultRow], _: ColumnOutput) -> bool:
    return any(row.operator.unusable_causes for row in rows)


def _causes(row: ResultRow, locale: Locale) -> Cell:
    """Return the number of unusable decisions by cause."""
    known = row.operator.unusable_causes
    counts = [f"{wording.number(known[c], 0, locale)} {word}" for c, word in _CAUSES.items() if known.get(c)]
    return Cell(", ".join(counts) or locale.none)


def _cause_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {f"unusable_{cause}": o.unusable_causes.get(cause, 0) for cause in _CAUSES}


def _fallbacks(row: ResultRow, locale: Locale) -> Cell:
    decisions = row.operator.decisions
    return Cell(wording.number(decisions.fallbacks if decisions else None, 0, locale))


def _timed(rows: Sequence[ResultRow], place: ColumnOutput) -> bool:
    known = [row.operator.decisions for row in rows]
    return place is not ColumnOutput.TERMINAL or any(d and d.latency_p50_ms is not None for d in known)


def _latency(row: ResultRow, locale: Locale) -> Cell:
    decisions = row.operator.decisions
    return Cell(wording.milliseconds(decisions.latency_p50_ms if decisions else None, locale))


def _decision_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {
        "decisions": o.decisions.total if o.decisions else None,
        "decision_p50_ms": o.decisions.latency_p50_ms if o.decisions else None,
        "decision_p95_ms": o.decisions.latency_p95_ms if o.decisions else None,
        "input_tokens": sum(slot.input_tokens for slot in o.slots),
        "output_tokens": sum(slot.output_tokens for slot in o.slots),
        "cached_tokens": o.calls.cached_tokens if o.calls else 0,
    }


def _any_options(rows: Sequence[ResultRow], _: ColumnOutput) -> bool:
    return any(row.operator.options for row in rows)


def _options(row: ResultRow, locale: Locale) -> Cell:
    o = row.operator
    return Cell(wording.number(per_episode(o, o.manager_decisions) if o.options else None, 1, locale))


def _option_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {"manager_decisions": o.manager_decisions, "options": len({each.option for each in o.options})}


OPERATOR_COLUMNS: tuple[ResultColumn, ...] = (
    ResultColumn(
        "Operator",
        _name,
        values=_name_values,
        of_teams=True,
        of_options=True,
        words=True,
        tip=_players,
    ),
    ResultColumn(
        "Kind",
        _kinds,
        values=_kind_values,
        headings={ColumnOutput.WINDOW: ""},
        of_teams=True,
        words=True,
    ),
    ResultColumn(
        "IQM return",
        _value,
        "Interquartile mean: the mean of the middle half of the episodes' returns",
        places=ColumnOutput.WINDOW,
        wanted=_not_scored,
        of_teams=True,
        tip=_basis,
    ),
    ResultColumn("Mean score", _value, places=ColumnOutput.WINDOW, wanted=_scored, of_teams=True, tip=_basis),
    ResultColumn(
        "95 % interval",
        _interval,
        "Bootstrap interval over seeds; none if all values are equal",
        places=ColumnOutput.WINDOW,
        of_teams=True,
        tip=_basis,
    ),
    ResultColumn(
        "Episodes", _episodes, "Completed episodes; of all recorded ones if some failed", _episode_values
    ),
    ResultColumn(
        "Mean return, 95 %",
        _mean,
        values=_mean_values,
        places=REPORTS,
        headings={ColumnOutput.TERMINAL: "Mean"},
        wanted=_some_alone,
    ),
    ResultColumn(
        "IQM return, 95 %",
        _iqm,
        values=_iqm_values,
        places=REPORTS,
        headings={ColumnOutput.TERMINAL: "IQM [95 %]"},
        wanted=_some_alone,
    ),
    ResultColumn(
        "Won",
        _won,
        "Share of episodes the team won",
        places=ColumnOutput.WINDOW,
        wanted=_any_compete,
        of_teams=True,
    ),
    ResultColumn(
        "Success",
        _success,
        "Share of episodes that the environment reports as a success; a range if episodes failed",
        _success_values,
        wanted=_any_success,
    ),
    ResultColumn("Length", _length, "Mean environment steps of an episode", _length_values),
    ResultColumn(
        "Options",
        _options,
        "Mean number of manager decisions per episode; the chosen options are listed below",
        _option_values,
        places=ColumnOutput.WINDOW,
        wanted=_any_options,
    ),
    ResultColumn(
        "Unusable",
        _unusable,
        "Share of decisions whose last reply could not be played",
        _unusable_values,
    ),
    ResultColumn(
        "Why unusable",
        _causes,
        "Decisions without a playable reply, by cause: unreadable, illegal, too late, no reply",
        _cause_values,
        wanted=_any_causes,
        words=True,
    ),
    ResultColumn("Fallbacks", _fallbacks, places=ColumnOutput.PAGE),
    ResultColumn(
        "Decision p50",
        _latency,
        "Median time from the request for a decision to its answer",
        _decision_values,
        headings={ColumnOutput.TERMINAL: "Decision"},
        wanted=_timed,
    ),
)
"""Columns of the table of operators; in the window, rows of teams follow their operator."""


# ---------------------------------------------------------------------------------- all of them

RESULT_COLUMNS = (*OPERATOR_COLUMNS, *CALL_COLUMNS)
"""Columns that the window shows in one table and files store in one row."""


def file_row(operator: OperatorSummary) -> dict[str, Any]:
    """Return an operator's values for a row of a file, by column name."""
    row: dict[str, Any] = {}
    for column in RESULT_COLUMNS:
        if column.values is not None:
            row.update(column.values(operator))
    return row
