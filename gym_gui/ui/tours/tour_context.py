"""Context that conditions of tour steps check: the window's state, and files written since the tour began."""

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
"""Number of newest run folders to check; a tour creates two or three."""


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """Run with episodes or files that are newer than the start of the tour.

    Attributes:
        path: Run folder.
        episodes: Episodes that began after the tour.
        files: Names of files in the folder that were written after the tour began.
    """

    path: Path
    episodes: tuple[EpisodeRecord, ...] = ()
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Record:
    """Runs and presets written since the tour began.

    Attributes:
        runs: Runs with new episodes or files, newest first.
        presets: Configuration files saved since the tour began.
    """

    runs: Sequence[PlayedRun] = ()
    presets: Sequence[Path] = ()


def read_record(runs: Path, data: Path, since: float) -> Record:
    """Return runs and presets written since a Unix time; slow, so it must not run in the GUI thread."""
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
    """Read-only state that conditions of tour steps check.

    Attributes:
        context: The window's services.
        window: The main window.
        page: Name of the page that is shown.
        pages: Pages created so far, by name.
        since: Unix time at which the tour began.
        record: Runs and presets written since then.
    """

    context: AppContext
    window: QWidget
    page: str
    pages: Mapping[str, QWidget]
    since: float
    record: Record = field(default_factory=Record)

    def widgets(self, name: str) -> Iterator[QWidget]:
        """Return the visible widgets with an object name, in the window or in its dialogs."""
        return (widget for widget in self.window.findChildren(QWidget, name) if widget.isVisible())

    def widget(self, name: str) -> QWidget | None:
        """Return the first visible widget with an object name; ``None`` if there is none."""
        return next(self.widgets(name), None)

    def text(self, name: str) -> str:
        """Return the text of a widget; ``""`` if the widget is not visible."""
        widget = self.widget(name)
        if isinstance(widget, QAbstractButton | QAbstractSpinBox | QLabel | QLineEdit):
            return widget.text()
        return ""

    def value(self, name: str) -> object:
        """Return the value of a visible widget, such as the choice in a picker; ``None`` if it has none."""
        return getattr(self.widget(name), "value", None)

    def message_texts(self, within: str) -> list[str]:
        """Return the texts of messages that are visible inside the named widgets."""
        return [
            message.text
            for place in self.widgets(within)
            for message in place.findChildren(InlineMessage)
            if message.isVisible()
        ]

    @property
    def comparison(self) -> Path | None:
        """File of the comparison on the Operators page if it was saved since the tour began, else
        ``None``.
        """
        path = Path(str(self.context.layout.value("comparison/file", "") or ""))
        return path if path.is_file() and _is_new(path, self.since) else None

    @property
    def ready(self) -> list[OperatorConfig]:
        """Configurations of the operators on the Operators page that show a first view; empty on other
        pages.
        """
        page: Any = self.pages.get("operators")
        live = page.deck.operators if page is not None and self.page == "operators" else ()
        return [each.player.config for each in live if each.player.last_view is not None]

    @property
    def trainings(self) -> Sequence[TrainingRecord]:
        """Trainings started since the tour began, as listed on the Train page."""
        page: Any = self.pages.get("train")
        return [r for r in page.link.runs if r.submitted_at >= self.since] if page is not None else []
