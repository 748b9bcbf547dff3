"""Waiting for a condition, with a deadline; never for a length of time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONG_S = 180.0
"""More than anything takes on a machine that is busy with other things: only a failing test waits for it."""
EXPERIMENT_S = 900.0
"""The same for a whole experiment, or a training, on other machines."""

_PAUSE_S = 0.01
_SHARE = 4.0
"""A look that takes long (the process table, say) leaves so many times its length to others."""


def eventually(condition: Callable[[], T], what: str, within: float = LONG_S) -> T:
    """Call ``condition`` until it returns something true, and return that.

    Raises:
        AssertionError: It did not become true in ``within`` seconds; says ``what`` did not happen.
    """
    deadline = time.monotonic() + within
    begun = time.thread_time()
    while not (found := condition()):
        assert time.monotonic() < deadline, f"did not happen within {within:g} s: {what}"
        time.sleep(max(_PAUSE_S, _SHARE * (time.thread_time() - begun)))
        begun = time.thread_time()
    return found


async def in_time(condition: Callable[[], T], what: str, within: float = LONG_S) -> T:
    """:func:`eventually` for coroutines: the loop goes on meanwhile."""
    deadline = time.monotonic() + within
    begun = time.thread_time()
    while not (found := condition()):
        assert time.monotonic() < deadline, f"did not happen within {within:g} s: {what}"
        await asyncio.sleep(max(_PAUSE_S, _SHARE * (time.thread_time() - begun)))
        begun = time.thread_time()
    return found
