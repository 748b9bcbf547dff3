"""Program of a session host on another machine, connected through ssh.

On that machine ``mosaic session-host`` (:mod:`gym_gui.host.keeper`) starts the host and sends lines: the path
of its socket, that it accepts connections, the episodes that begin, how it has ended. The client sends token
and permissions, and a line every few seconds. When these lines stop, all processes on the other machine end.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.record_fields import mapping, text
from gym_gui.host.host_program import ALIVE_EVERY_S, ENDED, GREETING, HostProgram
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.services.submissions.host_check import check_answers
from gym_gui.services.submissions.shell import from_home, is_private
from gym_gui.services.submissions.ssh.ssh import LOST, SshHost
from gym_gui.services.submissions.ssh.ssh_check import check_host
from gym_gui.services.submissions.ssh.ssh_profile import Host
from gym_gui.services.submissions.submission_errors import HostFailedError

_GREETING_S: Final = 120.0
"""Longest wait in seconds for the host's first line. Loading modules and waking a disk take time."""


class RemoteProgram(HostProgram):
    """Session host on another machine that was started with :meth:`begin`.

    Attributes:
        allowed: Code that the host may use, in the form of :data:`gym_gui.core.trusted.trust.VARIABLE`.
        workers: Ids of the workers that play on that machine.
        files: Private folder on that machine, which is removed with the host.
        machine: Description of that machine.
    """

    def __init__(self, host: Host, ssh: SshHost) -> None:
        super().__init__(frozenset())
        self._host, self._ssh = host, ssh
        self._greeted: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._ended: ChildOutcome | None = None
        self._alive: asyncio.Task[None] | None = None
        self._socket = self.allowed = self.files = ""
        self.workers: list[str] = []
        self.machine: Mapping[str, Any] = {}

    @classmethod
    async def begin(cls, host: Host, ssh: SshHost) -> RemoteProgram:
        """Start a host on another machine. The caller must close ``ssh`` later, also after an error.

        Raises:
            HostAwayError: The machine cannot be reached.
            HostFailedError: The host could not start; the message contains its last line.
            UsageError: The machine has another version of MOSAIC or none, or other users can read its keys.
        """
        program = cls(host, ssh)
        child = program.child = await ssh.start(_script(host), program._read_output)
        await asyncio.wait(
            {program._greeted, child.exited}, timeout=_GREETING_S, return_when=asyncio.FIRST_COMPLETED
        )
        if not program._greeted.done():
            running = child.running
            outcome = await child.end()
            await check_host(ssh, host)  # raises the reason, if known
            why = f"did not start within {_GREETING_S:.0f} s" if running else outcome.words
            raise HostFailedError(f"{host.name}: mosaic session-host {why}")
        program._store_greeting(program._greeted.result())
        return program

    def _store_greeting(self, said: Mapping[str, Any]) -> None:
        host, version = self._host, f"mosaic {text(said.get('version'))}"
        check_answers(host.name, {"version": version}, host.command)
        self._socket, self.files = text(said.get("socket")) or "", text(said.get("files")) or ""
        self.machine = {"host": self._host.name, **(mapping(said.get("machine")) or {})}

    async def reach(self, socket: Path) -> None:
        await self._ssh.forward(socket, self._socket)

    def send_configuration(
        self,
        socket: Path,
        token: str,
        operator: str,
        environment: Mapping[str, str],
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """Send the host its configuration, without variables and keys, because its machine has its own."""
        orders = {"token": token, "operator": operator, "allowed": self.allowed, "workers": self.workers}
        self._write(json.dumps(orders))
        self._alive = asyncio.get_running_loop().create_task(self._stay_alive())

    async def _stay_alive(self) -> None:
        while self.child.running:
            await asyncio.sleep(ALIVE_EVERY_S)
            self._write("")

    def _write(self, line: str) -> None:
        assert self.child.stdin is not None
        with suppress(OSError, RuntimeError):  # a lost connection is noticed elsewhere
            self.child.stdin.write(line.encode() + b"\n")

    def _on_line(self, line: bytes) -> None:
        word, _, rest = line.partition(b" ")
        if not self._greeted.done():
            if word == GREETING and (said := _object(rest)) is not None:
                self._greeted.set_result(said)
            return  # ignores the output of the shell's start files
        if word == ENDED:
            self._ended = _outcome(_object(rest) or {})
        else:
            super()._on_line(line)

    def judge(self, outcome: ChildOutcome) -> ChildOutcome:
        """Return the outcome that the host reported; without a report, it counts as lost."""
        if outcome.status in (ChildStatus.ENDED, ChildStatus.TIMED_OUT):
            return outcome
        if self._ended is not None:
            return replace(self._ended, asked=outcome.asked, stderr_tail=outcome.stderr_tail)
        if outcome.code in (None, LOST):
            reason = f"the connection to {self._host.name} broke"
            return replace(outcome, status=ChildStatus.LOST, code=None, signal=None, reason=reason)
        return outcome

    async def release(self) -> None:
        await end_task(self._alive)
        await self._ssh.close()
        await super().release()


def _script(host: Host) -> str:
    how = host.command
    keys = [f"{is_private(shlex.quote(how.keys))} || exit 1"] if how.keys else []
    return "\n".join([*keys, *from_home(how), f"exec {how.mosaic} session-host"]) + "\n"


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        return mapping(json.loads(data))
    except ValueError:
        return None


def _outcome(said: Mapping[str, Any]) -> ChildOutcome:
    """Return the outcome of a host from the report of ``mosaic session-host``."""
    signal, code = said.get("signal"), said.get("code")
    if isinstance(signal, int):
        return ChildOutcome(ChildStatus.KILLED, signal=signal)
    return ChildOutcome(ChildStatus.EXITED, code if isinstance(code, int) else None)
