"""Programs that are started, and how they end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from gym_gui.processes.child import ChildStartError, ManagedChild
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.processes.tree import TAG
from tests.support.processes import Offspring, alive
from tests.support.waiting import eventually, in_time

SLEEP = "import time; time.sleep(600)"
DEAF = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True);" + SLEEP
DAEMON = (
    "import os, sys, time\n"
    "told, tell = os.pipe()\n"
    "if os.fork():\n"
    "    os.read(told, 1)\n"  # who ends at once has what it left ended before that says who it is
    "    sys.exit()\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "print(os.getpid(), flush=True)\n"
    "os.write(tell, b'.')\n"
    "time.sleep(600)\n"
)


async def start(code: str, **options: Any) -> ManagedChild:
    return await ManagedChild.start(
        sys.executable, "-c", code, name="the program", environment=os.environ, **options
    )


async def ended(code: str, **options: Any) -> ChildOutcome:
    return await (await start(code, **options)).finished()


async def first_line(child: ManagedChild) -> bytes:
    assert child.stdout is not None
    return (await child.stdout.readline()).strip()


# -- by itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("tied", [True, False])
async def test_an_ordinary_end(tied: bool):
    outcome = await ended("pass", tied=tied)
    assert outcome == ChildOutcome(ChildStatus.EXITED, code=0)
    assert outcome.succeeded and outcome.words == "ended with exit status 0"


async def test_a_crash_comes_with_the_last_it_said():
    code = (
        "import sys\nfor i in range(50): print('line', i, file=sys.stderr)\nraise ValueError('out of luck')"
    )
    outcome = await ended(code)
    assert (outcome.status, outcome.code, outcome.signal) == (ChildStatus.EXITED, 1, None)
    assert outcome.last_line == "ValueError: out of luck"
    assert 1 < len(outcome.stderr_tail) <= 20, "it is bounded"
    assert outcome.words == "ended with exit status 1: ValueError: out of luck"


async def test_a_flood_of_output_is_bounded_and_does_not_stop_it():
    outcome = await ended("import sys\nfor _ in range(64): sys.stderr.write('x' * 65536)\nsys.exit(3)")
    assert outcome.code == 3 and sum(map(len, outcome.stderr_tail)) < 100_000


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_signal_from_elsewhere(number: signal.Signals):
    outcome = await ended(f"import os; os.kill(os.getpid(), {number:d})")
    assert (outcome.status, outcome.code, outcome.signal) == (ChildStatus.KILLED, None, number)
    assert outcome.words == f"was killed (signal {number:d}, {number.name})" and not outcome.asked


async def test_what_it_leaves_behind_is_ended_though_it_left_the_group(offspring: Offspring):
    child = await start(DAEMON, stdout=PIPE)
    left = int(await first_line(child))
    outcome = await child.finished()
    assert outcome.succeeded and outcome.left_behind == (left,)
    assert not alive(left) and offspring.pids() == []


# -- from here ------------------------------------------------------------------------------


async def test_one_that_ends_when_it_is_asked_to():
    code = (
        "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); print(flush=True);"
        + SLEEP
    )
    child = await start(code, stdout=PIPE)
    await first_line(child)
    outcome = await child.end(grace_s=60, reason="no caller needs it")
    assert (outcome.status, outcome.code, outcome.asked) == (ChildStatus.EXITED, 5, True)


async def test_one_that_refuses_to_end_is_killed():
    child = await start(DEAF, stdout=PIPE)
    assert await first_line(child) == b"up"
    outcome = await child.end(grace_s=0.1, reason="did not stop when asked")
    assert (outcome.status, outcome.signal, outcome.asked) == (ChildStatus.ENDED, signal.SIGKILL, True)
    assert outcome.words == "was ended: did not stop when asked"


async def test_its_children_end_with_it(offspring: Offspring):
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {DAEMON!r}]); {SLEEP}"
    child = await start(code, stdout=PIPE)
    left = int(await first_line(child))
    outcome = await child.end(reason="was closed")
    assert outcome.status is ChildStatus.ENDED and outcome.left_behind == ()
    assert not alive(left) and offspring.pids() == []


async def test_ending_what_has_ended_changes_nothing():
    child = await start("raise SystemExit(7)")
    first = await child.finished()
    child.kill("too late")
    child.terminate()
    assert await child.end(reason="too late") is first is child.outcome and first.code == 7


async def test_why_it_was_ended_is_known_however_often_that_was_asked_for():
    """A second signal may be who finds it ended: then its status is nowhere else."""
    for _ in range(12):
        child = await start(SLEEP)
        while alive(child.pid):
            child.kill("enough")
        outcome = await child.finished()
        assert (outcome.status, outcome.reason) == (ChildStatus.ENDED, "enough")


async def test_an_end_that_is_cancelled_is_carried_through(offspring: Offspring):
    child = await start(SLEEP)
    ending = asyncio.create_task(child.end(reason="was closed"))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert child.outcome is not None and offspring.pids() == []


# -- its start ------------------------------------------------------------------------------


@pytest.mark.parametrize("tied", [True, False])
async def test_a_program_that_is_not_there(tied: bool):
    with pytest.raises(ChildStartError) as caught:
        await ManagedChild.start("no-such-program", name="x", environment=os.environ, tied=tied)
    outcome = caught.value.outcome
    assert (outcome.status, outcome.code) == (ChildStatus.FAILED_TO_START, None)
    assert str(caught.value) == "x could not be started: no-such-program: No such file or directory"


async def test_a_program_beside_the_folder_it_runs_in(tmp_path: Path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 6\n")
    program.chmod(0o700)
    child = await ManagedChild.start("./program", name="x", environment=os.environ, folder=tmp_path)
    assert (await child.finished()).code == 6


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
    task = asyncio.create_task(start(SLEEP, stdin=PIPE, stdout=PIPE))
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
        await child.end()
    assert offspring.pids() == [] and pipes() <= before


# -- our own end ----------------------------------------------------------------------------

PARENT = """
import asyncio, os, sys
from gym_gui.processes.child import ManagedChild

async def main():
    runaway = await ManagedChild.start(
        sys.executable, "-c", {daemon!r} + "\\n", name="x", environment=os.environ, tied=False, stdout=-1
    )
    left = (await runaway.stdout.readline()).decode().strip()
    child = await ManagedChild.start(
        sys.executable, "-c", {sleep!r}, name="x", environment=os.environ, tied=True
    )
    print(child.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_child_ends_with_its_parent_and_so_does_what_it_started(offspring: Offspring):
    environment = {k: v for k, v in os.environ.items() if k != TAG}
    keeps = DAEMON.replace("    sys.exit()\n", "    time.sleep(600)\n")
    code = PARENT.replace("{daemon!r}", repr(keeps)).replace("{sleep!r}", repr(SLEEP))
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=PIPE, env=environment)
    assert parent.stdout is not None
    tied = int(await parent.stdout.readline())
    (reaper,) = offspring.find("gym_gui.processes.reaper")
    await in_time(lambda: len(offspring.pids()) >= 5, "parent, reaper, the program, its child, the tied one")
    parent.kill()
    await parent.wait()
    await in_time(lambda: not alive(tied), "the kernel has ended the tied one")
    await in_time(lambda: not alive(reaper), "the reaper is done")
    eventually(lambda: offspring.pids() == [], "nothing is left")
