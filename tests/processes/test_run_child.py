"""Programs that are told something, and waited for."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import pytest

from gym_gui.processes.outcome import ChildStatus
from gym_gui.processes.run_child import FinishedChild, run_child, run_child_sync
from tests.support.processes import Offspring
from tests.support.waiting import in_time

LEAVES = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"


async def run(code: str, **options: Any) -> FinishedChild:
    return await run_child(sys.executable, "-c", code, name="x", environment=os.environ, **options)


async def test_it_reads_all_and_says_all():
    text = b"x" * 300_000
    done = await run("import sys; sys.stdout.write(sys.stdin.read()[::-1] + 'end')", text=text)
    assert done.outcome.succeeded and done.output == text + b"end"


async def test_an_answer_in_two_parts_is_one_answer():
    done = await run("import time; print('a', flush=True); time.sleep(0.2); print('b')")
    assert done.output == b"a\nb\n"


async def test_it_does_not_wait_for_what_it_leaves_behind(offspring: Offspring):
    done = await run(f"{LEAVES}; print('done')", within_s=60)
    assert done.outcome.succeeded and done.output == b"done\n"
    assert len(done.outcome.left_behind) == 1 and offspring.pids() == []


@pytest.mark.parametrize("grace_s", [0, 60])
async def test_one_that_takes_too_long(offspring: Offspring, grace_s: float):
    done = await run(f"{LEAVES}; import time; time.sleep(600)", within_s=0.3, grace_s=grace_s)
    assert done.outcome.status is ChildStatus.TIMED_OUT
    assert done.outcome.words == "did not end within 0.3 s"
    assert offspring.pids() == []


async def test_one_that_never_stops_talking():
    done = await run("while True: print('x' * 1000)", most_bytes=100_000)
    assert done.outcome.words == "was ended: wrote more than 100000 bytes"


async def test_one_that_reads_nothing():
    done = await run("import sys; sys.exit(4)", text=b"x" * 10_000_000)
    assert done.outcome.code == 4


async def test_cancelling_ends_it(offspring: Offspring):
    task = asyncio.create_task(run(f"{LEAVES}; import time; time.sleep(600)"))
    await in_time(lambda: len(offspring.pids()) >= 2, "both run")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert offspring.pids() == []


def wait_for(code: str) -> bytes:
    return run_child_sync(sys.executable, "-c", code, name="x", environment=os.environ).output


def test_code_that_waits_needs_no_loop():
    assert wait_for("print(1)") == b"1\n"


async def test_code_that_waits_within_a_loop():
    assert wait_for("print(1)") == b"1\n"
    assert await asyncio.to_thread(wait_for, "print(2)") == b"2\n"
