"""Connection of the window to the trainer daemon, opened on the first visit and again after it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext
from gym_gui.ui.timers import single_shot_timer

if TYPE_CHECKING:
    from gym_gui.services.trainer.trainer_client import TrainerClient
    from gym_gui.services.trainer.training_records import TrainingRecord

_log = logging.getLogger(__name__)

TOGETHER_MS: Final = 150
"""Time within which several changes of runs lead to one ``runs_changed`` signal, in ms."""
AGAIN_S: Final = 0.5
"""Pause before a broken connection is opened again, in seconds."""


class LinkState(StrEnum):
    """States of the connection to the trainer daemon."""

    IDLE = "idle"
    CONNECTING = "connecting"
    READY = "ready"
    BROKEN = "broken"


class TrainerLink(QObject):
    """Client of the trainer daemon that keeps the list of training runs up to date.

    Args:
        context: Provides folders and background tasks.
        parent: Qt owner.
    """

    state_changed = pyqtSignal()
    runs_changed = pyqtSignal()

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._client: TrainerClient | None = None
        self._task: asyncio.Task[None] | None = None
        self._records: dict[str, TrainingRecord] = {}
        self._state = LinkState.IDLE
        self._trouble = ""
        self._closed = False
        self._announcement = single_shot_timer(self, TOGETHER_MS, self._announce)

    @property
    def state(self) -> LinkState:
        """State of the connection to the trainer daemon."""
        return self._state

    @property
    def trouble(self) -> str:
        """Sentence that says why the connection is broken; ``""`` otherwise."""
        return self._trouble

    @property
    def client(self) -> TrainerClient | None:
        """Client that controls runs; ``None`` unless connected."""
        return self._client if self._state is LinkState.READY else None

    @property
    def runs(self) -> list[TrainingRecord]:
        """All runs: first those in progress, then those in the queue, then finished runs.

        Runs in progress and finished runs are sorted from the newest to the oldest.
        """
        newest = sorted(self._records.values(), key=lambda r: (r.submitted_at, r.run_id), reverse=True)
        return sorted(newest, key=_place)

    def run(self, run_id: str) -> TrainingRecord | None:
        """Return the record of the run with an id, or ``None``."""
        return self._records.get(run_id)

    @property
    def running_count(self) -> int:
        """Number of runs that have not ended."""
        return sum(not record.has_ended for record in self._records.values())

    def open(self) -> None:
        """Connect to the trainer daemon, unless connected or connecting."""
        if self._state in (LinkState.IDLE, LinkState.BROKEN) and not self._closed:
            self._set(LinkState.CONNECTING)
            self._task = self._context.spawn(self._serve(), "Connecting to the trainer")

    def act(self, what: str, work: Callable[[TrainerClient], Awaitable[object]]) -> None:
        """Send a request to the daemon in the background; ``what`` names it in an error message."""
        self._context.spawn(self._act(work), what)

    async def close(self) -> None:
        """Close the connection; the daemon keeps running."""
        self._closed = True
        self._announcement.stop()
        await end_task(self._task)

    # -- internal ------------------------------------------------------------------------

    async def _act(self, work: Callable[[TrainerClient], Awaitable[object]]) -> None:
        client = self.client
        if client is None:
            self._context.notify("The trainer is not connected. Press Connect, then try again", "warning")
            return
        await work(client)

    async def _serve(self) -> None:
        # gRPC takes a tenth of a second to import.
        await asyncio.to_thread(import_module, "gym_gui.services.trainer.trainer_client")
        from gym_gui.services.trainer.trainer_client import TrainerClient

        again = False
        while True:
            try:
                client = await TrainerClient.connect(self._context.store, start=True)
            except MosaicError as error:
                self._set(LinkState.BROKEN, error.sentence)
                return
            self._client = client
            heard = False
            try:
                self._records = {record.run_id: record for record in await client.runs()}
                self._set(LinkState.READY)
                self.runs_changed.emit()
                async for record in client.watch_runs():
                    heard = True
                    self._take_record(record)
                ended = "The trainer has ended"
            except MosaicError as error:
                ended = error.sentence
            finally:
                self._client = None
                with contextlib.suppress(MosaicError):
                    await client.close()
            if again and not heard:
                self._set(LinkState.BROKEN, ended)
                return
            # The trainer was stopped or killed: runs continue without it, and the next connection starts it
            # again.
            _log.info("the connection to the trainer broke (%s); connecting once more", ended)
            self._set(LinkState.CONNECTING)
            again = not heard
            await asyncio.sleep(AGAIN_S)

    def _take_record(self, record: TrainingRecord) -> None:
        if record.state == "removed":
            self._records.pop(record.run_id, None)
        else:
            self._records[record.run_id] = record
        if not self._announcement.isActive():
            self._announcement.start()

    def _announce(self) -> None:
        self.runs_changed.emit()

    def _set(self, state: LinkState, trouble: str = "") -> None:
        if (state, trouble) != (self._state, self._trouble):
            self._state, self._trouble = state, trouble
            self.state_changed.emit()


def _place(record: TrainingRecord) -> tuple[int, int]:
    """Return the sort key of a run: in progress, queued (by queue position), or ended."""
    if record.has_ended:
        return 2, 0
    return (1, record.position) if record.state == "queued" else (0, 0)
