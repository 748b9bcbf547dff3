"""The policy of a run as it plays now: the newest film that its training wrote, over and over."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QHideEvent, QShowEvent
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.services.training_film import Film, read_film
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import local
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.widgets import Card, ElidedLabel, IconButton, muted_label


class PolicyNow(Card):
    """Card with a film; it rests while nobody sees it.

    Args:
        context: Theme, and work in the background.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("policy-now")
        self._context = context
        self._wanted: Path | None = None
        self._film: Film | None = None
        self._at = 0
        self._held = False
        self._reading: asyncio.Task[None] | None = None
        self._title = ElidedLabel("Policy now", "strong")
        self._title.setObjectName("policy-now-title")
        self._note = muted_label()
        self._note.setObjectName("policy-now-step")
        self._hold = IconButton("pause", "Hold the film", name="policy-now-hold", on_click=self.toggle)
        self._hold.setFixedSize(22, 22)
        head = QHBoxLayout()
        head.setSpacing(theme.ROW)
        head.addWidget(self._title, 1)
        head.addWidget(self._note)
        head.addWidget(self._hold)
        self.body.addLayout(head)
        self._view = FrameView(context.theme)
        self._view.setMinimumHeight(80)
        self.add(self._view, 1)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_time)
        self.show_run("", None)

    @property
    def film(self) -> Film | None:
        """What is shown."""
        return self._film

    def show_run(self, title: str, file: Path | None, why_none: str = "") -> None:
        """Show a run's film.

        Args:
            title: The run's.
            file: The newest film; ``None`` while there is none.
            why_none: Said instead of it.
        """
        self._title.setText(f"Policy now, {title}" if title else "Policy now")
        self._title.updateGeometry()
        if file is None:
            self._wanted = None
            self._clear(
                why_none or "A run films its policy every so many steps: “Video every”, in its settings."
            )
        elif file != self._wanted:
            self._wanted = file
            self._read_film(file)

    def toggle(self) -> None:
        """Hold the film, or let it go on."""
        self._held = not self._held
        self._hold.set_icon("run" if self._held else "pause")
        words = "Let the film go on" if self._held else "Hold the film"
        self._hold.setToolTip(words)
        self._hold.setAccessibleName(words)
        self._tend()

    async def closed(self) -> None:
        """Show nothing any more."""
        self._timer.stop()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Play."""
        super().showEvent(a0)
        self._tend()

    def hideEvent(self, a0: QHideEvent | None) -> None:
        """Rest."""
        super().hideEvent(a0)
        self._timer.stop()

    # -- inside --------------------------------------------------------------------------

    def _read_film(self, file: Path) -> None:
        if self._reading is not None:
            self._reading.cancel()
        self._reading = self._context.spawn(self._load(file), "Reading the film of the policy")

    async def _load(self, file: Path) -> None:
        try:
            film = await asyncio.to_thread(read_film, file)
        except MosaicError as error:
            # The film before stays: a file that is being replaced is no reason for a black card.
            if self._film is None and file == self._wanted:
                self._clear(str(error))
            return
        if file == self._wanted:
            self._film, self._at = film, 0
            self._note.setText("" if film.step is None else f"at step {local(film.step):,}")
            self._show_frame()
            self._tend()

    def _clear(self, why: str) -> None:
        self._film = None
        self._timer.stop()
        self._note.setText("")
        self._hold.hide()
        self._view.clear()
        self._view.set_hint("No film yet", why)

    def _tend(self) -> None:
        film = self._film
        moving = film is not None and len(film.frames) > 1
        self._hold.setVisible(moving)
        if film is not None and moving and not self._held and self.isVisible():
            self._timer.start(max(round(1000 / film.fps), 16))
        else:
            self._timer.stop()

    def _on_time(self) -> None:
        film = self._film
        if film is not None:
            self._at = (self._at + 1) % len(film.frames)
            self._show_frame()

    def _show_frame(self) -> None:
        assert self._film is not None
        self._view.show_frame(self._film.frames[self._at])
