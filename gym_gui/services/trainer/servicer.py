"""The trainer behind gRPC: who may call, what is asked, and errors as sentences."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from gym_gui.core.errors import MosaicError, UnknownNameError, UsageError
from gym_gui.services.trainer.folder import EPISODES, METRICS
from gym_gui.services.trainer.messages import (
    FIX,
    METHODS,
    SERVICE,
    TOKEN,
    config_of,
    health_message,
    json_object,
    limits_of,
    record_message,
)
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.queue import QueueFullError
from gym_gui.services.trainer.records import Health
from gym_gui.services.trainer.telemetry import LineFeed
from gym_gui.services.trainer.trainer import Trainer

_log = logging.getLogger(__name__)

_FOLLOW_S = 0.2
_FAREWELL_S = 10.0
"""Longest wait for a watcher to end its side once it has everything."""
_LONGEST = 2000


class TrainerServicer:
    """The methods of ``TrainerService``.

    Args:
        trainer: What does the work.
        token: What every call must show.
        health: How the daemon is.

    Attributes:
        calls: Calls that are open now.
        called_at: When the last one ended, on the monotonic clock.
    """

    def __init__(self, trainer: Trainer, token: str, health: Callable[[], Health]) -> None:
        self._trainer, self._token, self._health = trainer, token, health
        self.calls = 0
        self.called_at = time.monotonic()

    def handler(self) -> grpc.GenericRpcHandler:
        """What a server is given."""
        handlers: dict[str, Any] = {}
        for name, (kind, request, response) in METHODS.items():
            work: Any = getattr(self, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())
            guarded = self._once(work) if kind == "unary_unary" else self._streamed(work)
            make: Any = getattr(grpc, f"{kind}_rpc_method_handler")
            handlers[name] = make(
                guarded,
                request_deserializer=request.FromString,
                response_serializer=response.SerializeToString,
            )
        return grpc.method_handlers_generic_handler(SERVICE, handlers)

    # -- runs ----------------------------------------------------------------------------------

    async def submit_run(self, request: pb.SubmitRequest) -> pb.RunReference:
        """Queue a training."""
        run_id = await self._trainer.submit(
            config_of(request),
            title=request.title,
            priority=request.priority,
            limits=limits_of(request.limits),
            resume_of=request.resume_of,
        )
        return pb.RunReference(run_id=run_id)

    async def cancel_run(self, request: pb.RunReference) -> pb.TrainerAnswer:
        """Ask it to end."""
        await self._trainer.cancel(request.run_id)
        return pb.TrainerAnswer()

    async def remove_run(self, request: pb.RunReference) -> pb.TrainerAnswer:
        """Forget one that is over."""
        await self._trainer.remove(request.run_id)
        return pb.TrainerAnswer()

    async def list_runs(self, request: pb.RunsRequest) -> pb.RunList:
        """Every run."""
        return pb.RunList(runs=map(record_message, self._trainer.runs()))

    async def watch_runs(self, request: pb.RunsRequest) -> AsyncIterator[pb.TrainingRunState]:
        """Every run, then each that changes."""
        watch = self._trainer.watch()
        try:
            async for record in watch.changes():
                yield record_message(record)
        finally:
            self._trainer.unwatch(watch)

    async def control_stream(self, wishes: AsyncIterator[pb.ControlWish]) -> AsyncIterator[pb.TrainerAnswer]:
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

    def stream_metrics(self, requests: AsyncIterator[pb.FollowRequest]) -> AsyncIterator[pb.TelemetryLines]:
        """Metrics of one run."""
        return self._follow(requests, METRICS)

    def stream_episodes(self, requests: AsyncIterator[pb.FollowRequest]) -> AsyncIterator[pb.TelemetryLines]:
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

    async def register_worker(self, request: pb.WorkerRegistration) -> pb.WorkerRegistered:
        """Somebody makes itself known."""
        run_id, every_s = self._trainer.register(json_object(request.json, "a registration"))
        return pb.WorkerRegistered(run_id=run_id, every_s=every_s)

    async def heartbeat(self, request: pb.WorkerSign) -> pb.WorkerWishes:
        """A sign of life of such a one."""
        sign = json_object(request.json or "{}", "a heartbeat")
        return pb.WorkerWishes(wishes=self._trainer.heartbeat(request.run_id, sign))

    async def get_health(self, request: pb.HealthRequest) -> pb.TrainerHealth:
        """How the daemon is."""
        return health_message(self._health())

    # -- every call ----------------------------------------------------------------------------

    def _once(self, work: Any) -> Any:
        async def call(request: Any, context: Any) -> Any:
            await self._admit(context)
            self.calls += 1
            try:
                return await work(request)
            except MosaicError as error:
                await _refuse(context, error)
            finally:
                self._ended()

        return call

    def _streamed(self, work: Any) -> Any:
        async def call(request: Any, context: Any) -> AsyncIterator[Any]:
            await self._admit(context)
            self.calls += 1
            answers = work(request)
            try:
                async for answer in answers:
                    yield answer
            except MosaicError as error:
                await _refuse(context, error)
            finally:
                self._ended()
                await answers.aclose()

        return call

    async def _admit(self, context: Any) -> None:
        given = dict(context.invocation_metadata()).get(TOKEN, "")
        if not hmac.compare_digest(str(given).encode(), self._token.encode()):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is wrong")

    def _ended(self) -> None:
        self.calls -= 1
        self.called_at = time.monotonic()


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


async def _refuse(context: Any, error: MosaicError) -> None:
    code = grpc.StatusCode.FAILED_PRECONDITION
    if isinstance(error, UnknownNameError):
        code = grpc.StatusCode.NOT_FOUND
    elif isinstance(error, UsageError):
        code = grpc.StatusCode.INVALID_ARGUMENT
    elif isinstance(error, QueueFullError):
        code = grpc.StatusCode.RESOURCE_EXHAUSTED
    fix = error.fix[:_LONGEST].encode()
    await context.abort(code, error.message[:_LONGEST], ((FIX, fix),))
