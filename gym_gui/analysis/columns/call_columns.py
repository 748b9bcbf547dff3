"""Declares the columns of result tables on calls to language models: number, tokens, cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gym_gui.analysis.columns.cells import REPORTS, Cell, ColumnOutput, ResultColumn, ResultRow
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import Locale


def per_episode(o: OperatorSummary, total: int) -> float | None:
    """Return a total divided by the number of recorded episodes; ``None`` without episodes."""
    return total / o.recorded if o.recorded else None


def _any_calls(rows: Sequence[ResultRow], _: ColumnOutput) -> bool:
    return any(row.operator.calls for row in rows)


def _plain_name(row: ResultRow, _: Locale) -> Cell:
    return Cell(row.operator.name)


def _models(row: ResultRow, _: Locale) -> Cell:
    return Cell(wording.models(row.operator.calls))


def _model_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {"models": wording.models(o.calls) if o.calls else None}


def _calls(row: ResultRow, locale: Locale) -> Cell:
    calls = row.operator.calls
    return Cell(wording.number(calls.total if calls else None, 0, locale))


def _call_values(o: OperatorSummary) -> Mapping[str, Any]:
    total, failed = (o.calls.total, o.calls.failed) if o.calls else (0, 0)
    return {"calls": total, "failed_calls": failed}


def _tokens_in(row: ResultRow, locale: Locale) -> Cell:
    calls = row.operator.calls
    kept = calls.cached_tokens if calls else 0
    below = f"{wording.number(kept, 0, locale)} cached" if kept else ""
    return Cell(wording.number(calls.input_tokens if calls else None, 0, locale), below=below)


def _tokens_out(row: ResultRow, locale: Locale) -> Cell:
    calls = row.operator.calls
    return Cell(wording.number(calls.output_tokens if calls else None, 0, locale))


def _calls_per_episode(row: ResultRow, locale: Locale) -> Cell:
    o = row.operator
    return Cell(wording.number(per_episode(o, o.calls.total) if o.calls else None, 1, locale))


def _tokens_per_episode(row: ResultRow, locale: Locale) -> Cell:
    o = row.operator
    tokens = o.calls.input_tokens + o.calls.output_tokens if o.calls else 0
    return Cell(wording.number(per_episode(o, tokens) if o.calls else None, 0, locale))


def _per_episode_values(o: OperatorSummary) -> Mapping[str, Any]:
    calls = o.calls
    return {
        "calls_per_episode": per_episode(o, calls.total) if calls else 0.0,
        "tokens_per_episode": per_episode(o, calls.input_tokens + calls.output_tokens) if calls else 0.0,
    }


def _cost(row: ResultRow, locale: Locale) -> Cell:
    return Cell(wording.price(row.operator.calls, locale))


def _cost_values(o: OperatorSummary) -> Mapping[str, Any]:
    return {
        "usd": o.calls.usd if o.calls else None,
        "unpriced_calls": o.calls.unpriced if o.calls else 0,
        "unsure_requests": o.calls.unsure if o.calls else 0,
        "unsure_usd_at_most": o.calls.unsure_usd if o.calls else 0.0,
    }


CALL_COLUMNS: tuple[ResultColumn, ...] = (
    ResultColumn("Operator", _plain_name, places=REPORTS, words=True),
    ResultColumn("Model", _models, values=_model_values, places=REPORTS, words=True),
    ResultColumn(
        "Calls to models",
        _calls,
        values=_call_values,
        places=REPORTS,
        headings={ColumnOutput.TERMINAL: "Calls"},
    ),
    ResultColumn(
        "Calls per episode",
        _calls_per_episode,
        values=_per_episode_values,
        places=REPORTS,
        headings={ColumnOutput.TERMINAL: "/ episode"},
    ),
    ResultColumn("Tokens in", _tokens_in, places=REPORTS),
    ResultColumn("Tokens out", _tokens_out, places=REPORTS),
    ResultColumn(
        "Tokens per episode",
        _tokens_per_episode,
        places=REPORTS,
        headings={ColumnOutput.TERMINAL: "/ episode"},
    ),
    ResultColumn(
        "Cost",
        _cost,
        "Cost of all model calls whose price is known",
        _cost_values,
        wanted=_any_calls,
    ),
)
"""Columns of the table of operators that called models; the window shows some of them in its main table."""
