"""Controller of the shown runs: their results, their replays and the buttons for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QAbstractButton, QStackedWidget, QWidget

from gym_gui.analysis.findings.summary import Failure, OperatorSummary, Summary
from gym_gui.analysis.words.wording import moment
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.ui.commands import Command, commands_of
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.numbers import local
from gym_gui.ui.page import Page
from gym_gui.ui.replays.replay_view import ReplayView
from gym_gui.ui.results import exports
from gym_gui.ui.results.comparison_view import ComparisonView, PairChosen
from gym_gui.ui.results.export_menu import ExportMenu
from gym_gui.ui.results.jobs import JobStrip
from gym_gui.ui.results.library_reader import LibraryReader
from gym_gui.ui.results.run_analysis_job import RunAnalysisJob
from gym_gui.ui.widgets import PickerButton, PickerItem, PrimaryButton, QuietButton

RECENT: Final = 300
"""Largest number of runs in the picker of the page's bar."""


class RunController(QObject):
    """Controller that creates the comparison and replay views at first use and adds their pickers to the bar.

    Args:
        page: The page; dialogs are shown over it.
        jobs: Runs jobs on the runs and shows the jobs.
        views: Stack that the views are added to.
        reader: Provides the list of runs.
        show: Called to bring a view to the front.
        show_run: Called to show another run.

    Attributes:
        reading: Reads and analyzes the runs that are shown.
    """

    changed = pyqtSignal()
    """Emitted when the set of available commands changes."""

    def __init__(
        self,
        page: Page,
        jobs: JobStrip,
        views: QStackedWidget,
        reader: LibraryReader,
        *,
        show: Callable[[QWidget], object],
        show_run: Callable[[Path], object],
    ) -> None:
        super().__init__(page)
        self._page, self._jobs, self._views, self._list = page, jobs, views, reader
        self._show, self._show_run = show, show_run
        self._comparison: ComparisonView | None = None
        self._replay: ReplayView | None = None
        reading = self.reading = RunAnalysisJob(page.context.spawn, self._shows_comparison, self)
        reading.begun.connect(self._on_reading_begun)
        reading.made.connect(self._on_analysis_made)
        reading.refused.connect(self._on_reading_refused)
        reading.named.connect(self._fill_picker)
        self._picker = PickerButton(
            name="results-run", placeholder="Choose a run", search_hint="Search the newest runs"
        )
        self._picker.setAccessibleName("Run")
        self._picker.chosen.connect(self._on_picked)
        page.bar.add(self._picker)
        self._exports = ExportMenu(page, lambda: self._comparison, lambda: self._replay, jobs)
        tip = "Replay the selected operator's episodes step by step"
        self._watch = QuietButton("Replay", name="results-replay", tooltip=tip, on_click=self.replay_current)
        tip = "Execute every recorded action again and compare every step with the record"
        self._verify = QuietButton("Verify", name="results-verify", tooltip=tip, on_click=self.verify)
        tip = "Export tables, pictures or a video"
        self._export = QuietButton("Export", name="results-export", tooltip=tip, menu=self._exports)
        tip = "Write report.html into the run's folder and open it"
        self._report = PrimaryButton("Report", name="results-report", tooltip=tip, on_click=self.write_report)

    @property
    def buttons(self) -> Sequence[QAbstractButton]:
        """Buttons of the runs for the page's bar."""
        return self._watch, self._verify, self._export, self._report

    @property
    def comparison(self) -> ComparisonView:
        """View with the results of the runs."""
        if self._comparison is None:
            view = self._comparison = ComparisonView(self._page.context.theme, self._views)
            self._views.addWidget(view)
            self._page.bar.add(view.task)
            view.pair_chosen.connect(self._on_pair_chosen)
            view.operator_chosen.connect(self._on_operator_chosen)
            view.failure_chosen.connect(self._on_failure_chosen)
        return self._comparison

    @property
    def replay(self) -> ReplayView:
        """View that replays episodes."""
        if self._replay is None:
            view = self._replay = ReplayView(self._page.context, self._views)
            self._views.addWidget(view)
            for picker in view.pickers.buttons:
                picker.hide()
                self._page.bar.add(picker)
            view.shown.connect(self.changed)
        return self._replay

    def _shows_comparison(self) -> bool:
        return self._comparison is not None and self._views.currentWidget() is self._comparison

    @property
    def played(self) -> ReplayView | None:
        """Replay view if it is the current widget of the stack, else ``None``."""
        return self._replay if self._views.currentWidget() is self._replay else None

    @property
    def shown(self) -> bool:
        """Whether results or a replay are shown."""
        return bool(self.reading.runs) and (self._shows_comparison() or self.played is not None)

    @property
    def title(self) -> str:
        """Title of the run, or the number of runs."""
        entry, several = self.reading.entry, len(self.reading.runs)
        return entry.title if entry is not None else f"{local(several):,} runs" if several > 1 else ""

    def show_runs(self, runs: Sequence[Path]) -> None:
        """Show the runs in the given folders from now on."""
        if tuple(runs) != self.reading.runs:
            self.reading.analyze(runs, self._list.runs)
            self._exports.runs = self.reading.runs
            self._fill_picker()

    def listed(self, entries: Sequence[RunEntry]) -> None:
        """Update the runs and the picker after the list of runs was read again."""
        if self.reading.runs:
            self.reading.listed(entries)
            self._fill_picker()
            self.changed.emit()

    def rest(self) -> None:
        """Stop reading runs and pause the replay, because the views are hidden."""
        self.reading.rest()
        if self._replay is not None and not self._replay.seen_apart:
            self._replay.transport.set_playing(False)

    def end_replay(self) -> None:
        """Close the shown replay."""
        if self._replay is not None:
            self._replay.clear()

    async def closed(self) -> None:
        """Stop reading and close the processes that replay episodes."""
        self.reading.close()
        if self._replay is not None:
            await self._replay.close_players()

    def _fill_picker(self) -> None:
        reading, entries = self.reading, self._list.runs[:RECENT]
        items = [PickerItem(e.path, e.full_title, _about(e), keywords=e.run_id) for e in entries]
        if reading.run is not None and reading.run not in {entry.path for entry in entries}:
            title = reading.entry.title if reading.entry is not None else reading.run.name
            items.insert(0, PickerItem(reading.run, title, str(reading.run.parent)))
        if len(several := reading.runs) > 1:
            titles = ", ".join(entry.full_title for entry in reading.entries)
            items.insert(0, PickerItem(several, f"{local(len(several)):,} runs", titles))
        self._picker.set_items(items)
        self._picker.set_value(reading.run or several)

    def _on_picked(self, value: object) -> None:
        if isinstance(value, Path):
            self._show_run(value)

    def show_buttons(self) -> None:
        """Show the available buttons, and the progress of a running run in the page's bar."""
        in_run, played = self._shows_comparison(), self.played
        self._picker.setVisible(in_run)
        if (view := self._comparison) is not None:
            view.task.setVisible(in_run and len(view.task.items) > 1)
        if self._replay is not None:
            self._replay.pickers.set_visible(played is not None and bool(self._replay.players))
        for button in (self._watch, self._report):
            button.setVisible(in_run)
        self._verify.setVisible(in_run and self.reading.run is not None)
        self._export.setVisible(in_run or played is not None)
        entry = self.reading.entry
        of = f" of {local(entry.planned):,}" if entry is not None and entry.planned else ""
        live = in_run and entry is not None and entry.is_live
        self._page.bar.set_note(
            f"Running: {local(entry.done):,}{of} episodes" if live and entry is not None else ""
        )

    def commands(self) -> list[Command]:
        """Return the commands: replay, its window, verify, report and the exports."""
        context = self._page.context

        def can() -> bool:
            return self.shown

        return [
            Command("results.replay", "Replay", self.replay_current, "Ctrl+R", "Run", "play", can),
            context.detached_windows.command(self._page.name, self._dock_slot),
            Command("results.verify", "Verify the run", self.verify, "", "Run", "check", can),
            Command("results.report", "Write the report", self.write_report, "", "Run", "file", can),
            *commands_of(self._exports.actions(), "results", "Export: ", self._exports.can),
        ]

    def _dock_slot(self) -> DockSlot | None:
        replay = self._replay
        return replay.stages[0].dock_slot if replay is not None and replay.players else None

    # -- results -------------------------------------------------------------------------

    def _on_reading_begun(self) -> None:
        self.comparison.show_message("Reading the run…", "The verdict, table and plots appear in a moment.")

    def _on_analysis_made(self, analysis: object) -> None:
        assert isinstance(analysis, Summary)
        self.comparison.show_analysis(analysis)
        self.changed.emit()

    def _on_reading_refused(self, why: str) -> None:
        self.comparison.show_message("This run cannot be read", why)

    def verify(self) -> None:
        """Execute every recorded action again and compare the steps with the record."""
        if self.reading.run is not None:
            self._jobs.run("Verifying…", exports.verify_job(self.reading.run), lasting=True)

    def write_report(self) -> None:
        """Write the report and open it; for several runs, ask the user for the report's folder first."""
        if self.reading.run is not None:
            self._jobs.run("Writing the report…", exports.report_job([self.reading.run]))
        elif self.reading.runs:
            write = partial(self._write_report_of, self.reading.runs)
            exports.ask_folder(self._page, "Choose a folder for the report", write)

    def _write_report_of(self, runs: Sequence[Path], out: Path) -> None:
        self._jobs.run("Writing the report…", exports.report_job(runs, out))

    # -- replays -------------------------------------------------------------------------

    def show_replay(self, run: Path | None, operator_id: str = "", index: int | None = None) -> None:
        """Replay an episode of a run, by default its first episode."""
        if run is not None:
            self._show(self.replay)
            self.replay.show_episode(run, operator_id, index)

    def replay_current(self) -> None:
        """Replay the selected operator's episodes, else the first episode of the run."""
        if (operator := self.comparison.current_operator) is not None:
            self._on_operator_chosen(operator)
        else:
            self.show_replay(self.reading.run)

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
        """Return the folder of the run with an id; for an unknown id, the folder of the only shown run or
        ``None``.
        """
        known = {entry.run_id: entry.path for entry in self.reading.entries}
        return known.get(run_id, self.reading.run)

    def _on_operator_chosen(self, value: object) -> None:
        assert isinstance(value, OperatorSummary)
        if value.recorded:
            self.show_replay(self._run_of(value.run_id), value.operator_id)
        else:
            self._page.context.notify(f"No episode of {value.name} is finished yet")

    def _on_failure_chosen(self, value: object) -> None:
        assert isinstance(value, Failure)
        analysis = self.comparison.analysis
        found = next((o for o in analysis.operators if o.key == value.operator), None) if analysis else None
        if found is not None:
            self.show_replay(self._run_of(found.run_id), found.operator_id, value.episode_index)


def _about(entry: RunEntry) -> str:
    return " · ".join(word for word in (entry.environment, moment(entry.started_at)) if word)
