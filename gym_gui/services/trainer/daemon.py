"""The trainer daemon: serves the runs of one data folder until a signal ends it or it has been idle.

Trainings outlive the daemon, because they are separate processes. The folder's next daemon follows them
again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import signal
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from gym_gui.core.errors import UsageError
from gym_gui.services.rpc.serving import RpcServer
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import NOTIFY, DaemonLock, log_file
from gym_gui.services.trainer.pb import trainer_pb2_grpc
from gym_gui.services.trainer.queue import CAPACITY
from gym_gui.services.trainer.trainer import Trainer
from gym_gui.services.trainer.trainer_servicer import TrainerServicer
from gym_gui.services.trainer.training_records import Health
from gym_gui.services.trainer.usage import available_mb
from gym_gui.version import __version__

_log = logging.getLogger(__name__)

IDLE_S = 600.0
_CHECK_S = 1.0
_GRACE_S = 1.0


@dataclass(frozen=True)
class DaemonSettings:
    """Settings of a daemon.

    Attributes:
        idle_s: Seconds without runs and clients after which the daemon ends; 0 for never.
        capacity: Largest number of runs that may wait.
        tcp: ``host:port`` to listen on besides the socket; needs ``cert`` and ``key``.
        cert: PEM file of the certificate with its chain.
        key: PEM file of the certificate's key.
    """

    idle_s: float = IDLE_S
    capacity: int = CAPACITY
    tcp: str = ""
    cert: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.idle_s < math.inf:
            raise UsageError(
                f"the daemon cannot be idle for {self.idle_s} s",
                fix="Give at least 0; with 0, it never ends by itself",
            )
        if self.capacity < 1:
            raise UsageError(f"the queue's capacity is {self.capacity}, but must be at least 1")

    def credentials(self) -> grpc.ServerCredentials | None:
        """Return the TLS credentials for TCP; ``None`` if the daemon listens only on its socket.

        Raises:
            UsageError: TCP needs a certificate and none is given, or the certificate cannot be used.
        """
        if not self.tcp:
            return None
        if self.cert is None or self.key is None:
            raise UsageError(
                "the trainer daemon serves TCP only with TLS",
                fix="Give a certificate and its key: --cert FILE --key FILE",
            )
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.cert, self.key)
            return grpc.ssl_server_credentials([(self.key.read_bytes(), self.cert.read_bytes())])
        except (OSError, ssl.SSLError) as error:
            raise UsageError(
                f"certificate {self.cert} with key {self.key} cannot be used: {error}",
                fix="Give the PEM files of a certificate and of its key",
            ) from error


async def serve(store: Store, settings: DaemonSettings) -> None:
    """Serve a data folder until SIGTERM or SIGINT arrives or the daemon has been idle.

    Raises:
        DaemonHeldError: Another daemon serves the folder.
        UsageError: The settings or folders cannot be used. The message says what to change.
    """
    told = os.environ.pop(NOTIFY, "")
    if told:
        os.set_inheritable(int(told), False)  # trainings must not inherit it
    credentials = settings.credentials()
    place = DaemonLock(store)
    try:
        trainer = Trainer(store, capacity=settings.capacity)
        try:
            await trainer.start()
            await _Daemon(store, settings, place, trainer, int(told) if told else None).run(credentials)
        finally:
            await trainer.close()
    finally:
        place.release()


class _Daemon:
    def __init__(
        self, store: Store, settings: DaemonSettings, place: DaemonLock, trainer: Trainer, told: int | None
    ) -> None:
        self._ready_fd = told
        self._store, self._settings, self._place, self._trainer = store, settings, place, trainer
        self._began = time.monotonic()
        self._done = asyncio.Event()
        servicer = TrainerServicer(trainer, self._health)
        generated: Any = trainer_pb2_grpc
        register = generated.add_TrainerServiceServicer_to_server
        self._server = RpcServer(place.token, lambda server: register(servicer, server))

    async def run(self, credentials: grpc.ServerCredentials | None) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._done.set)
        server = self._server
        server.listen(self._place.socket)
        tcp = "" if credentials is None else server.listen_tcp(self._settings.tcp, credentials)
        try:
            await server.start()
            self._place.announce(__version__, tcp)
            _log.info("serving %s%s", self._store.data, f", and on {tcp}" if tcp else "")
            self._notify()
            await self._until_done()
        finally:
            await server.stop(_GRACE_S)
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def _notify(self) -> None:
        if self._ready_fd is not None:
            with contextlib.suppress(OSError):
                os.write(self._ready_fd, b"ready\n")
            with contextlib.suppress(OSError):
                os.close(self._ready_fd)

    async def _until_done(self) -> None:
        idle_since = time.monotonic()
        while not self._done.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._done.wait(), _CHECK_S)
            if self._place.lost:
                _log.warning("the data folder %s is gone; this daemon ends", self._store.data)
                return
            if self._trainer.busy or self._server.calls:
                idle_since = time.monotonic()
            idle = time.monotonic() - max(idle_since, self._server.called_at)
            if self._settings.idle_s and idle >= self._settings.idle_s:
                _log.info("no runs and no clients for %.0f s; this daemon ends", idle)
                return

    def _health(self) -> Health:
        machine = self._trainer.queue.machine
        return Health(
            __version__,
            os.getpid(),
            round(time.monotonic() - self._began, 1),
            len(machine.cores),
            machine.memory_mb,
            int(available_mb()),
            machine.gpus,
            self._trainer.queue.running,
            len(self._trainer.queue),
            self._trainer.queue.capacity,
            self._store.data,
            log_file(self._store),
        )
