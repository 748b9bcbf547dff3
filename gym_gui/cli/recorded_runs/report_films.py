"""Makes the replays of a report in child processes, beside the work of the command."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from gym_gui.analysis.pages.film_folder import FilmFolder
from gym_gui.analysis.records.reader import Run
from gym_gui.cli.errors import print_message
from gym_gui.cli.progress import run_progress
from gym_gui.controllers.child_jobs.films import FilmOrder, make_films
from gym_gui.controllers.runs.operator_execution import OperatorProgress


class ReportFilms:
    """Replays that are made from :meth:`begin` on, while the caller computes the report.

    This context manager ends the child processes on exit.

    Args:
        folder: Folder for the replays until the report is written.

    Attributes:
        order: Episodes that are replayed; ``None`` before :meth:`begin`.
    """

    def __init__(self, folder: Path) -> None:
        self.order: FilmOrder | None = None
        self._films = FilmFolder(folder)
        # Child processes end together with the thread that started them, so this thread waits for their end.
        self._thread: threading.Thread | None = None
        self._started = threading.Event()
        self._cancel: Callable[[], object] = lambda: None
        self._error: BaseException | None = None
        self._counts: SimpleQueue[tuple[int, int] | None] = SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def begin(self, runs: Sequence[Run], order: FilmOrder) -> None:
        """Start to replay episodes of runs; a second call does nothing."""
        if self._thread is not None:
            return
        self.order = order
        self._thread = threading.Thread(target=self._run, args=(runs, order), name="replays")
        self._thread.start()
        self._started.wait()

    def wait(self, *, as_json: bool) -> FilmFolder:
        """Show the progress until all replays are made, and return them.

        After Ctrl-C, return the replays that are finished.

        Args:
            as_json: Whether to show progress as JSON lines.
        """
        if self.order is None:
            return self._films
        try:
            with run_progress(as_json=as_json) as show:
                while (counts := self._counts.get()) is not None:
                    show([OperatorProgress("replays", "Replays", *counts, 0, 0, 0)])
        except KeyboardInterrupt:
            self._stop()
            done, total = len(self._films), len(self.order)
            print_message(f"replays were stopped; {done:,} of {total:,} are in the report")
        if self._error is not None:
            raise self._error
        return self._films

    def _run(self, runs: Sequence[Run], order: FilmOrder) -> None:
        try:
            asyncio.run(self._make(runs, order))
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # raised to the caller of wait()
            self._error = error
        finally:
            self._started.set()
            self._counts.put(None)

    async def _make(self, runs: Sequence[Run], order: FilmOrder) -> None:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        self._started.set()
        await make_films(runs, order, self._films, lambda done, total: self._counts.put((done, total)))

    def _stop(self) -> None:
        if self._thread is None:
            return
        with suppress(RuntimeError):  # raised if all replays are made and the loop is closed
            self._cancel()
        self._thread.join()
