"""The replay: one episode or two of one seed side by side, scrubbed together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QEvent, QObject, Qt, pyqtSignal
from PyQt6.QtGui import QImage, QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import QAbstractButton, QHBoxLayout, QLineEdit, QTextEdit, QVBoxLayout, QWidget

from gym_gui.analysis import wording
from gym_gui.analysis.reader import open_run
from gym_gui.analysis.turn import Turn
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import MosaicError
from gym_gui.core.records import EpisodeRecord
from gym_gui.services.recorded_episode import find_episodes
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.turn_list import TurnList
from gym_gui.ui.results.episode_transcript import EpisodeTranscript
from gym_gui.ui.results.replay_player import ReplayPlayer, read_episode
from gym_gui.ui.results.replay_stage import ReplayStage
from gym_gui.ui.results.step_table import StepTable
from gym_gui.ui.results.transport import Transport
from gym_gui.ui.widgets import Card, InlineMessage, PickerButton, PickerItem, SegmentedControl, take_focus

NOBODY = ""
_TABLE_WIDTH, _WIDE_TABLE, _WIDEST_TABLE = 340, 440, 560
_ROOMY = 1400
_TYPING = (QLineEdit, QTextEdit, TurnList)
"""What needs the arrow keys for itself."""


@dataclass(frozen=True, slots=True)
class _Episodes:
    """An operator's episodes, and what people call it."""

    name: str
    task: str
    episodes: tuple[EpisodeRecord, ...]

    def by_index(self, index: int) -> EpisodeRecord | None:
        return next((e for e in self.episodes if e.episode_index == index), None)

    def beside(self, other: EpisodeRecord) -> EpisodeRecord | None:
        """The episode to lay beside another operator's: same index and seed, else same seed."""
        same = self.by_index(other.episode_index)
        if same is not None and same.seed == other.seed:
            return same
        return self.with_seed(other.seed)

    def with_seed(self, seed: int | None, repetition: int = 0) -> EpisodeRecord | None:
        """The completed episode with a seed; of several, the one with that number."""
        found = [e for e in self.episodes if e.seed == seed and e.status == EpisodeStatus.COMPLETED]
        found = found or [e for e in self.episodes if e.seed == seed]
        return found[min(repetition, len(found) - 1)] if found else None


class ReplayView(QWidget):
    """Shows replays. The pickers belong into the page's bar.

    Args:
        context: What the window's parts share.
        parent: Qt owner.
    """

    shown = pyqtSignal()
    """Another episode is shown, or none."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("replay")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._context = context
        self._run: Path | None = None
        self._known: dict[str, _Episodes] = {}
        self._players: list[ReplayPlayer] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._opening: asyncio.Task[None] | None = None
        self._make_pickers()
        self.stages = [ReplayStage(context.theme, self), ReplayStage(context.theme, self)]
        self.stages[1].hide()
        self.transport = Transport(self)
        self.transport.moved.connect(self._on_moved)
        self.table = StepTable(self)
        self.table.position_chosen.connect(self._on_position_chosen)
        self._transcript = EpisodeTranscript(context.spawn, self)
        self._transcript.step_chosen.connect(self._on_step_chosen)
        self._transcript.found.connect(self._on_calls_found)
        self._trouble = InlineMessage("error", "")
        self._trouble.setObjectName("replay-trouble")
        self._trouble.hide()
        self._build()
        for widget in self.findChildren(QWidget):
            widget.installEventFilter(self)

    def _make_pickers(self) -> None:
        self.operator = PickerButton(name="replay-operator", search_hint="Search operators")
        self.operator.setAccessibleName("Whose episode")
        self.episode = PickerButton(
            name="replay-episode", placeholder="Episode", search_hint="Search episodes: seed, return"
        )
        self.episode.setAccessibleName("Episode")
        self.beside = PickerButton(name="replay-beside", search_hint="Search operators")
        self.beside.setAccessibleName("Beside it")
        self.beside.setToolTip("Show another operator's episode with the same seed beside it")
        self.operator.chosen.connect(self._on_operator_chosen)
        self.episode.chosen.connect(self._on_episode_chosen)
        self.beside.chosen.connect(self._on_beside_chosen)

    def _build(self) -> None:
        stages = QHBoxLayout()
        stages.setSpacing(theme.GAP)
        for stage in self.stages:
            stages.addWidget(stage, 1)
        left = QVBoxLayout()
        left.setSpacing(theme.GAP)
        left.addWidget(self._trouble)
        left.addLayout(stages, 1)
        left.addWidget(self.transport)
        side = self._side = Card("Steps", margin=theme.GAP)
        side.setObjectName("replay-steps")
        side.setFixedWidth(_TABLE_WIDTH)
        self.aside = SegmentedControl([("steps", "Steps"), ("transcript", "Transcript")], name="replay-aside")
        self.aside.setToolTip("What was played, or what its models were asked and answered")
        self.aside.chosen.connect(self._on_aside_chosen)
        self.aside.hide()
        side.add(self.aside)
        side.add(self.table, 1)
        side.add(self._transcript, 1)
        self._transcript.hide()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        layout.setSpacing(theme.GAP)
        layout.addLayout(left, 1)
        layout.addWidget(side)

    # -- what is shown -----------------------------------------------------------------

    @property
    def run(self) -> Path | None:
        """The run it shows an episode of."""
        return self._run

    @property
    def pickers(self) -> tuple[PickerButton, ...]:
        """What is chosen in the page's bar: whose episode, which, and what beside it."""
        return self.operator, self.episode, self.beside

    @property
    def players(self) -> Sequence[ReplayPlayer]:
        """The episodes that are shown."""
        return self._players

    @property
    def current(self) -> ReplayPlayer | None:
        """The first of them."""
        return self._players[0] if self._players else None

    def image(self) -> QImage | None:
        """The picture that is seen, as it came."""
        return self.stages[0].stage.frame.image()

    def show_episode(
        self, run: Path, operator_id: str = "", index: int | None = None, beside: str = ""
    ) -> None:
        """Play an episode again.

        Args:
            run: The run folder.
            operator_id: By default the first that has an episode.
            index: By default the first there is.
            beside: Operator whose episode with the same seed is shown beside it.
        """
        self._start(self._open(run, operator_id, index, beside))

    def show_seed(
        self, run: Path, operator_id: str, seed: int | None, repetition: int = 0, beside: str = ""
    ) -> None:
        """Play the episode with a seed again; see :meth:`show_episode`.

        Args:
            run: The run folder.
            operator_id: Whose.
            seed: Its seed.
            repetition: Which of several with that seed.
            beside: Operator whose episode with that seed is shown beside it.
        """
        self._start(self._open_seed(run, operator_id, seed, repetition, beside))

    def clear(self) -> None:
        """End what is played; nothing is shown."""
        self.transport.set_playing(False)
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None
        self._release()
        self._transcript.clear()
        self.shown.emit()

    async def close_players(self) -> None:
        """End everything, and wait for it."""
        self.clear()
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._opening is not None:
            self._opening.cancel()
        self._trouble.hide()
        self._opening = self._context.spawn(work, "Opening the replay")

    async def _open_seed(
        self, run: Path, operator_id: str, seed: int | None, repetition: int, beside: str
    ) -> None:
        await self._read_episodes(run)
        known = self._known.get(operator_id)
        episode = known.with_seed(seed, repetition) if known is not None else None
        await self._open(run, operator_id, episode.episode_index if episode is not None else None, beside)

    def _release(self) -> None:
        players, self._players = self._players, []
        for player in players:
            player.grown.disconnect(self._on_grown)
            task = self._context.spawn(_retire(player), "Ending a replay")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _open(self, run: Path, operator_id: str, index: int | None, beside: str) -> None:
        try:
            await self._read_episodes(run)
            tracks = [await read_episode(run, operator_id, index)]
            episode = tracks[0].recorded.episode
            other = self._known[beside].beside(episode) if beside in self._known else None
            if other is not None:
                tracks.append(await read_episode(run, beside, other.episode_index))
        except MosaicError as error:
            self._release()
            self.transport.set_extent(0, 0, complete=True)
            self._trouble.set_text(str(error))
            self._trouble.show()
            self.shown.emit()
            return
        self._release()
        self._run = run
        self._players = [ReplayPlayer(self._context, track, self) for track in tracks]
        self._show(beside if other is not None else NOBODY)
        for player in self._players:
            player.grown.connect(self._on_grown)
            player.start()
        self.shown.emit()

    async def _read_episodes(self, run: Path) -> None:
        """Learn which episodes the run has."""

        def read() -> dict[str, _Episodes]:
            opened = open_run(run)
            return {
                key: _Episodes(operator.name, operator.task, tuple(find_episodes(opened, key)))
                for key, operator in opened.operators.items()
            }

        self._known = await asyncio.to_thread(read)

    def _show(self, beside: str) -> None:
        player = self._players[0]
        here = player.recorded.operator_id
        self._fill_pickers(here, player.recorded.episode, beside)
        for i, stage in enumerate(self.stages):
            stage.setVisible(i < len(self._players))
            if i < len(self._players):
                stage.show_player(self._players[i])
        names = [p.recorded.name for p in self._players]
        self.table.show_players(self._players, names)
        self._fit_side()
        self._transcript.panel.view.action_words = self._action_words
        self._transcript.look(self._run, here, player.recorded.episode.episode_index)
        self.transport.set_playing(False)
        # Where managers choose between two steps, a position is not a step.
        self.transport.set_unit("Decision" if any(p.track.managed for p in self._players) else "Step")
        self.transport.set_extent(max(p.last for p in self._players), 0, complete=False)
        self.transport.go(0)
        take_focus(self)

    def _fit_side(self) -> None:
        reading = self._transcript.isVisibleTo(self)
        wanted = self.table.wanted_width + 2 * theme.GAP + 2  # and the card's edge
        wide = _WIDE_TABLE if reading else min(max(wanted, _TABLE_WIDTH), _WIDE_TABLE)
        self._side.setFixedWidth(_WIDEST_TABLE if reading and self.width() >= _ROOMY else wide)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Where there is room, what is read has more of it."""
        super().resizeEvent(a0)
        self._fit_side()

    def _on_calls_found(self, calls: int) -> None:
        """Where no model was asked, there is nothing to choose."""
        self.aside.setVisible(calls > 0)
        if self._side.heading is not None:
            self._side.heading.setVisible(not calls)  # the choice says what it shows
        if not calls:
            self.aside.set_value("steps")
            self._on_aside_chosen("steps")
        elif self._players:
            self._tell_transcript(self.transport.position)

    def _on_aside_chosen(self, which: str) -> None:
        reading = which == "transcript"
        self.table.setVisible(not reading)
        self._transcript.setVisible(reading)
        self._fit_side()
        if reading and self._players:
            self._tell_transcript(self.transport.position)

    def _tell_transcript(self, position: int) -> None:
        """The transcript stands on the decision that led to what is shown."""
        player = self.current
        if player is None or not (position < player.loaded or player.over):
            return
        start, end = player.rows_at(position)
        if start < end:
            step = player.track.steps[start]
            self._transcript.follow(step.step_index)

    def _action_words(self, turn: Turn) -> str:
        """What was played after a call, as the table of steps says it."""
        player = self.current
        rows = [] if player is None else [s for s in player.track.steps if s.step_index == turn.step]
        row = next((s for s in rows if s.agent_id == turn.agent), rows[0] if len(rows) == 1 else None)
        return str(turn.action) if player is None or row is None else player.track.words(row, player.meanings)

    def _on_step_chosen(self, step: int) -> None:
        position = self.table.steps.position_of_step(step)
        if position is not None:
            self.transport.set_playing(False)
            self.transport.go(position)

    def _fill_pickers(self, here: str, episode: EpisodeRecord, beside: str) -> None:
        operators = [PickerItem(key, known.name, detail=known.task) for key, known in self._known.items()]
        self.operator.set_items(operators)
        self.operator.set_value(here)
        self.episode.set_items([_item(e) for e in self._known[here].episodes])
        self.episode.set_value(episode.episode_index)
        task = self._known[here].task
        others = [
            PickerItem(key, f"Beside: {known.name}", reason=_why_not(known, task, episode))
            for key, known in self._known.items()
            if key != here
        ]
        self.beside.set_items([PickerItem(NOBODY, "Nothing beside it"), *others])
        self.beside.set_value(beside)
        self.beside.setVisible(bool(others))

    # -- moving ------------------------------------------------------------------------

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """The transport's keys work wherever the focus is, but in text fields and on buttons."""
        if isinstance(a1, QKeyEvent) and a1.type() == QEvent.Type.KeyPress:
            pressed = isinstance(a0, QAbstractButton) and a1.key() == Qt.Key.Key_Space
            if not pressed and not isinstance(a0, _TYPING) and self._on_key(a1):
                return True
        return super().eventFilter(a0, a1)

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """See :meth:`eventFilter`."""
        if a0 is None or not self._on_key(a0):
            super().keyPressEvent(a0)

    def _on_key(self, event: QKeyEvent) -> bool:
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        return plain and bool(self._players) and self.transport.on_key(event.key())

    def _on_grown(self) -> None:
        if not self._players:
            return
        before = self.transport.scrub.loaded
        complete = all(player.over for player in self._players)
        longest = max(player.last for player in self._players)
        # Of two, the slower one counts: what it lacks would be taken for its end.
        waiting = [player.loaded - 1 for player in self._players if not player.over]
        loaded = max(min(waiting, default=longest), 0)
        self.transport.set_extent(longest, loaded, complete=complete)
        if before <= self.transport.position or complete:
            self._on_moved(self.transport.position)
        if not before:
            self.table.steps.rows_changed()
            self._fit_side()  # numbers have become words
            self._transcript.panel.view.refresh()

    def _on_moved(self, position: int) -> None:
        for stage, _ in zip(self.stages, self._players, strict=False):
            stage.show_position(position)
        self.table.follow(position)
        if self._transcript.isVisibleTo(self):
            self._tell_transcript(position)
        self.transport.go(position)

    def _on_position_chosen(self, position: int) -> None:
        self.transport.set_playing(False)
        self.transport.go(position)

    # -- choosing ----------------------------------------------------------------------

    def _on_operator_chosen(self, value: object) -> None:
        player = self.current
        if self._run is None or player is None:
            return
        other = self._known[str(value)].beside(player.recorded.episode)
        self.show_episode(self._run, str(value), other.episode_index if other else None)

    def _on_episode_chosen(self, value: object) -> None:
        player = self.current
        if self._run is not None and player is not None and isinstance(value, int):
            self.show_episode(self._run, player.recorded.operator_id, value, str(self.beside.value or ""))

    def _on_beside_chosen(self, value: object) -> None:
        player = self.current
        if self._run is not None and player is not None:
            recorded = player.recorded
            self.show_episode(
                self._run, recorded.operator_id, recorded.episode.episode_index, str(value or "")
            )


async def _retire(player: ReplayPlayer) -> None:
    await player.close()
    player.deleteLater()


def _item(e: EpisodeRecord) -> PickerItem:
    words = [f"return {wording.number(e.total_reward)}", wording.count(e.length, "step")]
    if e.status != "completed":
        words.insert(0, str(e.status))
    reason = "" if e.seed is not None else "Its seed is not recorded"
    return PickerItem(
        e.episode_index, f"Episode {e.episode_index}, seed {e.seed}", ", ".join(words), reason=reason
    )


def _why_not(known: _Episodes, task: str, episode: EpisodeRecord) -> str:
    if known.task != task:
        return f"Plays another environment: {known.task}"
    return "" if known.beside(episode) else f"Has not played seed {episode.seed}"
