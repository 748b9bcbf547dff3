"""A menu button that chooses where an experiment file is played: in the window or by an executor."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Final

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QFileDialog, QMenu, QWidget

from gym_gui.services.submissions.available_executors import REACHES, available_executors
from gym_gui.services.subprocess_job import run_subprocess_job
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import QuietButton

_WORDS: Final = {
    "": ("This window", "Plays in this window, and stops when it closes"),
    "local": ("This machine", "Plays shards in processes that continue when the window closes"),
    "ssh": ("My hosts", "Plays shards over ssh on the hosts in Settings, Hosts…"),
    "slurm": ("Slurm", "Plays shards as jobs of the Slurm cluster"),
    "ray": ("Ray", "Plays shards as tasks of the Ray cluster"),
}
"""Label and tool tip of each executor by its name; the empty name stands for this window."""


class ExecutorChoice(QuietButton):
    """Shows where **Run** plays a file, and lets the user choose an available executor.

    Args:
        context: Runs background tasks.
        parent: Qt owner.
    """

    executor_changed = pyqtSignal()

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        self._menu = QMenu(parent)
        self._menu.setObjectName("script-executor-menu")
        self._menu.setToolTipsVisible(True)
        super().__init__(_WORDS[""][0], menu=self._menu, name="script-executor")
        self._context = context
        self.executor, self.profile = "", None
        self._available: tuple[str, ...] = ()
        self._menu.aboutToShow.connect(self._fill)
        self._show()

    executor: str
    """Name of the chosen executor; empty for this window."""
    profile: Path | None
    """Profile file with the executor's hosts or with the resources of its jobs; ``None`` without a file."""

    def search(self) -> None:
        """Search for available executors in the background."""
        self._context.spawn(self._look(), "Looking for executors")

    async def _look(self) -> None:
        self._available = await asyncio.to_thread(available_executors)
        if self.executor and self.executor not in self._available:
            self.choose("")

    def choose(self, executor: str, profile: Path | None = None) -> None:
        """Choose the executor that plays files from now on.

        Args:
            executor: Name of the executor; empty for this window.
            profile: Profile file with hosts or with the resources of jobs.
        """
        self.executor, self.profile = executor, profile
        self._show()
        self.executor_changed.emit()

    def _show(self) -> None:
        name, about = _WORDS[self.executor]
        with_file = f", with the profile {self.profile.name}" if self.profile is not None else ""
        self.set_text(name)
        self.setAccessibleName(f"Played by: {name}")
        self.setToolTip(f"{about}{with_file}")

    def _fill(self) -> None:
        self._menu.clear()
        for executor in ("", *self._available):
            name, about = _WORDS[executor]
            action = QAction(name, self._menu)
            action.setObjectName(f"script-executor-{executor or 'window'}")
            action.setToolTip(about)
            action.setCheckable(True)
            action.setChecked(executor == self.executor)
            action.triggered.connect(partial(self._on_chosen, executor))
            self._menu.addAction(action)
        if self.executor:
            self._menu.addSeparator()
            words = "Another profile file…" if self.profile is not None else "With a profile file…"
            action = QAction(words, self._menu)
            action.setObjectName("script-executor-profile")
            action.setToolTip("Choose a YAML file of hosts or job resources, as for mosaic run --profile")
            action.triggered.connect(self._ask_profile)
            self._menu.addAction(action)

    def _on_chosen(self, executor: str, _checked: bool = False) -> None:
        self.choose(executor)

    def _ask_profile(self) -> None:
        dialog = QFileDialog(self.window(), "Choose a profile of the executor")
        dialog.setObjectName("script-profile-dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter("Profiles (*.yaml *.yml *.json);;All files (*)")
        dialog.fileSelected.connect(self._on_profile)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_profile(self, path: str) -> None:
        self.choose(self.executor, Path(path))


async def submit(file: Path, choice: ExecutorChoice, out: Path, *, tournament: bool = False) -> Path:
    """Submit an experiment or tournament file to an executor.

    The executor's processes play the shards and outlive the window.

    Args:
      file: The experiment or tournament file.
      choice: Holds the executor and the profile file.
      out: Folder in which the run folder is created.
      tournament: Whether the file is a tournament.

    Returns:
      The folder of the submission.

    Raises:
      UsageError: The executor cannot play the file; the message says why in one line.
    """
    profile = () if choice.profile is None else ("--profile", str(choice.profile.absolute()))
    command = "tournament" if tournament else "run"
    asked = (command, str(file.absolute()), "--executor", choice.executor, *profile)
    more = ("--out", str(out), "--detach", "--json")
    finished = await run_subprocess_job("gym_gui", *asked, *more, named=REACHES)
    return Path(finished.json()["submission"])
