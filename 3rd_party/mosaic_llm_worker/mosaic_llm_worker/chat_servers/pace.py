"""When the next request may be sent, by all who ask the same model."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import logging
import os
import struct
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

SHARED: Final = "MOSAIC_REQUESTS_DIR"
"""Environment variable of workers: a folder of the person's, where they see when others ask a model."""
PLAYED_AT_ONCE: Final = "MOSAIC_PLAYED_AT_ONCE"
"""Environment variable of a part of a run: how many parts are played at the same time, wherever."""
COORDINATED: Final = "MOSAIC_COORDINATED"
"""Environment variable of such a part: its folder, which no other has."""
_LAG_S: Final = 0.05
"""Who comes so much too late for its turn has not lost that time for the next one."""
_LOCKED_S: Final = 0.005
_UNUSED_S: Final = 24 * 3600.0
_TIME: Final = struct.Struct("<d")
_log = logging.getLogger(__name__)


class Pace:
    """Spaces requests evenly, and lets all wait while a model rests.

    Args:
        per_minute: Requests a minute; 0 for no limit.
        turns: A file that all who keep this pace share, on one machine; ``None``: only this object does.
    """

    def __init__(self, per_minute: int, turns: Path | None = None) -> None:
        self._apart_s = 60.0 / per_minute * _played_at_once() if per_minute else 0.0
        self._turns = turns
        self._next, self._queued = 0.0, 0
        self._first = asyncio.Lock()
        self._rest_until: dict[str, float] = {}

    def rest(self, model: str, seconds: float) -> None:
        """Send nothing to a model for so long."""
        end = asyncio.get_running_loop().time() + seconds
        self._rest_until[model] = max(self._rest_until.get(model, 0.0), end)

    async def turn(self, model: str, until: float) -> bool:
        """Wait for one's turn; false, once it is known to come after ``until`` (the loop's time)."""
        loop = asyncio.get_running_loop()
        while (now := loop.time()) < (rested := self._rest_until.get(model, 0.0)):
            if rested >= until:
                return False
            await asyncio.sleep(rested - now)
        if not self._apart_s:
            return True
        if max(now, self._next) + self._queued * self._apart_s >= until:
            return False
        self._queued += 1
        try:
            async with self._first:  # those of this process come in their order
                return await self._mine(until)
        finally:
            self._queued -= 1

    async def _mine(self, until: float) -> bool:
        """Wait for the next turn, then take it: a process killed while it waits wastes none."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            wait = self._take(now, time.monotonic() - now)
            if not wait:
                return True
            if now + wait >= until:
                return False
            await asyncio.sleep(wait)

    def _take(self, now: float, ahead: float) -> float:
        """Take a turn; returns how long to wait before it is tried again, 0 where it was taken.

        Args:
            now: The loop's time.
            ahead: How far this machine's monotonic clock is ahead of that.
        """
        if self._turns is None:
            return self._taken(now)
        try:
            file = os.open(self._turns, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            self._alone(error)
            return self._taken(now)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            written = os.pread(file, _TIME.size, 0)
            self._next = _TIME.unpack(written)[0] - ahead if len(written) == _TIME.size else 0.0
            wait = self._taken(now)
            if not wait:
                os.pwrite(file, _TIME.pack(self._next + ahead), 0)
            return wait
        except BlockingIOError:
            return _LOCKED_S
        except OSError as error:
            self._alone(error)
            return self._taken(now)
        finally:
            os.close(file)

    def _taken(self, now: float) -> float:
        if now < self._next:
            return self._next - now
        self._next = (self._next if now - self._next < _LAG_S else now) + self._apart_s
        return 0.0

    def _alone(self, error: OSError) -> None:
        _log.warning(
            "the limit of requests a minute holds for each process by itself: %s: %s",
            self._turns,
            error.strerror,
        )
        self._turns = None


def turns_of(*model: str) -> Path | None:
    """The file that all processes on this machine share that ask a model; ``None`` without a folder for it.

    It holds a time of this machine's monotonic clock, so it is another file after each start of the machine,
    and on each machine that sees the same folder.

    Args:
        model: The provider, the server's address, the model's name.
    """
    shared = os.environ.get(SHARED)
    started = _read(Path("/proc/sys/kernel/random/boot_id"))
    if not shared or not started:
        return None
    folder = Path(shared)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_unused(folder.iterdir())
    except OSError:
        return None
    # A coordinated shard has a share of the limits for itself, so it does not share this file with others.
    name = "\n".join((started, os.environ.get(COORDINATED, ""), *model))
    return folder / hashlib.sha256(name.encode()).hexdigest()[:32]


def _played_at_once() -> int:
    said = os.environ.get(PLAYED_AT_ONCE, "")
    return max(1, int(said)) if said.isdecimal() else 1


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _remove_unused(files: Iterable[Path]) -> None:
    before = time.time() - _UNUSED_S
    for file in files:
        with suppress(OSError):
            if file.lstat().st_mtime < before:
                file.unlink()
