"""A comparison is an experiment file: what stands side by side has a name, and is saved and opened."""

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
"""First line of files that MOSAIC may overwrite; a file that a user wrote has another and is kept."""
EPISODES: Final = 10
"""Of each operator, where the file says nothing else: one per seed from the page's on."""
_FILE, _CLEAN = "comparison/file", "comparison/saved"
_UNTITLED: Final = "Untitled"
_WIDEST: Final = 24
"""Letters of a name in the bar; the tooltip has the whole path."""
_KNOWN: Final = 20
"""Tables of which the file is known again, when undo brings them back."""
_FILTER: Final = "Experiments (*.yaml *.yml *.json *.py)"


class Comparison(QObject):
    """The file that the operators side by side are, or will be.

    Args:
        context: The window's services.
        deck: The operators.
        parent: Whose dialogs these are.

    Attributes:
        button: Name and menu, for the page's bar.
        path: The file; ``None`` before it is saved.
    """

    opened = pyqtSignal(list, int)
    """Configurations, and the seed that they begin with."""

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
        self.button.setToolTip("Not saved yet: save, open, duplicate")
        deck.changed.connect(self.refresh)
        deck.run_changed.connect(self._on_run_changed)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.stem if self.path is not None else _UNTITLED

    @property
    def changed(self) -> bool:
        """Whether it differs from its file."""
        return self.path is not None and self._deck.table != self._saved

    def begin(self) -> None:
        """The operators of the last time are back, if there were any; from now on changes are seen."""
        if self._begun:
            return
        self._begun = True
        if self.path is not None and self._clean_before:
            self._saved = self._contents[self.path] = self._deck.table
        self.refresh()

    def forget(self) -> None:
        """Others stand in the place of what was here: a comparison without a file."""
        self._execution = None
        self._set_path(None, None)

    def refresh(self) -> None:
        """Say which it is, and whether it was changed."""
        if not self._begun:
            return
        table = self._deck.table
        if table != self._saved:
            known = next((path for each, path in reversed(self._known) if each == table), self.path)
            if known is not None and known != self.path:  # undo has brought it back
                self.path, self._saved = known, self._contents[known]
                self._context.layout.setValue(_FILE, str(known))
        short = self.name if len(self.name) <= _WIDEST else f"{self.name[: _WIDEST - 1]}…"
        words = f"{short}{' •' if self.changed else ''}"
        if self.button.text() != words:
            self.button.set_text(words)
            self.button.setToolTip(f"{self.path or 'Not saved yet'}: save, open, duplicate")
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

    # -- its runs ----------------------------------------------------------------------

    def _on_run_changed(self) -> None:
        run = self._deck.recording
        if run is not None and run.folder is not None and self.path is not None and run.folder != self._run:
            self._run = run.folder
            self._context.spawn(
                keep_run(run.folder, self.path), f"Keeping {run.folder.name} with {self.name}"
            )

    def show_runs(self) -> None:
        """Show what was recorded of it, by hand and as a script."""
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
        whole = self._entry("operators.whole", "Run it as a script")
        whole.setToolTip("All its episodes, on all cores, without pictures; it has to be saved")
        tournament_run = self._entry("operators.tournament", "Hold a tournament…")
        tournament_run.setToolTip("Everybody who plays here against everybody, rated")
        runs = self._entry("operators.its_runs", "Its runs")
        runs.setToolTip("What was recorded of it, by hand and as a script, in the list of runs")

    def _entry(self, command: str, text: str = "") -> QAction:
        action = entry(self._context.commands, command, self._menu, text)
        self._menu.addAction(action)
        return action

    def commands(self) -> list[Command]:
        """What its menu has."""
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
        """Write the comparison to its file; asks for a file where there is none or a user wrote it."""
        if self.path is None or not _is_ours(self.path):
            self.ask_save()
        else:
            self.save_to(str(self.path))

    def ask_save(self) -> None:
        """Ask for a file, and write it."""
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
        """Write it as an experiment.

        Args:
            written: The file; it becomes the comparison's.
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
        """What its file said of episodes and seeds, from the page's seed on."""
        before = self._execution or self._written()
        if before is None:
            return ExecutionConfig(EPISODES, seeds=table.seed)
        return before if before.seeds[0] == table.seed else replace(before, seeds=table.seed)

    def _written(self) -> ExecutionConfig | None:
        """What stands in its file, which is not known after a restart; ``None`` where it is not ours."""
        if self.path is None or not self.path.is_file() or not _is_ours(self.path):
            return None
        try:
            return load_experiment(self.path, allow_code=False).execution
        except MosaicError:
            return None

    def duplicate(self) -> None:
        """The same operators, as a comparison that has no file yet."""
        table = self._deck.table
        self._known = [(each, path) for each, path in self._known if each != table]
        self._set_path(None, None)
        self._context.notify("A copy without a file: Save asks where to")

    def run_as_script(self) -> None:
        """All its episodes, from the file."""
        if self.path is not None:
            self._context.go("operators", script=self.path)

    # -- opening -----------------------------------------------------------------------

    def ask_open(self) -> None:
        """Ask for a file, and show its operators side by side."""
        dialog = self._dialog("Open an experiment side by side", "comparison-open-dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(_FILTER)
        dialog.fileSelected.connect(lambda path: self.open(Path(path)))
        dialog.open()

    def open(self, path: Path) -> None:
        """Show a file's operators side by side."""
        self._context.spawn(self._open(path), f"Opening {path.name}")

    async def _open(self, path: Path) -> None:
        try:
            # Where a matrix sits, its environments are made for it.
            experiment: Experiment = await asyncio.to_thread(load_experiment, path, allow_code=False)
        except MosaicError as error:
            script = partial(self._context.go, "operators", script=path)
            self._context.notify(error.sentence, "warning", ("Open it as a script", script))
            return
        before = self._deck.table
        self.opened.emit(list(experiment.operators), experiment.execution.seeds[0])
        if self._deck.table == before and before.ids != tuple(o.operator_id for o in experiment.operators):
            return  # there was no room; it has been said
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


async def keep_run(folder: Path, comparison: Path) -> None:
    """Put a run into the group that has a comparison's name, unless it is in one.

    Args:
        folder: The run's.
        comparison: The file; nothing happens where it is no comparison of the window's.

    Raises:
        LabelsError: The run's labels cannot be read or written.
    """
    await asyncio.to_thread(_keep_run, folder, comparison)


def _keep_run(folder: Path, comparison: Path) -> None:
    if comparison.is_file() and _is_ours(comparison) and not read_labels(folder).group:
        change_labels(folder, {"group": comparison.stem})


def _is_ours(path: Path) -> bool:
    """Whether a file is one that may be written over: ours, or not there any more."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().strip() == f"# {HEADING}"
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError):
        return False
