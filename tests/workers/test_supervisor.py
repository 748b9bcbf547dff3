"""Workers of a session: hired, lost, replaced, given up, dismissed."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from gym_gui.core.errors import MosaicError, SlotRefusedError, WorkerLaunchError
from gym_gui.core.types import EpisodeSummary
from gym_gui.workers.supervisor import MAX_RESTARTS, Supervisor
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring, alive
from tests.support.staff import Table, hired, request
from tests.support.waiting import in_time


async def lose(supervisor: Supervisor, which: int = 0) -> int:
    """Kill a worker; returns once another has its place."""
    old = supervisor.processes()[which]
    os.kill(old.pid, signal.SIGKILL)
    await in_time(lambda: old.outcome is not None, "the end is noticed")
    return old.pid


async def replaced(supervisor: Supervisor, table: Table, old: int) -> None:
    slot = table.slots[0]
    await in_time(lambda: slot.process.pid != old, "another worker sits")
    assert supervisor.processes()[0].pid == slot.process.pid


def ended(episode: int) -> EpisodeSummary:
    return EpisodeSummary(episode, 0.0, 1, 0, "agent_0", "failed")


HOLDING = (
    (
        "import threading\n" + RANDOM + "    def select_actions(self, batch):\n"
        "        if 0 in list(batch.episodes): threading.Event().wait()\n"
        "        return super().select_actions(batch)\n"
    )
    .replace("class Main(Worker)", "class Base(Worker)")
    .replace(
        "    def select_actions(self, batch):\n        if 0",
        "class Main(Base):\n    def select_actions(self, batch):\n        if 0",
    )
)
"""Plays at random, and never answers in episode 0."""


async def test_a_lost_worker_costs_its_episodes_and_no_other(tmp_path: Path):
    async with hired(little_worker(tmp_path, HOLDING)) as (table, supervisor):
        table.begin(0)
        table.ask(0)
        old = await lose(supervisor)
        (answer,) = await table.hear(1)
        lost = "worker little_worker was killed (signal 9, SIGKILL)"
        assert answer.failure == lost and answer.decision.episode == 0
        table.slots[0].end(ended(0))
        # The replacement plays an episode that begins while no process is there.
        table.begin(1)
        table.ask(1)
        (answer,) = await table.hear(1)
        assert not answer.failure and answer.action in (0, 1, 2)
        await replaced(supervisor, table, old)
        assert f"the worker of agent_0 {lost.partition(' ')[2].partition(' ')[2]}" in table.logs


async def test_an_episode_that_had_begun_fails_at_its_next_question(tmp_path: Path):
    async with hired(little_worker(tmp_path, RANDOM)) as (table, supervisor):
        table.begin(5)
        table.ask(5)
        await table.hear(1)
        old = await lose(supervisor)
        table.ask(5)  # a stateful policy would have forgotten what it saw
        (answer,) = await table.hear(1)
        assert "was killed" in answer.failure
        table.slots[0].end(ended(5))
        table.begin(6)
        table.ask(6)
        (answer,) = await table.hear(1)
        assert not answer.failure
        await replaced(supervisor, table, old)


async def test_after_so_many_losses_it_is_given_up(tmp_path: Path):
    async with hired(little_worker(tmp_path, RANDOM)) as (table, supervisor):
        for _ in range(MAX_RESTARTS):
            await replaced(supervisor, table, await lose(supervisor))
        table.begin(1)
        await lose(supervisor)
        table.ask(1)
        (answer,) = await table.hear(1)
        assert answer.failure == (
            "the worker was killed (signal 9, SIGKILL) and was not started again "
            f"(tried {MAX_RESTARTS} times)"
        )
        table.begin(2)
        table.ask(2)
        assert (await table.hear(1))[0].failure == answer.failure


async def test_one_that_does_not_come_up_again_is_given_up_with_the_reason(tmp_path: Path):
    marker = tmp_path / "seen"
    code = RANDOM + (
        "    def load(self, slot):\n"
        "        from pathlib import Path\n"
        f"        if Path({str(marker)!r}).exists(): raise FileNotFoundError('the checkpoint has gone')\n"
        f"        Path({str(marker)!r}).touch()\n"
    )
    async with hired(little_worker(tmp_path, code)) as (table, supervisor):
        await lose(supervisor)
        table.begin(0)
        table.ask(0)
        (answer,) = await table.hear(1)
        assert "cannot play agent_0: FileNotFoundError: the checkpoint has gone" in answer.failure


async def test_a_link_group_is_one_process_with_several_slots(tmp_path: Path, offspring: Offspring):
    code = (
        "import os, numpy as np\nfrom mosaic_worker import Worker\n"
        "class Main(Worker):\n"
        "    loads = 0\n"
        "    def load(self, slot):\n"
        "        Main.loads += 1\n"
        "        return f'{slot.agent_id} is {Main.loads} of {os.getpid()}'\n"
        "    def select_actions(self, batch):\n"
        "        return [batch.slot.index] * len(batch)\n"
    )
    async with hired(little_worker(tmp_path, code), request("a"), request("b"), request("c")) as (table, sup):
        (process,) = sup.processes()
        assert offspring.pids() == [process.pid]
        assert [p.launch.agents for p in sup.processes()] == [["a", "b", "c"]]
        for index in range(3):
            table.begin(0, slot=index)
            table.ask(0, slot=index)
        answers = await table.hear(3)
        assert [(a.decision.agent_id, a.action) for a in answers] == [("a", 0), ("b", 1), ("c", 2)]
        os.kill(process.pid, signal.SIGKILL)
        for index in range(3):
            table.ask(0, slot=index)
        assert ["was killed" in a.failure for a in await table.hear(3)] == [True] * 3


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("raise SystemExit(5)", WorkerLaunchError, "exit status 5"),
        (
            RANDOM + "    def load(self, slot):\n        raise ValueError('wrong spaces')\n",
            SlotRefusedError,
            "cannot play agent_0: ValueError: wrong spaces",
        ),
    ],
)
async def test_who_cannot_be_hired_leaves_nothing(
    tmp_path: Path, offspring: Offspring, code: str, error: type[MosaicError], words: str
):
    with pytest.raises(error, match=words):
        async with hired(little_worker(tmp_path, code)):
            pass
    assert offspring.pids() == []


async def test_one_that_is_killed_while_it_starts_is_started_again(tmp_path: Path):
    marker = tmp_path / "killed"
    code = RANDOM + (
        "    def load(self, slot):\n"
        "        import os, pathlib\n"
        f"        marker = pathlib.Path({str(marker)!r})\n"
        "        if not marker.exists():\n"
        "            marker.touch()\n"
        "            os.kill(os.getpid(), 9)\n"
    )
    async with hired(little_worker(tmp_path, code)) as (table, _):
        table.begin(0)
        table.ask(0)
        (answer,) = await table.hear(1)
        assert not answer.failure and marker.exists()
        assert any(
            line.endswith("was killed (signal 9, SIGKILL); it is started again") for line in table.logs
        )


async def test_dismissed_while_it_is_being_replaced(tmp_path: Path, offspring: Offspring):
    code = RANDOM + (
        "    def load(self, slot):\n        import threading\n        threading.Event().wait(0.2)\n"
    )
    async with hired(little_worker(tmp_path, code)) as (_, supervisor):
        old = supervisor.processes()[0]
        os.kill(old.pid, signal.SIGKILL)
        await in_time(lambda: supervisor.processes()[0] is not old, "another is being started")
    assert offspring.pids() == []


async def test_dismissed_while_it_is_being_started(tmp_path: Path, offspring: Offspring):
    waits = "        import threading\n        threading.Event().wait()\n"
    blocks = f"{RANDOM}    def load(self, slot):\n{waits}"
    async with hired(little_worker(tmp_path, RANDOM)) as (_, supervisor):
        starting = asyncio.create_task(
            supervisor.start_worker(little_worker(tmp_path, blocks, "blocks"), [request()], lambda _: None)
        )
        await in_time(lambda: len(supervisor.processes()) == 2, "another is being started")
        starting.cancel()
        ended, _ = await asyncio.gather(starting, supervisor.close(), return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError | MosaicError), ended
    assert offspring.pids() == []


async def test_all_are_dismissed_at_once(tmp_path: Path, offspring: Offspring):
    slow = RANDOM + "    def close(self):\n        import threading\n        threading.Event().wait(0.3)\n"
    definitions = [little_worker(tmp_path, slow, f"slow_{k}") for k in range(4)]
    async with hired(definitions[0]) as (_, supervisor):
        for definition in definitions[1:]:
            await supervisor.start_worker(definition, [request()], lambda _: None)
        pids = [p.pid for p in supervisor.processes()]
        assert len(pids) == 4
        await asyncio.gather(supervisor.close(), supervisor.close())
        assert not any(alive(pid) for pid in pids)


async def test_results_of_lost_episodes_are_not_told_to_who_comes_after(tmp_path: Path):
    code = RANDOM + (
        "    seen = set()\n"
        "    def reset(self, slot, starts):\n"
        "        self.seen |= {s.episode for s in starts}\n"
        "    def on_step_result(self, results):\n"
        "        assert set(results.episodes) <= self.seen, results.episodes\n"
        "    def on_episode_end(self, slot, ends):\n"
        "        assert {e.episode for e in ends} <= self.seen, ends\n"
    )
    from gym_gui.core.types import StepOutcome

    async with hired(little_worker(tmp_path, code)) as (table, supervisor):
        table.begin(0)
        (asked,) = table.ask(0)
        await table.hear(1)
        old = await lose(supervisor)
        table.slots[0].result(
            StepOutcome(0, 0, "agent_0", "agent_0", None, asked.encoded, 1, 1.0, False, False, {})
        )
        table.ask(0)
        assert (await table.hear(1))[0].failure
        table.slots[0].end(ended(0))
        await replaced(supervisor, table, old)
        table.begin(1)
        table.ask(1)
        (answer,) = await table.hear(1)
        assert not answer.failure
