"""Program of a session host: its start, its configuration on stdin, and its output.

This module needs neither gRPC nor the engine, so that a host can be started before they are imported.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from gym_gui.core.inherited_environment import inherited
from gym_gui.processes.child import ManagedChild, lines_of
from gym_gui.processes.outcome import ChildOutcome

ALIVE_EVERY_S: Final = 10.0
"""Seconds between messages by which the client of a session on another machine shows that it is alive."""
GREETING: Final = b"mosaic-host"
"""First word of the line in which a host on another machine reports its socket and version."""
ENDED: Final = b"ended"
"""First word of the line in which a host on another machine reports how it has ended."""
LISTENING: Final = b"listening"
"""First line that a host writes to its pipe, when it accepts connections."""


class ProgramListener(Protocol):
    """Receives a host's output; its methods are called from the event loop."""

    def on_begun(self, index: int) -> None:
        """Handle the index of an episode whose first step follows."""
        ...

    def on_output(self, line: str) -> None:
        """Handle a line that the host or one of its child processes printed."""
        ...


class HostProgram:
    """Session host that was started with :meth:`start`.

    Attributes:
        child: Process of the host.
        listening: Event that is set when the host accepts connections.
        variables: Names of the environment variables with which the host was started.
    """

    def __init__(self, variables: frozenset[str]) -> None:
        self.child: ManagedChild
        self.listening = asyncio.Event()
        self.variables = variables
        self._memory: int | None = None
        self._listener: ProgramListener | None = None
        self._unread_lines: list[str] = []

    @classmethod
    async def start(cls, name: str, operator: str = "", *, pictures: bool = False) -> HostProgram:
        """Start a host with the environment variables of any child process.

        :meth:`send_configuration` sends all other data.

        Args:
            name: Name of the host in messages.
            operator: Operator that ``ps`` shows among the host's arguments, or ``""``.
            pictures: Whether the host shares memory for pictures, if the system has such memory.

        Raises:
            ChildStartError: The host cannot be started.
        """
        environment = inherited()
        program = cls(frozenset(environment))
        command = [sys.executable, "-P", "-m", "gym_gui.host", "--parent", str(os.getpid())]
        memory = program._memory = make_memory() if pictures else None
        if memory is not None:
            command += ["--frames", str(memory)]
        if operator:
            command += ["--operator", operator]
        try:
            program.child = await ManagedChild.start(
                *command,
                name=name,
                environment=environment,
                tied=False,  # the host ends with the parent named in its arguments
                listen=program._read_output,
                stdin=PIPE,
                stdout=PIPE,
                pass_fds=() if memory is None else (memory,),
            )
        except BaseException:
            program._close_memory()
            raise
        return program

    def picture_memory_descriptor(self) -> int | None:
        """Return the file descriptor of the picture memory, or ``None``; the caller must close it."""
        memory, self._memory = self._memory, None
        return memory

    def _close_memory(self) -> None:
        if (memory := self.picture_memory_descriptor()) is not None:
            os.close(memory)

    async def reach(self, socket: Path) -> None:
        """Make the host's socket reachable on this machine; errors are as for :meth:`start`."""

    def send_configuration(
        self,
        socket: Path,
        token: str,
        operator: str,
        environment: Mapping[str, str],
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """Send the host its configuration, once and on stdin, because no other user may read it.

        Args:
            socket: Path of the socket to listen on.
            token: Token by which the host recognizes its client.
            operator: The operator that the host plays.
            environment: All environment variables of the host from now on.
            keys: Variables with API keys to which the operator's settings may refer; ``None`` if the client
                sends the keys that the host needs.
        """
        orders: dict[str, Any] = {
            "socket": str(socket),
            "token": token,
            "operator": operator,
            "environment": dict(environment),
            "keys": None if keys is None else dict(keys),
        }
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(orders).encode() + b"\n")
        self.child.stdin.close()

    def set_listener(self, listener: ProgramListener | None) -> None:
        """Send the host's past and future output to a listener; ``None`` removes the listener."""
        self._listener = listener
        if listener is not None:
            unheard, self._unread_lines = self._unread_lines, []
            for line in unheard:
                listener.on_output(line)

    def judge(self, outcome: ChildOutcome) -> ChildOutcome:
        """Return how the host has ended, from the outcome of its process."""
        return outcome

    async def release(self) -> None:
        """Close the memory and connections of the host, after its process has ended."""
        self._close_memory()

    async def _read_output(self, child: ManagedChild) -> None:
        await asyncio.gather(self._read_begun(child), self._read_stderr(child))

    async def _read_begun(self, child: ManagedChild) -> None:
        """Read the line that reports readiness, then each episode's index, written before its first step."""
        assert child.stdout is not None
        rest = b""
        while data := await child.stdout.read(1 << 16):
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                self._on_line(line)

    def _on_line(self, line: bytes) -> None:
        if line == LISTENING:
            self.listening.set()
        elif self._listener is not None:
            self._listener.on_begun(int(line))

    async def _read_stderr(self, child: ManagedChild) -> None:
        async for line in lines_of(child.stderr):
            child.remember_line(line)
            if line and self._listener is not None:
                self._listener.on_output(line)
            elif line and not self.listening.is_set():
                self._unread_lines.append(line)


TakeProgram: TypeAlias = Callable[[Collection[str]], Awaitable[HostProgram | None]]
"""Function that returns a host that was started with only variables among the given names, or ``None``."""


def make_memory() -> int | None:
    """Return the file descriptor of nameless memory for pictures; ``None`` if the system has none."""
    if not hasattr(os, "memfd_create"):
        return None
    fd = os.memfd_create("mosaic-frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    # No process can shrink the memory that a reader has mapped.
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    return fd
