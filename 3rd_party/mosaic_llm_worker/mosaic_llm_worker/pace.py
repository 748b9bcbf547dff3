"""When the next request may be sent."""

from __future__ import annotations

import asyncio


class Pace:
    """Spaces requests evenly, and lets all wait while a model rests.

    Args:
        per_minute: Requests a minute; 0 for no limit.
    """

    def __init__(self, per_minute: int) -> None:
        self._apart_s = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._rest_until: dict[str, float] = {}

    def rest(self, model: str, seconds: float) -> None:
        """Send nothing to a model for so long."""
        end = asyncio.get_running_loop().time() + seconds
        self._rest_until[model] = max(self._rest_until.get(model, 0.0), end)

    async def turn(self, model: str, until: float) -> bool:
        """Wait for one's turn; false, at once, when it would come after ``until`` (the loop's time)."""
        loop = asyncio.get_running_loop()
        while (now := loop.time()) < (rested := self._rest_until.get(model, 0.0)):
            if rested >= until:
                return False
            await asyncio.sleep(rested - now)
        if not self._apart_s:
            return True
        mine = max(now, self._next)
        if mine >= until:
            return False
        self._next = mine + self._apart_s
        if mine > now:
            await asyncio.sleep(mine - now)
        return True
