"""The trainer daemon, asked from a window or a program."""

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
"""A daemon that hangs is noticed, as one that ends is."""


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
                # One that ends just now is still found: the next look finds none, or its successor.
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
            resume_of: A run that is over, to resume: in its folder and under its id, as what it
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

        A run that is removed comes once more, in state ``removed``.
        """
        async with aclosing(self._connection.stream(self._stub.WatchRuns, pb.RunsRequest())) as runs:
            async for run in runs:
                yield record_of(run)
        raise self._lost("it sent no more")

    # -- the daemon -------------------------------------------------------------------------------

    async def health(self) -> Health:
        """How the daemon and its machine are."""
        return health_of(await self._connection.ask(self._stub.GetHealth, pb.HealthRequest()))

    async def close(self) -> None:
        """Let go of the connection."""
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
    """Whether a daemon that has failed us is gone from its place, or leaves it within so many seconds."""
    deadline = time.monotonic() + within_s
    while await asyncio.to_thread(find, store) == address:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_LOOK_S)
    return True


def _lost(name: str, words: str) -> DaemonLostError:
    _log.info("the trainer daemon (%s) is gone: %s", name, words)
    return DaemonLostError(
        f"the trainer daemon ({name}) does not answer any more",
        fix="Trainings go on without it; connect again to have it started",
    )
