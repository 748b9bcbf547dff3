"""``mosaic session-host``: runs a session host for a client on another machine, which connects through ssh.

The command runs as long as the client keeps its stdin open and sends a line every few seconds. When either
stops, for whatever reason, the command ends together with the host, its workers and all processes that they
started.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.record_fields import mapping
from gym_gui.core.trusted.trust import VARIABLE
from gym_gui.host.host_program import ALIVE_EVERY_S, ENDED, GREETING, LISTENING, HostProgram
from gym_gui.host.socket_folder import SocketFolder
from gym_gui.processes.outcome import ChildOutcome
from gym_gui.processes.reaper import guard, remove_after
from gym_gui.services.store import Store
from gym_gui.version import __version__

SILENCE_S: Final = 6 * ALIVE_EVERY_S
"""Seconds of silence after which a client counts as lost, even if the connection seems to exist."""
_FAREWELL_S: Final = 5.0


class _Relay:
    """Forwards the output of a session host to its client on another machine."""

    def on_begun(self, index: int) -> None:
        """Forward the index of an episode that is about to begin."""
        write_line(b"%d" % index)

    def on_output(self, line: str) -> None:
        """Forward a printed line."""
        with suppress(OSError):
            os.write(2, line.encode() + b"\n")


def write_line(line: bytes) -> None:
    """Write a line to the client on stdout; a closed connection is ignored."""
    with suppress(OSError):
        os.write(1, line + b"\n")


def run_host() -> int:
    """Run one session host until its client leaves, and return the exit status of the command."""
    guard()
    for said in (1, 2):
        os.set_blocking(said, False)  # rather lose a line than wait for a reader that has gone
    store = Store()
    folders = [SocketFolder(store.runtime_dir()), SocketFolder(store.cache_dir("sent"))]
    for folder in folders:
        remove_after(folder.path)
    try:
        return asyncio.run(_keep(*(folder.path for folder in folders)))
    finally:
        for folder in folders:
            folder.remove()


async def _keep(socket_folder: Path, files: Path) -> int:
    program = await HostProgram.start("the session process")
    outcome: ChildOutcome | None = None
    try:
        socket = socket_folder / "h"
        from gym_gui.services.versions import machine  # imported while the host does its own imports

        about = {"version": __version__, "socket": str(socket), "files": str(files), "machine": machine()}
        write_line(GREETING + b" " + json.dumps(about).encode())
        said = await _stdin()
        line = await _next_line(said)
        if line:
            program.set_listener(_Relay())
            orders = _orders(line)
            program.send_configuration(
                socket, orders["token"], orders["operator"], _environment(orders), _keys()
            )
            await _until_over(program, said)
    finally:
        outcome = program.judge(await program.child.end(_FAREWELL_S))
        write_line(ENDED + b" " + json.dumps({"code": outcome.code, "signal": outcome.signal}).encode())
    return 0


def _orders(line: bytes) -> dict[str, Any]:
    try:
        found = mapping(json.loads(line)) or {}
    except ValueError:
        found = {}
    if set(found) != {"token", "operator", "allowed", "workers"}:
        raise UsageError(
            "stdin has no request for a session host",
            fix="Choose the host in the window, which runs this by ssh",
        )
    return found


def _environment(orders: Mapping[str, Any]) -> dict[str, str]:
    from gym_gui.workers.discovery import find_workers
    from gym_gui.workers.environment_variables import engine_environment

    find_workers(orders["workers"])  # the host also gets the variables that their manifests name
    return {**engine_environment(), VARIABLE: str(orders["allowed"])}


def _keys() -> dict[str, str]:
    """Return the environment variables that child processes do not inherit by default, such as API keys."""
    ours = inherited()
    return {name: value for name, value in os.environ.items() if name not in ours}


async def _stdin() -> asyncio.StreamReader:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    return reader


async def until_silent(said: asyncio.StreamReader, silence_s: float = SILENCE_S) -> None:
    """Wait until the client closes the connection or sends nothing for ``silence_s`` seconds."""
    while await _next_line(said, silence_s):
        pass


async def _next_line(said: asyncio.StreamReader, silence_s: float = SILENCE_S) -> bytes:
    """Return the client's next line; ``b""`` if the client has left."""
    try:
        async with asyncio.timeout(silence_s):
            return await said.readline()
    except (TimeoutError, ValueError, OSError):
        return b""


async def _until_over(program: HostProgram, said: asyncio.StreamReader) -> None:
    """Wait until the host has ended or its client has left."""

    async def tell_listening() -> None:
        await program.listening.wait()
        write_line(LISTENING)

    create_task = asyncio.get_running_loop().create_task
    gone, telling = create_task(until_silent(said)), create_task(tell_listening())
    try:
        await asyncio.wait({gone, program.child.exited}, return_when=asyncio.FIRST_COMPLETED)
        if program.child.running:
            # The client's call breaks off, too, so that the host may end by itself in a moment.
            await asyncio.wait({program.child.exited}, timeout=_FAREWELL_S)
    finally:
        for task in (gone, telling):
            task.cancel()
        await asyncio.gather(gone, telling, return_exceptions=True)
