"""The window's connection to the trainer daemon: opened on the first visit, and again when it breaks."""

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
"""Changes of runs within this time are announced together, in ms."""
AGAIN_S: Final = 0.5
"""Wait before a broken connection is opened again, in seconds."""


class LinkState(StrEnum):
    """States of the connection."""

    IDLE = "idle"
    CONNECTING = "connecting"
    READY = "ready"
    BROKEN = "broken"


class TrainerLink(QObject):
    """Keeps the list of runs up to date and provides the client that controls them.

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
        self._tell = single_shot_timer(self, TOGETHER_MS, self._on_told)

    @property
    def state(self) -> LinkState:
        """State of the connection."""
        return self._state

    @property
    def trouble(self) -> str:
        """Why the connection is broken, as a sentence; empty otherwise."""
        return self._trouble

    @property
    def client(self) -> TrainerClient | None:
        """Client that controls runs; ``None`` unless connected."""
        return self._client if self._state is LinkState.READY else None

    @property
    def runs(self) -> list[TrainingRecord]:
        """All runs: those in progress, then those in the queue, then those that are over.

        The first and the last group begin with the newest run.
        """
        newest = sorted(self._records.values(), key=lambda r: (r.submitted_at, r.run_id), reverse=True)
        return sorted(newest, key=_place)

    def run(self, run_id: str) -> TrainingRecord | None:
        """Return a run by its id, or ``None``."""
        return self._records.get(run_id)

    @property
    def going_on(self) -> int:
        """Number of runs that are not over."""
        return sum(not record.over for record in self._records.values())

    def open(self) -> None:
        """Connect, unless connected or connecting."""
        if self._state in (LinkState.IDLE, LinkState.BROKEN) and not self._closed:
            self._set(LinkState.CONNECTING)
            self._task = self._context.spawn(self._serve(), "Speaking with the trainer")

    def act(self, what: str, work: Callable[[TrainerClient], Awaitable[object]]) -> None:
        """Let the daemon do something; ``what`` names it in an error message."""
        self._context.spawn(self._act(work), what)

    async def close(self) -> None:
        """Close the connection; the daemon goes on."""
        self._closed = True
        self._tell.stop()
        await end_task(self._task)

    # -- internal ------------------------------------------------------------------------

    async def _act(self, work: Callable[[TrainerClient], Awaitable[object]]) -> None:
        client = self.client
        if client is None:
            self._context.notify("The trainer is not connected: press Connect, then try again", "warning")
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
            # The trainer was stopped or killed: runs go on without it, and it is started again.
            _log.info("the connection to the trainer broke (%s); connecting once more", ended)
            self._set(LinkState.CONNECTING)
            again = not heard
            await asyncio.sleep(AGAIN_S)

    def _take_record(self, record: TrainingRecord) -> None:
        if record.state == "removed":
            self._records.pop(record.run_id, None)
        else:
            self._records[record.run_id] = record
        if not self._tell.isActive():
            self._tell.start()

    def _on_told(self) -> None:
        self.runs_changed.emit()

    def _set(self, state: LinkState, trouble: str = "") -> None:
        if (state, trouble) != (self._state, self._trouble):
            self._state, self._trouble = state, trouble
            self.state_changed.emit()


def _place(record: TrainingRecord) -> tuple[int, int]:
    """Return the place of a run in the list; runs in the queue are in the queue's order."""
    if record.over:
        return 2, 0
    return (1, record.position) if record.state == "queued" else (0, 0)
