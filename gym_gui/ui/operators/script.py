"""Script mode of the Operators page: reads an experiment file, shows its plan, runs it, shows progress."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFileDialog, QWidget

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.operators.script_card import ScriptCard
from gym_gui.ui.operators.script_executor import ExecutorChoice
from gym_gui.ui.operators.script_file import ScriptFile
from gym_gui.ui.operators.script_play import ScriptPlay
from gym_gui.ui.operators.script_start import ScriptStart
from gym_gui.ui.operators.script_work import ScriptWork
from gym_gui.ui.widgets import PageBar, PrimaryButton, QuietButton
from gym_gui.ui.widgets.layouts import column_layout

FILTER: Final = "Experiments and tournaments (*.py *.yaml *.yml *.json);;All files (*)"


class ScriptExperimentWidget(QWidget):
    """Opens, reads, runs, stops and resumes one experiment file at a time.

    Args:
        context: The window's services.
        catalog: Describes environments.
        bar: The page's bar, which gets the buttons.
        parent: Qt owner.

    Attributes:
        card: Card with the file's plan and progress.
        work: The background task in progress, and its message.
        file: The open file.
        play: The run of the open file.
    """

    def __init__(
        self, context: AppContext, catalog: CatalogCache, bar: PageBar, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("script-experiment")
        self._context = context
        column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        self.work = ScriptWork(context, column, self)
        self.card = ScriptCard(self)
        self.file = ScriptFile(context, catalog, self.card, self.work, self._is_running, self)
        self.where = ExecutorChoice(context, self)
        self.play = ScriptPlay(context, self.file, self.card, self.work, self.where, self)
        self.empty = ScriptStart(self.file.recent, self.choose_file, self)
        self.empty.chosen.connect(self.file.open)
        self.empty.failed.connect(self._on_not_written)
        column.addWidget(self.empty, 1)
        column.addWidget(self.card, 1)
        self._build_actions(bar)
        self.work.changed.connect(self._show)
        self.where.executor_changed.connect(self._show)
        self._show()

    def _build_actions(self, bar: PageBar) -> None:
        self._open_button = QuietButton(
            "Open…",
            icon_name="open",
            name="script-open",
            tooltip="Open an experiment or tournament file (Ctrl+O)",
            on_click=self.choose_file,
        )
        self._results_button = QuietButton(
            "Results",
            icon_name="results",
            name="script-results",
            tooltip="Compare the operators of this run",
            on_click=self.play.show_results,
        )
        self._run_button = PrimaryButton(
            "Run", icon_name="run", name="script-run", tooltip="Play all episodes", on_click=self.play.toggle
        )
        self._edit_button = QuietButton(
            "Edit",
            icon_name="file",
            name="script-edit",
            tooltip="Open the file in the editor",
            on_click=self.file.edit,
        )
        self._actions = (
            self._edit_button,
            self._open_button,
            self._results_button,
            self.where,
            self._run_button,
        )
        for button in self._actions:
            bar.add_action(button)
        self._shown = True

    def set_shown(self, shown: bool) -> None:
        """Show the buttons of script mode in the page's bar, or hide them."""
        self._shown = shown
        if shown:
            self.where.search()
        self._show()

    def choose_file(self) -> None:
        """Ask for a file and open it."""
        dialog = QFileDialog(self.window(), "Open an experiment or a tournament")
        dialog.setObjectName("script-dialog")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(FILTER)
        if self.file.path is not None:
            dialog.setDirectory(str(self.file.path.parent))
        dialog.fileSelected.connect(self._on_file)
        dialog.open()

    def _is_running(self) -> bool:
        return self.play.running

    def _on_file(self, path: str) -> None:
        self.file.open(Path(path))

    def _on_not_written(self, sentence: str) -> None:
        self._context.notify(sentence, "error")

    def _show(self) -> None:
        file, play, busy = self.file, self.play, self.work.busy
        self.empty.setVisible(file.path is None)
        self.card.setVisible(file.path is not None)
        self.card.show_path(file.path, file.name)
        if play.submitting:
            self._run_button.set_text("Cancel", "stop")
        elif play.running:
            self._run_button.set_text("Stopping…" if play.stopping else "Stop", "stop")
        elif play.resumable:
            self._run_button.set_text("Resume", "run")
        else:
            self._run_button.set_text("Run again" if play.finished else "Run", "run")
        playable = file.plan is not None and file.plan.playable
        if file.plan is not None and file.plan.run is not None:
            playable = playable and play.resumable
        ready = not play.stopping if play.running else playable and not busy
        self._run_button.setEnabled(ready or play.submitting)
        self.where.setEnabled(not play.running and not busy and not play.resumable)
        self._open_button.setEnabled(not play.running)
        self._edit_button.setEnabled(file.path is not None and file.path.is_file())
        self._results_button.setEnabled(play.folder is not None)
        for button in self._actions:
            button.setVisible(self._shown and (button is self._open_button or file.path is not None))
