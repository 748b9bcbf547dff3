"""Lookup of the kinds of an environment's action and observation spaces."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext
from gym_gui.workers.capabilities import action_kind, observation_kinds


@dataclass(frozen=True, slots=True)
class Spaces:
    """Kinds of the action and observation spaces of an environment, as far as known.

    Attributes:
        env_id: Id of the environment; ``""`` before anything is known.
        action: Kind of the action space (``discrete``, ``continuous``, …); ``""`` if unknown.
        observation: ``vector`` or ``image``; ``""`` for another kind, or if unknown.
        trouble: Sentence that says why the environment could not be described; ``""`` if it could.
    """

    env_id: str = ""
    action: str = ""
    observation: str = ""
    trouble: str = ""


class SpaceLookup(QObject):
    """Background lookup of the spaces of one environment at a time.

    Args:
        context: Runs background tasks.
        parent: Qt owner.
    """

    found = pyqtSignal()

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._catalog = CatalogCache(context.store)
        context.installed.connect(self.renew)
        self._task: asyncio.Task[None] | None = None
        self._spaces = Spaces()
        self._wanted = ""

    @property
    def begun(self) -> bool:
        """Whether an environment has been requested."""
        return self._task is not None

    def of(self, env_id: str) -> Spaces:
        """Return the known spaces of an environment; empty fields if nothing is known."""
        return self._spaces if self._spaces.env_id == env_id else Spaces()

    def look_up(self, env_id: str) -> None:
        """Look up the spaces of an environment in the background, then emit :attr:`found`."""
        self._wanted = env_id
        if self._task is not None:
            self._task.cancel()
        self._task = self._context.spawn(self._look(env_id), "Inspecting the environment")

    def renew(self) -> None:
        """Look up the spaces again after environments or a worker were installed."""
        self._catalog.renew()
        if self.begun:
            self.look_up(self._wanted)

    async def close(self) -> None:
        """End the process that describes environments, if there is one."""
        await end_task(self._task)
        await self._catalog.close()

    async def _look(self, env_id: str) -> None:
        from gym_gui.controllers.setup.environment_probe import EnvironmentRequest

        try:
            sheet = await self._catalog.env_info(EnvironmentRequest(env_id))
        except MosaicError as error:
            self._spaces = Spaces(env_id, trouble=error.sentence)
        else:
            actions = {action_kind(slot.action_space) for slot in sheet.slots.values()}
            seen = {observation_kinds(slot.observation_space)[0] for slot in sheet.slots.values()}
            action = actions.pop() if len(actions) == 1 else ""
            kind = seen.pop() if len(seen) == 1 else ""
            self._spaces = Spaces(env_id, action, {"image": "image", "box": "vector"}.get(kind, ""))
        self.found.emit()
