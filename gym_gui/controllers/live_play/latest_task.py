"""Runs one background job at a time; a new job replaces the running one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from gym_gui.core.asyncio_tasks import end_task

Spawn = Callable[[Coroutine[Any, Any, Any], str], "asyncio.Task[Any]"]
"""Function that runs a coroutine in the background.

If it fails, a message shows the given description and "failed".
"""


class LatestJob:
    """Runs one job at a time: a new job cancels the running one.

    Args:
        spawn: Runs a job.
        on_done: Called when a job is done and no other has replaced it.
    """

    def __init__(self, spawn: Spawn, on_done: Callable[[], None]) -> None:
        self._spawn, self._on_done = spawn, on_done
        self._task: asyncio.Task[Any] | None = None

    @property
    def busy(self) -> bool:
        """Whether a background job is running."""
        return self._task is not None and not self._task.done()

    def start(self, work: Coroutine[Any, Any, None], what: str) -> None:
        """Start a background job and cancel the previous one; ``what`` describes the job in messages."""
        before, self._task = self._task, None
        if before is not None:
            before.cancel()
        self._task = self._spawn(work, what)
        self._task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: object) -> None:
        if task is self._task:
            self._on_done()

    async def settled(self) -> None:
        """Wait until the background job is done."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def cancel(self) -> None:
        """Cancel the background job and wait until it has ended."""
        task, self._task = self._task, None  # a kept task's traceback would keep its objects alive
        await end_task(task)
