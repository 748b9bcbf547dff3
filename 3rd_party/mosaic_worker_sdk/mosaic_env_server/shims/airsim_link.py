"""Connects to AirSim by AirSim's Python client, with time limits and with errors as sentences.

The client (https://github.com/Cosys-Lab/Cosys-AirSim) uses msgpack-RPC over TCP, by the package
``rpc-msgpack``.
"""

# Values returned by the client are untyped.

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportMissingTypeStubs=false

from __future__ import annotations

import socket
import time
from contextlib import contextmanager, suppress
from typing import Any, Generator, Sequence, Set, Tuple

from mosaic_env_server.shims.simulators import SimulatorError, SimulatorUnreachable

_TICK_MS = 20
_AGAIN_S = 0.2
_known: Set[Tuple[str, int]] = set()
"""Addresses of AirSim engines that have answered before."""
_REMEDY = "Start the engine, or give host and port"


class AirSimLink:
    """A connection to an AirSim engine.

    Args:
        client: Class of the client, for example ``MultirotorClient``.
        host: Host on which the engine runs.
        port: ``ApiServerPort`` of the engine.
        timeout_s: Longest wait for an answer, in seconds.

    Raises:
        SimulatorError: No engine is reachable at the address, or it has another version.
    """

    def __init__(self, client: str, host: str, port: int, timeout_s: float) -> None:
        import cosysairsim
        import msgpackrpc
        from tornado.ioloop import PeriodicCallback

        self.who = f"AirSim at {host}:{port}"
        self._timeout_s, self._until, self._late = timeout_s, float("inf"), False
        self._reach(host, port)
        self._client: Any = getattr(cosysairsim, client)(host, port)
        # The client's session counts time-outs in whole seconds and reconnects by itself, after which a call
        # that waits for an answer on the old connection would wait forever.
        self._client.client = msgpackrpc.Client(_prompt(host, port), timeout=0, reconnect_limit=0)
        self._ticking = PeriodicCallback(self._tick, _TICK_MS)
        self._ticking.start()
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise
        _known.add((host, port))

    def _reach(self, host: str, port: int) -> None:
        began = time.monotonic()
        while True:
            try:
                socket.create_connection((host, port), self._timeout_s).close()
                return
            except (socket.timeout, TimeoutError):
                raise SimulatorUnreachable(
                    f"{self.who} did not answer within {self._timeout_s:g} s. {_REMEDY}"
                ) from None
            except OSError as exc:
                # An engine that answered before may be restarting.
                if (host, port) not in _known or time.monotonic() - began >= self._timeout_s:
                    why = exc.strerror or str(exc)
                    raise SimulatorUnreachable(f"{self.who} cannot be reached: {why}. {_REMEDY}") from None
            time.sleep(_AGAIN_S)

    def _check_version(self) -> None:
        server, asked = self.ask("getServerVersion"), self.ask("getMinRequiredClientVersion")
        needed, own = self._client.getMinRequiredServerVersion(), self._client.getClientVersion()
        if not isinstance(server, int) or not isinstance(asked, int):
            raise SimulatorError(f"{self.who} reports no version: this is not AirSim")
        if server < needed or own < asked:
            raise SimulatorError(
                f"{self.who} has version {server} of the interface and asks for clients of {asked} or newer; "
                f"the client here has version {own} and asks for servers of {needed} or newer. "
                "Start a release of Cosys-AirSim that fits cosysairsim 3.5"
            )

    def ask(self, name: str, *arguments: Any, extra_s: float = 0.0, fields: Sequence[str] = ()) -> Any:
        """Call one of the client's methods.

        Args:
            name: Name of the method.
            arguments: Arguments of the method.
            extra_s: Duration of the call itself in seconds, added to the time limit.
            fields: Fields that the answer must have, because the client fills missing fields with zeros.

        Raises:
            SimulatorError: The engine does not answer, refuses, or sends an invalid answer.
        """
        with self._guarded(name, extra_s):
            answer = getattr(self._client, name)(*arguments)
            for field in fields:
                if field not in vars(answer):
                    raise ValueError(f"{field} is missing")
            return answer

    def finish(self, future: Any, name: str, extra_s: float = 0.0) -> Any:
        """Wait for the result of a method whose name ends in ``Async``; arguments as of :meth:`ask`."""
        with self._guarded(name, extra_s):
            return future.get()

    def check(self, future: Any, name: str) -> None:
        """Raise an error if the engine has refused a call that was started."""
        if future is not None and future.error is not None:
            raise self._refused(name, future.error)

    def close(self) -> None:
        """Close the connection."""
        self._ticking.stop()
        with suppress(Exception):
            self._client.client.close()

    @contextmanager
    def _guarded(self, name: str, extra_s: float) -> Generator[None, None, None]:
        import msgpackrpc

        within_s = self._timeout_s + extra_s
        self._until, self._late = time.monotonic() + within_s, False
        try:
            yield
        except msgpackrpc.error.TransportError:
            if self._late:
                raise SimulatorUnreachable(
                    f"{self.who} did not answer within {within_s:g} s in {name}. {_REMEDY}"
                ) from None
            raise SimulatorUnreachable(
                f"{self.who} broke the connection in {name}, or sent an invalid answer. {_REMEDY}"
            ) from None
        except msgpackrpc.error.RPCError as exc:
            raise self._refused(name, exc) from None
        except (AttributeError, LookupError, TypeError, ValueError) as exc:
            raise SimulatorUnreachable(f"{self.who} sent an invalid answer to {name}: {exc}") from None
        finally:
            self._until = float("inf")

    def _refused(self, name: str, error: Any) -> SimulatorError:
        return SimulatorError(f"{self.who} refused {name}: {error}")

    def _tick(self) -> None:
        """Do nothing; the client calls this periodically while it waits for an answer."""
        if time.monotonic() > self._until:
            from msgpackrpc.error import TransportError

            self._until, self._late = float("inf"), True
            self._client.client.on_connect_failed(TransportError("late"))


def _prompt(host: str, port: int) -> Any:
    """Return an address whose socket sends at once, because some messages of a step are sent without waiting
    for answers.
    """
    from msgpackrpc import Address

    class Prompt(Address):  # pyright: ignore[reportUntypedBaseClass]
        def socket(self, *arguments: Any, **named: Any) -> Any:
            made = super().socket(*arguments, **named)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made

    return Prompt(host, port)
