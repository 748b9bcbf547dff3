"""When the next request may be sent."""

from __future__ import annotations

import asyncio


class Pace:
    """Spaces requests evenly, and lets all wait while the server rests.

    Args:
        per_minute: Requests a minute; 0 for no limit.
    """

    def __init__(self, per_minute: int) -> None:
        self._apart_s = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._rest_until = 0.0

    def rest(self, seconds: float) -> None:
        """Send nothing for so long."""
        self._rest_until = max(self._rest_until, asyncio.get_running_loop().time() + seconds)

    async def turn(self, until: float) -> bool:
        """Wait for one's turn; false, at once, when it would come after ``until`` (the loop's time)."""
        loop = asyncio.get_running_loop()
        while (now := loop.time()) < self._rest_until:
            if self._rest_until >= until:
                return False
            await asyncio.sleep(self._rest_until - now)
        if not self._apart_s:
            return True
        mine = max(now, self._next)
        if mine >= until:
            return False
        self._next = mine + self._apart_s
        if mine > now:
            await asyncio.sleep(mine - now)
        return True
