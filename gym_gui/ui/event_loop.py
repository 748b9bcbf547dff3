"""Runs asyncio on Qt's event loop.

The loop counts as running from the start, whatever drives Qt: ``app.exec()``, a waiting test, or a script
that calls ``processEvents``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from weakref import WeakKeyDictionary

import qasync
from PyQt6.QtWidgets import QApplication

_log = logging.getLogger(__name__)

THREADS: Final = 4
"""Number of threads for ``asyncio.to_thread``, each started when it is needed."""
HEARD_S: Final = 1.0
"""Time after which the exception of a failed task counts as unhandled, in seconds."""
_monitors: WeakKeyDictionary[asyncio.AbstractEventLoop, _FailureMonitor] = WeakKeyDictionary()


def open_loop(app: QApplication) -> asyncio.AbstractEventLoop:
    """Run asyncio on Qt's event loop in this thread, until :func:`close_loop` is called."""
    # qasync logs each callback at debug level, which takes longer than the callback.
    logging.getLogger("qasync").setLevel(logging.WARNING)
    loop: Any = qasync.QEventLoop(app, already_running=True)
    # qasync's own pool would start ten QThreads at once.
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="mosaic-work"))
    set_failure_handler(loop, _log_failure)
    _monitors[loop] = monitor = _FailureMonitor(loop)
    loop.set_task_factory(monitor.make)
    asyncio.set_event_loop(loop)
    return loop


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Separate asyncio from Qt, after work in threads has ended."""
    _monitors.pop(loop).close()
    app = QApplication.instance()
    if app is not None:
        app.aboutToQuit.disconnect(loop._after_run_forever)  # type: ignore[attr-defined]
    # Not `stop()`: it tells the application to exit, and Qt then refuses every later event loop.
    loop._QEventLoop__is_running = False  # type: ignore[attr-defined]
    asyncio.events._set_running_loop(None)
    loop.close()
    asyncio.set_event_loop(None)


class _FailureMonitor:
    """Reports exceptions of failed tasks that no coroutine retrieves, even while the task is referenced.

    asyncio itself reports such an exception only when the task is garbage-collected, which may never happen.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._failed: dict[asyncio.Task[Any], asyncio.TimerHandle] = {}

    def make(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any
    ) -> asyncio.Task[Any]:
        """Return a new task; this is the loop's task factory."""
        task = asyncio.Task(work, loop=loop, **options)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        if _is_unhandled(task):
            # Coroutines that await the task run after this callback.
            self._failed[task] = self._loop.call_later(HEARD_S, self._check, task)

    def _check(self, task: asyncio.Task[Any]) -> None:
        del self._failed[task]
        if _is_unhandled(task):
            self._loop.call_exception_handler({"exception": task.exception(), "task": task})

    def close(self) -> None:
        """Check all remaining failed tasks now."""
        for task, timer in list(self._failed.items()):
            timer.cancel()
            self._check(task)


def _is_unhandled(task: asyncio.Task[Any]) -> bool:
    """Return whether a task failed and no code retrieved its exception; reads a private field of asyncio."""
    return task.done() and not task.cancelled() and bool(getattr(task, "_log_traceback", False))


def set_failure_handler(loop: asyncio.AbstractEventLoop, tell: Callable[[str, BaseException], None]) -> None:
    """Set the function that gets every unhandled failure of an event loop.

    Args:
        loop: A loop of :func:`open_loop`.
        tell: Called with the name of the task and the exception.
    """

    def handler(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            tell(_task_name(context), error)
        else:
            _log.error("%s", context.get("message", "a callback failed"))

    loop.set_exception_handler(handler)


def _task_name(context: dict[str, Any]) -> str:
    task = context.get("task", context.get("future"))
    name = task.get_name() if isinstance(task, asyncio.Task) else ""
    return name if name and not name.startswith("Task-") else "A background task"


def _log_failure(what: str, error: BaseException) -> None:
    """Log an unhandled failure while no window can show it."""
    _log.error("%s failed: %s", what, error, exc_info=error)
