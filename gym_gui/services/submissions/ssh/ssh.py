"""One host, over OpenSSH: its own programs ``ssh`` and ``scp``, over one connection that is kept open."""

from __future__ import annotations

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import MissingDependencyError
from gym_gui.core.inherited_environment import inherited
from gym_gui.processes.child import ChildStartError, ManagedChild
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.processes.reaper import remove_after
from gym_gui.processes.run_child import run_child
from gym_gui.services.store import Store
from gym_gui.services.submissions.submission_errors import (
    MOST_BYTES,
    HostAwayError,
    HostFailedError,
    raise_if_too_much,
)

_CONNECT_S: Final = 20
_ANSWER_S: Final = 60.0
_COPY_S: Final = 3600.0
_MEASURE_S: Final = 0.5
LOST: Final = 255
"""Exit status of ``ssh`` where the connection failed, and not the command."""
_NO_FORWARDING: Final = "-oClearAllForwardings=yes"
_OPTIONS: Final = (
    "-oBatchMode=yes",
    f"-oConnectTimeout={_CONNECT_S}",
    "-oServerAliveInterval=10",
    "-oServerAliveCountMax=3",
    "-oForwardAgent=no",
    "-oForwardX11=no",
    _NO_FORWARDING,
)


class SshHost:
    """A host that takes commands one after another; made ready by :meth:`connect`.

    Args:
        name: As ``ssh`` takes it.
        config: A configuration of OpenSSH in place of the person's own; empty: theirs.
    """

    def __init__(self, name: str, config: str = "") -> None:
        self.name = name
        self._options = [*(["-F", config] if config else []), *_OPTIONS]
        self._environment = inherited() | {
            key: os.environ[key] for key in ("SSH_AUTH_SOCK", "HOME", "USER") if key in os.environ
        }
        self._master: ManagedChild | None = None
        self._socket: Path | None = None

    async def connect(self) -> None:
        """Open the connection that all that follows goes over, where it is not open.

        Raises:
            HostAwayError: With the reason that ``ssh`` gives.
            MissingDependencyError: There is no OpenSSH here.
        """
        if self._master is not None and self._master.running:
            return
        if shutil.which("ssh") is None or shutil.which("scp") is None:
            raise MissingDependencyError("OpenSSH's client", "apt install openssh-client")
        await self.close()
        folder = Store().runtime_dir() / f"ssh-{os.urandom(4).hex()}"
        remove_after(folder)  # first: who is killed while it connects leaves none
        folder.mkdir(mode=0o700)
        self._socket = folder / "s"
        # It lives as long as its stdin: however this process ends, so does the connection.
        command = [
            "ssh",
            *self._options,
            "-M",
            "-S",
            str(self._socket),
            "--",
            self.name,
            "echo ready; exec cat",
        ]
        try:
            self._master = await ManagedChild.start(
                *command, name=f"ssh {self.name}", environment=self._environment, stdin=PIPE, stdout=PIPE
            )
        except ChildStartError as error:
            raise HostAwayError(f"{self.name}: {error}") from error
        assert self._master.stdout is not None
        line = b""
        try:
            async with asyncio.timeout(_CONNECT_S * 2):
                while (line := await self._master.stdout.readline()) not in (b"ready\n", b""):
                    pass  # what its shell's start files print
        except (TimeoutError, ValueError):
            line = b""
        if not line:
            outcome = await self._master.end()
            reason = _reason(outcome)
            raise HostAwayError(f"{self.name} cannot be reached{reason}", fix=_advice(reason, self.name))

    async def run(self, script: str, *, within_s: float = _ANSWER_S) -> str:
        """Have the host's ``sh`` run a script; returns what it prints.

        Raises:
            HostAwayError: It cannot be reached, or does not answer in time.
            HostFailedError: The script has failed, with its last line.
        """
        return (await self.read(script, within_s=within_s)).decode("utf-8", "replace")

    async def read(self, script: str, *, within_s: float = _ANSWER_S) -> bytes:
        """The same, with what it prints as bytes."""
        await self.connect()
        command = ["ssh", *self._options, *self._through, "--", self.name, "exec sh -s"]
        return await self._done(command, script.encode(), within_s)

    async def start(
        self, script: str, listen: Callable[[ManagedChild], Coroutine[Any, Any, None]]
    ) -> ManagedChild:
        """Have the host's ``sh`` run a script that stays, and is spoken to through its pipes.

        Args:
            script: What it runs; the last command of it takes over its pipes (``exec``), and is to be
                told nothing before it has said something.
            listen: Reads its pipes.

        Raises:
            HostAwayError: It cannot be reached.
        """
        await self.connect()
        command = ["ssh", *self._options, *self._through, "--", self.name, "exec sh -s"]
        name = f"ssh {self.name}"
        try:
            child = await ManagedChild.start(
                *command, name=name, environment=self._environment, listen=listen, stdin=PIPE, stdout=PIPE
            )
        except ChildStartError as error:
            raise HostAwayError(f"{self.name}: {error}") from error
        assert child.stdin is not None
        child.stdin.write(script.encode())
        return child

    async def forward(self, here: Path, there: str) -> None:
        """Have a Unix socket of the host listened for here as well, as long as the connection lasts.

        Args:
            here: Where it is to be, in a private folder.
            there: Where it is on the host.

        Raises:
            HostAwayError: It cannot be reached.
            HostFailedError: No such socket can be made here.
        """
        await self.connect()
        options = [option for option in self._options if option != _NO_FORWARDING]
        ends = ":".join(path.replace("\\", "\\\\").replace(":", "\\:") for path in (str(here), there))
        command = ["ssh", *options, *self._through, "-O", "forward", "-L", ends, "--", self.name]
        await self._done(command, b"", _ANSWER_S)

    async def send(self, source: Path, place: str) -> None:
        """Copy a folder to a place that is not there yet; raises as :meth:`run`."""
        await self._copy(str(source), f"{self._target}:{place}", _COPY_S)

    async def fetch(
        self, place: str, target: Path, *, what: str = "what comes", most: int = MOST_BYTES
    ) -> None:
        """Copy a folder from the host to a place that is not there yet; raises as :meth:`run`.

        Args:
            place: The folder there.
            target: The place here.
            what: What it is, for people.
            most: Bytes that it may have.

        Raises:
            UsageError: It has more.
            HereError: It leaves no room here.
        """
        copying = asyncio.create_task(self._copy(f"{self._target}:{place}", str(target), _COPY_S))
        measure = partial(raise_if_too_much, target, f"{what} of {self.name}", most)
        try:
            while not (await asyncio.wait({copying}, timeout=_MEASURE_S))[0]:
                await asyncio.to_thread(measure)
            try:
                await copying
            except HostFailedError:
                # It may have filled the disk since, and ``scp`` does not say so.
                await asyncio.to_thread(measure)
                raise
        finally:
            copying.cancel()
            await asyncio.gather(copying, return_exceptions=True)

    async def close(self) -> None:
        """End the connection."""
        if self._master is not None:
            await self._master.end()
            self._master = None
        if self._socket is not None:
            shutil.rmtree(self._socket.parent, ignore_errors=True)
            self._socket = None

    @property
    def _through(self) -> list[str]:
        return ["-oControlMaster=no", f"-oControlPath={self._socket}"]

    @property
    def _target(self) -> str:
        """The host as ``scp`` takes it: an IPv6 address stands in brackets there."""
        user, at, host = self.name.rpartition("@")
        return f"{user}{at}[{host}]" if ":" in host else self.name

    async def _copy(self, source: str, target: str, within_s: float) -> None:
        await self.connect()
        await self._done(
            ["scp", "-q", "-r", *self._options, *self._through, "--", source, target], b"", within_s
        )

    async def _done(self, command: list[str], told: bytes, within_s: float) -> bytes:
        try:
            done = await run_child(
                *command,
                name=f"{command[0]} {self.name}",
                environment=self._environment,
                text=told,
                within_s=within_s,
            )
        except ChildStartError as error:
            raise HostAwayError(f"{self.name}: {error}") from error
        if done.outcome.succeeded:
            return done.output
        if done.outcome.code is None or done.outcome.code == LOST:
            raise HostAwayError(f"{self.name} does not answer{_reason(done.outcome)}")
        raise HostFailedError(f"{self.name}{_reason(done.outcome) or f': {done.outcome.words}'}")


_ADVICE: Final = {
    "Permission denied": "MOSAIC asks for no password: run ssh-copy-id {name}, or add a key to ssh-agent",
    "Host key verification failed": "Run ssh {name} once by hand, and look at its key",
    "Could not resolve hostname": "Write a name of ~/.ssh/config, an address, or user@address",
}
"""What to do, by what ``ssh`` says."""


def _advice(reason: str, name: str) -> str:
    return next((advice.format(name=name) for said, advice in _ADVICE.items() if said in reason), "")


def _reason(outcome: ChildOutcome) -> str:
    return f": {outcome.last_line.rstrip('.')}" if outcome.last_line else ""
