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
"""Number of threads for ``asyncio.to_thread``; they start when they are needed."""
HEARD_S: Final = 1.0
"""Seconds after which a failed task's exception counts as unhandled if no coroutine took it."""
_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watch] = WeakKeyDictionary()


def open_loop(app: QApplication) -> asyncio.AbstractEventLoop:
    """Join asyncio and Qt in this thread; :func:`close_loop` separates them."""
    # qasync logs each callback's way at debug level, which costs more than the callback.
    logging.getLogger("qasync").setLevel(logging.WARNING)
    loop: Any = qasync.QEventLoop(app, already_running=True)
    # qasync's own pool would start ten QThreads at once.
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="mosaic-work"))
    tell_failures(loop, _log_failure)
    _watches[loop] = watch = _Watch(loop)
    loop.set_task_factory(watch.make)
    asyncio.set_event_loop(loop)
    return loop


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Separate asyncio and Qt; wait for work in threads."""
    _watches.pop(loop).close()
    app = QApplication.instance()
    if app is not None:
        app.aboutToQuit.disconnect(loop._after_run_forever)  # type: ignore[attr-defined]
    # Not `stop()`: it tells the application to exit, and Qt then refuses every later event loop.
    loop._QEventLoop__is_running = False  # type: ignore[attr-defined]
    asyncio.events._set_running_loop(None)
    loop.close()
    asyncio.set_event_loop(None)


class _Watch:
    """Reports a failed task whose exception no coroutine takes, even while the task is still referenced.

    asyncio itself reports the exception only when the task is garbage-collected, which may never happen.
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
        if _is_unheard(task):
            # Coroutines that await the task are called after this callback.
            self._failed[task] = self._loop.call_later(HEARD_S, self._look, task)

    def _look(self, task: asyncio.Task[Any]) -> None:
        del self._failed[task]
        if _is_unheard(task):
            self._loop.call_exception_handler({"exception": task.exception(), "task": task})

    def close(self) -> None:
        """Check all remaining failed tasks now."""
        for task, timer in list(self._failed.items()):
            timer.cancel()
            self._look(task)


def _is_unheard(task: asyncio.Task[Any]) -> bool:
    """Return whether a task failed and no code took its exception; reads a private field of asyncio."""
    return task.done() and not task.cancelled() and bool(getattr(task, "_log_traceback", False))


def tell_failures(loop: asyncio.AbstractEventLoop, tell: Callable[[str, BaseException], None]) -> None:
    """Report every failure in a loop that no code handles.

    Args:
        loop: A loop made by :func:`open_loop`.
        tell: Called with a description, shown before "failed", and the exception.
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
    return name if name and not name.startswith("Task-") else "Something in the background"


def _log_failure(what: str, error: BaseException) -> None:
    """Log a failure while there is no window that shows it."""
    _log.error("%s failed: %s", what, error, exc_info=error)
