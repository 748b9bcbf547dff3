"""Runs the XMPP server of a session's programs: ``python -m spade_bdi_worker.xmpp_server``.

The server is pyjabber, as SPADE embeds it, on the loopback interface only. One worker of the session starts
it. It reads one JSON line from stdin, ``{"secret", "port", "parent"}`` (port 0 for any free port), and prints
one: ``{"port": 43223}``, ``{"problem": "a sentence"}``, or ``{"other": true}`` if the session already has a
server. It ends when stdin ends.

A program that knows the secret connects to an abstract Unix socket, which accepts only processes of the same
user. The server answers ``{"secret", "join": "agent_0"}`` with ``{"user", "password", "port"}``, created for
this program, and each later line with ``{"joined": ["agent_0"]}``, the list of all connected programs. A
program leaves by closing the connection. There is no other way to get an account: in-band registration is
refused.
"""

# pyjabber has no types and is not installed where MOSAIC's types are checked.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import hmac
import json
import os
import secrets
import shutil
import socket
import ssl
import struct
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mosaic_worker.launch import die_with_parent

LOOPBACK = "127.0.0.1"
DOMAIN = "localhost"
_FOR_EVER_S = 10**7
"""Seconds of silence after which pyjabber closes a stream; a session may be paused for days."""
_CREDENTIALS = struct.Struct("3i")


def meeting_place(secret: str) -> str:
    """Return the address of a session's abstract Unix socket, which has no file."""
    return f"\0mosaic-xmpp-{hashlib.sha256(secret.encode()).hexdigest()[:32]}"


def same_user(connection: socket.socket) -> bool:
    """Return whether the process at the other end of a Unix socket runs as the same user."""
    given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(given)[1] == os.getuid()


def user_of(agent: str) -> str:
    """Return an agent's name as an XMPP user: lower-case letters, digits and ``_``; others in hex."""
    plain = agent.isascii() and agent == agent.lower() and agent.replace("_", "").isalnum()
    return agent if plain and not agent.startswith("hex") else f"hex-{agent.encode().hex()}"


def agent_of(user: str) -> str:
    """Return the agent's name for a user that :func:`user_of` returned.

    Raises:
        ValueError: No agent's name gives this user.
    """
    return bytes.fromhex(user[4:]).decode() if user.startswith("hex-") else user


class _Accounts:
    """Accounts of the server; each is made for a program that joins, with its own password."""

    def __init__(self, secret: str, port: int) -> None:
        self._secret, self._port = secret, port
        self._joined: dict[str, str] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        agent = password = ""
        try:
            if not same_user(writer.get_extra_info("socket")):
                return
            asked = json.loads(await reader.readline())
            if not hmac.compare_digest(str(asked["secret"]), self._secret):
                return
            agent, password = str(asked["join"]), secrets.token_urlsafe(24)
            await _open_account(user_of(agent), password)
            self._joined[agent] = password
            reply: dict[str, Any] = {"user": user_of(agent), "password": password, "port": self._port}
            while True:
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
                if not await reader.readline():
                    return
                reply = {"joined": sorted(self._joined)}
        except (OSError, ValueError, KeyError):
            return
        finally:
            if self._joined.get(agent) == password:
                self._joined.pop(agent, None)
            writer.close()


async def _open_account(user: str, password: str) -> None:
    """Make an account for ``user``, in memory; a password of an earlier account becomes invalid."""
    from pyjabber.db.database import DB
    from pyjabber.db.model import Model
    from sqlalchemy import delete, insert

    # A random password needs no slow hash; the entry tells pyjabber the number of hash iterations.
    salt = secrets.token_bytes(16)
    hashed = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1)
    accounts = Model.Credentials
    async with await DB.connection_async() as connection:
        await connection.execute(delete(accounts).where(accounts.c.jid == user))
        entry = {"jid": user, "hash_pwd": f"sha256$1${salt.hex()}${hashed.hex()}"}
        await connection.execute(insert(accounts).values(entry))


async def _refuse_registration(sasl: Any, _element: Any) -> None:
    """Refuse registration, in place of pyjabber's own function, which opens an account for any client."""
    from pyjabber.stanzas.error import StanzaError

    sasl._transport.write(StanzaError.not_authorized_sasl())
    sasl._connection_manager.close(sasl._peer)


def _make_server(port: int, folder: Path) -> Any:
    """Make pyjabber's server, which only this machine can reach.

    Args:
        port: Port for clients; 0 for any.
        folder: Folder for the server's certificate, which is read once.
    """
    import attrs
    import pyjabber.network
    from pyjabber import AppConfig, server
    from pyjabber.features.SASL.SASL import SASL
    from pyjabber.server_parameters import Parameters

    for name in ("ca_key.pem", "ca_cert.pem"):
        shutil.copy(Path(pyjabber.network.__file__).parent / "certs" / name, folder)
    # By default it would also listen on the machine's public address.
    server.setup_query_local_ip = lambda: None
    SASL.handle_iq = _refuse_registration
    plugins = [name for name in Parameters().plugins if name != "jabber:iq:register"]
    made = server.Server(
        Parameters(
            host=DOMAIN,
            client_port=port,
            server_port=0,
            database_in_memory=True,
            connection_timeout=_FOR_EVER_S,
            cert_path=str(folder),
            plugins=plugins,
        )
    )
    made._http_server = None  # a server for uploads, on all interfaces
    # In TLS 1.3 a client's first data may arrive with the end of its handshake, to which pyjabber never
    # answers. In 1.2 the server ends the handshake.
    AppConfig.app_config.ssl_context.maximum_version = ssl.TLSVersion.TLSv1_2
    # Processes of a pool would outlive a killed server.
    AppConfig.app_config = attrs.evolve(AppConfig.app_config, process_pool_exe=ThreadPoolExecutor(1))
    return made


async def _serve(asked: dict[str, Any], office: socket.socket, folder: Path) -> None:
    server = _make_server(asked["port"], folder)
    running = asyncio.create_task(server.start())
    ready = asyncio.create_task(server.ready.wait())
    await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
    if not ready.done():
        raise RuntimeError("the server ended before it listened")
    server._server_listener.close()  # a listener for servers on other machines
    shutil.rmtree(folder, ignore_errors=True)
    (listening,) = server._client_listener.sockets
    host, port = listening.getsockname()
    if host != LOOPBACK:
        raise RuntimeError(f"the server listens at {host}")
    accounts = _Accounts(asked["secret"], port)
    await asyncio.start_unix_server(accounts.serve, sock=office)
    # The server ends with the worker that started it, in any case.
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), os._exit, 0)
    _tell(port=port)
    await running


def _problem_with(port: int) -> str:
    """Return why the server cannot listen on a port; pyjabber would end without a message."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen()
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            what = "is taken by another program" if taken else f"cannot be used ({error.strerror})"
            return f"port {port} of {LOOPBACK} {what}: set another xmpp_port, or 0 for any free port"
    return ""


def _tell(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the server until the worker that started it ends."""
    asked: dict[str, Any] = json.loads(sys.stdin.readline())
    die_with_parent(asked["parent"])
    office = socket.socket(socket.AF_UNIX)
    try:
        office.bind(meeting_place(asked["secret"]))
    except OSError:
        _tell(other=True)
        return
    if problem := _problem_with(asked["port"]):
        _tell(problem=problem)
        return
    office.listen(128)  # connections of workers wait until the server runs
    # pyjabber leaves folders among the temporary files.
    folder = Path(tempfile.mkdtemp(prefix="mosaic-xmpp-"))
    tempfile.tempdir = str(folder)
    said: list[str] = []
    try:
        from loguru import logger

        logger.remove()
        logger.add(said.append, level="ERROR", format="{message}")
        asyncio.run(_serve(asked, office, folder))
    except (Exception, SystemExit) as error:
        why = said[-1] if said else str(error) or type(error).__name__
        with contextlib.suppress(OSError):  # after the server has begun, no process reads this output
            _tell(problem=f"the XMPP server cannot be started: {' '.join(why.split())}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


if __name__ == "__main__":
    main()
