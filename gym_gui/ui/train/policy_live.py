"""Live play of a training's newest policy, in a separate session while the training continues."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.core.errors import MosaicError
from gym_gui.core.live import LiveView
from gym_gui.services.policy_files import read_policy_file
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.policies.use_policy_menu import operator_of

_RATE = 20.0
"""Environment steps per second, slow enough to watch."""


@dataclass(frozen=True)
class WatchablePolicy:
    """Policy that can be watched while it is trained.

    Attributes:
        folder: Folder in which the training saves the policy.
        worker_id: Worker that runs the policy.
        env_id: Id of the environment.
        title: Name of the training.
    """

    folder: Path
    worker_id: str
    env_id: str
    title: str


class PolicyLive(QObject):
    """Player of one policy, episode after episode on seeds 0, 1, 2, …, without recording.

    After each episode it loads the newest version that the training has saved.

    Args:
        context: Provides sessions and background tasks.
        policy: Policy that plays.
        parent: Qt owner.
    """

    viewed = pyqtSignal(object)
    """Emits a :class:`LiveView` after each step."""
    framed = pyqtSignal(object)
    """Emits a frame of shape ``(height, width, 3)``, ``uint8``."""
    said = pyqtSignal(str)
    """Emits a sentence that says why no policy plays."""

    def __init__(self, context: AppContext, policy: WatchablePolicy, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context, self.policy = context, policy
        self._operator: LiveOperator | None = None
        self._seed = 0
        self._over = False
        self._looking: asyncio.Task[None] | None = None
        self.step: int | None = None
        """Training steps of the policy version that plays; ``None`` while unknown."""
        self.load_newest()

    def end(self) -> asyncio.Task[None]:
        """End the session and delete this object; the returned task completes afterwards."""
        self._over = True
        self.blockSignals(True)
        return self._context.spawn(self._end(), "Ending the live policy")

    async def _end(self) -> None:
        if self._looking is not None:  # Not canceled, because this task may be ending a session.
            await asyncio.gather(self._looking, return_exceptions=True)
        await self._end_operator()
        self.deleteLater()  # Not earlier: its operator still reports its own end, and is deleted with it.

    async def _end_operator(self) -> None:
        operator, self._operator = self._operator, None
        if operator is not None:
            await operator.player.close()
            operator.deleteLater()

    def load_newest(self) -> None:
        """Load the newest version of the policy if it differs from the version that plays."""
        self._looking = self._context.spawn(self._look(), "Loading the policy")

    async def _look(self) -> None:
        """Start the newest version of the policy, if it is newer than the current one."""
        try:
            file = await asyncio.to_thread(read_policy_file, self.policy.folder)
        except MosaicError as error:
            self.said.emit(error.sentence)
            return
        step = None if file is None else file.steps
        if self._over or (self._operator is not None and step == self.step):
            return
        policy = self.policy
        config = operator_of(
            policy.folder, worker_id=policy.worker_id, env_id=policy.env_id, title=policy.title
        )
        await self._end_operator()
        if self._over:
            return
        operator = self._operator = LiveOperator(self._context, config, parent=self)
        operator.viewed.connect(self._on_viewed)
        operator.framed.connect(self.framed)
        operator.broke.connect(self.said)
        self.step = step
        operator.player.set_rate(_RATE)
        operator.player.start(self._seed)

    def _on_viewed(self, view: Any) -> None:
        if isinstance(view, LiveView) and self.sender() is self._operator:
            self.viewed.emit(view)
            if view.over:
                self._seed = view.seed + 1
                self.load_newest()
