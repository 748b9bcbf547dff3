"""Client of the trainer daemon, for windows and programs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.rpc.address import Address as RpcAddress
from gym_gui.services.rpc.address import UnixAddress
from gym_gui.services.rpc.calling import Connection, Requests
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import Address, find
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.pb.trainer_pb2_grpc import TrainerServiceStub
from gym_gui.services.trainer.starting import require_daemon, start_daemon
from gym_gui.services.trainer.trainer_messages import (
    PROTOCOL,
    health_of,
    record_of,
    submit_message,
)
from gym_gui.services.trainer.training_records import (
    DEFAULT_LIMITS,
    Health,
    RunLimits,
    TrainingRecord,
)
from gym_gui.services.worker_orchestrator import UnifiedRunConfig

_log = logging.getLogger(__name__)

_HELLO_S = 20.0
_TRIES = 3
_LEAVE_S = 2.0
_LOOK_S = 0.05
_HANG_S = 10.0
"""Seconds after which a daemon that hangs counts as lost."""


class DaemonLostError(MosaicError):
    """Error for a daemon that has ended or cannot be reached. Trainings continue without it."""


class TrainerClient:
    """A connection to the daemon, created by :meth:`connect`. Use it from one event loop.

    Every method raises :class:`UsageError` for an error that the user can fix, :class:`DaemonLostError` if
    the daemon has gone, and another :class:`MosaicError` for other failures in the daemon.
    """

    def __init__(self, address: RpcAddress, token: str, name: str) -> None:
        self._lost = partial(_lost, name)
        self._connection = Connection(address, token, f"trainer daemon ({name})", self._lost, hang_s=_HANG_S)
        self._stub: Any = TrainerServiceStub(self._connection.channel)

    @classmethod
    async def connect(cls, store: Store, *, start: bool = True) -> TrainerClient:
        """Connect to the daemon of a data folder.

        Args:
            store: Provides the data folder.
            start: Whether to start a daemon if there is none.

        Raises:
            UsageError: There is no daemon, or it has another version. The message says what to do.
            WorkerLaunchError: The daemon could not be started.
        """
        tries = 0
        while True:
            address = await asyncio.to_thread(find, store)
            if address is None:
                address = await start_daemon(store) if start else require_daemon(store)
            name = f"process {address.pid}"
            try:
                return await cls._greeted(UnixAddress(Path(address.socket)), address.read_token(), name)
            except MosaicError as error:
                tries += 1
                # A daemon that is ending may still be found. The next look finds none, or its successor.
                within_s = _LEAVE_S if isinstance(error, DaemonLostError) else 0.0
                if tries == _TRIES or not await _has_left(store, address, within_s):
                    raise

    @classmethod
    async def _greeted(cls, address: RpcAddress, token: str, name: str) -> TrainerClient:
        client = cls(address, token, name)
        try:
            health = await client._connection.ask(
                client._stub.GetHealth, pb.HealthRequest(), timeout_s=_HELLO_S
            )
            if health.protocol != PROTOCOL:
                raise UsageError(
                    f"the trainer daemon ({name}) has another version of MOSAIC ({health.version})",
                    fix="Stop it (its trainings continue) and try again: mosaic daemon --stop",
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
            config: The training to run.
            title: Title for people.
            priority: Runs with a higher priority start first.
            limits: Resources that the run may use.
            resume_of: Id of a finished run to resume in its folder and under its id. Settings in
                ``config`` replace the run's own.

        Returns:
            Id of the run.
        """
        message = submit_message(config, title=title, priority=priority, limits=limits, resume_of=resume_of)
        return str((await self._connection.ask(self._stub.SubmitRun, message)).run_id)

    async def cancel(self, run_id: str) -> None:
        """Ask a run to save its policy and end. A second call kills it at once."""
        await self._connection.ask(self._stub.CancelRun, pb.RunReference(run_id=run_id))

    async def pause(self, run_id: str) -> None:
        """Pause a run. A waiting run does not start until it is resumed."""
        await self._control(run_id, "pause")

    async def resume(self, run_id: str) -> None:
        """Resume a paused run."""
        await self._control(run_id, "resume")

    async def checkpoint(self, run_id: str) -> None:
        """Ask a run to save its policy now."""
        await self._control(run_id, "checkpoint")

    async def remove(self, run_id: str) -> None:
        """Remove a run that is over. Its folder goes to the trash."""
        await self._connection.ask(self._stub.RemoveRun, pb.RunReference(run_id=run_id))

    async def runs(self) -> list[TrainingRecord]:
        """Return the records of all runs, oldest first."""
        return [
            record_of(run) for run in (await self._connection.ask(self._stub.ListRuns, pb.RunsRequest())).runs
        ]

    async def watch_runs(self) -> AsyncIterator[TrainingRecord]:
        """Yield the record of every run, then each record that changes, without end.

        The last record of a removed run has the state ``removed``.
        """
        async with aclosing(self._connection.stream(self._stub.WatchRuns, pb.RunsRequest())) as runs:
            async for run in runs:
                yield record_of(run)
        raise self._lost("its stream ended")

    # -- the daemon -------------------------------------------------------------------------------

    async def health(self) -> Health:
        """Return the state of the daemon and its machine."""
        return health_of(await self._connection.ask(self._stub.GetHealth, pb.HealthRequest()))

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    # -- every call ---------------------------------------------------------------------------------

    async def _control(self, run_id: str, command: str) -> None:
        commands = Requests(pb.ControlWish(id=1, run_id=run_id, wish=command))
        commands.close()
        async with aclosing(self._connection.stream(self._stub.ControlStream, commands)) as answers:
            async for answer in answers:
                if answer.error:
                    raise (UsageError if answer.usage else MosaicError)(answer.error, fix=answer.fix)


async def _has_left(store: Store, address: Address, within_s: float) -> bool:
    """Return whether a daemon that failed is gone, or goes within some seconds."""
    deadline = time.monotonic() + within_s
    while await asyncio.to_thread(find, store) == address:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_LOOK_S)
    return True


def _lost(name: str, words: str) -> DaemonLostError:
    _log.info("the trainer daemon (%s) is gone: %s", name, words)
    return DaemonLostError(
        f"the trainer daemon ({name}) no longer answers",
        fix="Trainings continue without it; connect again to start it",
    )
