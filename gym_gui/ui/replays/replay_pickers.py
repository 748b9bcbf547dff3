"""Pickers of a replay: operator, episode, and a second operator for comparison."""

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
"""Value of the second operator's picker if no second operator is chosen."""


@dataclass(frozen=True, slots=True)
class _Episodes:
    """Name, environment and recorded episodes of one operator of the run."""

    name: str
    task: str
    episodes: tuple[EpisodeRecord, ...]

    def beside(self, other: EpisodeRecord) -> EpisodeRecord | None:
        """Return the episode to compare with another operator's: same index and seed, else same seed, else
        ``None``.
        """
        same = next((e for e in self.episodes if e.episode_index == other.episode_index), None)
        if same is not None and same.seed == other.seed:
            return same
        return self.with_seed(other.seed)

    def with_seed(self, seed: int | None, repetition: int = 0) -> EpisodeRecord | None:
        """Return the completed episode with a seed, else any with it; ``repetition`` selects one of
        several.
        """
        found = [e for e in self.episodes if e.seed == seed and e.status == EpisodeStatus.COMPLETED]
        found = found or [e for e in self.episodes if e.seed == seed]
        return found[min(repetition, len(found) - 1)] if found else None


class ReplayPickers(QObject):
    """Pickers for the operators and episodes of a run; the page places their buttons in its bar.

    Args:
        parent: Qt owner.

    Attributes:
        buttons: Pickers of the operator, the episode and the second operator.
    """

    chosen = pyqtSignal(str, object, str)
    """Emits the operator, the index of its episode (``None`` for the first) and the second operator."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[str, _Episodes] = {}
        self._shown: RecordedEpisode | None = None
        self._operator = PickerButton(name="replay-operator", search_hint="Search operators")
        self._operator.setAccessibleName("Operator")
        self._episode = PickerButton(
            name="replay-episode", placeholder="Episode", search_hint="Search episodes: seed, return"
        )
        self._episode.setAccessibleName("Episode")
        self._beside = PickerButton(name="replay-beside", search_hint="Search operators")
        self._beside.setAccessibleName("Second operator")
        self._beside.setToolTip("Show another operator's episode with the same seed side by side")
        self.buttons = (self._operator, self._episode, self._beside)
        self._operator.chosen.connect(self._on_operator_chosen)
        self._episode.chosen.connect(self._on_episode_chosen)
        self._beside.chosen.connect(self._on_beside_chosen)

    async def read(self, run: Path) -> None:
        """Read the episodes of a run.

        Raises:
            MosaicError: The run cannot be read.
        """

        def read() -> dict[str, _Episodes]:
            opened = open_run(run)
            return {
                key: _Episodes(operator.name, operator.task, tuple(find_episodes(opened, key)))
                for key, operator in opened.operators.items()
            }

        self._known = await asyncio.to_thread(read)

    def with_seed(self, operator_id: str, seed: int | None, repetition: int) -> int | None:
        """Return the index of an operator's episode with a seed, or ``None``; ``repetition`` selects one
        of several.
        """
        known = self._known.get(operator_id)
        episode = known.with_seed(seed, repetition) if known is not None else None
        return episode.episode_index if episode is not None else None

    def beside(self, operator_id: str, episode: EpisodeRecord) -> int | None:
        """Return the index of an operator's episode to compare with ``episode``; ``None`` if it has none."""
        known = self._known.get(operator_id)
        other = known.beside(episode) if known is not None else None
        return other.episode_index if other is not None else None

    def show_choice(self, shown: RecordedEpisode, beside: str) -> None:
        """Show the replayed episode in the pickers, and offer the other episodes and operators.

        Args:
            shown: The replayed episode, of the run that was read.
            beside: Second operator that is shown, or :data:`NO_OPERATOR`.
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
            PickerItem(key, f"Side by side: {known.name}", reason=_why_not(known, task, episode))
            for key, known in self._known.items()
            if key != here
        ]
        self._beside.set_items([PickerItem(NO_OPERATOR, "No second operator"), *others])
        self._beside.set_value(beside)
        self._beside.setVisible(bool(others))

    def set_visible(self, visible: bool) -> None:
        """Show or hide the pickers; the third one appears only if the run has another operator."""
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
    reason = "" if e.seed is not None else "The seed is not recorded"
    return PickerItem(
        e.episode_index, f"Episode {e.episode_index}, seed {e.seed}", ", ".join(words), reason=reason
    )


def _why_not(known: _Episodes, task: str, episode: EpisodeRecord) -> str:
    if known.task != task:
        return f"Plays another environment: {known.task}"
    return "" if known.beside(episode) else f"Has not played seed {episode.seed}"
