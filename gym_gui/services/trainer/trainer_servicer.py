"""gRPC servicer of the trainer daemon."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.trainer import Trainer
from gym_gui.services.trainer.trainer_messages import (
    config_of,
    health_message,
    limits_of,
    record_message,
)
from gym_gui.services.trainer.training_records import Health


class TrainerServicer:
    """Methods of ``TrainerService``, called by :class:`~gym_gui.services.rpc.serving.RpcServer`.

    Args:
        trainer: The trainer that carries out the requests.
        health: Returns the daemon's state.
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
        """Ask a run to end."""
        await self._trainer.cancel(request.run_id)
        return pb.TrainerAnswer()

    async def RemoveRun(self, request: pb.RunReference) -> pb.TrainerAnswer:
        """Remove a run that is over."""
        await self._trainer.remove(request.run_id)
        return pb.TrainerAnswer()

    async def ListRuns(self, request: pb.RunsRequest) -> pb.RunList:
        """Return the records of all runs."""
        return pb.RunList(runs=map(record_message, self._trainer.runs()))

    async def WatchRuns(self, request: pb.RunsRequest) -> AsyncIterator[pb.TrainingRunState]:
        """Yield the record of every run, then each record that changes."""
        watch = self._trainer.watch()
        try:
            async for record in watch.changes():
                yield record_message(record)
        finally:
            self._trainer.unwatch(watch)

    async def ControlStream(self, commands: AsyncIterator[pb.ControlWish]) -> AsyncIterator[pb.TrainerAnswer]:
        """Carry out the commands pause, resume and checkpoint, with one answer each."""
        async for command in commands:
            answer = pb.TrainerAnswer(id=command.id)
            try:
                await self._trainer.control(command.run_id, command.wish)
            except MosaicError as error:
                answer.error, answer.fix = error.message, error.fix
                answer.usage = isinstance(error, UsageError)
            yield answer

    # -- the daemon itself -----------------------------------------------------------------------

    async def GetHealth(self, request: pb.HealthRequest) -> pb.TrainerHealth:
        """Return the daemon's state."""
        return health_message(self._health())
