"""How scenes of ``screenshots.py`` wait for what they photograph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], what: str, patience_s: float, settle_s: float) -> None:
    """Wait until something is so, then a moment more.

    Args:
        condition: It.
        what: It, in words.
        patience_s: Seconds after which it will not come.
        settle_s: Seconds that are waited after it.

    Raises:
        TimeoutError: It has not come.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_s
    while not condition():
        if loop.time() > deadline:
            raise TimeoutError(f"{what} did not come within {patience_s:g} s")
        await asyncio.sleep(0.05)
    await asyncio.sleep(settle_s)
