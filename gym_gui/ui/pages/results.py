"""Results: the runs there are, what one of them says, and its episodes again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from PyQt6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gym_gui.analysis.findings.summary import Failure, OperatorSummary, Summary
from gym_gui.analysis.words.wording import moment
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.services.submissions.run_shelves import why_no_shelf
from gym_gui.services.submissions.submission_record import is_submission
from gym_gui.ui.apart import Berth
from gym_gui.ui.commands import Command, commands_of
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import local
from gym_gui.ui.page import Page
from gym_gui.ui.replays.replay_view import ReplayView
from gym_gui.ui.results import exports
from gym_gui.ui.results.comparison_view import ComparisonView, PairChosen
from gym_gui.ui.results.export_menu import ExportMenu
from gym_gui.ui.results.history import RunHistory
from gym_gui.ui.results.jobs import JobStrip
from gym_gui.ui.results.label_edits import LabelEdits
from gym_gui.ui.results.library_reader import LibraryReader
from gym_gui.ui.results.library_view import LibraryView
from gym_gui.ui.results.run_care import RunCare
from gym_gui.ui.results.run_details import RunDetails
from gym_gui.ui.results.run_reading import RunReading
from gym_gui.ui.results.submissions.submission_desk import SubmissionDesk
from gym_gui.ui.widgets import IconButton, PickerButton, PickerItem, PrimaryButton, QuietButton, take_focus

_DETAILS: Final = "results/details"
_OTHERS: Final = "results/folders"
RECENT: Final = 300
"""Runs in the picker of the bar; the list has all of them."""


class ResultsPage(Page):
    """See the module. Four views in one place: the list, a run, a replay, a submission."""

    name: ClassVar[str] = "results"
    title: ClassVar[str] = "Results"
    icon: ClassVar[str] = "results"

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self._reading = RunReading(context.spawn, self._shows_run, self)
        self.reader = LibraryReader(context.spawn, context.store.runs, self, context.store.cache / "runs")
        self.reader.grown.connect(self._on_grown)
        self.reader.read.connect(self._on_read)
        context.runs_moved.connect(self._on_runs_moved)
        self._views = QStackedWidget(self.body)
        self._library = LibraryView(self._views)
        self._views.addWidget(self._library)
        self._comparison: ComparisonView | None = None
        self._replay: ReplayView | None = None
        self._jobs = JobStrip(context)
        self.desk = SubmissionDesk(context, self._jobs, self._views, self.show_run, self)
        self.desk.changed.connect(self._tell_bar)
        self.history = RunHistory(context.spawn, self)
        self.labels = LabelEdits(context, self.reader, self.history, self)
        self._details = RunDetails()
        inspector = self.use_inspector()
        inspector.add(self._details)
        inspector.hide()
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._jobs)
        layout.addWidget(self._views, 1)
        self._fill_bar()
        self._connect()
        if others := self.context.layout.value(_OTHERS, [], list):
            self._set_others([Path(str(folder)) for folder in others])
        self.show_library()

    def _fill_bar(self) -> None:
        add, act = self.bar.add, self.bar.add_action
        self._back = IconButton("left", "Back (Alt+Left)", name="results-back", on_click=self.go_back)
        self._run_picker = PickerButton(
            name="results-run", placeholder="Choose a run", search_hint="Search the newest runs"
        )
        self._run_picker.setAccessibleName("Run")
        self._run_picker.chosen.connect(self._on_run_picked)
        add(self._back)
        add(self._run_picker)
        self.folder = QuietButton("Open folder", name="results-folder", on_click=self.show_folder)
        self.folder.setToolTip("Open the run's folder in the file manager")
        self.compress = QuietButton(
            "Compress", name="results-compress", on_click=self._library.compress_selected
        )
        self.compress.setToolTip(
            "Have the rows of steps and episodes of the selected runs take a twelfth of the room"
        )
        self.remove = QuietButton("Delete", name="results-delete", on_click=self._library.remove_current)
        self.remove.setToolTip("Move the selected runs to the trash (Delete). They can be had back")
        self._compare = PrimaryButton(
            "Compare", name="results-compare", on_click=self._library.compare_selected
        )
        self._compare.setToolTip("See the selected runs side by side, on the seeds that they share")
        self._show_details = IconButton(
            "info", "Details (Ctrl+I)", name="results-details", on_click=self._on_details_clicked
        )
        self._show_details.setCheckable(True)
        self._show_details.setChecked(self.context.layout.value(_DETAILS, True, bool))
        self.open = PrimaryButton("Open", name="results-open", on_click=self._library.open_current)
        self.open.setToolTip("See what the selected run says (Enter)")
        self.resume = QuietButton("Resume", name="results-resume", on_click=self.resume_run)
        self.resume.setToolTip("Play what is left of the run, on the Operators page")
        self._watch = QuietButton("Replay", name="results-replay", on_click=self.replay_current)
        self._watch.setToolTip("See the selected operator's episodes again, step by step")
        self._verify = QuietButton("Verify", name="results-verify", on_click=self.verify_run)
        self._verify.setToolTip("Play every recorded action again and compare every step")
        self._exports = ExportMenu(self, self._made_comparison, self._made_replay, self._jobs)
        self._export = QuietButton("Export", menu=self._exports, name="results-export")
        self._export.setToolTip("Tables, pictures, a video")
        self._report = PrimaryButton("Report", name="results-report", on_click=self.write_report)
        self._report.setToolTip("Write report.html into the run's folder and open it")
        for button in (
            self._show_details,
            self.folder,
            self.compress,
            self.remove,
            self._compare,
            self.resume,
            self.open,
            self._watch,
            self._verify,
            self._export,
            self._report,
            *self.desk.buttons,
        ):
            act(button)

    def _connect(self) -> None:
        self._reading.begun.connect(self._on_reading_begun)
        self._reading.made.connect(self._on_analysis_made)
        self._reading.refused.connect(self._on_reading_refused)
        self._reading.named.connect(self._fill_run_picker)
        self._library.opened.connect(self.show_run)
        self._care = RunCare(
            self.context,
            self.reader,
            self._jobs,
            self.history,
            show=self.show_library,
            removed=self._on_runs_removed,
        )
        self._library.removal_requested.connect(self._care.remove)
        self._library.packing_requested.connect(self._care.pack)
        self._library.merge_requested.connect(self._on_merge_requested)
        self._library.resume_requested.connect(self._on_resume_requested)
        self._library.folder_requested.connect(exports.show_folder)
        self._library.selection_changed.connect(self._on_selection_changed)
        self._library.labelled.connect(self.labels.change)
        self._library.another_folder_requested.connect(self._on_another_folder)
        self._library.folder_closed.connect(self._on_folder_closed)
        self._library.comparison_requested.connect(self._on_comparison_requested)
        self._details.changed.connect(self.labels.change)
        self._details.tags_changed.connect(self.labels.retag)
        self._jobs.run_wanted.connect(self._on_run_wanted)
        self._library.first_run_requested.connect(self._on_first_run_requested)

    # -- views that are made when they are first wanted ------------------------------------

    @property
    def comparison(self) -> ComparisonView:
        """What a run says."""
        if self._comparison is None:
            view = self._comparison = ComparisonView(self.context.theme, self._views)
            self._views.addWidget(view)
            self.bar.add(view.task)
            view.pair_chosen.connect(self._on_pair_chosen)
            view.operator_chosen.connect(self._on_operator_chosen)
            view.failure_chosen.connect(self._on_failure_chosen)
        return self._comparison

    @property
    def replay(self) -> ReplayView:
        """An episode again."""
        if self._replay is None:
            view = self._replay = ReplayView(self.context, self._views)
            self._views.addWidget(view)
            for picker in view.pickers.buttons:
                picker.hide()
                self.bar.add(picker)
            view.shown.connect(self._tell_bar)
        return self._replay

    def _made_comparison(self) -> ComparisonView | None:
        return self._comparison

    def _made_replay(self) -> ReplayView | None:
        return self._replay

    def _end_replay(self) -> None:
        if self._replay is not None:
            self._replay.clear()

    # -- the page's own hooks ------------------------------------------------------------

    def opened(self, **request: object) -> None:
        """The list (``find=``: what these words fit), a run (``run=``), or an episode again (``replay=``)."""
        self.reader.watch(True)
        self._library.set_reading(not self.reader.complete)
        run, replay = request.get("run"), request.get("replay")
        if isinstance(replay, tuple):
            folder, operator, index = replay
            self._take_run(Path(folder))
            self.show_replay(str(operator), int(index))
        elif run is not None:
            self.show_run(Path(str(run)))
        elif (find := request.get("find")) is not None:
            self.show_library()
            self._library.find_runs(str(find))
        else:
            self.desk.look()
            self._tell_bar()
            if self._replay is not None and self._replay.players:
                take_focus(self._replay)  # its keys are the transport's

    def left(self) -> None:
        """Nothing is read or played while nobody looks; what was typed is kept."""
        self._details.finish()
        self.reader.watch(False)
        self._reading.rest()
        self.desk.rest()
        if self._replay is not None and not self._replay.seen_apart:
            self._replay.transport.set_playing(False)

    async def closed(self) -> None:
        """End replays and other work."""
        self.left()
        self._reading.close()
        await self._jobs.closed()
        if self._replay is not None:
            await self._replay.close_players()

    def commands(self) -> list[Command]:
        """What can be done here."""
        history = self.history
        return [
            Command("results.undo", "Undo", history.undo, "Ctrl+Z", "File", "undo", lambda: history.can_undo),
            Command(
                "results.redo", "Redo", history.redo, "Ctrl+Shift+Z", "File", "redo", lambda: history.can_redo
            ),
            Command(
                "results.rename",
                "Rename the run",
                self._library.rename_current,
                "F2",
                enabled=self._has_selected,
            ),
            Command(
                "results.star",
                "Star the selected runs",
                self._library.star_selected,
                "Ctrl+D",
                icon="star",
                enabled=self._has_selected,
            ),
            Command("results.open", "Open the run", self._library.open_current, enabled=self._has_selected),
            Command(
                "results.compare",
                "Compare the selected runs",
                self._library.compare_selected,
                icon="results",
                enabled=self._has_several,
            ),
            Command("results.details", "Details of the run", self.toggle_details, "Ctrl+I", icon="info"),
            Command("results.find", "Search runs", self._on_find, "Ctrl+F", icon="search"),
            Command("results.back", "Back to the list of runs", self.go_back, "Alt+Left", icon="left"),
            Command("results.replay", "Replay", self.replay_current, "Ctrl+R", "Run", "play", self._has_run),
            self.context.own_windows.command(self.name, self._berth),
            Command("results.resume", "Resume the run", self.resume_run, "", "Run", "run", self._can_resume),
            Command("results.verify", "Verify the run", self.verify_run, "", "Run", "check", self._has_run),
            Command(
                "results.report", "Write the report", self.write_report, "", "Run", "file", self._has_run
            ),
            Command(
                "results.compress",
                "Compress the selected runs",
                self._library.compress_selected,
                menu="File",
                icon="file",
                enabled=self._has_selected,
            ),
            Command(
                "results.decompress",
                "Decompress the selected runs",
                self._library.decompress_selected,
                enabled=self._has_selected,
            ),
            Command(
                "results.trash",
                "Move the selected runs to the trash",
                self._library.remove_current,
                icon="remove",
                enabled=self._has_selected,
            ),
            Command("results.other_folder", "Open another runs folder…", self._on_another_folder),
            *commands_of(self._exports.actions(), "results", "Export: ", self._exports.can),
            Command(
                "results.folder", "Open the run's folder", self.show_folder, "", "File", "open", self._has_any
            ),
            Command(
                "results.merge",
                "Merge the selected parts",
                self._library.merge_selected,
                "",
                "Run",
                enabled=self._has_parts,
            ),
            *self.desk.commands(),
        ]

    def _berth(self) -> Berth | None:
        replay = self._replay
        return replay.stages[0].berth if replay is not None and replay.players else None

    def _has_run(self) -> bool:
        shown = self._views.currentWidget()
        return bool(self._reading.runs) and shown is not self._library and not self.desk.shown

    @property
    def _unfinished(self) -> RunEntry | None:
        """The run that is shown or selected, where it can be gone on with."""
        in_list = self._views.currentWidget() is self._library
        one = len(self._library.selected) == 1
        found = (self._library.current if one else None) if in_list else self._reading.entry
        return found if found is not None and found.can_go_on and not self.desk.shown else None

    def _can_resume(self) -> bool:
        return self._unfinished is not None

    def _has_any(self) -> bool:
        return self._has_run() or self.desk.shown or self._library.current is not None

    def _has_several(self) -> bool:
        return self._has_selected() and len(self._library.selected) > 1

    def _has_parts(self) -> bool:
        return self._has_selected() and bool(self._library.selected_parts)

    def _has_selected(self) -> bool:
        return self._views.currentWidget() is self._library and bool(self._library.selected)

    # -- going about ---------------------------------------------------------------------

    def show_library(self) -> None:
        """The list of runs."""
        self._end_replay()
        self._show(self._library)

    def show_run(self, run: Path) -> None:
        """What a run says; how far a submission is, before it is one."""
        self._end_replay()
        if is_submission(run):
            self.desk.take(run)
            self._show(self.desk.view)
            return
        self._take_run(run)
        self._show(self.comparison)
        self._reading.read()

    def compare_runs(self, runs: Sequence[Path]) -> None:
        """What several runs say together, on the seeds that they share."""
        self._end_replay()
        self._take_runs(runs)
        self._show(self.comparison)
        self._reading.read()

    def show_replay(self, operator_id: str = "", index: int | None = None, beside: str = "") -> None:
        """An episode of the run again."""
        if self._reading.run is not None:
            self._show(self.replay)
            self.replay.show_episode(self._reading.run, operator_id, index, beside)

    def go_back(self) -> None:
        """From a replay to its run, from a run to the list."""
        if self._views.currentWidget() is self._replay and self._reading.runs:
            self.compare_runs(self._reading.runs)
        else:
            self.show_library()

    def replay_current(self) -> None:
        """Replay the operator that is selected."""
        if (operator := self.comparison.current_operator) is not None:
            self._on_operator_chosen(operator)
        else:
            self.show_replay()

    def resume_run(self) -> None:
        """Play what is left of the run that is shown or selected."""
        if (run := self._unfinished) is not None:
            self._on_resume_requested(run)

    def _on_resume_requested(self, run: RunEntry) -> None:
        self.context.go("operators", resume=run)

    def show_folder(self) -> None:
        """Open the folder of the run that is shown or selected."""
        if self._views.currentWidget() is self._library:
            self._library.show_current_folder()
        elif self.desk.shown and self.desk.folder is not None:
            exports.show_folder(self.desk.folder)
        elif self._reading.run is not None:
            exports.show_folder(self._reading.run)

    def _show(self, view: QWidget) -> None:
        self._views.setCurrentWidget(view)
        if not self.desk.shown:
            self.desk.rest()
        self._tell_bar()

    def _take_run(self, run: Path) -> None:
        self._take_runs([run])

    def _take_runs(self, runs: Sequence[Path]) -> None:
        """From now on it is about these."""
        if tuple(runs) == self._reading.runs:
            return
        self._reading.take(runs, self.reader.runs)
        self._exports.runs = self._reading.runs
        self._fill_run_picker()

    def _fill_run_picker(self) -> None:
        entries = self.reader.runs[:RECENT]
        known = {entry.path for entry in entries}
        items = [PickerItem(e.path, e.full_title, _about(e), keywords=e.run_id) for e in entries]
        if self._reading.run is not None and self._reading.run not in known:
            title = self._reading.entry.title if self._reading.entry is not None else self._reading.run.name
            items.insert(0, PickerItem(self._reading.run, title, str(self._reading.run.parent)))
        if len(several := self._reading.runs) > 1:
            told = ", ".join(entry.full_title for entry in self._reading.entries)
            items.insert(0, PickerItem(several, f"{local(len(several)):,} runs", told))
        self._run_picker.set_items(items)
        self._run_picker.set_value(self._reading.run or several)

    def _tell_bar(self) -> None:
        view = self._views.currentWidget()
        in_list, in_run, in_replay = (
            view is self._library,
            view is self._comparison,
            view is self._replay,
        )
        self._back.setVisible(not in_list)
        self._run_picker.setVisible(in_run)
        if (run := self._comparison) is not None:
            run.task.setVisible(in_run and len(run.task.items) > 1)
        if (replay := self._replay) is not None:
            replay.pickers.set_visible(in_replay and bool(replay.players))
        several = len(self._library.selected) > 1
        for button in (self.compress, self.remove):
            button.setVisible(in_list)
            button.setEnabled(self._library.current is not None)
        self.open.setVisible(in_list and not several)
        self.open.setEnabled(self._library.current is not None)
        self._compare.setVisible(in_list and several)
        self.folder.setVisible(in_list or self.desk.shown)
        self.folder.setEnabled(self.desk.shown or self._library.current is not None)
        for button in (self._watch, self._report):
            button.setVisible(in_run)
        self.resume.setVisible(self._can_resume() and not in_replay)
        self._verify.setVisible(in_run and self._reading.run is not None)
        self._export.setVisible(in_run or in_replay)
        self.desk.show_buttons()
        entry = self._reading.entry
        live = in_run and entry is not None and entry.is_live
        of = f" of {local(entry.planned):,}" if entry is not None and entry.planned else ""
        if in_list:
            self._jobs.show_about(self.reader.folder, "Runs")
        elif self.desk.shown:
            self._jobs.show_about(self.desk.folder, self.desk.title)
        else:
            several = len(self._reading.runs)
            title = entry.title if entry is not None else f"{local(several):,} runs" if several > 1 else ""
            self._jobs.show_about(self._reading.run, title)
        self._show_details.setVisible(in_list)
        assert self.inspector is not None
        self.inspector.setVisible(in_list and self._show_details.isChecked() and bool(self._library.selected))
        self.bar.set_note(
            f"Running: {local(entry.done):,}{of} episodes" if live and entry is not None else ""
        )

    # -- the list ------------------------------------------------------------------------

    def toggle_details(self) -> None:
        """Show what is kept with the selected runs, or give the list its room."""
        self._show_details.click()

    def _on_details_clicked(self) -> None:
        self.context.layout.setValue(_DETAILS, self._show_details.isChecked())
        self._tell_bar()

    def open_folder(self, folder: Path) -> None:
        """Show the runs of another folder beside one's own, now and at the next start."""
        self.context.spawn(self._open_folder(folder.absolute()), "Opening a runs folder")

    async def _open_folder(self, folder: Path) -> None:
        if await asyncio.to_thread(is_submission, folder):
            self.show_run(folder)
            return
        beside = (self.reader.folder, *self.reader.others)
        if why := await asyncio.to_thread(why_no_shelf, folder, beside):
            self.context.notify(why, "warning")
            return
        self._set_others([*self.reader.others, folder])
        writable = await asyncio.to_thread(os.access, folder, os.W_OK)
        only = "" if writable else ". They can be read alone: you may not write there"
        self.context.notify(f"Runs in {folder} are in the list{only}", "ok")

    def _on_runs_moved(self) -> None:
        folder = self.context.store.runs
        if folder in self.reader.others:  # it stands in the list as one's own now
            self._set_others([each for each in self.reader.others if each != folder])
        self.reader.move(folder)

    def _set_others(self, folders: Sequence[Path]) -> None:
        self.reader.set_others(folders)
        self._library.set_folders(folders)
        self.context.layout.setValue(_OTHERS, [str(folder) for folder in folders])

    def _on_another_folder(self) -> None:
        exports.ask_folder(
            self, "A folder of runs: of another machine, a mounted disk, a cluster", self.open_folder
        )

    def _on_folder_closed(self, folder: Path) -> None:
        self._set_others([each for each in self.reader.others if each != folder])
        undo = ("Undo", partial(self.open_folder, folder))
        self.context.notify(
            f"Runs in {folder} are no longer in the list; they stay where they are", "info", undo
        )

    def _on_selection_changed(self) -> None:
        self._details.show_runs(self._library.selected)
        self._tell_bar()

    def _on_grown(self, runs: object) -> None:
        assert isinstance(runs, list)
        self._library.set_runs(runs)

    def _on_read(self, runs: object) -> None:
        assert isinstance(runs, list)
        self._library.set_reading(False)
        self._library.set_runs(runs)
        if not self._reading.runs:
            return
        self._reading.listed(runs)
        self._fill_run_picker()
        self._tell_bar()

    def _shows_run(self) -> bool:
        """Whether what a run says is in view."""
        return self._comparison is not None and self._views.currentWidget() is self._comparison

    def _on_run_picked(self, value: object) -> None:
        if isinstance(value, Path):
            self.show_run(value)

    def _on_merge_requested(self, parts: list[RunEntry]) -> None:
        self._care.merge(parts, self.show_run)

    def _on_comparison_requested(self, runs: list[RunEntry]) -> None:
        if any(run.submission for run in runs):
            self.context.notify(
                "A submission is compared once it is a run; open it to see how far it is", "info"
            )
            return
        self.compare_runs([run.path for run in reversed(runs)])  # as they were played

    def _on_run_wanted(self, run: object) -> None:
        if run == self.reader.folder:
            self.show_library()
            self.context.go("results")
        else:
            self.context.go("results", run=run)

    def _on_runs_removed(self, runs: Sequence[RunEntry]) -> None:
        self._reading.forget(runs)

    def _on_first_run_requested(self) -> None:
        self.context.go("operators")

    def _on_find(self) -> None:
        self.show_library()
        self._library.focus_search()

    # -- a run ---------------------------------------------------------------------------

    def _on_reading_begun(self) -> None:
        self.comparison.say("Reading the run…", "Its verdict, table and plots come in a moment.")

    def _on_analysis_made(self, analysis: object) -> None:
        assert isinstance(analysis, Summary)
        self.comparison.show_analysis(analysis)
        self._tell_bar()

    def _on_reading_refused(self, why: str) -> None:
        self.comparison.say("This run cannot be read", why)

    def verify_run(self) -> None:
        """Play every recorded action again and compare."""
        if self._reading.run is not None:
            self._jobs.run("Verifying…", exports.verify_job(self._reading.run), lasting=True)

    def write_report(self) -> None:
        """Write the report and open it."""
        if self._reading.run is not None:
            self._jobs.run("Writing the report…", exports.report_job([self._reading.run]))
        elif self._reading.runs:
            write = partial(self._write_report_of, self._reading.runs)
            exports.ask_folder(self, "A folder for the report", write)

    def _write_report_of(self, runs: Sequence[Path], out: Path) -> None:
        self._jobs.run("Writing the report…", exports.report_job(runs, out))

    def _on_pair_chosen(self, value: object) -> None:
        assert isinstance(value, PairChosen)
        c, analysis = value.comparison, self.comparison.analysis
        if analysis is None:
            return
        operators = {o.key: o for o in analysis.operators}
        first = operators[c.operator or c.first]
        second = operators[c.second] if c.kind == "operators" else None
        run = self._run_of(first.run_id)
        if run is None:
            return
        self._show(self.replay)
        beside = (second.operator_id, self._run_of(second.run_id)) if second is not None else ("", None)
        self.replay.show_seed(run, first.operator_id, value.seed, value.repetition, *beside)

    def _run_of(self, run_id: str) -> Path | None:
        """Of the runs that are shown, the folder of this one."""
        known = {entry.run_id: entry.path for entry in self._reading.entries}
        return known.get(run_id, self._reading.run)

    def _replay_of(self, run_id: str, operator_id: str, index: int | None = None) -> None:
        if (run := self._run_of(run_id)) is not None:
            self._show(self.replay)
            self.replay.show_episode(run, operator_id, index)

    def _on_operator_chosen(self, value: object) -> None:
        assert isinstance(value, OperatorSummary)
        if value.recorded:
            self._replay_of(value.run_id, value.operator_id)
        else:
            self.context.notify(f"No episode of {value.name} is finished yet")

    def _on_failure_chosen(self, value: object) -> None:
        assert isinstance(value, Failure)
        analysis = self.comparison.analysis
        found = next((o for o in analysis.operators if o.key == value.operator), None) if analysis else None
        if found is not None:
            self._replay_of(found.run_id, found.operator_id, value.episode_index)


def _about(entry: RunEntry) -> str:
    return " · ".join(word for word in (entry.environment, moment(entry.started_at)) if word)
