"""asyncio on Qt's event loop.

The loop counts as running from the start, whoever drives Qt: ``app.exec()``, a test that
waits, or a script that calls ``processEvents``.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import qasync
from PyQt6.QtWidgets import QApplication

_log = logging.getLogger(__name__)

THREADS: Final = 4
"""Threads for ``asyncio.to_thread``; started as they are needed."""


def open_loop(app: QApplication) -> asyncio.AbstractEventLoop:
    """Join asyncio and Qt in this thread; to be ended with :func:`close_loop`."""
    # qasync logs each callback's way at debug level, which costs more than the callback.
    logging.getLogger("qasync").setLevel(logging.WARNING)
    loop: Any = qasync.QEventLoop(app, already_running=True)
    # qasync's own pool would start ten QThreads at once.
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="mosaic-work"))
    loop.set_exception_handler(_on_exception)
    asyncio.set_event_loop(loop)
    return loop


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Part them again; waits for what runs in threads."""
    app = QApplication.instance()
    if app is not None:
        app.aboutToQuit.disconnect(loop._after_run_forever)  # type: ignore[attr-defined]
    # Not `stop()`: it tells the application to exit, and Qt then refuses every later event loop.
    loop._QEventLoop__is_running = False  # type: ignore[attr-defined]
    asyncio.events._set_running_loop(None)
    loop.close()
    asyncio.set_event_loop(None)


def _on_exception(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    _log.error("%s", context.get("message", "a callback failed"), exc_info=error)
