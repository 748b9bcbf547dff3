"""The file of code, programs, files and servers that the user has allowed permanently."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gym_gui.core import paths
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.formats import check_format
from gym_gui.core.trusted.subjects import Subject, subject_of
from mosaic_worker.plain_files import replace_file

FORMAT: Final = 1
NAME: Final = "trust.json"
_MAX_BYTES: Final = 4 * 2**20


class TrustFile:
    """The file of permanently allowed subjects (such as code or a server), newest last.

    Args:
        path: The file; by default ``trust.json`` in the config folder.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """Path of the file, which may not exist."""
        return self._path or paths.config_dir() / NAME

    def subjects(self) -> list[Subject]:
        """Return all subjects in the file.

        Raises:
            UsageError: The file is damaged, of a later version, or writable by others.
        """
        return [subject_of(row) for row in self.rows()]

    def rows(self) -> list[dict[str, Any]]:
        """Return each subject with the time it was allowed, as in the file; raises as :meth:`subjects`."""
        text = self._read_text()
        if text is None:
            return []
        try:
            content = json.loads(text)
            check_format(str(self.path), content.get("format"), FORMAT)
            rows: list[dict[str, Any]] = list(content["allowed"])
            for row in rows:
                subject_of(row)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise RunFormatError(
                str(self.path), "is damaged, so nothing is allowed by it. Delete it"
            ) from None
        return rows

    def _read_text(self) -> str | None:
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror}") from None
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            foreign = status.st_uid != os.getuid() or status.st_mode & 0o022
            if not stat.S_ISREG(status.st_mode) or foreign:
                raise UsageError(
                    f"{self.path} is not a file that only you can write, so its permissions are ignored",
                    fix=f"Check it, then run: chmod 600 {self.path}",
                )
            return file.read(_MAX_BYTES).decode("utf-8", "replace")

    def add(self, subjects: Iterable[Subject]) -> None:
        """Allow subjects permanently, and replace earlier entries of the same kind and name.

        Raises:
            UsageError: The file cannot be written.
        """
        new = list(dict.fromkeys(subjects))
        places = {(subject.kind, subject.name) for subject in new}
        kept = [row for row in self.rows() if (row["kind"], row["name"]) not in places]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write([*kept, *({**asdict(subject), "allowed_at": now} for subject in new)])

    def remove(self, name: str) -> list[Subject]:
        """Revoke and return all subjects with this path, address or name.

        Raises:
            UsageError: There is no such subject, or the file cannot be written.
        """
        names = {name, str(Path(name).expanduser().resolve())}
        rows = self.rows()
        gone = [subject_of(row) for row in rows if row["name"] in names]
        if not gone:
            raise UsageError(
                f"nothing is allowed under the name {name!r}", fix="`mosaic trust list` shows what is allowed"
            )
        self._write([row for row in rows if row["name"] not in names])
        return gone

    def _write(self, rows: list[dict[str, Any]]) -> None:
        text = json.dumps({"format": FORMAT, "allowed": rows}, indent=1, ensure_ascii=False) + "\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self.path, text.encode(), mode=0o600)
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be written: {error.strerror}",
                fix="Use --trust for this once, or set MOSAIC_CONFIG_DIR to another folder",
            ) from None
