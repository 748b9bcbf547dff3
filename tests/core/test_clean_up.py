"""Clean-up runs to its end although its caller is canceled, however often."""

from __future__ import annotations

import asyncio

import pytest

from gym_gui.core.clean_up import finish_despite_cancel


async def test_its_result_and_its_error_are_passed_on():
    async def work(fails: bool) -> int:
        await asyncio.sleep(0)
        if fails:
            raise OSError("no space left")
        return 7

    assert await finish_despite_cancel(work(False)) == 7
    with pytest.raises(OSError, match="no space"):
        await finish_despite_cancel(work(True))


@pytest.mark.parametrize("times", [1, 2, 5])
async def test_cancelled_again_and_again_it_still_ends(times: int):
    may_end, ended = asyncio.Event(), list[str]()

    async def work() -> None:
        await may_end.wait()
        ended.append("cleaned up")

    task = asyncio.create_task(finish_despite_cancel(work()))
    for _ in range(times):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cleaned up"]
