"""Runs SQL queries about runs with DuckDB.

A query can only read the tables of the given runs. It cannot open files, load extensions or change
settings, because run folders may come from others and queries may be copied from web pages.

Source:
    `Securing DuckDB <https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview>`_.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

from gym_gui.analysis.exports.export import write_whole
from gym_gui.analysis.records.reader import Run
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.services.runs.query_tables import (
    EPISODES,
    STEPS,
    QueriedOperator,
    QueryTables,
    connect,
    is_plain,
    literal,
)

OnParts = Callable[[int, int], None]
"""Type of a callback that gets the number of operators that have been read and the number of all operators.
"""

_RUNS = {
    "run": "VARCHAR",
    "run_id": "VARCHAR",
    "path": "VARCHAR",
    "status": "VARCHAR",
    "started_at": "TIMESTAMP",
    "finished_at": "TIMESTAMP",
    "problem": "VARCHAR",
    "commit": "VARCHAR",
    "versions": "JSON",
    "machine": "JSON",
    "experiment": "JSON",
}
_BATCH = 10_000


@dataclass(frozen=True)
class QueryResult:
    """Result of a query.

    Attributes:
        columns: Names of the columns.
        rows: Rows in order, read while they are iterated.
    """

    columns: Sequence[str]
    rows: Iterator[tuple[Any, ...]]


class RunQuery:
    """Provides runs as the tables ``runs``, ``episodes`` and ``steps``, inside a ``with`` block.

    Args:
        runs: The runs.
        cache: Folder of the tables that are computed from the runs' rows.

    Raises:
        MissingDependencyError: DuckDB is not installed.
    """

    def __init__(self, runs: Sequence[Run], cache: Path) -> None:
        try:
            self._duck: Any = import_module("duckdb")
        except ImportError:
            raise MissingDependencyError("DuckDB", "mosaic install query") from None
        self._runs = list(zip(runs, _names(runs), strict=True))
        # DuckDB writes data that does not fit into memory to a separate folder.
        self._spill = tempfile.TemporaryDirectory(prefix="mosaic-query-")
        # If the cache's path looks like a pattern to DuckDB, the tables are computed in that folder.
        self._tables = QueryTables(
            cache if is_plain(cache) else Path(self._spill.name) / "tables", self._duck
        )

    def __enter__(self) -> RunQuery:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.cleanup()

    def ask(self, sql: str, on_parts: OnParts | None = None) -> QueryResult:
        """Run an SQL statement and return its result.

        Args:
            sql: One statement that only reads: ``SELECT``, ``WITH``, ``FROM``, ``DESCRIBE``, ``SUMMARIZE``.
            on_parts: Called while rows are read that are not in the cache yet.

        Raises:
            UsageError: The statement does something else, is invalid, or rows are damaged.
        """
        statement = self._statement(sql)
        connection = self._locked(statement, on_parts, ())
        result = self._execute(connection, statement)
        names = [str(column[0]) for column in result.description]
        return QueryResult(names, self._rows(result))

    def write_parquet(self, sql: str, path: Path, on_parts: OnParts | None = None) -> int:
        """Write the result of an SQL statement as Parquet, whole or not at all.

        Returns:
            Number of rows written.

        Raises:
            UsageError: As for :meth:`ask`, or the file cannot be written.
        """
        statement = self._statement(sql)
        written = 0

        def write(pending: Path) -> None:
            nonlocal written
            connection = self._locked(statement, on_parts, [pending])
            to = f"COPY ({statement}\n) TO {literal(str(pending))} (FORMAT parquet, COMPRESSION zstd)"
            try:
                written = int(connection.execute(to).fetchone()[0])
            except self._duck.IOException as error:
                raise OSError(_on_one_line(error)) from None
            except self._duck.Error as error:
                raise _query_error(error) from None

        write_whole(path.absolute(), write)
        return written

    def _statement(self, sql: str) -> str:
        try:
            found = self._duck.extract_statements(sql)
        except self._duck.Error as error:
            raise _query_error(error) from None
        kinds = self._duck.StatementType
        if len(found) != 1 or found[0].type not in (kinds.SELECT, kinds.EXPLAIN):
            raise UsageError(
                "a query is one statement that reads",
                fix="Write for example: select name, avg(total_reward) from episodes group by name",
            )
        return str(found[0].query).rstrip().rstrip(";")

    def _locked(self, statement: str, on_parts: OnParts | None, written: Sequence[Path]) -> Any:
        """Return a connection that sees the tables and can read and write nothing else."""
        words = statement.lower()
        parts = [
            QueriedOperator(run, o, called) for run, called in self._runs for o in run.operators.values()
        ]
        episodes: list[Path] = []
        steps: list[Path] = []
        for number, part in enumerate(parts):
            for wanted, made, table in (
                ("episodes", episodes, self._tables.episodes),
                ("steps", steps, self._tables.steps),
            ):
                if (wanted in words or "show" in words) and (path := table(part)):
                    made.append(path)
            if on_parts is not None:
                on_parts(number + 1, len(parts))
        self._tables.tidy([*episodes, *steps])
        connection = connect(self._duck)
        paths = ", ".join(literal(str(path)) for path in [*episodes, *steps, *written])
        connection.execute(f"SET temp_directory={literal(self._spill.name)}")
        connection.execute(f"SET allowed_paths=[{paths}]")
        self._add_runs(connection)
        _view(connection, "episodes", EPISODES, episodes)
        _view(connection, "steps", STEPS, steps)
        connection.execute("SET enable_external_access=false")
        connection.execute("SET lock_configuration=true")
        return connection

    def _add_runs(self, connection: Any) -> None:
        kinds = ", ".join(f'"{name}" {kind}' for name, kind in _RUNS.items())
        connection.execute(f"CREATE TABLE runs ({kinds})")
        # A time in an unknown format becomes NULL, so that the rest of the run can be used.
        marks = ", ".join(f"TRY_CAST(? AS {kind})" for kind in _RUNS.values())
        for run, called in self._runs:
            connection.execute(f"INSERT INTO runs VALUES ({marks})", _about(run, called))

    def _execute(self, connection: Any, statement: str) -> Any:
        try:
            return connection.execute(statement)
        except self._duck.Error as error:
            raise _query_error(error) from None

    def _rows(self, result: Any) -> Iterator[tuple[Any, ...]]:
        while True:
            try:
                batch = result.fetchmany(_BATCH)
            except self._duck.Error as error:
                raise _query_error(error) from None
            if not batch:
                return
            yield from batch


def _names(runs: Sequence[Run]) -> list[str]:
    """Return the names of the runs' folders, or the paths of runs with the same name."""
    names = [run.path.absolute().name for run in runs]
    often = Counter(names)
    return [name if often[name] == 1 else str(run.path) for name, run in zip(names, runs, strict=True)]


def _view(connection: Any, name: str, columns: Mapping[str, str], tables: Sequence[Path]) -> None:
    none = ", ".join(f'NULL::{kind} AS "{column}"' for column, kind in columns.items())
    rows = f"SELECT {none} WHERE false"
    if tables:
        paths = ", ".join(literal(str(path)) for path in tables)
        rows = f"SELECT * FROM read_parquet([{paths}], union_by_name=true)"
    connection.execute(f"CREATE VIEW {name} AS {rows}")


def _about(run: Run, called: str) -> list[Any]:
    record = run.record
    return [
        called,
        run.run_id,
        str(run.path),
        record.status,
        record.started_at or None,
        record.finished_at or None,
        record.problem,
        record.commit,
        *(orjson.dumps(dict(each)).decode() for each in (record.versions, record.machine, record.experiment)),
    ]


def _query_error(error: Exception) -> UsageError:
    return UsageError(f"the query failed: {_on_one_line(error)}")


def _on_one_line(error: Exception) -> str:
    """Return DuckDB's message, with the position of the error, on one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith(("LINE ", "^"))]
    where = next((line.partition(": ")[2] for line in lines if line.startswith("LINE ")), "")
    return " ".join(" ".join(said).split()) + (f" (at: {where})" if where else "")
