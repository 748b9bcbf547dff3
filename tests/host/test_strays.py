"""What a worker starts ends with it, however far it has gone."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.host.host_client import HostSession
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.controllers.engine.test_session_workers import operator
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring, alive
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

DAEMON = """
    def load(self, slot):
        import os
        if not os.fork():
            os.setsid()
            if os.fork():
                os._exit(0)
            with open({pid!r}, "w") as file:
                file.write(str(os.getpid()))
            for fd in range(3, 64):
                try:
                    os.close(fd)
                except OSError:
                    pass
            os.execve("/bin/sleep", ["sleep", "600"], {{}})
        os.wait()
"""


@pytest.mark.parametrize("killed", [False, True], ids=["asked to end", "killed"])
async def test_a_daemon_without_environment(tmp_path: Path, offspring: Offspring, killed: bool) -> None:
    pid_file = tmp_path / "pid"
    little_worker(tmp_path / "data/workers", RANDOM + DAEMON.format(pid=str(pid_file)), "begetting_worker")
    with WorkerTypeRegistry.isolated():
        slot = {"worker_id": "begetting_worker", "type": "baseline"}
        session = HostSession(resolve_operator(operator({"agent": slot})), SessionSettings(1), SessionLog())
        await session.start()
        pid = int(await in_time(lambda: pid_file.exists() and pid_file.read_text(), "it has begun"))
        try:
            await in_time(lambda: Path(f"/proc/{pid}/environ").read_bytes() == b"", "it has no environment")
            if killed:
                os.kill(offspring.workers("op", "begetting_worker")[0], signal.SIGKILL)
                await in_time(lambda: not alive(pid), "it ends with its worker")
            await asyncio.wait_for(session.close(), 30)
            assert not alive(pid)
        finally:
            await session.close()
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
