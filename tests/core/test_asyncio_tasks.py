"""A task is cancelled and waited for."""

from __future__ import annotations

import asyncio

from gym_gui.core.asyncio_tasks import end_task


def test_the_caller_waits_until_the_task_has_cleaned_up() -> None:
    told: list[str] = []

    async def work(begun: asyncio.Event) -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            told.append("cleaned up")

    async def play() -> bool:
        begun = asyncio.Event()
        task = asyncio.create_task(work(begun))
        await begun.wait()
        await end_task(task)
        return task.cancelled()

    assert asyncio.run(play())
    assert told == ["cleaned up"]


def test_a_task_that_has_failed_and_no_task_are_no_error() -> None:
    async def play() -> None:
        task = asyncio.create_task(_fail())
        await asyncio.wait([task])
        await end_task(task)
        await end_task(None)

    asyncio.run(play())


async def _fail() -> None:
    raise ValueError("no")
