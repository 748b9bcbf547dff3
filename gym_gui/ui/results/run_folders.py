"""Additional runs folders that the Results page lists, and remembers for the next start."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject

from gym_gui.services.submissions.all_runs import folder_problem
from gym_gui.services.submissions.submission_record import is_submission
from gym_gui.ui.context import AppContext
from gym_gui.ui.results import exports
from gym_gui.ui.results.library_reader import LibraryReader
from gym_gui.ui.results.library_view import LibraryView

_OTHERS: Final = "results/folders"


class RunFolders(QObject):
    """Controller that adds and removes additional runs folders, and follows the user's own folder if it is
    moved.

    Args:
        context: Runs background tasks and shows messages about their results.
        reader: Reads the runs in the folders.
        view: The list of runs.
        show_submission: Called with a folder that turns out to be a submission.
        parent: Qt owner.
    """

    def __init__(
        self,
        context: AppContext,
        reader: LibraryReader,
        view: LibraryView,
        show_submission: Callable[[Path], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context, self._reader, self._view = context, reader, view
        self._show_submission = show_submission
        view.another_folder_requested.connect(self.ask)
        view.folder_closed.connect(self._on_closed)
        context.runs_moved.connect(self._on_runs_moved)
        if others := context.layout.value(_OTHERS, [], list):
            self._set([Path(str(folder)) for folder in others])

    def ask(self) -> None:
        """Ask the user for a folder, then list its runs."""
        title = "Choose a folder of runs, for example on a mounted disk or a cluster"
        exports.ask_folder(self._view, title, self.open)

    def open(self, folder: Path) -> None:
        """List the runs of another folder beside the user's own runs, now and at the next start."""
        self._context.spawn(self._open(folder.absolute()), "Opening a runs folder")

    async def _open(self, folder: Path) -> None:
        if await asyncio.to_thread(is_submission, folder):
            self._show_submission(folder)
            return
        beside = (self._reader.folder, *self._reader.others)
        if why := await asyncio.to_thread(folder_problem, folder, beside):
            self._context.notify(why, "warning")
            return
        self._set([*self._reader.others, folder])
        writable = await asyncio.to_thread(os.access, folder, os.W_OK)
        only = "" if writable else ". They are read-only: you have no permission to write there"
        self._context.notify(f"Runs in {folder} are in the list{only}", "ok")

    def _on_closed(self, folder: Path) -> None:
        self._set([each for each in self._reader.others if each != folder])
        undo = ("Undo", partial(self.open, folder))
        self._context.notify(
            f"Runs in {folder} are no longer in the list; their files stay in place", "info", undo
        )

    def _on_runs_moved(self) -> None:
        folder = self._context.store.runs
        if folder in self._reader.others:  # The list now shows the folder as the user's own.
            self._set([each for each in self._reader.others if each != folder])
        self._reader.move(folder)

    def _set(self, folders: Sequence[Path]) -> None:
        self._reader.set_others(folders)
        self._view.set_folders(folders)
        self._context.layout.setValue(_OTHERS, [str(folder) for folder in folders])
