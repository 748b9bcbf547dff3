"""Card with the current policy of a training: its newest video, or the policy playing live."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QHideEvent, QShowEvent
from PyQt6.QtWidgets import QWidget

from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.errors import MosaicError
from gym_gui.core.live import LiveView
from gym_gui.services.trainings.training_film import Film, read_film
from gym_gui.ui.context import AppContext
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.numbers import local
from gym_gui.ui.renderers import StageView, facts_in_words
from gym_gui.ui.train.policy_live import PolicyLive, WatchablePolicy
from gym_gui.ui.widgets import Card, ElidedLabel, IconButton, muted_label
from gym_gui.ui.widgets.layouts import row_layout

_LOOK = "Watch the newest policy play live"


class CurrentPolicyCard(Card):
    """Card with a video of a training's policy, or the policy playing live; both pause while hidden.

    Args:
        context: Provides theme and background tasks.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("policy-now")
        self._context = context
        self._wanted: Path | None = None
        self._film: Film | None = None
        self._at = 0
        self._why_none = ""
        self._held = False
        self._reading: asyncio.Task[None] | None = None
        self._title = ElidedLabel("Current policy, …", "strong", name="policy-now-title")
        self._title.ensurePolished()  # The title before the run's name must fit.
        self._title.setMinimumWidth(self._title.sizeHint().width())
        self._note = muted_label(name="policy-now-step")
        self._hold = IconButton("pause", "Pause the video", name="policy-now-hold", on_click=self.toggle)
        self._hold.setFixedSize(22, 22)
        self._live_button = IconButton("eye", _LOOK, name="policy-now-live", on_click=self._on_live_clicked)
        self._live_button.setCheckable(True)
        self._live_button.setFixedSize(22, 22)
        self._live_button.hide()
        self._offered: WatchablePolicy | None = None
        self._live: PolicyLive | None = None
        self._ending: set[asyncio.Task[None]] = set()
        head = row_layout()
        head.addWidget(self._title, 1)
        head.addWidget(self._hold)
        head.addWidget(self._live_button)
        self.stage = StageView(context.theme, self, overlay=False)
        self.stage.setMinimumHeight(80)
        self.dock_slot = DockSlot(self.stage, parent=self)
        self.dock_slot.seen_changed.connect(self._on_seen_changed)
        head.addWidget(self.dock_slot.button())
        self.body.addLayout(head)
        self.body.addWidget(self._note)
        self.add(self.dock_slot, 1)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_time)
        self.show_run("", None)

    @property
    def film(self) -> Film | None:
        """Video that is shown, or ``None``."""
        return self._film

    def show_run(self, title: str, file: Path | None, why_none: str = "") -> None:
        """Show the newest video of a run.

        Args:
            title: Name of the run.
            file: The newest video; ``None`` if there is none.
            why_none: Text shown if there is no video; ``""`` shows a default text.
        """
        self._title.setText(f"Current policy, {title}" if title else "Current policy")
        self.dock_slot.set_title(self._title.text())
        self._title.updateGeometry()
        if file is None:
            self._wanted = None
            self._clear(
                why_none
                or "A run records a video of its policy at intervals that the setting “Video every” sets."
            )
        elif file != self._wanted:
            self._wanted = file
            self._context.detached_windows.manage(self.dock_slot, "train")
            self._read_film(file)

    def toggle(self) -> None:
        """Pause or continue the video."""
        self._held = not self._held
        self._hold.set_icon("run" if self._held else "pause")
        words = "Continue the video" if self._held else "Pause the video"
        self._hold.setToolTip(words)
        self._hold.setAccessibleName(words)
        self._update_timer()

    # -- policy in play --------------------------------------------------------------------

    def offer(self, policy: WatchablePolicy | None) -> None:
        """Set the policy that the user can watch live; ``None`` if the run has saved no policy yet."""
        if policy == self._offered:
            return
        self._offered = policy
        self._live_button.setVisible(policy is not None)
        if policy is None:
            self._live_button.setChecked(False)
        self._update_live()

    @property
    def live(self) -> PolicyLive | None:
        """Player of the policy while it plays live, or ``None``."""
        return self._live

    def _on_live_clicked(self) -> None:
        self._update_live()

    def _update_live(self) -> None:
        """Start live play of the newest policy if the user asks for it; end a session that is not visible."""
        wanted = self._offered if self._live_button.isChecked() and self._seen else None
        if self._live is not None and self._live.policy != wanted:
            ending = self._live.end()
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            self._live = None
            self._show_film()
        if wanted is not None and self._live is None:
            self.stage.clear("Starting…", "The policy plays in its own session; the training continues.")
            self._context.detached_windows.manage(self.dock_slot, "train")
            self._live = PolicyLive(self._context, wanted, self)
            self._live.viewed.connect(self._on_live_view)
            self._live.framed.connect(self.stage.show_frame)
            self._live.said.connect(self._on_live_trouble)
        words = "Show the video again" if self._live_button.isChecked() else _LOOK
        self._live_button.setToolTip(words)
        self._live_button.setAccessibleName(words)
        self._show_note()
        self._update_timer()

    def _show_note(self, view: LiveView | None = None) -> None:
        if self._live is not None:
            step = self._live.step
            trained = "" if step is None else f"live, at step {local(step):,}"
            self._note.setText(trained)
            self._note.setToolTip("" if view is None else facts_in_words(view))
        elif self._film is None or self._film.step is None:
            self._note.setText("")
        else:
            self._note.setText(f"at step {local(self._film.step):,}")
        self.dock_slot.set_note(self._note.text())

    def _on_live_view(self, view: LiveView) -> None:
        if self.sender() is self._live:
            self.stage.show_view(view)
            self._show_note(view)

    def _on_live_trouble(self, sentence: str) -> None:
        if self.sender() is self._live:
            self.stage.clear("The policy cannot play", sentence)

    async def closed(self) -> None:
        """Stop the video and the live policy."""
        self._timer.stop()
        self.offer(None)
        await asyncio.gather(*self._ending, return_exceptions=True)
        await end_task(self._reading)

    @property
    def _seen(self) -> bool:
        """Whether the card is visible, on the page or in a detached window."""
        return (
            self.dock_slot.is_content_visible if self.dock_slot.own_window is not None else self.isVisible()
        )

    def _on_seen_changed(self) -> None:
        self._update_timer()
        self._update_live()

    def showEvent(self, a0: QShowEvent | None) -> None:
        """Continue the video or the live policy."""
        super().showEvent(a0)
        self._on_seen_changed()

    def hideEvent(self, a0: QHideEvent | None) -> None:
        """Pause the video or the live policy."""
        super().hideEvent(a0)
        self._on_seen_changed()

    # -- internal --------------------------------------------------------------------------

    def _read_film(self, file: Path) -> None:
        if self._reading is not None:
            self._reading.cancel()
        self._reading = self._context.spawn(self._load(file), "Reading the video of the policy")

    async def _load(self, file: Path) -> None:
        try:
            film = await asyncio.to_thread(read_film, file)
        except MosaicError as error:
            # Keep the previous video: a file that is just being replaced must not clear the card.
            if self._film is None and file == self._wanted:
                self._clear(error.sentence)
            return
        if file == self._wanted:
            self._film, self._at = film, 0
            self._show_note()
            self._show_frame()
            self._update_timer()

    def _clear(self, why: str) -> None:
        self._film = None
        self._timer.stop()
        self._show_note()
        self._hold.hide()
        self._why_none = why
        self._show_film()

    def _update_timer(self) -> None:
        film = self._film
        moving = film is not None and len(film.frames) > 1
        self._hold.setVisible(moving and self._live is None)
        if film is not None and moving and not self._held and self._live is None and self._seen:
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
        if self._live is None:
            self.stage.show_frame(self._film.frames[self._at])

    def _show_film(self) -> None:
        """Show the video or the reason why there is none, unless the policy plays live."""
        if self._live is None:
            self.stage.clear("No video yet", self._why_none)
            if self._film is not None:
                self._show_frame()
