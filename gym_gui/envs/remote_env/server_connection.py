"""Client's end of the connection to one environment server.

Code that steps environments waits for them, as it would in its own process. To make up for the delay of the
connection, requests for many instances are sent together (:meth:`Connection.order`), and the server executes
them while the reports are read one by one (:meth:`Connection.report`).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Protocol

import numpy as np
from google.protobuf.message import DecodeError

from gym_gui.core.errors import EnvironmentLostError
from gym_gui.version import __version__
from mosaic_env_server.frames import FrameMemory
from mosaic_worker.link import PROTOCOL
from mosaic_worker.pb import environment_pb2 as pb

_TOGETHER = 16
"""Number of requests that are sent without waiting for a report, so that the server can begin."""
_SEND_S = 30.0
_GONE = "closed its connection"


class PlayerLink(Protocol):
    """Link that transports messages to and from an environment server, with a time limit for receiving.

    Attributes:
        until: Time (of ``time.monotonic``) after which a waiting call raises ``TimeoutError``.
    """

    until: float

    def receive(self) -> pb.FromEnvironment | None:
        """Return the server's next message; ``None`` if the server has ended."""
        ...

    def send(self, message: pb.ToEnvironment) -> None:
        """Send a message to the server."""
        ...

    def close(self) -> None:
        """Close both directions of the link."""
        ...


class PendingRequest:
    """Handle of a request that was sent to an environment server.

    Attributes:
        report: The server's report on the request; ``None`` until the report has arrived.
    """

    __slots__ = ("report",)

    def __init__(self) -> None:
        self.report: pb.Report | None = None


class Connection:
    """Connection to one environment server, which sends requests and receives reports.

    Args:
        link: Link to the server.
        memory: Memory for pictures that a server on the same machine shares, or ``None``.

    Attributes:
        lost: Why the connection is unusable; ``""`` while it works.
        gone: Whether the server closed the connection; then its exit status is more informative.
    """

    def __init__(self, link: PlayerLink, memory: FrameMemory | None = None) -> None:
        self._link, self._memory = link, memory
        self._orders: list[pb.Order] = []
        self._open: deque[PendingRequest] = deque()
        self._lock = threading.RLock()
        self.lost, self.gone = "", False

    def greet(self, token: str = "", within_s: float = 60.0) -> pb.EnvironmentWelcome:
        """Exchange greetings with the server and return the server's welcome.

        Raises:
            EnvironmentLostError: The server does not answer, or has ended.
            ValueError: The server uses another protocol version.
        """
        with self._lock:
            player = f"mosaic/{__version__}"
            hello = pb.EnvironmentHello(protocol=PROTOCOL, player=player, token=token)
            self._exchange(pb.ToEnvironment(hello=hello), within_s, "its start")
            while True:
                message = self._receive(within_s, "its start")
                if message.HasField("welcome"):
                    break
            if message.welcome.protocol != PROTOCOL:
                self.lost = f"speaks protocol {message.welcome.protocol}, this program {PROTOCOL}"
                raise ValueError(self.lost)
            return message.welcome

    def order(self, order: pb.Order) -> PendingRequest:
        """Queue a request and return its ticket, with which :meth:`report` returns the server's report."""
        with self._lock:
            ticket = PendingRequest()
            self._orders.append(order)
            self._open.append(ticket)
            if len(self._orders) >= _TOGETHER:
                self.flush()
            return ticket

    def flush(self) -> None:
        """Send the queued requests.

        Raises:
            EnvironmentLostError: The server has ended.
        """
        with self._lock:
            self._flush(_SEND_S, "an order")

    def report(self, ticket: PendingRequest, within_s: float, doing: str) -> pb.Report:
        """Wait for the server's report on a request and return it.

        Args:
            ticket: Ticket of the request.
            within_s: Longest wait in seconds.
            doing: Description of the request, for error messages.

        Raises:
            EnvironmentLostError: The server has ended, or has not answered in time.
        """
        with self._lock:
            self._flush(within_s, doing)
            while ticket.report is None:
                message = self._receive(within_s, doing)
                for report in message.reports:
                    self._open.popleft().report = report
            return ticket.report

    def picture(self, frame: pb.Frame) -> Any:
        """Return a report's picture; text if the environment renders text; ``None`` for neither.

        Raises:
            EnvironmentLostError: The picture cannot be read.
        """
        if not frame.shape:
            return frame.text or None
        try:
            if frame.shared and self._memory is not None:
                return self._memory.get(tuple(frame.shape), frame.shared)
            return _array(frame)
        except (ValueError, OSError) as exc:
            raise self._break(f"sent a picture that cannot be read: {exc}") from exc

    def close(self) -> None:
        """Close the connection and tell the server to shut down."""
        with self._lock:
            if not self.lost:
                self.lost = "was closed"
                try:
                    self._set_deadline(1.0)
                    self._link.send(pb.ToEnvironment(shutdown=True))
                except OSError:
                    pass
            self._link.close()

    # -- internal

    def _flush(self, within_s: float, doing: str) -> None:
        if self._orders:
            orders, self._orders = self._orders, []
            self._exchange(pb.ToEnvironment(orders=orders), within_s, doing)

    def _exchange(self, message: pb.ToEnvironment, within_s: float, doing: str) -> None:
        self._check()
        self._set_deadline(within_s)
        try:
            self._link.send(message)
        except TimeoutError:
            raise self._break(f"did not answer for {within_s:g} s in {doing}") from None
        except OSError:
            raise self._break(_GONE) from None

    def _receive(self, within_s: float, doing: str) -> pb.FromEnvironment:
        self._check()
        self._set_deadline(within_s)
        try:
            message = self._link.receive()
        except TimeoutError:
            raise self._break(f"did not answer for {within_s:g} s in {doing}") from None
        except OSError as exc:
            raise self._break(_GONE if exc.errno else str(exc)) from None
        except (ValueError, DecodeError):
            raise self._break("sent an invalid message: this is no environment server") from None
        if message is None:
            raise self._break(_GONE)
        if message.failed:
            raise self._break(message.failed)
        if len(message.reports) > len(self._open):
            raise self._break("reported more results than were requested")
        return message

    def _set_deadline(self, within_s: float) -> None:
        self._link.until = time.monotonic() + within_s

    def _check(self) -> None:
        if self.lost:
            raise EnvironmentLostError(self.lost)

    def _break(self, reason: str) -> EnvironmentLostError:
        self.lost = self.lost or reason
        self.gone = self.lost == _GONE
        self._link.close()
        return EnvironmentLostError(self.lost)


def _array(frame: pb.Frame) -> Any:
    return np.frombuffer(bytearray(frame.data), np.uint8).reshape(tuple(frame.shape))
