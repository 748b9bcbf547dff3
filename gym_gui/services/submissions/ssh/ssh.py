"""Access to one host by OpenSSH's programs ``ssh`` and ``scp``, over one open connection."""

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
    HostFailedError,
    HostUnreachableError,
    raise_if_too_much,
)

_CONNECT_S: Final = 20
_ANSWER_S: Final = 60.0
_COPY_S: Final = 3600.0
_MEASURE_S: Final = 0.5
LOST: Final = 255
"""Exit status of ``ssh`` if the connection failed and not the command."""
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
    """A host that runs commands over ssh. :meth:`connect` opens the connection.

    Args:
        name: Name of the host as ``ssh`` takes it.
        config: OpenSSH configuration to use; empty for the user's own.
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
        """Open the connection that later calls share, if it is not open.

        Raises:
            HostAwayError: The host cannot be reached. The message contains the reason that ``ssh`` gives.
            MissingDependencyError: OpenSSH is not installed here.
        """
        if self._master is not None and self._master.running:
            return
        if shutil.which("ssh") is None or shutil.which("scp") is None:
            raise MissingDependencyError("OpenSSH's client", "apt install openssh-client")
        await self.close()
        folder = Store().runtime_dir() / f"ssh-{os.urandom(4).hex()}"
        remove_after(folder)  # registered first, so that a kill during the connection leaves no folder
        folder.mkdir(mode=0o700)
        self._socket = folder / "s"
        # The remote cat ends with its stdin, so the connection ends however this process ends.
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
            raise HostUnreachableError(f"{self.name}: {error}") from error
        assert self._master.stdout is not None
        line = b""
        try:
            async with asyncio.timeout(_CONNECT_S * 2):
                while (line := await self._master.stdout.readline()) not in (b"ready\n", b""):
                    pass  # output of the shell's start files
        except (TimeoutError, ValueError):
            line = b""
        if not line:
            outcome = await self._master.end()
            reason = _reason(outcome)
            raise HostUnreachableError(
                f"{self.name} cannot be reached{reason}", fix=_advice(reason, self.name)
            )

    async def run(self, script: str, *, within_s: float = _ANSWER_S) -> str:
        """Run a script in the host's ``sh`` and return its output.

        Raises:
            HostAwayError: The host cannot be reached or does not answer in time.
            HostFailedError: The script has failed. The message contains its last line.
        """
        return (await self.read(script, within_s=within_s)).decode("utf-8", "replace")

    async def read(self, script: str, *, within_s: float = _ANSWER_S) -> bytes:
        """Run a script like :meth:`run` and return its output as bytes."""
        await self.connect()
        command = ["ssh", *self._options, *self._through, "--", self.name, "exec sh -s"]
        return await self._done(command, script.encode(), within_s)

    async def start(
        self, script: str, listen: Callable[[ManagedChild], Coroutine[Any, Any, None]]
    ) -> ManagedChild:
        """Start a script in the host's ``sh`` that keeps running and communicates through pipes.

        Args:
            script: Script to run. Its last command takes over the pipes (``exec``) and must not get input
                before it has printed something.
            listen: Coroutine that reads the pipes.

        Raises:
            HostAwayError: The host cannot be reached.
        """
        await self.connect()
        command = ["ssh", *self._options, *self._through, "--", self.name, "exec sh -s"]
        name = f"ssh {self.name}"
        try:
            child = await ManagedChild.start(
                *command, name=name, environment=self._environment, listen=listen, stdin=PIPE, stdout=PIPE
            )
        except ChildStartError as error:
            raise HostUnreachableError(f"{self.name}: {error}") from error
        assert child.stdin is not None
        child.stdin.write(script.encode())
        return child

    async def forward(self, here: Path, there: str) -> None:
        """Forward a Unix socket here to a socket on the host, for as long as the connection is open.

        Args:
            here: Path of the socket here, in a private folder.
            there: Path of the socket on the host.

        Raises:
            HostAwayError: The host cannot be reached.
            HostFailedError: The socket cannot be created here.
        """
        await self.connect()
        options = [option for option in self._options if option != _NO_FORWARDING]
        ends = ":".join(path.replace("\\", "\\\\").replace(":", "\\:") for path in (str(here), there))
        command = ["ssh", *options, *self._through, "-O", "forward", "-L", ends, "--", self.name]
        await self._done(command, b"", _ANSWER_S)

    async def send(self, source: Path, place: str) -> None:
        """Copy a folder to a path on the host that does not exist yet. Raises like :meth:`run`."""
        await self._copy(str(source), f"{self._target}:{place}", _COPY_S)

    async def fetch(
        self, place: str, target: Path, *, what: str = "the results", most: int = MOST_BYTES
    ) -> None:
        """Copy a folder from the host to a path that does not exist yet. Raises like :meth:`run`.

        Args:
            place: Path of the folder on the host.
            target: Path here.
            what: Name of the contents for messages.
            most: Largest allowed size in bytes.

        Raises:
            UsageError: The folder is larger than allowed.
            HereError: The copy leaves too little space here.
        """
        copying = asyncio.create_task(self._copy(f"{self._target}:{place}", str(target), _COPY_S))
        measure = partial(raise_if_too_much, target, f"{what} of {self.name}", most)
        try:
            while not (await asyncio.wait({copying}, timeout=_MEASURE_S))[0]:
                await asyncio.to_thread(measure)
            try:
                await copying
            except HostFailedError:
                # The disk may be full by now, which ``scp`` does not report.
                await asyncio.to_thread(measure)
                raise
        finally:
            copying.cancel()
            await asyncio.gather(copying, return_exceptions=True)

    async def close(self) -> None:
        """Close the connection."""
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
        """Return the host's name for ``scp``, which needs brackets around an IPv6 address."""
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
            raise HostUnreachableError(f"{self.name}: {error}") from error
        if done.outcome.succeeded:
            return done.output
        if done.outcome.code is None or done.outcome.code == LOST:
            raise HostUnreachableError(f"{self.name} does not answer{_reason(done.outcome)}")
        raise HostFailedError(f"{self.name}{_reason(done.outcome) or f': {done.outcome.words}'}")


_ADVICE: Final = {
    "Permission denied": "MOSAIC asks for no password: run ssh-copy-id {name}, or add a key to ssh-agent",
    "Host key verification failed": "Run ssh {name} once by hand, and check its key",
    "Could not resolve hostname": "Write a name of ~/.ssh/config, an address, or user@address",
}
"""Advice for the user by the error message of ``ssh``."""


def _advice(reason: str, name: str) -> str:
    return next((advice.format(name=name) for said, advice in _ADVICE.items() if said in reason), "")


def _reason(outcome: ChildOutcome) -> str:
    return f": {outcome.last_line.rstrip('.')}" if outcome.last_line else ""
