"""Carries a program's messages over XMPP, through a server that only this session's agents can reach.

The session records an agent's messages and announces them to the teammates, whatever the transport. An agent
processes an announced message once it has arrived over XMPP, in the order of the record. Therefore the speed
of a message does not change which messages an agent gets at which step.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from spade_bdi_worker.literals import addressed
from spade_bdi_worker.xmpp_server import DOMAIN, LOOPBACK, agent_of, meeting_place, same_user, user_of

if TYPE_CHECKING:
    from spade_bdi_worker.xmpp_client import XmppClient

START_S = 300.0
"""Largest time in seconds for the server's start, and again for logging in; both are slow on a busy
machine.
"""
_LOOK_S = 0.05
_ANSWER_S = 10.0
_GONE = "the XMPP server has ended"
_LONGEST_LINE = 1_000_000
_NEEDS = ("slixmpp", "pyjabber", "greenlet")


class XmppError(Exception):
    """A message cannot be delivered; the text is a sentence for the user."""


class _Letter(NamedTuple):
    episode: str
    sender: str
    force: str
    content: str
    step: str


def why_not() -> str:
    """Return why XMPP cannot be used on this machine; empty if it can."""
    if sys.platform != "linux":
        return "needs Linux, because agents connect through its abstract sockets"
    lacking = [name for name in _NEEDS if find_spec(name) is None]
    if not lacking:
        return ""
    return f"needs {' and '.join(lacking)}, which are not installed: use spade_worker, which has them"


class Mailbox:
    """Connection of an agent to its session's XMPP server.

    Args:
        agent: Name of the agent.
        secret: Secret that the agents of a session share.
        port: Port of the server that is started if there is none; 0 for any.

    Raises:
        XmppError: The server cannot be started, or rejects the agent.
    """

    def __init__(self, agent: str, secret: str, port: int = 0) -> None:
        self.agent = agent
        self._letters: list[_Letter] = []
        self._news = threading.Condition()
        self._office, given = _join(agent, secret, port, time.monotonic() + START_S)
        if port not in (0, given["port"]):
            self._office.close()
            raise XmppError(
                f"xmpp_port is {port}, but another agent of the session has the server at {given['port']}: "
                "set the same port for all of them"
            )
        self._postman = _log_in(given, self._put)

    def _put(self, user: str, content: str, told: Mapping[str, str]) -> None:
        with contextlib.suppress(ValueError):
            letter = _Letter(told["episode"], agent_of(user), told["ilf_type"], content, told["step"])
            with self._news:
                self._letters.append(letter)
                self._news.notify_all()

    @property
    def lost(self) -> bool:
        """Whether the server ended or closed the connection."""
        if self._postman.lost or self._office.fileno() < 0:
            return True
        readable, _, _ = select.select([self._office], [], [], 0)
        return bool(readable) and not self._office.recv(1, socket.MSG_PEEK)

    def joined(self) -> Sequence[str]:
        """Return the names of all agents that have a mailbox now.

        Raises:
            OSError: The server ended, or does not answer.
        """
        self._office.sendall(b"{}\n")
        return _line(self._office)["joined"]

    def send(self, words: str, team_mates: Sequence[str], episode: int, step: int) -> None:
        """Send a program's messages to the team-mates that have a mailbox.

        Args:
            words: Lines as :func:`~spade_bdi_worker.literals.addressed` reads them.
            team_mates: Names of the team-mates, without the agent itself.
            episode: Number of the episode.
            step: Step of the episode.

        Raises:
            XmppError: The server has ended.
        """
        messages = [sent for line in words.splitlines() if (sent := addressed(line))]
        if not messages:
            return
        try:
            there = [name for name in self.joined() if name in team_mates]
        except OSError:
            raise XmppError(f"{messages[0].content} cannot be sent: {_GONE}") from None
        if self._postman.lost:
            raise XmppError(f"{messages[0].content} cannot be sent: {_GONE}")
        for sent in messages:
            told = {"ilf_type": sent.written, "episode": str(episode), "step": str(step)}
            for name in there:
                if sent.to in (None, name):
                    address = f"{user_of(name)}@{DOMAIN}"
                    _loop().call_soon_threadsafe(self._postman.send_text, address, sent.content, told)

    def receive(self, announced: Sequence[str], episode: int, seconds: float) -> list[str]:
        """Wait for the announced messages of team-mates that have a mailbox.

        Args:
            announced: Senders with their messages: ``"agent_0: .send(agent_1, tell, may_open(blue))"``.
            episode: Number of the episode.
            seconds: Longest time to wait.

        Returns:
            Messages that arrived, with the step at which each was sent; other team-mates' are not waited for.

        Raises:
            XmppError: A message did not arrive.
        """
        came: list[str] = []
        until = time.monotonic() + seconds
        for words in announced:
            sender, _, lines = words.partition(": ")
            for line in lines.splitlines():
                sent = addressed(line)
                if sent is None or sent.to not in (None, self.agent):
                    continue
                letter = self._wait(_Letter(str(episode), sender, sent.written, sent.content, ""), until)
                if letter is not None:
                    came.append(f"{sender}: {sent.written} {sent.content}, sent at step {letter.step}")
        return came

    def _wait(self, wanted: _Letter, until: float) -> _Letter | None:
        """Wait for a message and return it; ``None`` if its sender has no mailbox."""
        found = self._take(wanted, 0)
        if found is not None:
            return found
        what = f"{wanted.content} of {wanted.sender} has not arrived over XMPP"
        try:
            if wanted.sender not in self.joined():
                return None
        except OSError:
            raise XmppError(f"{what}: {_GONE}") from None
        while time.monotonic() < until:
            found = self._take(wanted, _LOOK_S)
            if found is not None:
                return found
            if self.lost:
                raise XmppError(f"{what}: {_GONE}")
        raise XmppError(f"{what} in time")

    def _take(self, wanted: _Letter, seconds: float) -> _Letter | None:
        with self._news:
            there = self._find(wanted)
            if there is None and self._news.wait(seconds):
                there = self._find(wanted)
            if there is not None:
                self._letters.remove(there)
            return there

    def _find(self, wanted: _Letter) -> _Letter | None:
        return next((each for each in self._letters if each._replace(step=wanted.step) == wanted), None)

    def forget(self, episode: int) -> None:
        """Discard the messages of a finished episode that were not received."""
        with self._news:
            self._letters = [each for each in self._letters if each.episode != str(episode)]

    def close(self) -> None:
        """Leave the XMPP server."""
        self._office.close()
        _loop().call_soon_threadsafe(self._postman.close_connection)


def _join(agent: str, secret: str, port: int, until: float) -> tuple[socket.socket, dict[str, Any]]:
    """Connect to the session's server; start one if there is none."""
    while time.monotonic() < until:
        office = socket.socket(socket.AF_UNIX)
        office.settimeout(max(until - time.monotonic(), 1))
        try:
            office.connect(meeting_place(secret))
            if not same_user(office):
                raise XmppError("a program of another user has the socket of the session's agents")
            office.sendall(json.dumps({"secret": secret, "join": agent}).encode() + b"\n")
            given = _line(office)
            office.settimeout(_ANSWER_S)
            return office, given
        except (OSError, ValueError):
            office.close()
            _start_server(secret, port, until)
    raise XmppError(f"the XMPP server did not answer within {START_S:g} s")


def _start_server(secret: str, port: int, until: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "spade_bdi_worker.xmpp_server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"secret": secret, "port": port, "parent": os.getpid()}).encode() + b"\n")
    process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], max(until - time.monotonic(), 0))
    line = process.stdout.readline() if ready else b""
    process.stdout.close()
    told = json.loads(line) if line else {"problem": "the XMPP server ended, or was not ready in time"}
    if "port" in told:
        _servers.append(process)
        return
    process.kill()
    process.wait()
    process.stdin.close()
    if "problem" in told:
        raise XmppError(str(told["problem"]))
    time.sleep(_LOOK_S)  # another agent's server is about to listen or to end


_servers: list[subprocess.Popen[bytes]] = []
"""Servers that this process started."""


def end_servers() -> None:
    """End the server, if this process started it."""
    while _servers:
        process = _servers.pop()
        process.kill()
        process.wait()
        if process.stdin:
            process.stdin.close()


def _line(office: socket.socket) -> dict[str, Any]:
    """Read one answer of the server.

    Raises:
        OSError: The server closed the connection.
        ValueError: The answer is no JSON.
    """
    got = b""
    while not got.endswith(b"\n"):
        more = office.recv(65_536)
        if not more or len(got) > _LONGEST_LINE:
            raise ConnectionError("the XMPP server has closed the connection")
        got += more
    return json.loads(got)


def _log_in(given: Mapping[str, Any], on_message: Any) -> XmppClient:
    from spade_bdi_worker.xmpp_client import XmppClient

    async def log_in() -> XmppClient:
        address = f"{given['user']}@{DOMAIN}"
        postman = XmppClient(address, given["password"], on_message)
        await asyncio.wait_for(postman.join(LOOPBACK, given["port"]), START_S)
        return postman

    try:
        return _call(log_in())
    except Exception as error:  # third-party code of slixmpp
        why = str(error) or type(error).__name__
        raise XmppError(f"the XMPP server at {LOOPBACK}:{given['port']} rejects the agent: {why}") from None


def _call(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the event loop in which all XMPP clients of this process run."""
    loop = asyncio.new_event_loop()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()

    threading.Thread(target=run, name="xmpp", daemon=True).start()
    return loop


def new_secret() -> str:
    """Return a secret for an agent whose session provided none; such an agent gets its own server."""
    return secrets.token_urlsafe(24)
