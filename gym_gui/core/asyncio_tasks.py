"""Tasks of asyncio."""

from __future__ import annotations

import asyncio


async def end_task(task: asyncio.Task[object] | None) -> None:
    """Cancel a task and wait until it has ended, however it ends; ``None``: there is none."""
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
