"""A disk that lags and is slow, as FUSE has it: what others have written is seen late by one machine.

    python3 lagging_disk.py BEHIND PLACE LAG_S DELAY_S

What lies in ``BEHIND`` is seen in ``PLACE``. Programs with ``LATE`` in their environment stand for a machine
that sees what others make there ``LAG_S`` seconds later: files and folders that are not there yet, files that
are too short. Jobs of Slurm stand for the others. Each writing takes ``DELAY_S``. It runs by Debian's own
Python, whose module ``fusepy`` comes with ``python3-fusepy``.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from pathlib import Path
from threading import Lock
from typing import Any

LATE = "MOSAIC_TEST_LATE"


class Disk:
    """The operations that fusepy asks for, on the files of another folder."""

    def __init__(self, behind: str, lag_s: float, delay_s: float) -> None:
        from fusepy import FuseOSError, fuse_get_context  # pyright: ignore[reportMissingImports]

        self._error: Any = FuseOSError
        self._context: Any = fuse_get_context
        self._behind, self._lag_s, self._delay_s = behind, lag_s, delay_s
        self._lock = Lock()
        self._made: dict[str, float] = {}
        self._sizes: dict[str, list[tuple[float, int]]] = {}
        self._late: dict[int, bool] = {}

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Do what FUSE asks for."""
        do = getattr(self, name, None)
        if do is None:
            raise self._error(errno.ENOSYS)
        try:
            return do(*arguments)
        except OSError as error:
            raise self._error(error.errno or errno.EIO) from error

    def _there(self, path: str) -> Path:
        return Path(self._behind + path)

    def _is_late(self) -> bool:
        """Whether who asks sees things late."""
        pid = self._context()[2]
        if pid not in self._late:
            try:
                told = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            except OSError:
                return False
            names = {line.partition(b"=")[0] for line in told}
            self._late[pid] = LATE.encode() in names and b"SLURM_JOB_ID" not in names
        return self._late[pid]

    def _note(self, path: str, *, size: int | None = None) -> None:
        if self._is_late():
            return
        with self._lock:
            if size is None:
                self._made[path] = time.monotonic()
                self._sizes[path] = []
            else:
                self._sizes.setdefault(path, []).append((time.monotonic(), size))

    def _hidden(self, path: str) -> bool:
        parts = path.split("/")
        now = time.monotonic()
        if not self._is_late():
            return False
        above = ["/".join(parts[:n]) for n in range(2, len(parts) + 1)]
        return any(now - self._made.get(each, 0.0) < self._lag_s for each in above)

    def _see(self, path: str) -> None:
        if self._hidden(path):
            raise OSError(errno.ENOENT, "not there yet")

    def _seen_size(self, path: str, size: int) -> int:
        if not self._is_late():
            return size
        known = self._sizes.get(path, [])
        if not known or time.monotonic() - known[-1][0] >= self._lag_s:
            return size
        return max((s for t, s in known if time.monotonic() - t >= self._lag_s), default=0)

    # -- what FUSE asks for ----------------------------------------------------------------

    def init(self, path: str) -> None:
        """It is mounted."""

    def destroy(self, path: str) -> None:
        """It is not any more."""

    def access(self, path: str, mode: int) -> int:
        self._see(path)
        return 0

    def getattr(self, path: str, handle: int | None = None) -> dict[str, Any]:
        self._see(path)
        found = self._there(path).lstat()
        names = ("st_mode", "st_nlink", "st_uid", "st_gid", "st_size", "st_atime", "st_mtime", "st_ctime")
        row = {name: getattr(found, name) for name in names}
        return {**row, "st_size": self._seen_size(path, found.st_size)}

    def readdir(self, path: str, handle: int) -> list[str]:
        self._see(path)
        base = path.rstrip("/")
        names = [each.name for each in self._there(path).iterdir()]
        return [".", "..", *(name for name in names if not self._hidden(f"{base}/{name}"))]

    def readlink(self, path: str) -> str:
        self._see(path)
        return str(self._there(path).readlink())

    def mkdir(self, path: str, mode: int) -> None:
        self._there(path).mkdir(mode)
        self._note(path)

    def rmdir(self, path: str) -> None:
        self._there(path).rmdir()

    def unlink(self, path: str) -> None:
        self._there(path).unlink()
        with self._lock:
            self._made.pop(path, None)

    def symlink(self, path: str, to: str) -> None:
        self._there(path).symlink_to(to)
        self._note(path)

    def link(self, path: str, source: str) -> None:
        self._there(path).hardlink_to(self._there(source))
        self._note(path)

    def rename(self, path: str, new: str) -> None:
        self._there(path).rename(self._there(new))
        with self._lock:
            for known in (self._made, self._sizes):
                for each in [e for e in known if e == path or e.startswith(f"{path}/")]:
                    known[new + each[len(path) :]] = known.pop(each)
        self._note(new)

    def chmod(self, path: str, mode: int) -> None:
        self._there(path).chmod(mode)

    def chown(self, path: str, uid: int, gid: int) -> None:
        os.chown(self._there(path), uid, gid)

    def utimens(self, path: str, times: tuple[float, float] | None = None) -> None:
        os.utime(self._there(path), times)

    def statfs(self, path: str) -> dict[str, int]:
        found = os.statvfs(self._there(path))
        names = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_ffree", "f_files", "f_frsize", "f_namemax")
        return {name: getattr(found, name) for name in names}

    def create(self, path: str, mode: int, file: Any) -> int:
        file.fh = os.open(self._there(path), file.flags | os.O_CREAT, mode)
        self._note(path)
        return 0

    def open(self, path: str, file: Any) -> int:
        self._see(path)
        file.fh = os.open(self._there(path), file.flags)
        return 0

    def read(self, path: str, size: int, offset: int, file: Any) -> bytes:
        end = self._seen_size(path, os.fstat(file.fh).st_size)
        return os.pread(file.fh, max(0, min(size, end - offset)), offset)

    def write(self, path: str, data: bytes, offset: int, file: Any) -> int:
        time.sleep(self._delay_s)
        # To the real end where it is appended to: the kernel knows one size of it, perhaps an earlier one.
        written = os.pwrite(file.fh, data, offset)
        self._note(path, size=os.fstat(file.fh).st_size)
        return written

    def truncate(self, path: str, length: int, file: Any = None) -> None:
        os.truncate(self._there(path), length)
        self._note(path, size=length)

    def flush(self, path: str, file: Any) -> None:
        """Everything is written at once."""

    def fsync(self, path: str, only_data: int, file: Any) -> None:
        time.sleep(self._delay_s)

    def release(self, path: str, file: Any) -> None:
        os.close(file.fh)


if __name__ == "__main__":
    from fusepy import FUSE  # pyright: ignore[reportMissingImports]

    seen = dict.fromkeys(("attr_timeout", "entry_timeout", "negative_timeout"), 0)
    FUSE(
        Disk(sys.argv[1], *map(float, sys.argv[3:5])),
        sys.argv[2],
        foreground=True,
        direct_io=True,
        allow_other=True,
        raw_fi=True,
        **seen,
    )
