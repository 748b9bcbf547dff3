"""Panel of the selected training run: its state, its settings and its actions."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QWidget

from gym_gui.analysis.words.wording import duration
from gym_gui.core.experiment.named_training_groups import group_name
from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.services.trainings.training_choices import algorithm_word
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.line_links import link_of
from gym_gui.ui.numbers import local, screen, written
from gym_gui.ui.policies.use_policy_menu import UseMenu, operator_of
from gym_gui.ui.train.extend_training import ExtendTrainingForm
from gym_gui.ui.train.run_menu import run_actions
from gym_gui.ui.training_numbers import NONE
from gym_gui.ui.training_words import (
    STATE_TOKENS,
    STATE_WORDS,
    progress_in_words,
    return_sentence,
)
from gym_gui.ui.widgets import (
    ElidedLabel,
    FactRows,
    InlineMessage,
    LinkButton,
    PrimaryButton,
    QuietButton,
    StatusDot,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, panel_head
from gym_gui.ui.widgets.message_panels import Action


class RunPanel(QWidget):
    """Panel with the state, messages, actions, facts and settings of a run.

    Args:
        context: Opens the other pages.
        parent: Qt owner.
    """

    action_requested = pyqtSignal(str, str)
    """Emits the id of a run and the name of an action.

    Actions: ``pause``, ``resume``, ``checkpoint``, ``stop``, ``continue``, ``clone``, ``folder``,
    ``log``, ``remove``.
    """
    longer_requested = pyqtSignal(str, object)
    """Emits the id of a run and its new total number of steps."""
    closed_by_user = pyqtSignal()

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-run-panel")
        self._context = context
        self._record: TrainingRecord | None = None
        self._column = column_layout(self)
        self._make_head()
        self._make_actions(context)
        self.facts = FactRows("train-fact-")
        self._column.addWidget(self.facts)
        self._settings_title = section_label("Settings")
        self._column.addSpacing(theme.STEP)
        self._column.addWidget(self._settings_title)
        self.settings = FactRows(label_width=128)
        self._column.addWidget(self.settings)

    def _make_head(self) -> None:
        self._title = ElidedLabel("", "title", name="train-run-title")
        back, closed = "Return to the form for a new run (Esc)", self.closed_by_user.emit
        self._column.addLayout(panel_head(self._title, back, "train-run-close", closed))
        self.state = StatusDot()
        self.state.setObjectName("train-run-state")
        self._column.addWidget(self.state)
        self.message = InlineMessage("info", "")
        self._failure = InlineMessage("error", "")
        self._warning = InlineMessage("warning", "")
        for message in (self.message, self._failure, self._warning):
            self._column.addWidget(message)

    def _make_actions(self, context: AppContext) -> None:
        self._buttons: dict[str, QWidget] = {}
        self._use_menu = UseMenu(context, self)
        self._use = PrimaryButton("Use in a slot", name="train-run-use", on_click=self._on_use)
        self._use.setToolTip("Watch this policy, play with it, or add it to an operator")
        grid = QGridLayout()
        grid.setSpacing(theme.ROW)
        grid.addWidget(self._use, 0, 0, 1, 2)
        for place, (action, text, tip) in enumerate(
            (
                ("pause", "Pause", "Pause the training"),
                ("resume", "Resume", "Resume the paused training"),
                ("checkpoint", "Checkpoint now", "Save the policy and the training state to disk now"),
                ("stop", "Stop", "End the training and keep its policy"),
                ("continue", "Resume", "Resume the training from its last checkpoint"),
                ("longer", "Train longer…", "Continue the completed training with more steps"),
                (
                    "clone",
                    "Clone",
                    "Start a new run with the same settings; you can change them before it starts",
                ),
                ("log", "Log", "Show the output of the training"),
                ("folder", "Open folder", "Open the run folder in the file manager"),
            )
        ):
            button = QuietButton(text, name=f"train-run-{action}", tooltip=tip)
            button.setProperty("action", action)
            button.clicked.connect(self._on_clicked)
            self._buttons[action] = button
            grid.addWidget(button, 1 + place // 2, place % 2)
        self._grid = grid
        self._column.addLayout(grid)
        self._longer = ExtendTrainingForm()
        self._longer.hide()
        self._longer.requested.connect(self.longer_requested)
        self._column.addWidget(self._longer)
        self.remove = LinkButton("Remove this run…", name="train-run-remove", on_click=self.ask_removal)
        self.remove.setToolTip("Move the run folder to the trash (Delete)")
        self._column.addWidget(self.remove)
        self._sure = InlineMessage(
            "warning",
            "The run folder moves to the trash, with the policy and the log.",
            ("Remove", self._on_sure),
            closable=True,
        )
        self._sure.setObjectName("train-run-sure")
        self._sure.hide()
        self._column.addWidget(self._sure)

    @property
    def record(self) -> TrainingRecord | None:
        """Run that is shown, or ``None``."""
        return self._record

    def show_run(self, record: TrainingRecord, title: str) -> None:
        """Show a run with its current state."""
        if self._record is None or record.run_id != self._record.run_id:
            self._sure.hide()
        if self._record is None or (record.run_id, record.state) != (self._record.run_id, self._record.state):
            self._longer.hide()
        self._record = record
        self._sure.set_text(
            "The run disappears from this list; its folder remains."
            if record.place
            else "The run folder moves to the trash, with the policy and the log."
        )
        self._title.setText(title)
        word = STATE_WORDS.get(record.state, record.state)
        if record.state == "queued" and record.position:
            word = "Queued, first in line" if record.position == 1 else f"Queued, {record.position - 1} ahead"
        self.state.set_state(STATE_TOKENS.get(record.state, "muted"), word)
        self._show_messages(record)
        self._show_facts(record)
        self._show_settings(record)
        self._show_actions(record, title)

    def ask_removal(self) -> None:
        """Ask the user in the panel whether to remove the run."""
        record = self._record
        if record is not None and record.has_ended:
            self._sure.show()
            if self._sure.button is not None:
                self._sure.button.setFocus()

    def ask_longer(self) -> None:
        """Show the form that asks for the new total number of steps."""
        record = self._record
        if record is not None and "longer" in run_actions(record):
            self._longer.ask(record)

    # -- internal ------------------------------------------------------------------------

    def _show_messages(self, record: TrainingRecord) -> None:
        failed = record.state == "failed"
        reason = record.reason.strip()
        self._failure.set_text(reason)
        self._failure.setVisible(failed and bool(reason))
        self._failure.lead_to(self._link_of(record, reason) if failed else None)
        self.message.set_text(reason)
        self.message.setVisible(not failed and bool(reason))
        self._warning.set_text(record.warning)
        self._warning.setVisible(bool(record.warning))

    def _link_of(self, record: TrainingRecord, reason: str) -> Action | None:
        """Return a button that opens the code line where a training failed, or ``None``.

        Relative file names in the error refer to the run's folder or the current one.
        """
        again = None
        if "continue" in run_actions(record):
            again = ("Resume", partial(self.action_requested.emit, record.run_id, "continue"))
        return link_of(self._context, reason, folders=[record.folder, Path.cwd()], again=again)

    def _show_facts(self, record: TrainingRecord) -> None:
        left = duration(record.remaining_s, screen()) if record.state == "running" else ""
        here = record.live and not record.place
        uses = (
            f"{local(record.cpu_percent):.0f} % of one core, {local(record.memory_mb):,.0f} MB"
            if here
            else ""
        )
        facts = {
            "Algorithm": algorithm_word(record.algorithm),
            "Environment": record.env_id,
            "Worker": record.worker_id,
            "Seed": str(record.seed),
            "Group": group_name(record.group, record.env_id) if record.group else "",
            "Steps": progress_in_words(record),
            "Return": return_sentence(record) or NONE,
            "Episodes": f"{local(record.episodes):,}",
            "Trained for": duration(record.elapsed_s) if record.elapsed_s else "",
            "Left": left,
            "Uses": f"{uses}, GPU {record.gpu}" if uses and record.gpu else uses,
            "Trained on": record.place,
        }
        self.facts.show_facts(facts)

    def _show_settings(self, record: TrainingRecord) -> None:
        self.settings.show_facts({name: written(value) for name, value in record.settings.items()})
        self._settings_title.setVisible(bool(record.settings))
        self.settings.setVisible(bool(record.settings))

    def _show_actions(self, record: TrainingRecord, title: str) -> None:
        allowed, usable = run_actions(record), bool(record.policy)
        place = 0
        for action, button in self._buttons.items():
            button.setVisible(action in allowed)
            if action in allowed:
                self._grid.removeWidget(button)
                self._grid.addWidget(button, 1 + place // 2, place % 2)
                place += 1
        self._use.setVisible(usable)
        self.remove.setVisible(record.has_ended)
        if usable:
            operator = partial(
                operator_of,
                Path(record.policy),
                worker_id=record.worker_id,
                env_id=record.env_id,
                title=title,
            )
            self._use_menu.set_operator(operator)

    def _on_use(self) -> None:
        self._use_menu.popup(self._use.mapToGlobal(self._use.rect().bottomLeft()))

    def _on_clicked(self) -> None:
        sender = self.sender()
        if self._record is None or not isinstance(sender, QWidget):
            return
        action = str(sender.property("action"))
        if action == "longer":
            self.ask_longer()
        else:
            self.action_requested.emit(self._record.run_id, action)

    def _on_sure(self) -> None:
        self._sure.hide()
        if self._record is not None:
            self.action_requested.emit(self._record.run_id, "remove")
