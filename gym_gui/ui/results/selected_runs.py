"""Actions on the selected runs of the list, for buttons, menu, keys and commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PyQt6.QtCore import QObject, QPoint, Qt
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu

from gym_gui.services.runs.run_library import RunEntry
from gym_gui.ui.commands import COMMAND, Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.results import exports
from gym_gui.ui.results.label_edits import LabelEdits
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.results.run_file_actions import RunFileActions
from gym_gui.ui.widgets import PrimaryButton, QuietButton


class SelectedRuns(QObject):
    """Controller of the actions on selected runs; its buttons belong in the page's bar.

    Args:
        context: Shows messages about actions that are impossible.
        view: The list of runs.
        care: Compresses, merges and deletes runs.
        labels: Writes labels.
        show_run: Called to show the results of a run.
        compare_runs: Called to show the results of several runs together.
        parent: Qt owner.
    """

    def __init__(
        self,
        context: AppContext,
        view: LibraryView,
        care: RunFileActions,
        labels: LabelEdits,
        *,
        show_run: Callable[[Path], object],
        compare_runs: Callable[[Sequence[Path]], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context, self._view, self._care, self._labels = context, view, care, labels
        self._show_run, self._compare_runs = show_run, compare_runs
        view.opened.connect(self.open)
        view.removal_requested.connect(self.remove)
        view.table.customContextMenuRequested.connect(self._on_menu_requested)
        tip = "Compress the recorded steps and episodes of the selected runs to about a twelfth of their size"
        self.compress_button = QuietButton(
            "Compress", name="results-compress", tooltip=tip, on_click=self.compress
        )
        tip = "Move the selected runs to the trash (Delete); Undo restores them"
        self.remove_button = QuietButton("Delete", name="results-delete", tooltip=tip, on_click=self.remove)
        tip = "Compare the selected runs side by side on the seeds that they share"
        self.compare_button = PrimaryButton(
            "Compare", name="results-compare", tooltip=tip, on_click=self.compare
        )
        tip = "Show the results of the selected run (Enter)"
        self.open_button = PrimaryButton("Open", name="results-open", tooltip=tip, on_click=self.open)

    @property
    def unfinished(self) -> RunEntry | None:
        """Selected run if it is the only selection and can be resumed, else ``None``."""
        runs = self._view.selected
        return runs[0] if len(runs) == 1 and runs[0].can_go_on else None

    def show_buttons(self, in_list: bool) -> None:
        """Show and enable the buttons if the list of runs is visible; hide them otherwise."""
        several = len(self._view.selected) > 1
        for button in (self.compress_button, self.remove_button):
            button.setVisible(in_list)
            button.setEnabled(self._view.current is not None)
        self.open_button.setVisible(in_list and not several)
        self.open_button.setEnabled(self._view.current is not None)
        self.compare_button.setVisible(in_list and several)

    def commands(self, shown: Callable[[], bool]) -> list[Command]:
        """Return the commands: rename, star, open, compare, compress, decompress, delete and merge.

        Args:
            shown: Returns whether the list of runs is visible.
        """

        def some() -> bool:
            return shown() and bool(self._view.selected)

        def several() -> bool:
            return shown() and len(self._view.selected) > 1

        def parts() -> bool:
            return shown() and bool(self._parts)

        asked = (
            ("rename", "Rename the run", self._view.rename_current, "F2", "", "", some),
            ("star", "Star the selected runs", self.star, "Ctrl+D", "", "star", some),
            ("open", "Open the run", self.open, "", "", "", some),
            ("compare", "Compare the selected runs", self.compare, "", "", "results", several),
            ("compress", "Compress the selected runs", self.compress, "", "File", "file", some),
            ("decompress", "Decompress the selected runs", self.decompress, "", "", "", some),
            ("trash", "Move the selected runs to the trash", self.remove, "", "", "remove", some),
            ("merge", "Merge the selected parts", self.merge, "", "Run", "", parts),
        )
        return [
            Command(f"results.{name}", title, run, keys, menu, icon, can)
            for name, title, run, keys, menu, icon, can in asked
        ]

    def _on_menu_requested(self, place: QPoint) -> None:
        if not self._view.select_at(place):
            return
        menu = QMenu(self._view.table)
        menu.setObjectName("run-menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        several = len(self._view.selected) > 1
        entries = (
            ("compare", "Compare", self.compare) if several else ("open", "Open", self.open),
            *([("resume", "Resume", self.resume)] if self.unfinished is not None else []),
            *([] if several else [("rename", "Rename", self._view.rename_current)]),
            ("star", "Add or remove star", self.star),
            ("folder", "Open folder", self.show_folder),
            *([("merge", "Merge the parts", self.merge)] if self._parts else []),
            ("compress", "Compress", self.compress),
            ("decompress", "Decompress", self.decompress),
            ("trash", "Move to trash", self.remove),
        )
        for name, text, slot in entries:
            action = QAction(text, menu)
            action.setObjectName(f"run-menu-{name}")
            action.setProperty(COMMAND, f"results.{name}")
            action.triggered.connect(slot)
            menu.addAction(action)
        port = self._view.table.viewport()
        assert port is not None
        menu.popup(port.mapToGlobal(place))

    # -- actions -----------------------------------------------------------------------

    def open(self) -> None:
        """Show the results of the current run."""
        if (run := self._view.current) is not None:
            self._show_run(run.path)

    def compare(self) -> None:
        """Compare the selected runs in reverse order of the list, thus oldest first if the newest is on
        top.
        """
        runs = self._view.selected
        if len(runs) > 1 and any(run.submission for run in runs):
            words = "Merge the shards of a submission into a run before you compare it"
            self._context.notify(words, "info")
        elif len(runs) > 1:
            self._compare_runs([run.path for run in reversed(runs)])

    def resume(self) -> None:
        """Resume the selected unfinished run on the Operators page."""
        if (run := self.unfinished) is not None:
            self._context.go("operators", resume=run)

    def star(self) -> None:
        """Star the selected runs; if all of them are starred, remove the stars."""
        if runs := self._view.selected:
            self._labels.change(runs, {"star": not all(run.labels.star for run in runs)})

    @property
    def _parts(self) -> list[RunEntry]:
        """Selected runs if all of them are parts (shards) of an experiment, else an empty list."""
        runs = self._view.selected
        return runs if all(run.shard is not None for run in runs) else []

    def merge(self) -> None:
        """Merge the selected parts of an experiment into one run."""
        if parts := self._parts:
            self._care.merge(parts, self._show_run)

    def compress(self) -> None:
        """Compress the recorded steps and episodes of the selected runs."""
        if runs := self._view.selected:
            self._care.pack(runs, False)

    def decompress(self) -> None:
        """Decompress the recorded steps and episodes of the selected runs."""
        if runs := self._view.selected:
            self._care.pack(runs, True)

    def remove(self) -> None:
        """Move the selected runs to the trash."""
        if runs := self._view.selected:
            self._care.remove(runs)

    def show_folder(self) -> None:
        """Open the folder of the current run in the file manager."""
        if (run := self._view.current) is not None:
            exports.show_folder(run.path)
