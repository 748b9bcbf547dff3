"""Questions in SQL about runs, answered by DuckDB.

A question may read the tables of the runs that it was given, and nothing else: it can open no file, load no
extension and change no setting, as files that others send name runs, and questions are copied from pages.

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
from gym_gui.services.runs.query_tables import EPISODES, STEPS, Part, QueryTables, connect, is_plain, literal

OnParts = Callable[[int, int], None]
"""Called with the number of operators read so far, and with the number of all."""

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
class Answer:
    """What a question gave.

    Attributes:
        columns: Their names.
        rows: Rows in their order, read as they are asked for.
    """

    columns: Sequence[str]
    rows: Iterator[tuple[Any, ...]]


class RunQuery:
    """Runs as the tables ``runs``, ``episodes`` and ``steps``, until the block of ``with`` ends.

    Args:
        runs: The runs.
        cache: Folder of the tables that are made of their rows.

    Raises:
        MissingDependencyError: DuckDB is not installed.
    """

    def __init__(self, runs: Sequence[Run], cache: Path) -> None:
        try:
            self._duck: Any = import_module("duckdb")
        except ImportError:
            raise MissingDependencyError("DuckDB", "mosaic install query") from None
        self._runs = list(zip(runs, _names(runs), strict=True))
        # What is too much for the memory goes to a folder of its own.
        self._spill = tempfile.TemporaryDirectory(prefix="mosaic-query-")
        # Where the cache's path would be read as a pattern, tables are made anew.
        self._tables = QueryTables(
            cache if is_plain(cache) else Path(self._spill.name) / "tables", self._duck
        )

    def __enter__(self) -> RunQuery:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.cleanup()

    def ask(self, sql: str, on_parts: OnParts | None = None) -> Answer:
        """Ask a question.

        Args:
            sql: One statement that only reads: ``SELECT``, ``WITH``, ``FROM``, ``DESCRIBE``, ``SUMMARIZE``.
            on_parts: Told while rows are read that have not been asked for before.

        Raises:
            UsageError: It is no such statement, it is wrong, or rows are damaged.
        """
        statement = self._statement(sql)
        connection = self._locked(statement, on_parts, ())
        result = self._execute(connection, statement)
        names = [str(column[0]) for column in result.description]
        return Answer(names, self._rows(result))

    def write_parquet(self, sql: str, path: Path, on_parts: OnParts | None = None) -> int:
        """Write what a question gives as Parquet; whole or not at all.

        Returns:
            Rows written.

        Raises:
            UsageError: As of :meth:`ask`, or the file cannot be written.
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
                raise _refused(error) from None

        write_whole(path.absolute(), write)
        return written

    def _statement(self, sql: str) -> str:
        try:
            found = self._duck.extract_statements(sql)
        except self._duck.Error as error:
            raise _refused(error) from None
        kinds = self._duck.StatementType
        if len(found) != 1 or found[0].type not in (kinds.SELECT, kinds.EXPLAIN):
            raise UsageError(
                "a question is one statement that reads",
                fix="Ask like: select name, avg(total_reward) from episodes group by name",
            )
        return str(found[0].query).rstrip().rstrip(";")

    def _locked(self, statement: str, on_parts: OnParts | None, written: Sequence[Path]) -> Any:
        """A connection that sees the tables, and may read and write nothing else."""
        words = statement.lower()
        parts = [Part(run, o, called) for run, called in self._runs for o in run.operators.values()]
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
        # A time of an unknown form becomes NULL: the rest of its run is as good.
        marks = ", ".join(f"TRY_CAST(? AS {kind})" for kind in _RUNS.values())
        for run, called in self._runs:
            connection.execute(f"INSERT INTO runs VALUES ({marks})", _about(run, called))

    def _execute(self, connection: Any, statement: str) -> Any:
        try:
            return connection.execute(statement)
        except self._duck.Error as error:
            raise _refused(error) from None

    def _rows(self, result: Any) -> Iterator[tuple[Any, ...]]:
        while True:
            try:
                batch = result.fetchmany(_BATCH)
            except self._duck.Error as error:
                raise _refused(error) from None
            if not batch:
                return
            yield from batch


def _names(runs: Sequence[Run]) -> list[str]:
    """Names of the runs' folders; paths, where several have the same."""
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


def _refused(error: Exception) -> UsageError:
    return UsageError(f"the question cannot be answered: {_on_one_line(error)}")


def _on_one_line(error: Exception) -> str:
    """What DuckDB says: what is wrong, and where."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith(("LINE ", "^"))]
    where = next((line.partition(": ")[2] for line in lines if line.startswith("LINE ")), "")
    return " ".join(" ".join(said).split()) + (f" (at: {where})" if where else "")
