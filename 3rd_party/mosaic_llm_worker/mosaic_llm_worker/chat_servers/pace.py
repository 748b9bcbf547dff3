"""Limits the rate of requests to a model, for all slots and processes that call the same model."""

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
"""Environment variable of workers: a folder of the user, in which processes coordinate their requests to a
model.
"""
PLAYED_AT_ONCE: Final = "MOSAIC_PLAYED_AT_ONCE"
"""Environment variable of a shard of a run: the number of shards that are played at the same time
anywhere.
"""
COORDINATED: Final = "MOSAIC_COORDINATED"
"""Environment variable of a coordinated shard: its own folder."""
_LAG_S: Final = 0.05
"""Largest delay of a turn in seconds that does not delay the next turn."""
_LOCKED_S: Final = 0.005
_UNUSED_S: Final = 24 * 3600.0
_TIME: Final = struct.Struct("<d")
_log = logging.getLogger(__name__)


class Pace:
    """Spaces requests evenly, and delays all requests to a model that has asked to wait.

    Args:
        per_minute: Requests a minute; 0 for no limit.
        turns: File with the next turn, shared by the processes of one machine; ``None`` for no sharing.
    """

    def __init__(self, per_minute: int, turns: Path | None = None) -> None:
        self._apart_s = 60.0 / per_minute * _played_at_once() if per_minute else 0.0
        self._turns = turns
        self._next, self._queued = 0.0, 0
        self._first = asyncio.Lock()
        self._rest_until: dict[str, float] = {}

    def rest(self, model: str, seconds: float) -> None:
        """Send no request to a model for ``seconds``."""
        end = asyncio.get_running_loop().time() + seconds
        self._rest_until[model] = max(self._rest_until.get(model, 0.0), end)

    async def turn(self, model: str, until: float) -> bool:
        """Wait for the turn of a request; return ``False`` as soon as its turn is known to come after
        ``until`` (loop time).
        """
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
            async with self._first:  # requests of this process keep their order
                return await self._mine(until)
        finally:
            self._queued -= 1

    async def _mine(self, until: float) -> bool:
        """Wait for the next turn, then take it, so that a process killed while it waits wastes no turn."""
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
        """Take the next turn if it is due; return the seconds to wait before the next attempt, 0 if it was
        taken.

        Args:
            now: Time of the event loop.
            ahead: Seconds by which this machine's monotonic clock is ahead of ``now``.
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
            "the limit of requests per minute applies to each process separately: %s: %s",
            self._turns,
            error.strerror,
        )
        self._turns = None


def turns_of(*model: str) -> Path | None:
    """Return the file that all processes of this machine that call a model share; ``None`` without a folder
    for it.

    The file contains a time of this machine's monotonic clock. Therefore its name differs after each start of
    the machine, and between machines that share the folder.

    Args:
        model: Provider, address of the server, and name of the model.
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
