"""Implements ``mosaic query``: runs an SQL query on recorded runs and writes its result."""

from __future__ import annotations

import csv
import datetime
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

import orjson

from gym_gui.analysis.exports.export import plain_cell, write_whole
from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.cli.output import Heading, cell, console, print_table
from gym_gui.cli.progress import count_progress
from gym_gui.core.errors import MosaicError, UnknownNameError, UsageError
from gym_gui.core.paths import cache_dir, find_run, runs_dir
from gym_gui.core.printable_text import visible
from gym_gui.services.runs.run_query import QueryResult, RunQuery

_MAX_ROWS = 200
"""Largest number of rows in the format ``table``; the other formats have all rows."""
_FILE_WIDTH = 200
"""Width of a table in a file, in characters."""


class Format(StrEnum):
    """Output format of a query."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


_ENDINGS = {".csv": Format.CSV, ".json": Format.JSON, ".md": Format.MARKDOWN, ".parquet": Format.PARQUET}


def query_runs(sql: str, runs: Sequence[Path], *, form: str, out: Path | None) -> None:
    """Run a query and write its result.

    Args:
        sql: The query.
        runs: Run folders, their names, or folders of runs; by default all runs.
        form: Output format (:class:`Format`); by default the format of ``out``'s suffix, else a table.
        out: Output file; ``None`` for stdout.

    Raises:
        UsageError: A run or the query is invalid, or the file cannot be written.
    """
    wanted = _format(form, out)
    if wanted is Format.PARQUET and out is None:
        raise UsageError("Parquet cannot be printed", fix="Name a file: -o FILE.parquet")
    with RunQuery(_opened(runs), cache_dir() / "query") as query:
        if wanted is Format.PARQUET and out is not None:
            with count_progress("Reading runs") as show:
                written = query.write_parquet(sql, out, show)
            sys.stderr.write(f"{out}: {written:,} rows\n")
            return
        with count_progress("Reading runs") as show:
            answer = query.ask(sql, show)
        if out is None:
            _WRITERS[wanted](answer, sys.stdout)
            return

        def write(pending: Path) -> None:
            with pending.open("w", encoding="utf-8", newline="") as file:
                _WRITERS[wanted](answer, file)

        write_whole(out, write)


def _format(form: str, out: Path | None) -> Format:
    if not form:
        return Format.TABLE if out is None else _ENDINGS.get(out.suffix.lower(), Format.TABLE)
    try:
        return Format(form.lower())
    except ValueError:
        raise UnknownNameError("format", form, [str(each) for each in Format]) from None


def _opened(runs: Sequence[Path]) -> list[Run]:
    found: list[Run] = []
    for path in map(find_run, runs):
        inside = [] if (path / "run.json").exists() else sorted(path.glob("*/run.json"))
        found += _readable(inside) if inside else [open_run(path)]
    if not runs:
        found = _readable(sorted(runs_dir().glob("*/run.json")))
        if not found:
            raise UsageError(f"there are no runs in {runs_dir()}", fix="Pass the run folders")
    return found


def _readable(files: Iterable[Path]) -> list[Run]:
    """Return the runs of these ``run.json`` files; a run that cannot be read is reported and left out."""
    found: list[Run] = []
    for file in files:
        try:
            found.append(open_run(file.parent))
        except MosaicError as error:
            sys.stderr.write(f"Note: left out: {visible(str(error))}\n")
    return found


def _text(value: Any) -> str:
    """Return a value as text for a table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    value = plain_cell(_simple(value))
    return value if isinstance(value, str) else str(value)


def _simple(value: Any) -> Any:
    """Return a DuckDB value as string, number, bool or ``None``; times and lists become strings."""
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | dict | tuple):
        return orjson.dumps(value, default=str).decode()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _table(answer: QueryResult, to: TextIO) -> None:
    rows = list(itertools.islice(answer.rows, _MAX_ROWS + 1))
    headings = [
        Heading(visible(name), words=not any(isinstance(row[i], int | float) for row in rows))
        for i, name in enumerate(answer.columns)
    ]
    out = console() if to is sys.stdout else console(file=to, width=_FILE_WIDTH)
    print_table(out, headings, [[cell(_text(value)) for value in row] for row in rows[:_MAX_ROWS]])
    if len(rows) > _MAX_ROWS:
        sys.stderr.write(f"Only the first {_MAX_ROWS} rows are printed; for all rows add --format csv\n")


def _markdown(answer: QueryResult, to: TextIO) -> None:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |\n"

    to.write(line(map(visible, answer.columns)) + line("---" for _ in answer.columns))
    to.writelines(line(map(_text, row)) for row in answer.rows)


def _csv(answer: QueryResult, to: TextIO) -> None:
    writer = csv.writer(to)
    writer.writerow(answer.columns)
    writer.writerows([plain_cell(_simple(value)) for value in row] for row in answer.rows)


def _json(answer: QueryResult, to: TextIO) -> None:
    begin = "["
    for row in answer.rows:
        values = dict(zip(answer.columns, row, strict=True))
        to.write(f"{begin}\n{orjson.dumps(values, default=str).decode()}")
        begin = ","
    to.write("[]\n" if begin == "[" else "\n]\n")


_WRITERS: dict[Format, Callable[[QueryResult, TextIO], None]] = {
    Format.TABLE: _table,
    Format.MARKDOWN: _markdown,
    Format.CSV: _csv,
    Format.JSON: _json,
}
