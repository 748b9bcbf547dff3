"""Exports results for other programs: tables as CSV or Parquet, and charts as one SVG image."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import orjson

from gym_gui.analysis.charts import Chart, interval_charts, outcome_chart, pair_chart
from gym_gui.analysis.charts.cross_play import CrossPlayChart, cross_play_chart
from gym_gui.analysis.charts.payoffs import PayoffChart
from gym_gui.analysis.charts.ratings import rating_chart
from gym_gui.analysis.charts.shapes import operator_roles, rough_width
from gym_gui.analysis.charts.svg import WIDTH, shapes, written_out
from gym_gui.analysis.columns.result_columns import file_row
from gym_gui.analysis.compute.model_costs import CallTally, collect_calls, summed
from gym_gui.analysis.exports.option_rows import OptionMoves, option_counts, options_by_episode
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.findings.cross_play import CrossPlay, Found, Team
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.records.reader import OperatorRun, Run, open_run
from gym_gui.analysis.words.html_markup import safe, shorten
from gym_gui.analysis.words.report_text import by_task, clean
from gym_gui.core.drawing.colors import LIGHT
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.interpreters import into_this_python
from gym_gui.core.record_fields import number, text
from gym_gui.core.records import EpisodeRecord
from mosaic_worker.plain_files import replaced

Row = Mapping[str, Any]
Table = Mapping[str, Sequence[Any]]

CSV, PARQUET = ".csv", ".parquet"
BATCH = 100_000
"""Number of rows in memory at a time, if the columns are known beforehand."""
_MARGIN = 24
_HEADING = 30
_FONT = "Inter, Helvetica, Arial, sans-serif"


# ----------------------------------------------------------------------------- tables


def operator_rows(summary: Summary) -> list[Row]:
    """Return one row per operator of a summary."""
    return [file_row(operator) for operator in summary.operators]


def standing_rows(standings: Found) -> list[Row]:
    """Return one row per policy of a tournament, or per team of a cross-play."""
    if isinstance(standings, CrossPlay):
        return [_team_row(standings, team) for team in standings.teams]
    return [
        {
            "run_id": standings.run_id,
            "task": standings.task,
            "policy": each.policy,
            "kind": each.kind,
            "rank": each.rank,
            "rank_best": each.ranks.best if each.ranks else None,
            "rank_worst": each.ranks.worst if each.ranks else None,
            "rating": each.rating.value,
            "rating_low": each.rating.low,
            "rating_high": each.rating.high,
            "points": each.points.value,
            "points_low": each.points.low,
            "points_high": each.points.high,
            "games": each.games,
            "wins": each.wins,
            "draws": each.draws,
            "losses": each.losses,
            "failed": each.failed,
            "nash": each.nash,
            "alpha_rank": each.alpha_rank,
            "openskill": each.openskill,
        }
        for each in standings.policies
    ]


def _team_row(found: CrossPlay, team: Team) -> Row:
    lift = team.lift
    return {
        "run_id": found.run_id,
        "task": found.task,
        "policy": team.policy,
        "partner": team.partner,
        "measure": found.measure,
        "value": team.value.value,
        "value_low": team.value.low,
        "value_high": team.value.high,
        "lift": lift.value if lift else None,
        "lift_low": lift.low if lift else None,
        "lift_high": lift.high if lift else None,
        "lift_p": team.p,
        "lifts": team.lifts,
        "seeds": team.value.units,
    }


def episode_rows(run: Run) -> Iterator[Row]:
    """Yield one row per finished episode; values by seat or team have one column per seat or team.

    Raises:
        RunFormatError: A row is damaged.
    """
    for operator in run.operators.values():
        yield from sorted(operator_episodes(run.run_id, operator), key=lambda row: row["episode_index"])


def operator_episodes(run_id: str, operator: OperatorRun) -> Iterator[Row]:
    """Yield one row per finished episode of an operator, in the order in which the episodes finished."""
    calls: dict[int, dict[str, CallTally]] = {}
    for (index, slot), tally in collect_calls(operator).items():
        calls.setdefault(index, {})[slot] = tally
    options = options_by_episode(operator)
    for e in operator.episodes():
        yield {
            "run_id": run_id,
            "operator_id": e.operator_id,
            "name": operator.name,
            "task": operator.task,
            "episode_index": e.episode_index,
            "seed": e.seed,
            "status": str(e.status),
            "length": e.length,
            "total_reward": e.total_reward,
            "success": e.success,
            "result": e.result,
            "terminated": e.terminated,
            "truncated": e.truncated,
            "unusable": None if e.unusable_decisions is None else sum(e.unusable_decisions.values()),
            "unusable_answers": sum(e.invalid_actions.values()),
            "saw_everything": " ".join(e.saw_everything) or None,
            "saw_state": " ".join(e.saw_state) or None,
            "taken_back_of": None if e.taken_back is None else e.taken_back.episode,
            "time_control": None if e.time_control is None else e.time_control.words,
            "out_of_time": e.out_of_time,
            "error": e.error,
            "started_at": e.started_at,
            "wall_s": e.wall_s,
            **_tokens_of(e, calls.get(e.episode_index, {})),
            **option_counts(options.get(e.episode_index)),
            **{f"return.{agent}": value for agent, value in e.returns.items()},
            **{f"played_by.{agent}": a.policy or a.worker_id for agent, a in e.agents.items()},
            **{f"score.{team}": t.score for team, t in e.teams.items() if t.score is not None},
            **{f"outcome.{team}": str(o) for team, o in (e.outcome or {}).items()},
        }


def _tokens_of(episode: EpisodeRecord, calls: Mapping[str, CallTally]) -> Row:
    """Return the columns with tokens and prices of an episode, and of each slot that made calls."""
    whole, tokens = summed(calls.values()), episode.tokens.values()
    made = whole.frozen()
    return {
        "input_tokens": whole.input_tokens or sum(t.input for t in tokens),
        "output_tokens": whole.output_tokens or sum(t.output for t in tokens),
        "calls": whole.total,
        "usd": made.usd if made else None,
        "unpriced_calls": whole.unpriced,
        "unsure_requests": whole.unsure,
        "unsure_usd_at_most": whole.unsure_usd,
        **{f"tokens.{slot}": t.input_tokens + t.output_tokens for slot, t in calls.items()},
        **{f"usd.{slot}": c.usd for slot, t in calls.items() if (c := t.frozen())},
    }


STEP_COLUMNS: Final = {
    "run_id": "string",
    "operator_id": "string",
    "episode_index": "int64",
    "step_index": "int64",
    "seed": "int64",
    "agent_id": "string",
    "action": "string",
    "word": "string",
    "action_source": "string",
    "reward": "float64",
    "terminated": "bool",
    "truncated": "bool",
    "value": "float64",
    "latency_ms": "float64",
    "input_tokens": "int64",
    "output_tokens": "int64",
    "said": "string",
    "option": "string",
    "option_move": "int64",
    "option_moves": "int64",
    "option_ended_by": "string",
}
"""Arrow type names of the columns of :func:`step_rows`, for :func:`write_table`."""


def step_rows(run: Run) -> Iterator[Row]:
    """Yield one row per decision of finished episodes, including decisions of managers.

    ``option`` is the manager's choice, in the manager's row and in the rows of the following moves.
    ``option_move`` numbers these moves from 1. The reason for the option's end is in the manager's row and in
    the row of the last move.

    Raises:
        RunFormatError: A row is damaged.
    """
    for operator in run.operators.values():
        finished = {episode.episode_index for episode in operator.episodes()}
        yield from _steps_of(run, operator, finished)


def _steps_of(run: Run, operator: OperatorRun, finished: Collection[int]) -> Iterator[Row]:
    options = OptionMoves()
    for step in operator.steps(finished):
        yield {
            "run_id": run.run_id,
            "operator_id": operator.operator_id,
            "episode_index": step.episode_index,
            "step_index": step.step_index,
            "seed": step.seed,
            "agent_id": step.agent_id,
            "action": orjson.dumps(step.action).decode(),
            "word": step.word or None,
            "action_source": str(step.action_source),
            "reward": step.reward,
            "terminated": step.terminated,
            "truncated": step.truncated,
            "value": number(step.value),
            "latency_ms": step.latency_ms,
            "input_tokens": step.tokens.input if step.tokens else None,
            "output_tokens": step.tokens.output if step.tokens else None,
            "said": text(step.extra.get("said")),
            **options.of(step),
        }


def to_pandas(run: Run | str | Path, *, steps: bool = False) -> Any:
    """Return a run as a ``pandas.DataFrame``, with one row per finished episode.

    Args:
        run: A run, or its folder.
        steps: Whether to return one row per decision instead, including decisions of managers.

    Raises:
        UsageError: There is no run, or a row is damaged.
        MissingDependencyError: pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise MissingDependencyError("pandas", f"{into_this_python()} pandas") from error
    opened = run if isinstance(run, Run) else open_run(run)
    return pandas.DataFrame(list(step_rows(opened) if steps else episode_rows(opened)))


def write_table(rows: Iterable[Row], path: Path, columns: Mapping[str, str] | None = None) -> int:
    """Write rows as CSV or Parquet, by the file's suffix, completely or not at all.

    Args:
        rows: Plain values; a key that is missing in a row gives an empty cell.
        path: File to write; an existing file is replaced.
        columns: Arrow type names by column, if known beforehand. Rows are then written in batches, so that
            memory use is constant.

    Returns:
        Number of rows written.

    Raises:
        UsageError: The suffix is unsupported, there are no rows, or the file cannot be written.
        MissingDependencyError: Parquet needs pyarrow, which is not installed.
    """
    suffix = path.suffix.lower()
    if suffix not in (CSV, PARQUET):
        raise UsageError(f"{path.name} is neither a .csv nor a .parquet file", fix=f"Write {path.stem}.csv")
    parts = iter([_table_of(rows)] if columns is None else _batches(rows, columns))
    first, count = next(parts)
    if not count:
        raise UsageError("there is nothing to write: no episode is finished yet", fix="Wait until one is")
    written = 0

    def tables() -> Iterator[Table]:
        nonlocal written
        for table, size in chain([(first, count)], parts):
            written += size
            yield table

    write = _csv if suffix == CSV else partial(_parquet, columns)
    write_whole(path, lambda temporary: write(tables(), temporary))
    return written


def _batches(rows: Iterable[Row], columns: Mapping[str, str]) -> Iterator[tuple[Table, int]]:
    """Yield rows in batches as columns by name with the number of rows; without rows, one empty batch."""
    left, begun = iter(rows), False
    while (batch := list(islice(left, BATCH))) or not begun:
        begun = True
        yield {name: [row.get(name) for row in batch] for name in columns}, len(batch)


def _table_of(rows: Iterable[Row]) -> tuple[Table, int]:
    """Return columns by name and the number of rows."""
    table: dict[str, list[Any]] = {}
    count = 0
    for row in rows:
        for name in row:
            if name not in table:
                table[name] = [None] * count
        for name, column in table.items():
            column.append(row.get(name))
        count += 1
    return table, count


def _csv(tables: Iterable[Table], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for number, table in enumerate(tables):
            if not number:
                writer.writerow(table)
            writer.writerows(map(plain_cell, row) for row in zip(*table.values(), strict=True))


def plain_cell(value: Any) -> Any:
    """Return a value for a CSV cell: booleans as ``true`` or ``false``, strings without control codes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean(value) if isinstance(value, str) else value


def _parquet(columns: Mapping[str, str] | None, tables: Iterable[Table], path: Path) -> None:
    try:
        arrow: Any = import_module("pyarrow")  # it has no types
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise MissingDependencyError("writing Parquet", "mosaic install gui") from None
    kinds = columns and [(name, arrow.type_for_alias(kind)) for name, kind in columns.items()]
    made = (arrow.table(table, schema=arrow.schema(kinds) if kinds else None) for table in tables)
    first = next(made)
    with parquet.ParquetWriter(str(path), first.schema) as writer:
        for table in chain([first], made):
            writer.write_table(table)


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file completely or not at all, by a temporary file that replaces it at the end.

    Args:
        path: The file.
        write: Writes the temporary file, whose path it gets.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        with replaced(path) as temporary:
            write(temporary)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{path} cannot be written: {reason}", fix="Choose another folder") from error


# --------------------------------------------------------------------------- pictures


def figure_svg(summary: Summary, comparison: Comparison | None = None) -> str:
    """Return an SVG image with the verdicts and charts of a summary on a white background.

    Args:
        summary: The summary.
        comparison: The comparison whose differences by seed are plotted; by default the first with pairs.
    """
    pair = comparison or next((c for c in summary.comparisons if c.pairs), None)
    figure = _Figure()
    for verdict in summary.verdicts:
        figure.say(str(verdict))
    roles = operator_roles(summary.operators)
    for task, operators in by_task(summary).items():
        for chart in [*interval_charts(operators, roles), outcome_chart(operators)]:
            figure.plot(chart, task)
    if pair is not None:
        figure.plot(pair_chart(pair, {o.key: o for o in summary.operators}, roles))
    return figure.svg()


def standings_svg(standings: Found) -> str:
    """Return an SVG image with the verdicts and charts of a tournament or of a cross-play."""
    figure = _Figure()
    for sentence in (*map(str, standings.opening_verdicts), *standings.remarks):
        figure.say(sentence)
    if isinstance(standings, CrossPlay):
        figure.plot(cross_play_chart(standings), standings.task)
        figure.plot(CrossPlayChart.of(standings))
        return figure.svg()
    figure.plot(rating_chart(standings), standings.task)
    figure.plot(PayoffChart(standings))
    return figure.svg()


def write_figure(summary: Summary, path: Path, comparison: Comparison | None = None) -> None:
    """Write the SVG image of :func:`figure_svg` to a file.

    Raises:
        UsageError: The file cannot be written.
    """
    content = figure_svg(summary, comparison).encode("utf-8", "replace")

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_whole(path, write)


class _Figure:
    """SVG image of charts and lines of text, one below the other."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._y = float(_MARGIN)

    def say(self, text: str) -> None:
        """Add a text, wrapped if it is too long."""
        for line in textwrap.wrap(clean(text), 84):
            self._y += 17
            self._parts.append(
                f'<text x="{_MARGIN}" y="{self._y:.0f}" fill="{LIGHT.text}">{safe(line)}</text>'
            )
        self._y += 10

    def plot(self, chart: Chart, task: str = "") -> None:
        """Add a chart that is not empty, below its title and above its caption."""
        if not chart:
            return
        self._y += _HEADING - 8
        title = safe(shorten(f"{task}: {chart.title}" if task else chart.title, 84))
        self._parts.append(
            f'<text x="{_MARGIN}" y="{self._y:.0f}" fill="{LIGHT.muted}" font-weight="600">{title}</text>'
        )
        self._y += 8
        drawing = chart.draw(WIDTH, chart.heights[1], rough_width)
        body = shapes(drawing, written_out(LIGHT))
        self._parts.append(f'<g transform="translate({_MARGIN} {self._y:.0f})">{body}</g>')
        self._y += drawing.height + 12
        if chart.caption:
            self.say(chart.caption)

    def svg(self) -> str:
        """Return the image as an SVG document."""
        width, height = WIDTH + 2 * _MARGIN, self._y + _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" '
            f'viewBox="0 0 {width} {height:.0f}" font-family="{_FONT}" font-size="12">'
            f'<rect width="{width}" height="{height:.0f}" fill="{LIGHT.panel}"/>'
            f"{''.join(self._parts)}</svg>\n"
        )
