"""Tables of episodes and steps of operators in columns (Parquet), written once and kept in the cache.

JSON rows are read at about two million per second, columns at hundreds of millions. So the first question
about steps costs one pass over the rows, and later questions cost almost nothing.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from gym_gui.analysis.exports.export import Row, operator_episodes
from gym_gui.analysis.records.jsonl import open_rows, packed, read_blocks
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.services.runs.recorder import RUNNING
from mosaic_worker.plain_files import check_file, replaced

WHO: Final = {
    "run": "VARCHAR",
    "run_id": "VARCHAR",
    "operator_id": "VARCHAR",
    "name": "VARCHAR",
    "task": "VARCHAR",
}
"""First columns of each row of episodes and steps."""
EPISODES: Final = {
    **WHO,
    "episode_index": "BIGINT",
    "seed": "BIGINT",
    "status": "VARCHAR",
    "length": "BIGINT",
    "total_reward": "DOUBLE",
    "success": "BOOLEAN",
    "result": "VARCHAR",
    "terminated": "BOOLEAN",
    "truncated": "BOOLEAN",
    "unusable": "BIGINT",
    "unusable_answers": "BIGINT",
    "saw_everything": "VARCHAR",
    "saw_state": "VARCHAR",
    "taken_back_of": "BIGINT",
    "time_control": "VARCHAR",
    "out_of_time": "VARCHAR",
    "error": "VARCHAR",
    "started_at": "TIMESTAMP",
    "wall_s": "DOUBLE",
    "usd": "DOUBLE",
}
"""Columns that episodes always have, with their types. Types of further columns follow from their values."""
_STEP: Final = {
    "episode_index": ("BIGINT", "episode_index"),
    "step_index": ("BIGINT", "step_index"),
    "seed": ("BIGINT", "seed"),
    "agent_id": ("VARCHAR", "agent_id"),
    "action": ("JSON", "action"),
    "word": ("VARCHAR", "word ->> '$'"),
    "action_source": ("VARCHAR", "action_source"),
    "reward": ("DOUBLE", "reward"),
    "terminated": ("BOOLEAN", "terminated"),
    "truncated": ("BOOLEAN", "truncated"),
    "value": ("DOUBLE", "TRY_CAST(value AS DOUBLE)"),
    "latency_ms": ("DOUBLE", "latency_ms"),
    "input_tokens": ("BIGINT", "tokens.input"),
    "output_tokens": ("BIGINT", "tokens.output"),
    "said": ("VARCHAR", "said ->> '$'"),
    "option": ("VARCHAR", "option ->> '$'"),
    "option_moves": ("BIGINT", "option_moves"),
    "option_ended_by": ("VARCHAR", "option_ended_by"),
    "option_arguments": ("JSON", "option_arguments"),
    "scores": ("JSON", "scores"),
    "bdi": ("JSON", "bdi"),
    "refused": ("VARCHAR", "refused ->> '$'"),
    "raw": ("VARCHAR", "raw ->> '$'"),
    "call_ref": ("VARCHAR", "call_ref"),
    "state_sha": ("VARCHAR", "state_sha"),
}
"""Columns of a step: type, and SQL expression that computes the column from the row."""
_LOOSE: Final = (
    "action",
    "word",
    "value",
    "said",
    "option",
    "option_arguments",
    "scores",
    "bdi",
    "refused",
    "raw",
)
"""Keys of step rows whose values may have any JSON type."""
_READ: Final = {
    **{name: kind for name, (kind, made) in _STEP.items() if made == name},
    **dict.fromkeys(_LOOSE, "JSON"),
    "tokens": "STRUCT(input BIGINT, output BIGINT)",
}
"""Keys of a row that are read, with their types."""
STEPS: Final = {**WHO, **{name: kind for name, (kind, _) in _STEP.items()}}
"""Columns of steps, with their types."""
_MAKING: Final = (
    "threads=2",  # each thread keeps its own rows and columns in memory
    "memory_limit='512MB'",
    # Steps are looked up in the episodes. The other way round, all steps would be kept in memory. DuckDB
    # cannot choose this itself, as it does not know the number of rows in a file.
    "disabled_optimizers='join_order,build_side_probe_side'",
)
"""Settings of the connection that writes tables. With them, memory does not grow with the rows."""
_GROUPS: Final = "ROW_GROUP_SIZE_BYTES '16MB'"
"""Bytes of rows that are collected before a write. The limit is in bytes because rows may have any length."""
_PATTERN = re.compile(r"[*?\[\\]")
_LARGEST_CACHE = 20 * 2**30
_VERSION = 1
"""Version of the columns. Tables of an earlier version are not used."""


@dataclass(frozen=True)
class QueriedOperator:
    """One operator of a run that a query covers.

    Attributes:
        run: The run.
        operator: The operator.
        called: Name of the run's folder, or its path if other runs have the same name.
    """

    run: Run
    operator: OperatorRun
    called: str

    @property
    def who(self) -> Mapping[str, str]:
        """Values of the columns :data:`WHO`."""
        o = self.operator
        return dict(zip(WHO, (self.called, self.run.run_id, o.operator_id, o.name, o.task), strict=True))


class QueryTables:
    """Writes the Parquet tables of operators to a cache folder.

    Args:
        folder: The folder, which is created if missing.
        duck: The module ``duckdb``.
    """

    def __init__(self, folder: Path, duck: Any) -> None:
        self._folder, self._duck = folder, duck
        self._connection = connect(duck)
        for setting in _MAKING:
            self._connection.execute(f"SET {setting}")

    def episodes(self, part: QueriedOperator) -> Path | None:
        """Return the table file of an operator's finished episodes; ``None`` if no episodes are recorded.

        Raises:
            UsageError: A row is damaged, or the table cannot be written.
        """
        files = [part.operator.path / name for name in ("episodes.jsonl", "calls.jsonl")]
        return self._kept(part, "episodes", files, self._write_episodes)

    def steps(self, part: QueriedOperator) -> Path | None:
        """Return the table file of the steps in an operator's finished episodes; ``None`` if there is none.

        Raises:
            UsageError: A row is damaged, or the table cannot be written.
        """
        if (episodes := self.episodes(part)) is None:
            return None
        files = [part.operator.path / "steps.jsonl", part.operator.path / "episodes.jsonl"]
        return self._kept(part, "steps", files, lambda part, to: self._write_steps(part, to, episodes))

    def tidy(self, used: Iterable[Path]) -> None:
        """Remove the least recently used tables, except ``used``, if the cache is larger than 20 GiB."""
        kept = set(used)
        with suppress(OSError):
            found = [(p.stat().st_mtime, p.stat().st_size, p) for p in self._folder.glob("*.parquet")]
            size = sum(each[1] for each in found)
            for _, bytes_, path in sorted(found):
                if size <= _LARGEST_CACHE:
                    break
                if path not in kept:
                    path.unlink(missing_ok=True)
                    size -= bytes_

    def _kept(
        self,
        part: QueriedOperator,
        what: str,
        files: Iterable[Path],
        write: Callable[[QueriedOperator, Path], None],
    ) -> Path | None:
        stamps = [_stamp(path) for path in files]
        if stamps[0] is None:
            return None
        named = [os.fsdecode(part.operator.path.resolve()), part.called, what]
        place = sha256(orjson.dumps(named)).hexdigest()[:24]
        state = sha256(orjson.dumps([_VERSION, stamps, part.who])).hexdigest()[:16]
        table = self._folder / f"{place}-{state}.parquet"
        try:
            if table.exists():
                os.utime(table)
                return table
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replaced(table) as pending:
                write(part, pending)
            for old in self._folder.glob(f"{place}-*.parquet"):
                if old != table:
                    old.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(
                f"the table of {what} cannot be saved in {self._folder}: {error.strerror}",
                fix="Free some space, or set MOSAIC_CACHE_DIR",
            ) from error
        return table

    def _write_episodes(self, part: QueriedOperator, to: Path) -> None:
        columns = dict(EPISODES)
        with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".jsonl") as file:
            for row in operator_episodes(part.run.run_id, part.operator):
                _widen(columns, row)
                file.write(orjson.dumps({**row, **part.who}, option=orjson.OPT_APPEND_NEWLINE))
            file.flush()
            self._copy("SELECT *", Path(file.name), columns, to)

    def _write_steps(self, part: QueriedOperator, to: Path, episodes: Path) -> None:
        values = [f"{literal(value)} AS {name}" for name, value in part.who.items()]
        values += [f"{made} AS {name}" for name, (_, made) in _STEP.items()]
        finished = (
            f"WHERE episode_index IN (SELECT episode_index FROM read_parquet({literal(str(episodes))}))"
        )
        with self._whole_rows(part) as source:
            rows = part.operator.path / "steps.jsonl"
            self._copy(f"SELECT {', '.join(values)}", source, _READ, to, finished, rows)

    @contextmanager
    def _whole_rows(self, part: QueriedOperator) -> Generator[Path]:
        """Yield a file of an operator's complete step rows, without a last line that may be partial."""
        path = part.operator.path / "steps.jsonl"
        is_plain = path.exists()
        source = path if is_plain else packed(path)
        check_file(source, inside=part.run.path)
        if not is_plain or (part.run.record.status != RUNNING and _ends(path)):
            with tempfile.TemporaryDirectory(dir=self._folder) as place:
                # DuckDB treats a path as a pattern and has no safe way to escape every name.
                plain = Path(place) / f"rows{source.suffix}"
                plain.symlink_to(source.absolute())
                yield plain
            return
        with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".jsonl") as whole:
            for block in read_blocks(path):
                whole.write(block.data)
            whole.flush()
            yield Path(whole.name)

    def _copy(
        self,
        select: str,
        source: Path,
        columns: Mapping[str, str],
        to: Path,
        where: str = "",
        called: Path | None = None,
    ) -> None:
        """Write a table of rows. ``called`` is the original file of the rows, for messages."""
        kinds = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns.items())
        packing = "zstd" if source.suffix == ".zst" else "none"
        rows = (
            f"read_json({literal(str(source))}, format='newline_delimited', columns={{{kinds}}}, "
            f"compression='{packing}')"
        )
        try:
            columnar = f"TO {literal(str(to))} (FORMAT parquet, COMPRESSION zstd, {_GROUPS})"
            self._connection.execute(f"COPY ({select} FROM {rows} {where}) {columnar}")
        except self._duck.Error as error:
            named = str(called or source)
            words = str(error).partition("\n")[0].replace(str(source), named)
            raise RunFormatError(named, words) from None


def connect(duck: Any) -> Any:
    """Return a DuckDB connection that downloads nothing and uses at most 1 GB of memory."""
    connection = duck.connect()
    for setting in (
        "autoinstall_known_extensions=false",
        "autoload_known_extensions=false",
        "preserve_insertion_order=false",
        "memory_limit='1GB'",
        "TimeZone='UTC'",
    ):
        connection.execute(f"SET {setting}")
    return connection


def is_plain(folder: Path) -> bool:
    """Return whether DuckDB takes a path literally and not as a pattern."""
    return _PATTERN.search(str(folder)) is None


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _stamp(path: Path) -> list[int] | None:
    """Return values that change with a file; ``None`` if neither the plain nor the packed file exists."""
    for each in (path, packed(path)):
        with suppress(FileNotFoundError):
            status = each.stat()
            return [status.st_size, status.st_mtime_ns, int(each is path)]
    return None


def _ends(path: Path) -> bool:
    """Return whether a file ends with a line break or is empty."""
    with open_rows(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        return file.read(1) in (b"\n", b"")


def _widen(columns: dict[str, str], row: Row) -> None:
    """Add the columns of a row that are new, and widen the types of known columns."""
    for name, value in row.items():
        if name in EPISODES or value is None:
            continue
        kind = _kind(value)
        known = columns.setdefault(name, kind)
        if known != kind:
            columns[name] = "DOUBLE" if {known, kind} == {"BIGINT", "DOUBLE"} else "VARCHAR"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "BIGINT"
    return "DOUBLE" if isinstance(value, float) else "VARCHAR"
