"""Writes a run folder that contains only complete lines, can be read at any time, and can be resumed.

Only one process writes a run. The rows of an episode are appended in one block before the episode's line. A
failed write is undone exactly, so that a full disk leaves no partial lines.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import orjson

from gym_gui.analysis.records.jsonl import open_rows
from gym_gui.analysis.records.run_digest import FILES, files_digests, run_digest
from gym_gui.core import clock
from gym_gui.core.clock import new_ulid
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.record_digest import KEY
from gym_gui.core.records import RUN_FORMAT, check_run_format, is_open
from gym_gui.services.run_lock import lock_run
from gym_gui.services.runs.run_files import OperatorFiles
from mosaic_worker.learning.training_files import cut_half_line
from mosaic_worker.plain_files import lines, open_file, read_file, replace_file

_log = logging.getLogger(__name__)

RUNNING, COMPLETED, FAILED, STOPPED = "running", "completed", "failed", "stopped"
"""Values of ``status`` in ``run.json``. If the process is dead, ``running`` means that it was cut off."""

REPLAY = "replay"
"""Key in ``run.json`` that names the run whose recorded calls were used instead of models."""
RERUN = "rerun"
"""Key in ``run.json`` that names the run that was played again, with its ``episodes`` by operator."""

_RESERVE = 1 << 16
_NO_ROWS = "0" * 16
"""Start of the trajectory digest of an episode without rows."""
_MOST_OPEN = 100
"""Largest number of operators with open files. A process may open about 1,000 files, but a tournament may
have more pairings."""


class RecordingError(MosaicError):
    """Error for a run folder that can no longer be written, for example because of a full disk."""


class Recorder:
    """Writer of one run folder.

    Use :meth:`create` or :meth:`reopen`. Methods must be called from one thread.

    Attributes:
        folder: The run folder.
        header: Content of ``run.json``.
        failed: Number of episodes by operator that had failed when the run was reopened.
    """

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self.folder, self.header = folder, header
        self.failed: dict[str, int] = {}
        self._files: dict[str, OperatorFiles] = {}
        self._awake: dict[str, None] = {}
        self._lock: int | None = None
        self._reserve = folder / ".reserve"

    @classmethod
    def create(cls, out: Path, operators: list[str], header: Mapping[str, Any]) -> Recorder:
        """Begin a run in a new folder ``<out>/<run_id>``.

        Raises:
            UsageError: ``out`` cannot be written.
        """
        run_id = new_ulid()
        folder = out / run_id
        started = clock.now().isoformat(timespec="seconds")
        full = {"format": RUN_FORMAT, "run_id": run_id, "status": RUNNING, "started_at": started, **header}
        recorder = cls(folder, full)
        try:
            folder.mkdir(parents=True)
            recorder._lock = lock_run(folder)
            recorder._open(operators)
        except OSError as exc:
            recorder.abandon()
            raise _no_room(out, exc) from exc
        return recorder

    @classmethod
    def reopen(cls, folder: Path) -> tuple[Recorder, dict[str, set[int]]]:
        """Resume a run that was cut off. Rows of unfinished episodes are dropped.

        Returns:
            The recorder, and the indices of finished episodes by operator.

        Raises:
            UsageError: ``folder`` is not a run, cannot be written, or is being written by another process.
        """
        header = read_header(folder)
        # The digests are dropped, because the run is sealed again at its end.
        open_header = {key: value for key, value in header.items() if key not in (KEY, FILES)}
        recorder = cls(folder, {**open_header, "status": RUNNING})
        operators = [str(o["id"]) for o in header["experiment"]["operators"]]
        try:
            recorder._lock = lock_run(folder)
            _unpack(folder)
            kept = {o: _repair(folder / "operators" / o) for o in operators}
            recorder._open(operators)
        except OSError as exc:
            raise UsageError(f"the run {folder} cannot be continued: {exc.strerror}") from exc
        recorder.failed = {o: sum(status == FAILED for status in kept[o].values()) for o in operators}
        return recorder, {o: set(kept[o]) for o in operators}

    def _open(self, operators: list[str]) -> None:
        replace_file(self._reserve, bytes(_RESERVE))
        self._write_header()
        self._open_files(operators)

    def _open_files(self, operators: list[str]) -> None:
        for operator in operators:
            self._files[operator] = OperatorFiles(self.folder, operator)
            self._files_of(operator)

    def _files_of(self, operator: str) -> OperatorFiles:
        """Return the files of an operator. If too many are open, the least recently used are closed."""
        self._awake.pop(operator, None)
        self._awake[operator] = None
        if len(self._awake) > _MOST_OPEN:
            idle = next(iter(self._awake))
            del self._awake[idle]
            self._files[idle].rest()
        return self._files[operator]

    def add(self, operators: list[str]) -> list[str]:
        """Create files for operators that were added to a run after its start.

        Returns:
            The new operators.

        Raises:
            UsageError: The folder cannot be written.
        """
        new = [operator for operator in operators if operator not in self._files]
        try:
            self._open_files(new)
        except OSError as exc:
            raise UsageError(f"the run {self.folder} cannot be continued: {exc.strerror}") from exc
        return new

    def _free(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def abandon(self) -> None:
        """Remove the run, because it could not be begun or completed."""
        for files in self._files.values():
            files.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._free()

    def update(self, **fields: Any) -> None:
        """Change fields of ``run.json``.

        Raises:
            RecordingError: The file cannot be written.
        """
        self.header.update(fields)
        try:
            self._write_header()
        except OSError as exc:
            raise self._error(exc) from exc

    def _write_header(self) -> None:
        text = orjson.dumps(self.header, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        replace_file(self.folder / "run.json", text)

    def episode(self, operator: str, steps: bytes, episode: bytes) -> None:
        """Append a finished episode.

        Raises:
            RecordingError: The episode could not be written. The files are unchanged.
        """
        try:
            files = self._files_of(operator)
            size = files.steps.append(steps)
            try:
                files.episodes.append(episode)
            except OSError:
                files.steps.cut(size)
                raise
        except OSError as exc:
            raise self._error(exc) from exc

    def call(self, operator: str, line: bytes) -> None:
        """Append a paid call to a model at once.

        Raises:
            RecordingError: The call could not be written.
        """
        try:
            self._files_of(operator).calls.append(line.rstrip(b"\n") + b"\n")
        except OSError as exc:
            raise self._error(exc) from exc

    def check(self) -> None:
        """Check that the run folder is still at its path, because writes to open files would not fail.

        Raises:
            RecordingError: The folder was deleted or moved.
        """
        if self._lock is None:
            return
        try:
            there = os.path.samestat(os.fstat(self._lock), self.folder.stat())
        except OSError:
            there = False
        if not there:
            raise self._gone()

    def _gone(self) -> RecordingError:
        return RecordingError(
            f"the run folder {self.folder} was deleted or moved during the run",
            fix="Resume the run in its new folder, or begin it again",
        )

    def _error(self, exc: OSError) -> RecordingError:
        if isinstance(exc, FileNotFoundError):
            return self._gone()
        return RecordingError(
            f"the run folder cannot be written: {exc.strerror}",
            fix="Free some space, then continue with `mosaic run --resume`",
        )

    def free_reserve(self) -> None:
        """Free the space that is reserved for ending a run on a full disk."""
        self._reserve.unlink(missing_ok=True)

    def close(self, status: str, **fields: Any) -> None:
        """End the run: write the final ``run.json`` and flush all files to disk."""
        self.free_reserve()
        operators = list(self._files)
        for files in self._files.values():
            files.close()
        self._files.clear()
        self._awake.clear()
        ended = {"finished_at": clock.now().isoformat(timespec="seconds"), **fields}
        self.header.update(ended, status=status)
        try:
            self._seal(operators)
            self._write_header()
        except OSError as exc:
            raise self._error(exc) from exc
        finally:
            self._free()

    def _seal(self, operators: list[str]) -> None:
        try:
            self.header[FILES] = files_digests(self.folder, operators)
        except MosaicError as exc:
            _log.warning("the run gets no digest: %s", exc)
            return
        self.header[KEY] = run_digest(self.header)


def check_writable(out: Path) -> None:
    """Check that a run could be written below ``out``, without leaving any file there.

    Raises:
        UsageError: ``out`` is not a folder or cannot be written, or the disk is full.
    """
    place = out
    try:
        while not place.exists() and place != place.parent:
            place = place.parent
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(_RESERVE))
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise _no_room(out, exc) from exc


def _no_room(out: Path, exc: OSError) -> UsageError:
    return UsageError(
        f"the run cannot be written to {out}: {exc.strerror}", fix="Choose another folder with --out"
    )


def read_header(folder: Path) -> dict[str, Any]:
    """Return the content of a run's ``run.json``.

    Raises:
        UsageError: The file does not exist or cannot be read.
    """
    path = folder / "run.json"
    try:
        header: Any = orjson.loads(read_file(path))
    except FileNotFoundError:
        raise UsageError(f"{folder} is not a run folder: it has no run.json") from None
    except OSError as exc:
        raise UsageError(f"{path} cannot be read: {exc.strerror}") from exc
    except orjson.JSONDecodeError as exc:
        raise UsageError(f"{path} cannot be read: {exc}") from exc
    if not isinstance(header, dict) or "experiment" not in header:
        raise UsageError(f"{path} is not a run description")
    content = cast("dict[str, Any]", header)
    check_run_format(content, str(path))
    return content


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield each complete line's end offset and parsed value. A partial last line is skipped.

    Raises:
        UsageError: A complete line is damaged. To skip it would lose the lines after it.
    """
    with suppress(FileNotFoundError), open_rows(path) as file:
        at = 0
        for number, line in enumerate(lines(file), 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                raise UsageError(
                    f"{path}:{number} is damaged", fix="Repair or remove that line, then try again"
                ) from None
            at += len(line)
            yield at, row


def _unpack(folder: Path) -> None:
    """Decompress rows, because new rows will be appended."""
    if any(folder.glob("operators/*/*.zst")):
        from gym_gui.services.runs.packed_files import unpack_rows  # rarely needed

        unpack_rows(folder)


def _repair(folder: Path) -> dict[int, str]:
    """Drop partial lines, episodes to play again, rows without an episode, and episodes without rows.

    Returns:
        Status of each finished episode by index.
    """
    run = folder.parents[1]
    cut_half_line(folder / "calls.jsonl", inside=run)
    episodes_path, steps_path = folder / "episodes.jsonl", folder / "steps.jsonl"
    last = {row["episode_index"]: row.get("state_sha") for _, row in _lines(steps_path)}
    kept = [row for _, row in _lines(episodes_path) if not _is_open(row) and _has_rows(row, last)]
    done = {int(row["episode_index"]): str(row["status"]) for row in kept}
    _rewrite(episodes_path, kept)
    end, sound = 0, True
    for at, row in _lines(steps_path):
        if row["episode_index"] not in done:
            sound = False
        elif sound:
            end = at
    if not sound:
        _rewrite(steps_path, (row for _, row in _lines(steps_path) if row["episode_index"] in done))
    else:
        with suppress(FileNotFoundError), open_file(steps_path, "r+b", inside=run) as file:
            file.truncate(end)
    return done


def _is_open(row: Mapping[str, Any]) -> bool:
    return is_open(row["status"], row.get("lost"), row.get("error"))


def _has_rows(episode: Mapping[str, Any], last: Mapping[int, Any]) -> bool:
    """Return whether an episode has all its rows. After a power cut, an episode's line may lack its rows.

    The last row's digest is the beginning of the episode's digest.
    """
    whole, index = episode.get("trajectory_sha256"), episode["episode_index"]
    return whole is None or last.get(index, _NO_ROWS) == whole[:16]


def _rewrite(path: Path, rows: Iterable[Any]) -> None:
    if not path.exists():
        return
    written = (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    replace_file(path, written, inside=path.parents[2])
