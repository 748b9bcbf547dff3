"""Connection to a worker on another machine, started there with ``python -m mosaic_worker.remote``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gym_gui.core.errors import UsageError
from gym_gui.processes.outcome import ChildOutcome, ChildStatus
from gym_gui.wire import pb
from gym_gui.workers.connection import WorkerConnection, WorkerEvents
from gym_gui.workers.launch import Launch

_CONNECT_S = 20.0
"""Seconds for connecting, and for each attempt to renew a broken connection."""


@dataclass(frozen=True)
class RemoteAddress:
    """Address of a remote worker, with its token and certificate.

    Attributes:
        address: ``host:port``.
        token: Token that the worker requires from its host.
        tls_root: Certificate with which the worker's certificate is checked; ``None`` for no encryption.
    """

    address: str
    token: str = field(repr=False)
    tls_root: Path | None = None


def remote_address(settings: Mapping[str, Any], secrets: Mapping[str, str]) -> RemoteAddress | None:
    """Return the remote address in a slot's settings ``address``, ``token`` and ``tls_root``.

    Returns:
        The address; ``None`` if the slot is played on this machine.

    Raises:
        UsageError: The address is no ``host:port``, or there is no token.
    """
    address = settings.get("address")
    if address is None:
        return None
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"address {address!r} is no host:port", fix='Write for example "box.lan:7311"')
    token = secrets.get("token", "")
    if not token:
        raise UsageError(
            f"the worker at {address} needs a token", fix='Add to the slot\'s settings: "token": "env:NAME"'
        )
    root = settings.get("tls_root")
    return RemoteAddress(str(address), token, Path(str(root)).expanduser() if root else None)


class RemoteWorker(WorkerConnection):
    """Connection to a remote worker over a gRPC stream. If the stream breaks, the worker counts as lost.

    Args:
        launch: The worker and its agents.
        events: Receives the worker's messages.
        where: Address of the worker.
    """

    def __init__(self, launch: Launch, events: WorkerEvents, where: RemoteAddress) -> None:
        super().__init__(launch, events, where.token)
        self._where = where

    async def _open(self) -> None:
        from gym_gui.wire.grpc_channel import GrpcChannel

        where = self._where
        timeout = min(_CONNECT_S, self.launch.start_timeout_s)
        self._channel = await GrpcChannel.open(
            where.address,
            self._on_message,
            self._on_closed,
            token=where.token,
            tls_root=where.tls_root,
            timeout_s=timeout,
        )

    async def _watch(self) -> None:
        problem = await self._doom
        if self._failed and not problem:
            outcome = ChildOutcome(ChildStatus.EXITED, reason=self._failed)
        elif self._stopping:
            outcome = ChildOutcome(ChildStatus.ENDED if problem else ChildStatus.EXITED, reason=problem)
        else:
            reason = problem or "it closed the connection"
            outcome = ChildOutcome(ChildStatus.LOST, reason=f"{reason} ({self._where.address})")
        self._finish(replace(outcome, asked=self._stopping))

    async def stop(self, grace_s: float = 2.0) -> None:
        """Send a shutdown message and close the stream; the remote process itself continues."""
        self._stopping = True
        if self._end is None or self.outcome is not None:
            self.hang_up()
            return
        self.send(pb.ToWorker(shutdown=pb.Shutdown()))
        await asyncio.wait({self._end}, timeout=grace_s)
        self._end_because("")
        await self._end
