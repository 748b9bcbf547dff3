"""A child that is started while whoever wanted it changes their mind."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from gym_gui.processes.child import spawn
from gym_gui.processes.tree import tagged
from tests.support.processes import Offspring


def pipes() -> set[str]:
    """Pipes that this process holds open."""
    found = [str(f.readlink()) for f in Path("/proc/self/fd").iterdir() if f.is_symlink()]
    return {name for name in found if name.startswith("pipe:")}


@pytest.mark.parametrize("moment", range(6))
@pytest.mark.parametrize("times", [1, 3])
async def test_a_start_that_is_cancelled_leaves_no_process_and_no_pipe(
    offspring: Offspring, moment: int, times: int
):
    before = pipes()
    command = sys.executable, "-c", "import time; time.sleep(600)"
    environment = tagged(dict(os.environ), "a-test")
    task = asyncio.create_task(
        spawn(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True)
    )
    for _ in range(moment):
        await asyncio.sleep(0)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    try:
        child = await task
    except asyncio.CancelledError:
        pass
    else:  # it had started by then
        child.kill()
        await child.wait_closed()
    assert offspring.pids() == [] and pipes() <= before
