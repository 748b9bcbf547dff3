"""Helper that ends an asyncio task."""

from __future__ import annotations

import asyncio


async def end_task(task: asyncio.Task[object] | None) -> None:
    """Cancel a task and wait until it has ended, and ignore its result or error; ``None`` does nothing."""
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
