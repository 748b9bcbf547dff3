"""A helper that finishes clean-up work even if its caller is canceled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


async def finish_despite_cancel(work: Coroutine[Any, Any, _T]) -> _T:
    """Wait for work that must not be interrupted, and return its result.

    If the caller is canceled during the work, once or more, ``CancelledError`` is raised after the work
    has ended.

    Args:
        work: Coroutine that ends by itself within seconds.
    """
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    try:
        result = task.result()
    finally:
        del task  # breaks a cycle: the task holds its error, whose traceback holds this frame
    if cancelled:
        raise asyncio.CancelledError
    return result
