"""Saves and opens the operators that the Operators page shows side by side as an experiment file."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QFileDialog, QMenu, QWidget

from gym_gui.core.config import ExecutionConfig, Experiment
from gym_gui.core.errors import MosaicError
from gym_gui.core.run_labels import change_labels, read_labels
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.operator_table import OperatorTable
from gym_gui.services.presets import export_experiment
from gym_gui.ui.commands import Command, entry
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.recent_files import RecentFiles
from gym_gui.ui.widgets import QuietButton

HEADING: Final = "A comparison that MOSAIC wrote: when it is saved again, this file is replaced."
"""First line of each file that MOSAIC may overwrite; a file that a user wrote begins differently."""
EPISODES: Final = 10
"""Number of episodes per operator if the file gives none: one per seed, from the page's seed on."""
_FILE, _CLEAN = "comparison/file", "comparison/saved"
_UNTITLED: Final = "Untitled"
_WIDEST: Final = 24
"""Largest number of letters of a file name in the page's bar; the tool tip shows the whole path."""
_KNOWN: Final = 20
"""Number of saved operator tables that are remembered, so that undo finds the file of an earlier table."""
_FILTER: Final = "Experiments (*.yaml *.yml *.json *.py)"


class Comparison(QObject):
    """Links the operators of the Operators page to the experiment file that holds or will hold them.

    Args:
        context: The window's services.
        deck: Deck that holds the operators.
        parent: Widget whose window the file dialogs belong to.

    Attributes:
        button: Button with the name and the menu, for the page's bar.
        path: The file; ``None`` before it is saved.
    """

    opened = pyqtSignal(list, int)
    """Emits the operator configurations from a file and the first seed of its schedule."""

    def __init__(self, context: AppContext, deck: OperatorDeck, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._deck, self._window = context, deck, parent
        self._recent = RecentFiles(context.layout)
        self._execution: ExecutionConfig | None = None
        self._saved: OperatorTable | None = None
        self._known: list[tuple[OperatorTable, Path]] = []
        self._contents: dict[Path, OperatorTable] = {}
        self._begun = False
        self._run: Path | None = None
        kept = str(context.layout.value(_FILE, "") or "")
        self.path: Path | None = Path(kept) if kept else None
        self._clean_before = bool(context.layout.value(_CLEAN, False, type=bool))
        self._menu = QMenu(parent)
        self._menu.setObjectName("comparison-menu")
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.button = QuietButton(_UNTITLED, menu=self._menu, name="comparison", spare_icon="file")
        self.button.setToolTip("Not saved yet. Save, open or duplicate the comparison")
        deck.changed.connect(self.refresh)
        deck.run_changed.connect(self._on_run_changed)

    @property
    def name(self) -> str:
        """Name of the comparison: the file name without suffix, or ``Untitled``."""
        return self.path.stem if self.path is not None else _UNTITLED

    @property
    def changed(self) -> bool:
        """Whether the operators differ from those saved in the file."""
        return self.path is not None and self._deck.table != self._saved

    def begin(self) -> None:
        """Start tracking unsaved changes, after the operators of the last session are restored."""
        if self._begun:
            return
        self._begun = True
        if self.path is not None and self._clean_before:
            self._saved = self._contents[self.path] = self._deck.table
        self.refresh()

    def forget(self) -> None:
        """Forget the comparison's file, because other operators have replaced those of the file."""
        self._execution = None
        self._set_path(None, None)

    def refresh(self) -> None:
        """Show the comparison's name, and a dot if it has unsaved changes."""
        if not self._begun:
            return
        table = self._deck.table
        if table != self._saved:
            known = next((path for each, path in reversed(self._known) if each == table), self.path)
            if known is not None and known != self.path:  # Undo has restored the operators of this file.
                self.path, self._saved = known, self._contents[known]
                self._context.layout.setValue(_FILE, str(known))
        short = self.name if len(self.name) <= _WIDEST else f"{self.name[: _WIDEST - 1]}…"
        words = f"{short}{' •' if self.changed else ''}"
        if self.button.text() != words:
            self.button.set_text(words)
            self.button.setToolTip(f"{self.path or 'Not saved yet'}. Save, open or duplicate the comparison")
            spoken = f"Comparison {self.name}{', changed since it was saved' if self.changed else ''}"
            self.button.setAccessibleName(spoken)
        if self._clean_before != (clean := self.path is not None and not self.changed):
            self._clean_before = clean
            self._context.layout.setValue(_CLEAN, clean)

    def _set_path(self, path: Path | None, table: OperatorTable | None) -> None:
        self.path, self._saved = path, table
        if path is not None and table is not None:
            self._known = [*self._known[-_KNOWN:], (table, path)]
            self._contents[path] = table
        self._context.layout.setValue(_FILE, str(path or ""))
        self.refresh()

    # -- runs of the comparison --------------------------------------------------------

    def _on_run_changed(self) -> None:
        run = self._deck.recording
        if run is not None and run.folder is not None and self.path is not None and run.folder != self._run:
            self._run = run.folder
            self._context.spawn(
                add_run_to_group(run.folder, self.path), f"Adding {run.folder.name} to the group {self.name}"
            )

    def show_runs(self) -> None:
        """Show all recorded runs of the comparison on the Results page, both manual and script runs."""
        self._context.go("results", find=f'group:"{self.name}"')

    # -- the menu ----------------------------------------------------------------------

    def _fill(self) -> None:
        self._menu.clear()
        for old in self._menu.findChildren(QMenu):
            old.deleteLater()
        self._entry("file.new")
        self._entry("operators.side_by_side")
        recent = QMenu("Open recent", self._menu)
        recent.setObjectName("comparison-recent")
        for file in self._recent.files():
            action = recent.addAction(file.name, partial(self.open, file))
            if action is not None:
                action.setToolTip(str(file))
        recent.setEnabled(not recent.isEmpty())
        self._menu.addMenu(recent)
        self._menu.addSeparator()
        self._entry("operators.save", "Save")
        self._entry("operators.save_as", "Save as…")
        self._entry("operators.copy", "Duplicate")
        self._menu.addSeparator()
        whole = self._entry("operators.whole", "Run as a script")
        whole.setToolTip("Play all episodes on all cores, without pictures; save the comparison first")
        tournament_run = self._entry("operators.tournament", "Hold a tournament…")
        tournament_run.setToolTip("Let the policies of these operators play each other, and rate them")
        runs = self._entry("operators.its_runs", "Runs of this comparison")
        runs.setToolTip("Show the recorded runs of this comparison on the Results page")

    def _entry(self, command: str, text: str = "") -> QAction:
        action = entry(self._context.commands, command, self._menu, text)
        self._menu.addAction(action)
        return action

    def commands(self) -> list[Command]:
        """Return the commands of the comparison's menu."""
        some, saved, clean = self._has_operators, self._has_file, self._is_clean
        return [
            Command("operators.save", "Save comparison", self.save, "Ctrl+S", "File", "save", some),
            Command(
                "operators.save_as",
                "Save comparison as…",
                self.ask_save,
                "Ctrl+Shift+S",
                "File",
                "save",
                some,
            ),
            Command("operators.copy", "Duplicate the comparison", self.duplicate, enabled=saved),
            Command("operators.side_by_side", "Open side by side…", self.ask_open, "", "File", "open"),
            Command("operators.whole", "Run the comparison as a script", self.run_as_script, enabled=clean),
            Command("operators.its_runs", "Runs of this comparison", self.show_runs, enabled=saved),
        ]

    def _has_operators(self) -> bool:
        return bool(self._deck.operators)

    def _has_file(self) -> bool:
        return self.path is not None

    def _is_clean(self) -> bool:
        return self.path is not None and not self.changed

    # -- saving ------------------------------------------------------------------------

    def save(self) -> None:
        """Write the comparison to its file; ask for a file if it has none or if a user wrote the file."""
        if self.path is None or not _is_ours(self.path):
            self.ask_save()
        else:
            self.save_to(str(self.path))

    def ask_save(self) -> None:
        """Ask for a file and write the comparison to it."""
        if not self._deck.operators:
            return
        dialog = self._dialog("Save the comparison", "comparison-save-dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter("Experiments (*.yaml)")
        dialog.setDefaultSuffix("yaml")
        dialog.selectFile(f"{'comparison' if self.path is None else self.path.stem}.yaml")
        dialog.fileSelected.connect(self.save_to)
        dialog.open()

    def save_to(self, written: str) -> None:
        """Write the comparison as an experiment file.

        Args:
            written: Path of the file; it becomes the comparison's file.
        """
        path = Path(written if Path(written).suffix in (".yaml", ".yml") else f"{written}.yaml").absolute()
        table = self._deck.table
        try:
            export_experiment(path, *table.operators, execution=self._execution_of(table), heading=HEADING)
        except MosaicError as error:
            self._context.notify(error.sentence, "error")
            return
        self._recent.add(path)
        self._set_path(path, table)
        self._context.notify(f"Saved as {path}", "ok")

    def _execution_of(self, table: OperatorTable) -> ExecutionConfig:
        """Return the settings for episodes and seeds to save, with the page's seed as first seed."""
        before = self._execution or self._written()
        if before is None:
            return ExecutionConfig(EPISODES, seeds=table.seed)
        return before if before.seeds[0] == table.seed else replace(before, seeds=table.seed)

    def _written(self) -> ExecutionConfig | None:
        """Read the settings for episodes and seeds from the comparison's file.

        They are lost when the window restarts. Returns ``None`` if the file is missing, cannot be read or was
        not written by MOSAIC.
        """
        if self.path is None or not self.path.is_file() or not _is_ours(self.path):
            return None
        try:
            return load_experiment(self.path, allow_code=False).execution
        except MosaicError:
            return None

    def duplicate(self) -> None:
        """Detach the operators from their file, so that the next save asks for a new file."""
        table = self._deck.table
        self._known = [(each, path) for each, path in self._known if each != table]
        self._set_path(None, None)
        self._context.notify("The comparison is detached from its file. Save asks for a new file")

    def run_as_script(self) -> None:
        """Open the comparison's file in script mode, which plays all its episodes."""
        if self.path is not None:
            self._context.go("operators", script=self.path)

    # -- opening -----------------------------------------------------------------------

    def ask_open(self) -> None:
        """Ask for an experiment file and show its operators side by side."""
        dialog = self._dialog("Open an experiment side by side", "comparison-open-dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(_FILTER)
        dialog.fileSelected.connect(lambda path: self.open(Path(path)))
        dialog.open()

    def open(self, path: Path) -> None:
        """Show the operators of an experiment file side by side."""
        self._context.spawn(self._open(path), f"Opening {path.name}")

    async def _open(self, path: Path) -> None:
        try:
            # Loading creates the environments in which a matrix assigns policies to slots.
            experiment: Experiment = await asyncio.to_thread(load_experiment, path, allow_code=False)
        except MosaicError as error:
            script = partial(self._context.go, "operators", script=path)
            self._context.notify(error.sentence, "warning", ("Open as a script", script))
            return
        before = self._deck.table
        self.opened.emit(list(experiment.operators), experiment.execution.seeds[0])
        if self._deck.table == before and before.ids != tuple(o.operator_id for o in experiment.operators):
            return  # Not all operators fit on the page; a message is already shown.
        self._execution = experiment.execution
        self._recent.add(path.absolute())
        self._set_path(path.absolute(), self._deck.table)

    def _dialog(self, title: str, name: str) -> QFileDialog:
        dialog = QFileDialog(self._window.window(), title)
        dialog.setObjectName(name)
        folder = self.path.parent if self.path is not None else self._context.layout.value("files/last", "")
        if folder:
            dialog.setDirectory(str(folder))
        dialog.finished.connect(dialog.deleteLater)
        return dialog


async def add_run_to_group(folder: Path, comparison: Path) -> None:
    """Put a run into the group named after a comparison, unless it is in a group already.

    Args:
        folder: Folder of the run.
        comparison: File of the comparison; nothing happens if MOSAIC did not write this file.

    Raises:
        LabelsError: The run's labels cannot be read or written.
    """
    await asyncio.to_thread(_keep_run, folder, comparison)


def _keep_run(folder: Path, comparison: Path) -> None:
    if comparison.is_file() and _is_ours(comparison) and not read_labels(folder).group:
        change_labels(folder, {"group": comparison.stem})


def _is_ours(path: Path) -> bool:
    """Return whether MOSAIC may write a file: it has written the file before, or the file does not exist."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().strip() == f"# {HEADING}"
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError):
        return False
