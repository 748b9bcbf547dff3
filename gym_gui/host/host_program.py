"""The program of a session host: started, told later what it is for, and heard.

Needs nothing of gRPC or of the engine, so that it can be started before either is imported.
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
"""How often the client of a session on another machine says that it is still there."""
GREETING: Final = b"mosaic-host"
"""First word of the line in which one on another machine says where it is."""
ENDED: Final = b"ended"
"""First word of the line in which it says how it has ended."""
LISTENING: Final = b"listening"
"""First line of the pipe that takes the indices of episodes that begin."""


class ProgramListener(Protocol):
    """Gets what a host prints; called from the event loop."""

    def on_begun(self, index: int) -> None:
        """It is about to take the first step of an episode."""
        ...

    def on_output(self, line: str) -> None:
        """It, or what runs in it, printed a line."""
        ...


class HostProgram:
    """A host that has been started; made by :meth:`start`.

    Attributes:
        child: Its process.
        listening: Set once it has been told what it is for, and can be spoken to.
        variables: Names of the environment variables that it began with.
    """

    def __init__(self, variables: frozenset[str]) -> None:
        self.child: ManagedChild
        self.listening = asyncio.Event()
        self.variables = variables
        self._memory: int | None = None
        self._listener: ProgramListener | None = None
        self._unheard: list[str] = []

    @classmethod
    async def start(cls, name: str, operator: str = "", *, pictures: bool = False) -> HostProgram:
        """Start one. It begins with what any child of ours is given; :meth:`tell` has the rest.

        Args:
            name: What messages call it.
            operator: What ``ps`` shows among its arguments, where that is known.
            pictures: Whether it is to share memory for pictures, where there is such a thing.

        Raises:
            ChildStartError: It cannot be started.
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
                tied=False,  # it ends with the process that ``--parent`` names
                listen=program._read_output,
                stdin=PIPE,
                stdout=PIPE,
                pass_fds=() if memory is None else (memory,),
            )
        except BaseException:
            program._let_go_of_memory()
            raise
        return program

    def take_memory(self) -> int | None:
        """Memory for pictures, as a file descriptor that the caller closes; ``None``: it shares none."""
        memory, self._memory = self._memory, None
        return memory

    def _let_go_of_memory(self) -> None:
        if (memory := self.take_memory()) is not None:
            os.close(memory)

    async def reach(self, socket: Path) -> None:
        """Make the socket that it will listen on one of this machine; raises as :meth:`start`."""

    def tell(
        self,
        socket: Path,
        token: str,
        operator: str,
        environment: Mapping[str, str],
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """Tell it, once, what it is for: on stdin, as none of this is for others to see.

        Args:
            socket: Where it is to listen.
            token: What its client will show.
            operator: Who plays there.
            environment: All its variables from now on.
            keys: Variables that its operator's settings may refer to, where it looks them up itself;
                ``None``: its client sends those that it needs.
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

    def hear(self, listener: ProgramListener | None) -> None:
        """Have a listener told what the host prints, and has printed so far; ``None``: no listener."""
        self._listener = listener
        if listener is not None:
            unheard, self._unheard = self._unheard, []
            for line in unheard:
                listener.on_output(line)

    def judge(self, outcome: ChildOutcome) -> ChildOutcome:
        """How the host has ended, where its process has ended so."""
        return outcome

    async def release(self) -> None:
        """Let go of what was needed to reach it; its process has ended."""
        self._let_go_of_memory()

    async def _read_output(self, child: ManagedChild) -> None:
        await asyncio.gather(self._read_begun(child), self._read_stderr(child))

    async def _read_begun(self, child: ManagedChild) -> None:
        """That it listens, then episodes that begin: their index, written before their first step."""
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
            child.keep(line)
            if line and self._listener is not None:
                self._listener.on_output(line)
            elif line and not self.listening.is_set():
                self._unheard.append(line)


TakeProgram: TypeAlias = Callable[[Collection[str]], Awaitable[HostProgram | None]]
"""Hands out a program that is started already, given the names of all variables that it may have."""


def make_memory() -> int | None:
    """Memory without a name, as a file descriptor; ``None`` where there is no such thing."""
    if not hasattr(os, "memfd_create"):
        return None
    fd = os.memfd_create("mosaic-frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    # No process can shrink the memory that a reader has mapped.
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    return fd
