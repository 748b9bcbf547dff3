"""What is replayed is chosen here: whose episode, which, and what stands beside it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.analysis.records.reader import open_run
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.records import EpisodeRecord
from gym_gui.services.runs.recorded_episode import RecordedEpisode, find_episodes
from gym_gui.ui.numbers import count, number
from gym_gui.ui.widgets import PickerButton, PickerItem

NO_OPERATOR: Final = ""
"""The operator beside an episode where none is chosen."""


@dataclass(frozen=True, slots=True)
class _Episodes:
    """An operator's episodes, and what people call it."""

    name: str
    task: str
    episodes: tuple[EpisodeRecord, ...]

    def beside(self, other: EpisodeRecord) -> EpisodeRecord | None:
        """The episode to lay beside another operator's: same index and seed, else same seed."""
        same = next((e for e in self.episodes if e.episode_index == other.episode_index), None)
        if same is not None and same.seed == other.seed:
            return same
        return self.with_seed(other.seed)

    def with_seed(self, seed: int | None, repetition: int = 0) -> EpisodeRecord | None:
        """The completed episode with a seed; of several, the one with that number."""
        found = [e for e in self.episodes if e.seed == seed and e.status == EpisodeStatus.COMPLETED]
        found = found or [e for e in self.episodes if e.seed == seed]
        return found[min(repetition, len(found) - 1)] if found else None


class ReplayPickers(QObject):
    """Knows the episodes of a run. Its buttons belong into the page's bar.

    Args:
        parent: Qt owner.

    Attributes:
        buttons: Whose episode, which, and what beside it.
    """

    chosen = pyqtSignal(str, object, str)
    """An operator, the index of its episode (``None``: its first), and who stands beside it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[str, _Episodes] = {}
        self._shown: RecordedEpisode | None = None
        self._operator = PickerButton(name="replay-operator", search_hint="Search operators")
        self._operator.setAccessibleName("Whose episode")
        self._episode = PickerButton(
            name="replay-episode", placeholder="Episode", search_hint="Search episodes: seed, return"
        )
        self._episode.setAccessibleName("Episode")
        self._beside = PickerButton(name="replay-beside", search_hint="Search operators")
        self._beside.setAccessibleName("Beside it")
        self._beside.setToolTip("Show another operator's episode with the same seed beside it")
        self.buttons = (self._operator, self._episode, self._beside)
        self._operator.chosen.connect(self._on_operator_chosen)
        self._episode.chosen.connect(self._on_episode_chosen)
        self._beside.chosen.connect(self._on_beside_chosen)

    async def read(self, run: Path) -> None:
        """Learn which episodes a run has.

        Raises:
            MosaicError: It cannot be read.
        """

        def read() -> dict[str, _Episodes]:
            opened = open_run(run)
            return {
                key: _Episodes(operator.name, operator.task, tuple(find_episodes(opened, key)))
                for key, operator in opened.operators.items()
            }

        self._known = await asyncio.to_thread(read)

    def with_seed(self, operator_id: str, seed: int | None, repetition: int) -> int | None:
        """Index of an operator's episode with a seed; of several, the one with that number."""
        known = self._known.get(operator_id)
        episode = known.with_seed(seed, repetition) if known is not None else None
        return episode.episode_index if episode is not None else None

    def beside(self, operator_id: str, episode: EpisodeRecord) -> int | None:
        """Index of the episode of an operator that is laid beside another's, where it has one."""
        known = self._known.get(operator_id)
        other = known.beside(episode) if known is not None else None
        return other.episode_index if other is not None else None

    def show_choice(self, shown: RecordedEpisode, beside: str) -> None:
        """Say what is replayed, and offer what else can be.

        Args:
            shown: The episode, of the run that was read.
            beside: Who stands beside it.
        """
        self._shown = shown
        here, episode = shown.operator_id, shown.episode
        operators = [PickerItem(key, known.name, detail=known.task) for key, known in self._known.items()]
        self._operator.set_items(operators)
        self._operator.set_value(here)
        self._episode.set_items([_item(e) for e in self._known[here].episodes])
        self._episode.set_value(episode.episode_index)
        task = self._known[here].task
        others = [
            PickerItem(key, f"Beside: {known.name}", reason=_why_not(known, task, episode))
            for key, known in self._known.items()
            if key != here
        ]
        self._beside.set_items([PickerItem(NO_OPERATOR, "Nothing beside it"), *others])
        self._beside.set_value(beside)
        self._beside.setVisible(bool(others))

    def set_visible(self, visible: bool) -> None:
        """Show or hide the buttons; the one beside shows only if the run has another operator."""
        for button in (self._operator, self._episode):
            button.setVisible(visible)
        self._beside.setVisible(visible and len(self._beside.items) > 1)

    def _on_operator_chosen(self, value: object) -> None:
        if self._shown is not None:
            self.chosen.emit(str(value), self.beside(str(value), self._shown.episode), NO_OPERATOR)

    def _on_episode_chosen(self, value: object) -> None:
        if self._shown is not None and isinstance(value, int):
            self.chosen.emit(self._shown.operator_id, value, str(self._beside.value or NO_OPERATOR))

    def _on_beside_chosen(self, value: object) -> None:
        if self._shown is not None:
            here = self._shown
            self.chosen.emit(here.operator_id, here.episode.episode_index, str(value or NO_OPERATOR))


def _item(e: EpisodeRecord) -> PickerItem:
    words = [f"return {number(e.total_reward)}", count(e.length, "step")]
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
