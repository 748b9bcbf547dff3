"""Watchers of runs are told the newest record of each run, at any pace."""

from __future__ import annotations

from gym_gui.services.trainer.change_notices import Watchers
from tests.services.trainer.test_run_registry import a_run


async def test_a_slow_watcher_of_runs_sees_the_newest_of_each() -> None:
    watchers = Watchers()
    slow, fast = watchers.add(), watchers.add()
    for step in range(1000):
        watchers.send(a_run("a", step=step))
        watchers.send(a_run("b", step=-step))
    changes = slow.changes()
    assert [(await anext(changes)).step for _ in range(2)] == [999, -999]
    watchers.drop(fast)
    watchers.send(a_run("a", step=1000))
    assert (await anext(changes)).step == 1000
