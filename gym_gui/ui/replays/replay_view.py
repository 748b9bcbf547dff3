"""View that replays one episode, or two with the same seed side by side at a common position."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QEvent, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QImage, QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import QAbstractButton, QFrame, QLineEdit, QTextEdit, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.turn_list import TurnList
from gym_gui.ui.replays.replay_pickers import NO_OPERATOR, ReplayPickers
from gym_gui.ui.replays.replay_player import ReplayPlayer, read_episode, retire
from gym_gui.ui.replays.replay_side_panel import ReplaySidePanel
from gym_gui.ui.replays.replay_stage import ReplayStage
from gym_gui.ui.replays.transport import Transport
from gym_gui.ui.widgets import InlineMessage, focus_if_visible
from gym_gui.ui.widgets.layouts import column_layout, row_layout

_TYPING = (QLineEdit, QTextEdit, TurnList)
"""Types of widgets that handle the arrow keys themselves."""


class ReplayView(QFrame):
    """View with replays of one or two recorded episodes.

    Args:
        context: The window's services.
        parent: Qt owner.

    Attributes:
        pickers: Pickers of operator and episode, for the page's bar.
        stages: Cards of both episodes; the second is hidden if only one episode is shown.
        aside: Side panel with steps, transcript or one agent.
        transport: Controls that play the replay and move its position.
    """

    shown = pyqtSignal()
    """Emitted when another episode or no episode is shown."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("replay")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._context = context
        self._run: Path | None = None
        self._players: list[ReplayPlayer] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._opening: asyncio.Task[None] | None = None
        self.pickers = ReplayPickers(self)
        self.pickers.chosen.connect(self._on_chosen)
        self.stages = [ReplayStage(context.theme, self), ReplayStage(context.theme, self)]
        self.stages[1].hide()
        self.transport = Transport(self)
        self.transport.moved.connect(self._on_moved)
        self.aside = ReplaySidePanel(context, self)
        self.aside.position_chosen.connect(self._on_position_chosen)
        self._trouble = InlineMessage("error", "", name="replay-trouble")
        self._trouble.hide()
        self._build()
        for widget in self.findChildren(QWidget):
            widget.installEventFilter(self)

    def _build(self) -> None:
        stages = row_layout(spacing=theme.GAP)
        for stage in self.stages:
            stages.addWidget(stage, 1)
        self.stages[0].stage.overlay.set_clickable(True)
        self.stages[0].stage.overlay.agent_chosen.connect(self.aside.show_agent)
        left = column_layout(spacing=theme.GAP)
        left.addWidget(self._trouble)
        left.addLayout(stages, 1)
        left.addWidget(self.transport)
        layout = row_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        layout.addLayout(left, 1)
        layout.addWidget(self.aside)

    # -- content -----------------------------------------------------------------------

    @property
    def run(self) -> Path | None:
        """Folder of the run that contains the shown episode; ``None`` before the first."""
        return self._run

    @property
    def players(self) -> Sequence[ReplayPlayer]:
        """Replays of the shown episodes."""
        return self._players

    @property
    def current(self) -> ReplayPlayer | None:
        """Replay of the first episode, or ``None``."""
        return self._players[0] if self._players else None

    @property
    def seen_apart(self) -> bool:
        """Whether a picture is visible in a detached window."""
        return any(
            stage.dock_slot.own_window is not None and stage.dock_slot.is_content_visible
            for stage in self.stages
        )

    def image(self) -> QImage | None:
        """Return the visible picture at its original size; ``None`` without a picture."""
        return self.stages[0].stage.frame.image()

    def show_episode(
        self, run: Path, operator_id: str = "", index: int | None = None, beside: str = ""
    ) -> None:
        """Replay an episode.

        Args:
            run: The run folder.
            operator_id: The operator; by default the first that has an episode.
            index: The episode's index; by default the first that exists.
            beside: Second operator, whose episode with the same seed is shown side by side; ``""`` for none.
        """
        self._start(self._open(run, operator_id, index, beside))

    def show_seed(
        self,
        run: Path,
        operator_id: str,
        seed: int | None,
        repetition: int = 0,
        beside: str = "",
        beside_run: Path | None = None,
    ) -> None:
        """Replay an operator's episode with a given seed.

        Args:
            run: The run folder.
            operator_id: The operator.
            seed: The seed.
            repetition: Index among the operator's episodes with that seed.
            beside: Second operator, whose episode with that seed is shown side by side; ``""`` for none.
            beside_run: Run folder of the second operator, if it belongs to another run.
        """
        self._start(self._open_seed(run, operator_id, seed, repetition, beside, beside_run))

    def clear(self) -> None:
        """Stop the replay and show no episode."""
        self.transport.set_playing(False)
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None
        self._release()
        for stage in self.stages:
            self._context.detached_windows.close_empty(stage.dock_slot)
        self.aside.clear()
        self.shown.emit()

    async def close_players(self) -> None:
        """Stop the replay and wait until its processes have ended."""
        self.clear()
        await asyncio.gather(self.aside.settled(), *self._closing, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._opening is not None:
            self._opening.cancel()
        self._trouble.hide()
        self._opening = self._context.spawn(work, "Opening the replay")

    async def _open_seed(
        self,
        run: Path,
        operator_id: str,
        seed: int | None,
        repetition: int,
        beside: str,
        beside_run: Path | None,
    ) -> None:
        other: tuple[Path, str, int] | None = None
        if beside and beside_run not in (None, run):
            assert beside_run is not None
            await self.pickers.read(beside_run)
            index = self.pickers.with_seed(beside, seed, repetition)
            other, beside = (None if index is None else (beside_run, beside, index)), ""
        await self.pickers.read(run)
        index = self.pickers.with_seed(operator_id, seed, repetition)
        await self._open(run, operator_id, index, beside, other)

    def _release(self) -> None:
        players, self._players = self._players, []
        self.aside.release()
        for player in players:
            player.grown.disconnect(self._on_grown)
            task = self._context.spawn(retire(player), "Ending a replay")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _open(
        self,
        run: Path,
        operator_id: str,
        index: int | None,
        beside: str,
        of_another_run: tuple[Path, str, int] | None = None,
    ) -> None:
        try:
            await self.pickers.read(run)
            tracks = [await read_episode(run, operator_id, index)]
            other = self.pickers.beside(beside, tracks[0].recorded.episode)
            if other is not None:
                tracks.append(await read_episode(run, beside, other))
            elif of_another_run is not None:
                tracks.append(await read_episode(*of_another_run))
        except MosaicError as error:
            self._release()
            self.transport.set_extent(0, 0, complete=True)
            self._trouble.set_text(error.sentence)
            self._trouble.show()
            self.shown.emit()
            return
        self._release()
        self._run = run
        self._players = [ReplayPlayer(self._context, track, self) for track in tracks]
        self._show(run, beside if other is not None else NO_OPERATOR)
        for player in self._players:
            player.grown.connect(self._on_grown)
            player.start()
        self.shown.emit()

    def _show(self, run: Path, beside: str) -> None:
        self.pickers.show_choice(self._players[0].recorded, beside)
        for i, stage in enumerate(self.stages):
            stage.setVisible(i < len(self._players))
            if i < len(self._players):
                stage.show_player(self._players[i])
                self._context.detached_windows.manage(stage.dock_slot, f"replay/{i}")
            else:
                self._context.detached_windows.close_empty(stage.dock_slot)
        self.aside.show_players(run, self._players)
        self.transport.set_playing(False)
        # With managers, which choose between steps, a position is not a step.
        self.transport.set_unit("Decision" if any(p.track.managed for p in self._players) else "Step")
        self.transport.set_extent(max(p.last for p in self._players), 0, complete=False)
        self.transport.go(0)
        focus_if_visible(self)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Adapt the width of the side panel to the new width."""
        super().resizeEvent(a0)
        self.aside.fit_into(self.width())

    # -- moving through the episode ----------------------------------------------------

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Handle the replay's keys for all child widgets except text fields and, for Space, buttons."""
        if isinstance(a1, QKeyEvent) and a1.type() == QEvent.Type.KeyPress:
            pressed = isinstance(a0, QAbstractButton) and a1.key() == Qt.Key.Key_Space
            if not pressed and not isinstance(a0, _TYPING) and self._on_key(a1):
                return True
        return super().eventFilter(a0, a1)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Handle the keys of the playback controls."""
        if a0 is None or not self._on_key(a0):
            super().keyPressEvent(a0)

    def _on_key(self, event: QKeyEvent) -> bool:
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        return plain and bool(self._players) and self.transport.on_key(event.key())

    def _on_grown(self) -> None:
        if not self._players:
            return
        before = self.transport.scrub.loaded
        complete = all(player.at_end for player in self._players)
        longest = max(player.last for player in self._players)
        # Of two episodes the slower one counts: its missing positions would look like its end.
        waiting = [player.loaded - 1 for player in self._players if not player.at_end]
        loaded = max(min(waiting, default=longest), 0)
        self.transport.set_extent(longest, loaded, complete=complete)
        if before <= self.transport.position or complete:
            self._on_moved(self.transport.position)
        if not before:
            self.aside.know_words()

    def _on_moved(self, position: int) -> None:
        for stage, _ in zip(self.stages, self._players, strict=False):
            stage.show_position(position)
        self.aside.follow(position)
        self.transport.go(position)

    def _on_position_chosen(self, position: int) -> None:
        self.transport.set_playing(False)
        self.transport.go(position)

    def _on_chosen(self, operator_id: str, index: object, beside: str) -> None:
        if self._run is not None and self._players:
            self.show_episode(self._run, operator_id, index if isinstance(index, int) else None, beside)
