"""Reads the description of an operator's environment without blocking the window."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.errors import MosaicError
from gym_gui.ui.live.live_operator import LiveOperator

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.latest_task import Spawn
    from gym_gui.controllers.setup.configuration_draft import Draft
    from gym_gui.ui.environments.environment_picker import EnvironmentPicker

_HEAD_START_S = 2.0


class EnvironmentLookup(QObject):
    """Reads the description of one environment at a time; a new request cancels the previous one.

    Args:
        spawn: Runs work in the background.
        catalog: Provides environments, workers and policies.
        picker: Environment picker, which is filled with all environments first.
        parent: Qt owner.
    """

    found = pyqtSignal(object, object)
    """Emits the environment's description, and an object that checks which policies can play there."""
    failed = pyqtSignal(str)
    """Emits a sentence that says why the environment cannot be described."""

    def __init__(
        self, spawn: Spawn, catalog: CatalogCache, picker: EnvironmentPicker, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._spawn, self._catalog, self._picker = spawn, catalog, picker
        self._task: asyncio.Task[None] | None = None

    def begin(self, draft: Draft, operator: LiveOperator | None) -> None:
        """Start reading the description of an environment.

        Args:
            draft: The configuration that names the environment.
            operator: If its session is starting, reading waits for its first frame; ``None`` to start at
                once.
        """
        self.stop()
        self._task = self._spawn(self._describe(draft, operator), "Reading the environment")

    def stop(self) -> None:
        """Cancel the request that is in progress."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()

    async def _describe(self, draft: Draft, operator: LiveOperator | None) -> None:
        me = asyncio.current_task()
        if operator is not None:
            await _head_start(operator)
        await self._picker.load()
        checks = await self._catalog.checks()
        try:
            env_info = await self._catalog.env_info(draft.request())
        except MosaicError as error:
            if self._task is me:
                self.failed.emit(error.sentence)
            return
        if self._task is me:
            self.found.emit(env_info, checks)


async def _head_start(operator: LiveOperator) -> None:
    """Wait at most 2 s for a session's first frame or its end, so that starting it gets all processor
    time."""
    if operator.player.last_view is not None or not operator.player.is_running():
        return
    done = asyncio.Event()

    def stop(*_: object) -> None:
        done.set()

    operator.viewed.connect(stop)
    operator.broke.connect(stop)
    try:
        await asyncio.wait_for(done.wait(), _HEAD_START_S)
    except TimeoutError:
        pass
    finally:
        operator.viewed.disconnect(stop)
        operator.broke.disconnect(stop)
