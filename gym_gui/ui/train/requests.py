"""Requests to the trainer daemon about a run, and the messages about their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.link import TrainerLink

NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


class RunRequests:
    """Sender of background requests to the trainer; errors appear as messages in the window.

    Args:
        context: Runs background tasks and shows messages.
        link: Connection to the trainer.
        titles: Returns the names of the runs by run id.
    """

    def __init__(
        self, context: AppContext, link: TrainerLink, titles: Callable[[], Mapping[str, str]]
    ) -> None:
        self._context, self._link, self._titles = context, link, titles

    def pause(self, record: TrainingRecord) -> None:
        """Pause a run."""
        self._link.act("Pausing the training", lambda client: client.pause(record.run_id))

    def resume(self, record: TrainingRecord) -> None:
        """Continue a paused run."""
        self._link.act("Resuming the training", lambda client: client.resume(record.run_id))

    def stop(self, record: TrainingRecord) -> None:
        """Stop a run and keep its policy and checkpoint."""
        self._link.act("Stopping the training", lambda client: client.cancel(record.run_id))

    def checkpoint(self, record: TrainingRecord) -> None:
        """Request that a run saves its policy and training state now."""
        self._context.spawn(self._checkpoint(record), "Saving a checkpoint")

    def go_on(self, record: TrainingRecord, changes: Mapping[str, object] = NOTHING) -> None:
        """Resume a run that has ended, with ``changes`` to its settings."""
        self._context.spawn(self._go_on(record, changes), "Resuming the training")

    def remove(self, record: TrainingRecord) -> None:
        """Move the folder of a run to the trash."""
        self._context.spawn(self._remove(record), "Removing the run")

    def ask_removal(self, records: Sequence[TrainingRecord]) -> None:
        """Ask the user in a message whether to remove several runs."""
        action = ("Remove the runs", partial(self._remove_all, records))
        self._context.notify(f"{len(records)} runs will be moved to the trash", "warning", action)

    def _remove_all(self, records: Sequence[TrainingRecord]) -> None:
        for record in records:
            self.remove(record)

    async def _remove(self, record: TrainingRecord) -> None:
        client = self._link.client
        if client is not None:
            title = self._titles().get(record.run_id, record.run_id)
            await client.remove(record.run_id)
            self._context.notify(f"“{title}” is in the trash", "info")

    async def _checkpoint(self, record: TrainingRecord) -> None:
        client = self._link.client
        if client is not None:
            await client.checkpoint(record.run_id)
            self._context.notify("A checkpoint is being saved", "ok")

    async def _go_on(self, record: TrainingRecord, changes: Mapping[str, object]) -> None:
        client = self._link.client
        if client is None:
            return
        config = UnifiedRunConfig(
            task=record.env_id,
            worker_type=record.worker_id,
            algorithm=record.algorithm,
            seed=record.seed,
            settings={**record.settings, **changes},
        )
        orchestrator = self._context.services.new_orchestrator(client)
        await orchestrator.submit_run(config, title=record.title, resume_of=record.run_id)
