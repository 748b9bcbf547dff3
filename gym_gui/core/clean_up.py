"""Clean-up that runs to its end, even where its caller is canceled during it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


async def finish_despite_cancel(work: Coroutine[Any, Any, _T]) -> _T:
    """Wait for work that must not be left half done.

    Where the caller is canceled during the work, once or more often, it raises the cancellation afterwards.

    Args:
        work: Ends by itself within seconds.
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
        del task  # it holds its error, whose traceback holds this frame
    if cancelled:
        raise asyncio.CancelledError
    return result
