"""The trainer behind gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from gym_gui.core.errors import MosaicError, UnknownNameError, UsageError
from gym_gui.services.trainer.folder import EPISODES, METRICS
from gym_gui.services.trainer.messages import (
    config_of,
    health_message,
    json_object,
    limits_of,
    record_message,
)
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.records import Health
from gym_gui.services.trainer.telemetry import LineFeed
from gym_gui.services.trainer.trainer import Trainer

_FOLLOW_S = 0.2
_FAREWELL_S = 10.0
"""Longest wait for a watcher to end its side once it has everything."""


class TrainerServicer:
    """The methods of ``TrainerService``; :class:`~gym_gui.services.rpc.serving.RpcServer` stands before them.

    Args:
        trainer: What does the work.
        health: How the daemon is.
    """

    def __init__(self, trainer: Trainer, health: Callable[[], Health]) -> None:
        self._trainer, self._health = trainer, health

    # -- runs ----------------------------------------------------------------------------------

    async def SubmitRun(self, request: pb.SubmitRequest) -> pb.RunReference:
        """Queue a training."""
        run_id = await self._trainer.submit(
            config_of(request),
            title=request.title,
            priority=request.priority,
            limits=limits_of(request.limits),
            resume_of=request.resume_of,
        )
        return pb.RunReference(run_id=run_id)

    async def CancelRun(self, request: pb.RunReference) -> pb.TrainerAnswer:
        """Ask it to end."""
        await self._trainer.cancel(request.run_id)
        return pb.TrainerAnswer()

    async def RemoveRun(self, request: pb.RunReference) -> pb.TrainerAnswer:
        """Forget one that is over."""
        await self._trainer.remove(request.run_id)
        return pb.TrainerAnswer()

    async def ListRuns(self, request: pb.RunsRequest) -> pb.RunList:
        """Every run."""
        return pb.RunList(runs=map(record_message, self._trainer.runs()))

    async def WatchRuns(self, request: pb.RunsRequest) -> AsyncIterator[pb.TrainingRunState]:
        """Every run, then each that changes."""
        watch = self._trainer.watch()
        try:
            async for record in watch.changes():
                yield record_message(record)
        finally:
            self._trainer.unwatch(watch)

    async def ControlStream(self, wishes: AsyncIterator[pb.ControlWish]) -> AsyncIterator[pb.TrainerAnswer]:
        """Pause, resume, checkpoint now."""
        async for wish in wishes:
            answer = pb.TrainerAnswer(id=wish.id)
            try:
                await self._trainer.control(wish.run_id, wish.wish)
            except MosaicError as error:
                answer.error, answer.fix = error.message, error.fix
                answer.usage = isinstance(error, UsageError)
            yield answer

    # -- telemetry -------------------------------------------------------------------------------

    def StreamMetrics(self, requests: AsyncIterator[pb.FollowRequest]) -> AsyncIterator[pb.TelemetryLines]:
        """Metrics of one run."""
        return self._follow(requests, METRICS)

    def StreamEpisodes(self, requests: AsyncIterator[pb.FollowRequest]) -> AsyncIterator[pb.TelemetryLines]:
        """Episodes of one run."""
        return self._follow(requests, EPISODES)

    async def _follow(
        self, requests: AsyncIterator[pb.FollowRequest], name: str
    ) -> AsyncIterator[pb.TelemetryLines]:
        first = await anext(requests, None)
        if first is None:
            raise UsageError("no run is named", fix="Name one in the first message")
        feed = LineFeed(self._trainer.record(first.run_id).folder / name, first.since)
        leave = _Leave(first.credits)
        reader = asyncio.get_running_loop().create_task(leave.hear(requests))
        try:
            while await leave.given():
                over = self._over(first.run_id)
                if lines := feed.next():
                    leave.spent()
                    yield pb.TelemetryLines(lines=lines)
                elif over:  # it was over before we looked: nothing follows
                    yield pb.TelemetryLines()
                    # What the watcher is still sending must find somebody who listens.
                    await asyncio.wait({reader}, timeout=_FAREWELL_S)
                    return
                else:
                    await asyncio.sleep(_FOLLOW_S)
        except OSError as error:
            raise MosaicError(f"the {name} of run {first.run_id} cannot be read: {error}") from error
        finally:
            reader.cancel()

    def _over(self, run_id: str) -> bool:
        try:
            return self._trainer.record(run_id).over
        except UnknownNameError:
            return True

    # -- trainings from elsewhere, and the daemon itself -------------------------------------------

    async def RegisterWorker(self, request: pb.WorkerRegistration) -> pb.WorkerRegistered:
        """Somebody makes itself known."""
        run_id, every_s = self._trainer.register(json_object(request.json, "a registration"))
        return pb.WorkerRegistered(run_id=run_id, every_s=every_s)

    async def Heartbeat(self, request: pb.WorkerSign) -> pb.WorkerWishes:
        """A sign of life of such a one."""
        sign = json_object(request.json or "{}", "a heartbeat")
        return pb.WorkerWishes(wishes=self._trainer.heartbeat(request.run_id, sign))

    async def GetHealth(self, request: pb.HealthRequest) -> pb.TrainerHealth:
        """How the daemon is."""
        return health_message(self._health())


class _Leave:
    """Batches that a watcher is ready to take."""

    def __init__(self, credits: int) -> None:
        self._credits = credits
        self._more = asyncio.Event()
        self._gone = False

    async def hear(self, requests: AsyncIterator[pb.FollowRequest]) -> None:
        try:
            async for request in requests:
                self._credits += request.credits
                self._more.set()
        finally:
            self._gone = True
            self._more.set()

    async def given(self) -> bool:
        """Wait for leave; false where none will come any more."""
        while self._credits <= 0 and not self._gone:
            self._more.clear()
            await self._more.wait()
        return self._credits > 0

    def spent(self) -> None:
        """A batch is sent."""
        self._credits -= 1
