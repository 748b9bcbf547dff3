"""A panel that shows the first frame of the episode with a seed."""

from __future__ import annotations

import asyncio
from typing import Any

from PyQt6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from gym_gui.controllers.setup.environment_probe import Preview
from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.errors import MosaicError
from gym_gui.ui import theme
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.context import AppContext
from gym_gui.ui.renderers import FrameView, TextView
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets import Card, LinkButton, SeedBox

_WAIT_MS = 150


class PreviewPanel(Card):
    """Shows the first frame of an episode, drawn in another process; draws only the newest seed.

    Args:
        context: Provides theme and background tasks.
        model: The edited configuration.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, model: ConfigurationModel, parent: QWidget | None = None) -> None:
        super().__init__("Preview", margin=theme.PAGE, parent=parent)
        self.setObjectName("preview_panel")
        self.setAccessibleName("Preview of the seed")
        self._context, self._model = context, model
        self._task: asyncio.Task[Any] | None = None
        self._drawn: object = None
        self._cancel = LinkButton("Cancel", name="cancel_preview", on_click=model.cancel_requests)
        self._cancel.hide()
        self.seed = SeedBox(42)
        self.seed.seed_changed.connect(self._on_seed_changed)
        self.add_to_heading(self._cancel)
        self.add_to_heading(self.seed)
        self.frame, self.text = FrameView(context.theme, self), TextView(context.theme, self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.frame)
        self._stack.addWidget(self.text)
        self._stack.setMinimumHeight(200)
        self._stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.add(self._stack, 1)
        self._due = single_shot_timer(self, _WAIT_MS, self._draw)
        model.sheet_changed.connect(self._on_sheet_changed)
        self._show_hint("No environment yet", "Choose an environment above.")

    @property
    def drawing(self) -> bool:
        """Whether a preview is being drawn or is about to be."""
        return self._due.isActive() or self._task is not None

    async def close_down(self) -> None:
        """Cancel the drawing and wait until it has ended."""
        self._due.stop()
        task, self._task = self._task, None
        await end_task(task)

    def _on_seed_changed(self, _seed: int) -> None:
        if self._model.env_info is not None:
            self._due.start()

    def _on_sheet_changed(self) -> None:
        self._due.stop()
        if self._model.env_info is None:
            self._drawn = None
            task = self._model.draft.task
            self._show_hint(
                f"Reading {task}…" if task else "No environment yet",
                "" if task else "Choose an environment above.",
            )
        elif self._wanted() != self._drawn:
            self._due.start()

    def _wanted(self) -> object:
        # Policies do not change the first frame, and managers are not part of it.
        request = self._model.draft.request()
        return request.task, request.env_name, request.api, str(request.env_kwargs), self.seed.seed

    def _draw(self) -> None:
        if self._task is None and self._model.env_info is not None:
            self._task = self._context.spawn(self._draw_newest(), "Drawing the preview")

    async def _draw_newest(self) -> None:
        """Draw previews until the newest request is drawn, because the seed can change while drawing."""
        try:
            self._cancel.show()
            while self._model.env_info is not None and (wanted := self._wanted()) != self._drawn:
                self._drawn = wanted
                try:
                    preview = await self._model.preview(self.seed.seed)
                except MosaicError as error:
                    self._show_hint("No preview", error.sentence)
                    break
                if wanted == self._wanted():
                    self._show(preview)
        finally:
            self._task = None
            self._cancel.hide()

    def _show(self, preview: Preview) -> None:
        if preview.picture is not None:
            self._stack.setCurrentWidget(self.frame)
            self.frame.show_frame(preview.picture)
        elif preview.text:
            self._stack.setCurrentWidget(self.text)
            self.text.show_text(preview.text)
        else:
            self._show_hint("This environment draws nothing", "The environment can still be played.")

    def _show_hint(self, title: str, text: str) -> None:
        self._stack.setCurrentWidget(self.frame)
        self.frame.clear()
        self.frame.set_hint(title, text)
