"""Results page: the list of runs, the results of a run, and its replays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from PyQt6.QtWidgets import QStackedWidget, QWidget

from gym_gui.services.runs.run_library import RunEntry
from gym_gui.services.submissions.submission_record import is_submission
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.page import Page
from gym_gui.ui.results import exports
from gym_gui.ui.results.jobs import JobStrip
from gym_gui.ui.results.label_edits import LabelEdits
from gym_gui.ui.results.library_reader import LibraryReader
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.results.run_controller import RunController
from gym_gui.ui.results.run_details import RunDetails
from gym_gui.ui.results.run_file_actions import RunFileActions
from gym_gui.ui.results.run_folders import RunFolders
from gym_gui.ui.results.selected_runs import SelectedRuns
from gym_gui.ui.results.submissions.submission_controller import SubmissionController
from gym_gui.ui.results.undo_history import RunHistory
from gym_gui.ui.widgets import IconButton, QuietButton, focus_if_visible
from gym_gui.ui.widgets.layouts import column_layout

_DETAILS: Final = "results/details"


class ResultsPage(Page):
    """Page that shows the list of runs, the results of runs, a replay or a submission."""

    name: ClassVar[str] = "results"
    title: ClassVar[str] = "Results"
    icon: ClassVar[str] = "results"

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.reader = LibraryReader(context.spawn, context.store.runs, self, context.store.cache / "runs")
        self.reader.grown.connect(self._on_grown)
        self.reader.read.connect(self._on_read)
        self._views = QStackedWidget(self.body)
        self._library = LibraryView(self._views)
        self._views.addWidget(self._library)
        self._jobs = JobStrip(context)
        self._jobs.run_wanted.connect(self._on_run_wanted)
        self.history = RunHistory(context.spawn, self)
        self._back = IconButton("left", "Go back (Alt+Left)", name="results-back", on_click=self.go_back)
        self.bar.add(self._back)
        self.run_controller = RunController(
            self, self._jobs, self._views, self.reader, show=self._show, show_run=self.show_run
        )
        self.submissions = SubmissionController(context, self._jobs, self._views, self.show_run, self)
        for controller in (self.run_controller, self.submissions):
            controller.changed.connect(self._update_bar)
        self._make_list()
        self._fill_bar()
        layout = column_layout(self.body, spacing=0)
        layout.addWidget(self._jobs)
        layout.addWidget(self._views, 1)
        self.folders = RunFolders(context, self.reader, self._library, self.show_run, self)
        self.show_library()

    def _make_list(self) -> None:
        labels = LabelEdits(self.context, self.reader, self.history, self)
        forget, show = self.run_controller.reading.forget, self.show_library
        care = RunFileActions(self.context, self.reader, self._jobs, self.history, show=show, removed=forget)
        self._selected = SelectedRuns(
            self.context,
            self._library,
            care,
            labels,
            show_run=self.show_run,
            compare_runs=self.compare_runs,
            parent=self,
        )
        self._details = RunDetails()
        inspector = self.use_inspector()
        inspector.add(self._details)
        inspector.hide()
        self._library.labeled.connect(labels.change)
        self._details.changed.connect(labels.change)
        self._details.tags_changed.connect(labels.retag)
        self._library.selection_changed.connect(self._on_selection_changed)
        self._library.first_run_requested.connect(self._on_first_run_requested)

    def _fill_bar(self) -> None:
        self._show_details = IconButton(
            "info", "Show or hide details (Ctrl+I)", name="results-details", on_click=self._on_details_clicked
        )
        self._show_details.setCheckable(True)
        self._show_details.setChecked(self.context.layout.value(_DETAILS, True, bool))
        tip = "Open the run's folder in the file manager"
        self._folder = QuietButton(
            "Open folder", name="results-folder", tooltip=tip, on_click=self.show_folder
        )
        tip = "Play the remaining episodes of the run on the Operators page"
        self._resume = QuietButton("Resume", name="results-resume", tooltip=tip, on_click=self.resume_run)
        for button in (
            self._show_details,
            self._folder,
            self._selected.compress_button,
            self._selected.remove_button,
            self._selected.compare_button,
            self._resume,
            self._selected.open_button,
            *self.run_controller.buttons,
            *self.submissions.buttons,
        ):
            self.bar.add_action(button)

    # -- methods that the window calls -------------------------------------------------

    def opened(self, **request: object) -> None:
        """Show the list (``find=`` filters it), a run (``run=``) or a replay (``replay=``)."""
        self.reader.watch(True)
        self._library.set_reading(not self.reader.complete)
        run, replay = request.get("run"), request.get("replay")
        if isinstance(replay, tuple):
            folder, operator, index = replay
            self.run_controller.show_runs([Path(folder)])
            self.run_controller.show_replay(Path(folder), str(operator), int(index))
        elif run is not None:
            self.show_run(Path(str(run)))
        elif (find := request.get("find")) is not None:
            self.show_library()
            self._library.find_runs(str(find))
        else:
            self.submissions.read_again()
            self._update_bar()
            if (played := self.run_controller.played) is not None and played.players:
                focus_if_visible(played)  # Its keys control the replay.

    def left(self) -> None:
        """Emit unfinished edits, and stop reading runs and playing replays while the page is hidden."""
        self._details.finish()
        self.reader.watch(False)
        self.run_controller.rest()
        self.submissions.rest()

    async def closed(self) -> None:
        """End all replays and jobs of the page."""
        self.left()
        await self._jobs.closed()
        await self.run_controller.closed()

    def commands(self) -> list[Command]:
        """Return the commands of the page, grouped as in the menus."""
        history = self.history
        rename, star, open_run, compare, compress, decompress, trash, merge = self._selected.commands(
            lambda: self._in_list
        )
        replay, apart, verify, report, *exported = self.run_controller.commands()
        return [
            Command("results.undo", "Undo", history.undo, "Ctrl+Z", "File", "undo", lambda: history.can_undo),
            Command(
                "results.redo", "Redo", history.redo, "Ctrl+Shift+Z", "File", "redo", lambda: history.can_redo
            ),
            *(rename, star, open_run, compare),
            Command("results.details", "Details of the run", self.toggle_details, "Ctrl+I", icon="info"),
            Command("results.find", "Search runs", self._on_find, "Ctrl+F", icon="search"),
            Command("results.back", "Back to the list of runs", self.go_back, "Alt+Left", icon="left"),
            *(replay, apart),
            Command("results.resume", "Resume the run", self.resume_run, "", "Run", "run", self._can_resume),
            *(verify, report, compress, decompress, trash),
            Command("results.other_folder", "Open another runs folder…", self.folders.ask),
            *exported,
            Command(
                "results.folder", "Open the run's folder", self.show_folder, "", "File", "open", self._has_any
            ),
            merge,
            *self.submissions.commands(),
        ]

    @property
    def _in_list(self) -> bool:
        return self._views.currentWidget() is self._library

    @property
    def _unfinished(self) -> RunEntry | None:
        """Shown or selected run if it can be resumed, else ``None``."""
        if self._in_list:
            return self._selected.unfinished
        found = self.run_controller.reading.entry
        return found if found is not None and found.can_go_on and not self.submissions.shown else None

    def _can_resume(self) -> bool:
        return self._unfinished is not None

    def _has_any(self) -> bool:
        return self.run_controller.shown or self.submissions.shown or self._library.current is not None

    # -- navigation ----------------------------------------------------------------------

    def show_library(self) -> None:
        """Show the list of runs."""
        self.run_controller.end_replay()
        self._show(self._library)

    def show_run(self, run: Path) -> None:
        """Show the results of a run, or the progress of a submission."""
        if is_submission(run):
            self.run_controller.end_replay()
            self.submissions.show_submission(run)
            self._show(self.submissions.view)
        else:
            self.compare_runs([run])

    def compare_runs(self, runs: Sequence[Path]) -> None:
        """Show the results of one or several runs together, on the seeds that they share."""
        self.run_controller.end_replay()
        self.run_controller.show_runs(runs)
        self._show(self.run_controller.comparison)
        self.run_controller.reading.read()

    def go_back(self) -> None:
        """Return from a replay to the results of its run, or from the results to the list of runs."""
        if self.run_controller.played is not None and (runs := self.run_controller.reading.runs):
            self.compare_runs(runs)
        else:
            self.show_library()

    def resume_run(self) -> None:
        """Resume the shown or selected run on the Operators page."""
        if (run := self._unfinished) is not None:
            self.context.go("operators", resume=run)

    def show_folder(self) -> None:
        """Open the folder of the shown or selected run in the file manager."""
        if self._in_list:
            self._selected.show_folder()
        elif (
            folder := self.submissions.folder if self.submissions.shown else self.run_controller.reading.run
        ) is not None:
            exports.show_folder(folder)

    def _show(self, view: QWidget) -> None:
        self._views.setCurrentWidget(view)
        if not self.submissions.shown:
            self.submissions.rest()
        self._update_bar()

    def _update_bar(self) -> None:
        in_list, controller = self._in_list, self.submissions
        self._back.setVisible(not in_list)
        self._selected.show_buttons(in_list)
        self._folder.setVisible(in_list or controller.shown)
        self._folder.setEnabled(controller.shown or self._library.current is not None)
        self._resume.setVisible(self._can_resume() and self.run_controller.played is None)
        self.run_controller.show_buttons()
        controller.show_buttons()
        if in_list:
            self._jobs.show_about(self.reader.folder, "Runs")
        elif controller.shown:
            self._jobs.show_about(controller.folder, controller.title)
        else:
            self._jobs.show_about(self.run_controller.reading.run, self.run_controller.title)
        self._show_details.setVisible(in_list)
        assert self.inspector is not None
        self.inspector.setVisible(in_list and self._show_details.isChecked() and bool(self._library.selected))

    def _on_run_wanted(self, run: object) -> None:
        if run == self.reader.folder:
            self.show_library()
            self.context.go("results")
        else:
            self.context.go("results", run=run)

    # -- the list ------------------------------------------------------------------------

    def toggle_details(self) -> None:
        """Show or hide the details of the selected runs in the inspector."""
        self._show_details.click()

    def _on_details_clicked(self) -> None:
        self.context.layout.setValue(_DETAILS, self._show_details.isChecked())
        self._update_bar()

    def _on_selection_changed(self) -> None:
        self._details.show_runs(self._library.selected)
        self._update_bar()

    def _on_grown(self, runs: object) -> None:
        assert isinstance(runs, list)
        self._library.set_runs(runs)

    def _on_read(self, runs: object) -> None:
        assert isinstance(runs, list)
        self._library.set_reading(False)
        self._library.set_runs(runs)
        self.run_controller.listed(runs)

    def _on_first_run_requested(self) -> None:
        self.context.go("operators")

    def _on_find(self) -> None:
        self.show_library()
        self._library.focus_search()
