"""Base class of workers that wait for a server and make many decisions in parallel, as coroutines."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import Future
from typing import Any, Awaitable, Callable, Dict, Sequence, Set, Tuple

from mosaic_worker.failures import FailureLog
from mosaic_worker.worker import Batch, Decision, EpisodeEnd, EpisodeStart, PolicyFailed, Slot, Worker

_log = logging.getLogger(__name__)
_CLOSING_S = 5.0

Reply = Callable[[Batch, Any], None]


class AsyncWorker(Worker):
    """Base class of workers whose decisions wait for another program (a model server, an engine).

    Override :meth:`decide`. All methods of a worker except :meth:`load` run in one event loop in a separate
    thread, so they need no locks. :meth:`load` runs in the main thread while its slot has no decision in
    progress. A decision is canceled when its episode ends or the host sends the slot a new decision of the
    same episode.
    """

    in_flight = 32

    def decider(self, reply: Reply) -> Decider:
        return Decider(self, reply)

    async def decide(self, slot: Slot, decision: Decision) -> Any:
        """Make one decision.

        Returns:
            An action, :class:`~mosaic_worker.worker.Invalid`, or
            :class:`~mosaic_worker.worker.Actions` with one action.
        """
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close connections before the worker process ends."""


class Decider:
    """Runs the coroutines of an :class:`AsyncWorker`.

    Args:
        worker: The worker.
        reply: Sends the result of a batch with one decision: the return value of
            :meth:`AsyncWorker.decide`, or the exception that it raised. Called in the loop's thread.
    """

    def __init__(self, worker: AsyncWorker, reply: Reply) -> None:
        self._worker, self._reply = worker, reply
        self._failures = FailureLog(_log)
        self._tasks: Set[asyncio.Task[None]] = set()
        self._in_progress: Dict[Tuple[int, int], asyncio.Task[None]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        """Pass the start of episodes to the worker."""
        self._loop.call_soon_threadsafe(self._worker.reset, slot, starts)

    def end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        """Pass the end of episodes to the worker and cancel the decisions in progress in them."""
        self._loop.call_soon_threadsafe(self._end, slot, ends)

    def _end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._cancel((slot.index, end.episode))
        self._worker.on_episode_end(slot, ends)

    def results(self, results: Any) -> None:
        """Pass the results of earlier actions to the worker."""
        self._loop.call_soon_threadsafe(self._worker.on_step_result, results)

    def ask(self, batch: Batch) -> None:
        """Start all decisions of a batch in parallel."""
        self._loop.call_soon_threadsafe(self._begin_deciding, batch)

    def _begin_deciding(self, batch: Batch) -> None:
        for i in range(len(batch)):
            one = batch.only(i)
            key = (batch.slot.index, one.episodes[0])
            self._cancel(key)
            task = self._in_progress[key] = self._loop.create_task(self._decide(one))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _cancel(self, key: Tuple[int, int]) -> None:
        """Cancel the decision in progress of the slot and episode in ``key``, if there is any."""
        task = self._in_progress.pop(key, None)
        if task is not None:
            task.cancel()

    async def _decide(self, one: Batch) -> None:
        try:
            result = await self._worker.decide(one.slot, one[0])
        except asyncio.CancelledError:
            raise
        except PolicyFailed as exc:
            result = exc
        except Exception as exc:  # code of the worker's author, which may raise anything
            self._failures.add("decide raised", exc)
            result = exc
        self._reply(one, result)

    def close(self) -> None:
        """Cancel the decisions in progress and let the worker close its connections."""
        try:
            self._wait(self._end_all())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSING_S)

    def _wait(self, work: Awaitable[None]) -> None:
        done: Future[None] = asyncio.run_coroutine_threadsafe(_as_coroutine(work), self._loop)
        try:
            done.result(_CLOSING_S)
        except Exception as exc:  # the worker is about to end, so the error is only logged
            _log.warning("closing: %s: %s", type(exc).__name__, exc)

    async def _end_all(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._worker.aclose()


async def _as_coroutine(work: Awaitable[None]) -> None:
    await work
