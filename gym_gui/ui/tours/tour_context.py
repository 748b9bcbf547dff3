"""What is there while a tour is on: the window as it stands, and what was recorded since it began."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PyQt6.QtWidgets import QAbstractButton, QAbstractSpinBox, QLabel, QLineEdit, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.core.paths import run_folders
from gym_gui.services.presets import CONFIGURATIONS
from gym_gui.ui.widgets import InlineMessage

if TYPE_CHECKING:
    from gym_gui.core.config import OperatorConfig
    from gym_gui.core.records import EpisodeRecord
    from gym_gui.services.trainer.training_records import TrainingRecord
    from gym_gui.ui.context import AppContext

NEWEST: Final = 12
"""Run folders that are looked at: a tour makes two or three."""


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """A run of which something is new since the tour began.

    Attributes:
        path: Its folder.
        episodes: Those that have begun since then.
        files: Names of files in the folder that were written since then.
    """

    path: Path
    episodes: tuple[EpisodeRecord, ...] = ()
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Record:
    """What lies on the disk.

    Attributes:
        runs: Runs of which something is new, the newest first.
        presets: Files of configurations that were saved since the tour began.
    """

    runs: Sequence[PlayedRun] = ()
    presets: Sequence[Path] = ()


def read_record(runs: Path, data: Path, since: float) -> Record:
    """Look what was written since a moment (Unix time). Takes a while: not for the GUI thread."""
    newest = run_folders(runs)[:NEWEST]
    found = [run for folder in newest if (run := _read_run(folder, since)) is not None]
    presets = [p for p in (data / "presets").glob(f"*{CONFIGURATIONS.suffix}") if _is_new(p, since)]
    return Record(found, presets)


def _read_run(folder: Path, since: float) -> PlayedRun | None:
    from gym_gui.analysis.records.reader import open_run

    try:
        files = frozenset(entry.name for entry in os.scandir(folder) if entry.stat().st_mtime >= since)
        fresh = any(_is_new(path, since) for path in folder.glob("operators/*/episodes.jsonl*"))
        if not files and not fresh:
            return None
        run = open_run(folder)
        episodes = tuple(
            episode
            for operator in (run.operators.values() if fresh else ())
            for episode in operator.episodes()
            if _began(episode) >= since
        )
    except (OSError, MosaicError):  # the run is being written or removed
        return None
    return PlayedRun(folder, episodes, files)


def _began(episode: EpisodeRecord) -> float:
    try:
        return datetime.fromisoformat(episode.started_at or "").timestamp()
    except ValueError:
        return 0.0


def _is_new(path: Path, since: float) -> bool:
    try:
        return path.stat().st_mtime >= since
    except OSError:
        return False


@dataclass(frozen=True)
class Scene:
    """Everything that a step's sign may look at. Nothing here changes anything.

    Attributes:
        context: The window's services.
        window: The main window.
        page: The page that is shown.
        pages: Those that have been made, by name.
        since: When the tour began, Unix time.
        record: What was written since then.
    """

    context: AppContext
    window: QWidget
    page: str
    pages: Mapping[str, QWidget]
    since: float
    record: Record = field(default_factory=Record)

    def widgets(self, name: str) -> Iterator[QWidget]:
        """Widgets of that name that are shown, be it in the window or in a dialog of it."""
        return (widget for widget in self.window.findChildren(QWidget, name) if widget.isVisible())

    def widget(self, name: str) -> QWidget | None:
        """The first of them."""
        return next(self.widgets(name), None)

    def text(self, name: str) -> str:
        """What it says; empty where it is not shown."""
        widget = self.widget(name)
        if isinstance(widget, QAbstractButton | QAbstractSpinBox | QLabel | QLineEdit):
            return widget.text()
        return ""

    def value(self, name: str) -> object:
        """What is chosen in a list of that name."""
        return getattr(self.widget(name), "value", None)

    def said(self, within: str) -> list[str]:
        """Messages that are shown in something."""
        return [
            message.text
            for place in self.widgets(within)
            for message in place.findChildren(InlineMessage)
            if message.isVisible()
        ]

    @property
    def comparison(self) -> Path | None:
        """The file of the comparison that is shown on Operators, where it was saved since the tour began."""
        path = Path(str(self.context.layout.value("comparison/file", "") or ""))
        return path if path.is_file() and _is_new(path, self.since) else None

    @property
    def ready(self) -> list[OperatorConfig]:
        """Operators side by side that show their world, as they play."""
        page: Any = self.pages.get("operators")
        live = page.deck.operators if page is not None and self.page == "operators" else ()
        return [each.player.config for each in live if each.player.last_view is not None]

    @property
    def trainings(self) -> Sequence[TrainingRecord]:
        """Trainings that were started since the tour began, as the Train page knows them."""
        page: Any = self.pages.get("train")
        return [r for r in page.link.runs if r.submitted_at >= self.since] if page is not None else []
