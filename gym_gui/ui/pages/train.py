"""Train page: start and watch trainings, and store and use the trained policies."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QCursor, QDesktopServices
from PyQt6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.tensorboard import TensorBoard
from gym_gui.services.trainings.training_presets import TrainingPreset, load_training, save_training
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.page import Page
from gym_gui.ui.page_state import SavedPageState
from gym_gui.ui.policies.policies_view import PoliciesView
from gym_gui.ui.policies.use_policy_menu import UseMenu, operator_of
from gym_gui.ui.train.compare_panel import ComparePanel
from gym_gui.ui.train.link import LinkState, TrainerLink
from gym_gui.ui.train.new_run import NewRunForm
from gym_gui.ui.train.requests import RunRequests
from gym_gui.ui.train.run_menu import run_actions
from gym_gui.ui.train.run_panel import RunPanel
from gym_gui.ui.train.runs_view import RunsView
from gym_gui.ui.training_words import summary
from gym_gui.ui.widgets import PrimaryButton, QuietButton, SegmentedControl

RUNS: Final = "runs"
POLICIES: Final = "policies"
_ON_A_RUN: Final = (
    ("use", "Use the run's policy in a slot…"),
    ("continue", "Resume the run from its last checkpoint"),
    ("longer", "Train longer…"),
    ("clone", "Clone the run…"),
    ("folder", "Open the run's folder"),
    ("draw", "Show or hide the run's curves"),
)
"""Actions of a run that have no shortcut."""


class TrainPage(Page):
    """Page with trainings and the policy library, connected to the trainer daemon, which outlives the
    window.
    """

    name: ClassVar[str] = "train"
    title: ClassVar[str] = "Train"
    icon: ClassVar[str] = "train"

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.link = TrainerLink(context, self)
        self.requests = RunRequests(context, self.link, self._run_titles)
        self.tensorboard = TensorBoard(context.store)
        self._views = QStackedWidget(self.body)
        self.runs = RunsView(context, self.link, self._views)
        self._views.addWidget(self.runs)
        self._policies: PoliciesView | None = None
        self._panel: RunPanel | None = None
        self._comparison: ComparePanel | None = None
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._views)
        self._fill_bar()
        self._fill_inspector()
        self._connect()
        self._update_bar()

    def _fill_bar(self) -> None:
        self._segments = SegmentedControl([(RUNS, "Runs"), (POLICIES, "Policies")], name="train-view")
        self._segments.chosen.connect(self.show_view)
        self.bar.add(self._segments)
        self._compare_button = QuietButton("Compare", name="train-compare-runs", on_click=self.compare)
        self._board_button = QuietButton(
            "TensorBoard", name="train-tensorboard", on_click=self.open_tensorboard
        )
        self._board_button.setToolTip("Start TensorBoard for the plotted runs and open it in the browser")
        self._import_button = QuietButton("Import…", name="train-import", on_click=self._on_import)
        self._import_button.setToolTip("Import a policy that was trained elsewhere")
        self._new_button = PrimaryButton("New run", name="train-new", on_click=self.new_run)
        self._new_button.setToolTip("Configure a new training (Ctrl+N)")
        for button in (self._import_button, self._compare_button, self._board_button, self._new_button):
            self.bar.add_action(button)

    def _fill_inspector(self) -> None:
        inspector = self.use_inspector()
        self.form = NewRunForm(self.context, self.link, inspector.content)
        self._panel_shown: QWidget = self.form
        inspector.add(self.form)
        inspector.add_foot(self.form.foot)
        self.kept = SavedPageState[TrainingPreset](
            self.context,
            "training.json",
            "The training",
            load=load_training,
            save=save_training,
            now=self.form.preset,
            parent=self,
        )
        self.form.changed.connect(self.kept.save_soon)

    def _connect(self) -> None:
        self._use_menu = UseMenu(self.context, self)
        self.link.state_changed.connect(self._update_bar)
        self.link.runs_changed.connect(self._on_runs_changed)
        self.runs.action_requested.connect(self.act)
        self.runs.selection_changed.connect(self._on_selection_changed)
        self.runs.removal_requested.connect(self._on_removal_requested)
        self.form.started.connect(self._on_started)

    # -- parts that are created when first needed -------------------------------------------

    @property
    def policies(self) -> PoliciesView:
        """View of the policy library."""
        if self._policies is None:
            view = self._policies = PoliciesView(self.context, self._views)
            self._views.addWidget(view)
            self._keep_panel(view.panel)
            view.selection_changed.connect(self._on_policy_selected)
            view.import_shown.connect(self._on_policy_selected)
            view.training_requested.connect(self._on_training_requested)
        return self._policies

    @property
    def panel(self) -> RunPanel:
        """Panel of the selected run."""
        if self._panel is None:
            self._panel = RunPanel(self.context, self.use_inspector().content)
            self._keep_panel(self._panel)
            self._panel.action_requested.connect(self.act)
            self._panel.longer_requested.connect(self._on_longer_requested)
            self._panel.closed_by_user.connect(self.new_run)
        return self._panel

    @property
    def comparison(self) -> ComparePanel:
        """Panel that compares several runs."""
        if self._comparison is None:
            self._comparison = ComparePanel(self.runs.colors, self.use_inspector().content)
            self._keep_panel(self._comparison)
            self._comparison.closed_by_user.connect(self.new_run)
        return self._comparison

    def _keep_panel(self, panel: QWidget) -> None:
        panel.hide()
        self.use_inspector().add(panel)

    # -- methods that the window calls -----------------------------------------------------

    def opened(self, **request: object) -> None:
        """Connect to the trainer and show the current view.

        ``policies=True`` shows the library, ``run=`` selects a run, and ``env=`` chooses an environment
        in the form.
        """
        self.link.open()
        if request.get("policies"):
            self.show_view(POLICIES)
        elif isinstance(run_id := request.get("run"), str):
            self.show_view(RUNS)
            self.runs.table.select(run_id)
        else:
            self.show_view(self._segments.value)
        if isinstance(env := request.get("env"), str):
            self.kept.restore(lambda _preset: None)  # Another training takes its place.
            self.form.choose_environment(env)
        else:
            self.kept.restore(self.form.fill)

    async def closed(self) -> None:
        """Close the connection to the trainer and TensorBoard, and report how many trainings continue."""
        going_on = self.link.running_count
        if going_on:
            words = "1 training continues" if going_on == 1 else f"{going_on} trainings continue"
            self.context.notify(f"{words} without the window", "info")
        await self.runs.closed()
        await self.kept.close()
        await asyncio.gather(self.link.close(), self.form.closed(), self.tensorboard.close())
        if self._policies is not None:
            await self._policies.closed()

    def commands(self) -> list[Command]:
        """Return the page's commands for menus and the command palette."""
        one, over, compare = self._has_one, self._one_is_over, self._can_compare
        keep, stop = partial(self._act_on_one, "checkpoint"), partial(self._act_on_one, "stop")
        start, remove = self.form.submit, self._on_removal_requested
        return [
            Command("train.new", "New run", self.new_run, "Ctrl+N", "File", "add"),
            Command("train.start", "Start the run", start, "Ctrl+Return", "Run", "run", self._can_start),
            Command("train.pause", "Pause or resume", self.pause_or_go_on, "Ctrl+P", "Run", "pause", one),
            Command("train.checkpoint", "Checkpoint now", keep, "Ctrl+S", "Run", "save", one),
            Command("train.stop", "Stop the run", stop, "Ctrl+.", "Run", "stop", one),
            Command("train.compare", "Compare runs", self.compare, "Ctrl+G", "View", "results", compare),
            Command("train.log", "Log of the run", self.show_log, "Ctrl+Shift+L", "View", "log", one),
            Command("train.tensorboard", "TensorBoard", self.open_tensorboard, "Ctrl+T", "View", "train"),
            self.context.detached_windows.command(self.name, lambda: self.runs.policy.dock_slot),
            Command("train.remove", "Remove the run", remove, "", "Run", "remove", over),
            *(
                Command(
                    f"train.{action}",
                    title,
                    partial(self._act_on_one, action),
                    enabled=partial(self._may, action),
                )
                for action, title in _ON_A_RUN
            ),
            Command("train.import", "Import a policy…", self._on_import),
        ]

    # -- navigation ----------------------------------------------------------------------

    def show_view(self, name: str) -> None:
        """Show the view with the given name: ``runs`` or ``policies``."""
        self._segments.set_value(name)
        if name == POLICIES:
            self._views.setCurrentWidget(self.policies)
            self.policies.refresh()
            self._show_panel(self.policies.panel)
        else:
            self._views.setCurrentWidget(self.runs)
            self._on_selection_changed()
        self._update_bar()

    def new_run(self) -> None:
        """Deselect all runs and show the form for a new run."""
        if self._views.currentWidget() is not self.runs:
            self.show_view(RUNS)
        self.runs.select_none()
        self.runs.draw_all()
        self._show_panel(self.form)

    def compare(self) -> None:
        """Compare the selected runs, or the runs with drawn curves if fewer than two are selected."""
        chosen = self._compared()
        if len(chosen) > 1:
            self.runs.draw_only([record.run_id for record in chosen])
            self.comparison.show_runs(chosen, self.runs.titles)
            self._show_panel(self.comparison)

    def open_tensorboard(self) -> None:
        """Start TensorBoard for the runs with drawn curves, unless it is running, and open it in the
        browser.
        """
        runs = {
            self.runs.titles[run_id]: record.folder / "tensorboard"
            for run_id in self.runs.drawn
            if (record := self.link.run(run_id)) is not None
        }
        if not runs:
            self.context.notify("No run is plotted. Start a run first", "warning")
            return
        self.context.spawn(self._open_tensorboard(runs), "Starting TensorBoard")

    async def _open_tensorboard(self, runs: dict[str, Path]) -> None:
        self._board_button.setEnabled(False)
        self._board_button.set_text("Starting…")
        try:
            address = await self.tensorboard.show(runs)
        finally:
            self._board_button.setEnabled(True)
            self._board_button.set_text("TensorBoard")
        self.context.notify(f"TensorBoard is at {address} until the window closes", "ok")
        QDesktopServices.openUrl(QUrl(address))

    def show_log(self) -> None:
        """Show the log of the selected run."""
        self.runs.show_log()

    # -- actions on a run ----------------------------------------------------------------

    def act(self, run_id: str, action: str) -> None:
        """Perform the action with the given name on a run."""
        record = self.link.run(run_id)
        if record is None:
            return
        match action:
            case "pause":
                self.requests.pause(record)
            case "resume":
                self.requests.resume(record)
            case "stop":
                self.requests.stop(record)
            case "checkpoint":
                self.requests.checkpoint(record)
            case "continue":
                self.requests.go_on(record)
            case "longer":
                self.runs.table.select(run_id)
                self.panel.ask_longer()
            case "clone":
                self.clone(record)
            case "folder":
                QDesktopServices.openUrl(QUrl.fromLocalFile(str(record.folder)))
            case "log":
                self.runs.table.select(run_id)
                self.runs.show_log()
            case "draw":
                self.runs.toggle_drawn(run_id)
            case "use":
                self._use(record)
            case "remove":
                self.requests.remove(record)

    def pause_or_go_on(self) -> None:
        """Pause or resume the selected run."""
        record = self._chosen_run()
        if record is not None:
            self.act(record.run_id, "resume" if record.state == "paused" else "pause")

    def clone(self, record: TrainingRecord) -> None:
        """Show the form for a new run, filled with the settings of a given run."""
        self.new_run()
        preset = TrainingPreset(record.worker_id, record.algorithm, record.env_id, record.settings)
        self.form.fill(preset, record.seed)

    def _use(self, record: TrainingRecord) -> None:
        title = self.runs.titles.get(record.run_id, record.algorithm)
        operator = partial(
            operator_of, Path(record.policy), worker_id=record.worker_id, env_id=record.env_id, title=title
        )
        self._use_menu.set_operator(operator)
        self._use_menu.popup(QCursor.pos())

    def _on_longer_requested(self, run_id: str, steps: object) -> None:
        record = self.link.run(run_id)
        if record is not None:
            self.requests.go_on(record, {"total_steps": steps})

    def _act_on_one(self, action: str) -> None:
        record = self._chosen_run()
        if record is not None:
            self.act(record.run_id, action)

    def _run_titles(self) -> dict[str, str]:
        return self.runs.titles

    # -- selection -----------------------------------------------------------------------

    def _chosen_run(self) -> TrainingRecord | None:
        """Return the run that actions apply to: the first selected run, else the only run in progress, or
        ``None``.
        """
        selected = self.runs.selected
        if selected:
            return selected[0]
        going = [record for record in self.link.runs if not record.has_ended]
        return going[0] if len(going) == 1 else None

    def _has_one(self) -> bool:
        return self._chosen_run() is not None

    def _may(self, action: str) -> bool:
        record = self._chosen_run()
        return record is not None and (action == "draw" or action in run_actions(record))

    def _one_is_over(self) -> bool:
        return bool(self.runs.selected) and all(record.has_ended for record in self.runs.selected)

    def _can_start(self) -> bool:
        return self.form.start.isEnabled()

    def _compared(self) -> list[TrainingRecord]:
        selected = self.runs.selected
        if len(selected) > 1:
            return selected
        return [record for run_id in self.runs.drawn if (record := self.link.run(run_id)) is not None]

    def _can_compare(self) -> bool:
        return len(self._compared()) > 1

    def _on_selection_changed(self) -> None:
        if self._views.currentWidget() is not self.runs:
            return
        selected = self.runs.selected
        if len(selected) == 1:
            self.panel.show_run(selected[0], self.runs.titles.get(selected[0].run_id, ""))
            self._show_panel(self.panel)
        elif len(selected) > 1:
            self.comparison.show_runs(selected, self.runs.titles)
            self._show_panel(self.comparison)
        elif self._panel_shown is not self._comparison:
            self._show_panel(self.form)
        self._update_bar()

    def _on_removal_requested(self) -> None:
        selected = self.runs.selected
        going = [record for record in selected if not record.has_ended]
        if going:
            self.context.notify("A running training cannot be removed. Stop it first", "warning")
        elif len(selected) == 1:
            self.panel.ask_removal()
        elif selected:
            self.requests.ask_removal(selected)

    def _on_runs_changed(self) -> None:
        selected = self.runs.selected
        if self._panel_shown is self._panel and len(selected) == 1:
            self.panel.show_run(selected[0], self.runs.titles.get(selected[0].run_id, ""))
        elif self._panel_shown is self._comparison:
            compared = self._compared()
            self.comparison.show_runs(compared, self.runs.titles)
        self._update_bar()

    def _on_started(self, run_ids: object) -> None:
        assert isinstance(run_ids, list)
        words = "The run is queued" if len(run_ids) == 1 else f"{len(run_ids)} runs are queued"
        self.context.notify(
            f"{words}and starts when a processor core is free" if len(run_ids) == 1 else words, "ok"
        )

    def _on_import(self) -> None:
        self.show_view(POLICIES)
        self.policies.ask_import()

    def _on_policy_selected(self) -> None:
        if self._views.currentWidget() is self._policies:
            self._show_panel(self.policies.panel)

    def _on_training_requested(self, preset: object, seed: int) -> None:
        assert isinstance(preset, TrainingPreset)
        self.new_run()
        self.form.fill(preset, seed)

    # -- bar and inspector ---------------------------------------------------------------

    def _show_panel(self, panel: QWidget) -> None:
        if panel is not self._panel_shown:
            self._panel_shown.hide()
            self._panel_shown = panel
        panel.show()
        self.form.foot.setVisible(panel is self.form)
        if panel is self.form:
            self.form.load()

    def _update_bar(self) -> None:
        in_runs = self._views.currentWidget() is self.runs
        self._compare_button.setVisible(in_runs)
        self._compare_button.setEnabled(self._can_compare())
        self._compare_button.setToolTip(
            "Compare the selected or the plotted runs side by side (Ctrl+G)"
            if self._can_compare()
            else "A comparison needs two runs. Start another run"
        )
        self._board_button.setVisible(in_runs)
        self._import_button.setVisible(not in_runs)
        if in_runs and self.link.state is LinkState.READY:
            self.bar.set_note(summary(self.link.runs))
        else:
            self.bar.set_note("")
