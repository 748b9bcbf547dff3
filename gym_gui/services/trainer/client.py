"""The trainer daemon, asked from a window or a program."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import orjson

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.rpc.address import Address as RpcAddress
from gym_gui.services.rpc.address import TlsAddress, UnixAddress
from gym_gui.services.rpc.calling import Connection, Requests
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.messages import (
    PROTOCOL,
    health_of,
    record_of,
    submit_message,
)
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.pb.trainer_pb2_grpc import TrainerServiceStub
from gym_gui.services.trainer.records import (
    DEFAULT_LIMITS,
    EpisodeRow,
    Health,
    MetricRow,
    RunLimits,
    TrainingRecord,
)
from gym_gui.services.trainer.starting import require_daemon, start_daemon
from gym_gui.services.worker_orchestrator import UnifiedRunConfig

_log = logging.getLogger(__name__)

CREDITS = 4
"""Batches that the daemon may send ahead of what was taken in."""
_HELLO_S = 20.0
_HANG_S = 10.0
"""A daemon that hangs is noticed, as one that ends is."""

_Row = TypeVar("_Row", MetricRow, EpisodeRow)


class DaemonLostError(MosaicError):
    """The daemon has ended, or cannot be reached any more; trainings go on without it."""


class TrainerClient:
    """A connection to the daemon; made by :meth:`connect`. Use it from one event loop.

    Every method raises :class:`UsageError` for what a person can change, :class:`DaemonLostError`
    where the daemon has gone, another :class:`MosaicError` for what went wrong there.
    """

    def __init__(self, address: RpcAddress, token: str, name: str) -> None:
        self._lost = partial(_lost, name)
        self._connection = Connection(address, token, f"trainer daemon ({name})", self._lost, hang_s=_HANG_S)
        self._stub: Any = TrainerServiceStub(self._connection.channel)

    @classmethod
    async def connect(cls, store: Store, *, start: bool = True) -> TrainerClient:
        """Connect to the daemon of a data folder.

        Args:
            store: Where things live.
            start: Start one where there is none.

        Raises:
            UsageError: There is none, or it is of another version; says what to do.
            WorkerLaunchError: It could not be started.
        """
        address = await asyncio.to_thread(find, store)
        if address is None:
            address = await start_daemon(store) if start else require_daemon(store)
        name = f"process {address.pid}"
        return await cls._greeted(UnixAddress(Path(address.socket)), address.read_token(), name)

    @classmethod
    async def connect_tcp(cls, address: str, token: str, certificate: Path) -> TrainerClient:
        """Connect to a daemon over TCP, with TLS.

        Args:
            address: ``host:port``; the host is one that the certificate names.
            token: The daemon's token.
            certificate: What its certificate is checked against, as PEM.

        Raises:
            UsageError: The certificate cannot be read, or the token is wrong.
            DaemonLostError: Nobody answers there, or not with that certificate.
        """
        try:
            pem = await asyncio.to_thread(certificate.read_bytes)
        except OSError as error:
            raise UsageError(f"certificate {certificate} cannot be read: {error.strerror}") from error
        try:
            return await cls._greeted(TlsAddress(address, pem), token, address)
        except DaemonLostError as error:
            raise DaemonLostError(
                f"no trainer daemon answers at {address}",
                fix=f"Does one listen there, under a name that {certificate} vouches for?",
            ) from error

    @classmethod
    async def _greeted(cls, address: RpcAddress, token: str, name: str) -> TrainerClient:
        client = cls(address, token, name)
        try:
            health = await client._connection.ask(
                client._stub.GetHealth, pb.HealthRequest(), timeout_s=_HELLO_S
            )
            if health.protocol != PROTOCOL:
                raise UsageError(
                    f"the trainer daemon ({name}) is of another MOSAIC ({health.version})",
                    fix="Stop it (its trainings go on) and try again: mosaic daemon --stop",
                )
        except BaseException:
            await client.close()
            raise
        return client

    async def _greet(self) -> pb.TrainerHealth:
        return await self._connection.ask(self._stub.GetHealth, pb.HealthRequest(), timeout_s=_HELLO_S)

    # -- runs ----------------------------------------------------------------------------------

    async def submit(
        self,
        config: UnifiedRunConfig,
        *,
        title: str = "",
        priority: int = 0,
        limits: RunLimits = DEFAULT_LIMITS,
        resume_of: str = "",
    ) -> str:
        """Queue a training.

        Args:
            config: What to train.
            title: What a person calls it.
            priority: Higher runs first.
            limits: What it may use.
            resume_of: A run that is over, to go on with: in its folder and under its id, as what it
                was; settings in ``config`` replace its own.

        Returns:
            The run's id.
        """
        message = submit_message(config, title=title, priority=priority, limits=limits, resume_of=resume_of)
        return str((await self._connection.ask(self._stub.SubmitRun, message)).run_id)

    async def cancel(self, run_id: str) -> None:
        """Ask a run to keep what it has and end; asked again, it is killed at once."""
        await self._connection.ask(self._stub.CancelRun, pb.RunReference(run_id=run_id))

    async def pause(self, run_id: str) -> None:
        """Halt a run where it is; one that waits does not start."""
        await self._control(run_id, "pause")

    async def resume(self, run_id: str) -> None:
        """Let a paused run go on."""
        await self._control(run_id, "resume")

    async def checkpoint(self, run_id: str) -> None:
        """Have a run keep its policy now."""
        await self._control(run_id, "checkpoint")

    async def remove(self, run_id: str) -> None:
        """Forget a run that is over; its folder goes to the trash."""
        await self._connection.ask(self._stub.RemoveRun, pb.RunReference(run_id=run_id))

    async def runs(self) -> list[TrainingRecord]:
        """Every run, oldest first."""
        return [
            record_of(run) for run in (await self._connection.ask(self._stub.ListRuns, pb.RunsRequest())).runs
        ]

    async def watch_runs(self) -> AsyncIterator[TrainingRecord]:
        """Every run as it stands, then each that changes; without end.

        A run that is removed is told once more, in state ``removed``.
        """
        async with aclosing(self._connection.stream(self._stub.WatchRuns, pb.RunsRequest())) as runs:
            async for run in runs:
                yield record_of(run)
        raise self._lost("it sent no more")

    # -- telemetry -------------------------------------------------------------------------------

    def metrics(self, run_id: str, *, since: int = 0) -> AsyncIterator[list[MetricRow]]:
        """What a run has measured, then what it measures, until it is over.

        Nothing is lost however slowly this is read; the training never waits.

        Args:
            run_id: The run.
            since: Rows of the history that are known already.
        """
        return self._follow(self._stub.StreamMetrics, run_id, since, _metric_row)

    def episodes(self, run_id: str, *, since: int = 0) -> AsyncIterator[list[EpisodeRow]]:
        """Episodes of a run's training, as :meth:`metrics`."""
        return self._follow(self._stub.StreamEpisodes, run_id, since, _episode_row)

    async def _follow(
        self, method: Any, run_id: str, since: int, read: Callable[[Mapping[str, Any]], _Row]
    ) -> AsyncIterator[list[_Row]]:
        leave = Requests(pb.FollowRequest(run_id=run_id, since=since, credits=CREDITS))
        async with aclosing(self._connection.stream(method, leave)) as batches:
            async for batch in batches:
                rows = list(_rows(batch.lines, read))
                if rows:
                    yield rows
                if batch.lines:
                    leave.put(pb.FollowRequest(credits=1))
                else:
                    leave.close()

    # -- the daemon -------------------------------------------------------------------------------

    async def health(self) -> Health:
        """How the daemon and its machine are."""
        return health_of(await self._connection.ask(self._stub.GetHealth, pb.HealthRequest()))

    async def close(self) -> None:
        """Let go of the connection."""
        await self._connection.close()

    # -- every call ---------------------------------------------------------------------------------

    async def _control(self, run_id: str, wish: str) -> None:
        wish_only = Requests(pb.ControlWish(id=1, run_id=run_id, wish=wish))
        wish_only.close()
        async with aclosing(self._connection.stream(self._stub.ControlStream, wish_only)) as answers:
            async for answer in answers:
                if answer.error:
                    raise (UsageError if answer.usage else MosaicError)(answer.error, fix=answer.fix)


def _lost(name: str, words: str) -> DaemonLostError:
    _log.info("the trainer daemon (%s) is gone: %s", name, words)
    return DaemonLostError(
        f"the trainer daemon ({name}) does not answer any more",
        fix="Trainings go on without it; connect again to have it started",
    )


def _rows(lines: bytes, read: Callable[[Mapping[str, Any]], _Row]) -> list[_Row]:
    rows: list[_Row] = []
    for line in lines.split(b"\n"):
        # A line that a worker got wrong is no reason to miss those after it.
        with contextlib.suppress(orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            rows.append(read(orjson.loads(line)))
    return rows


def _metric_row(row: Mapping[str, Any]) -> MetricRow:
    return MetricRow(row["step"], row["t"], row["m"])


def _episode_row(row: Mapping[str, Any]) -> EpisodeRow:
    return EpisodeRow(row["step"], row["t"], row["return"], row["length"])
