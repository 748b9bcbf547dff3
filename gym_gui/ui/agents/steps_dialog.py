"""A dialog for the preprocessing of a slot's observations: steps, each with its resulting space."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QStackedWidget, QWidget

from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.backends import SlotInfo
from gym_gui.services.compatibility import fit, own_steps, seen_after, space_words
from gym_gui.ui import theme
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.widgets import EmptyHint, PrimaryButton, QuietButton, label, muted_label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row, row_layout
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable
from gym_gui.workers.settings.settings_schema import settings_from_schema
from mosaic_worker.preprocessing import STEPS, PreprocessingError, check_steps, describe_steps, step_schema

_SIZE = QSize(640, 520)
_ROW = 28
Spawn = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]


@dataclass(frozen=True)
class _Step:
    """Row of the table: a step as the experiment file writes it, and the observation space after it."""

    number: int
    written: Any
    gives: str = ""

    @property
    def name(self) -> str:
        return str(self.written if isinstance(self.written, str) else self.written.get("step", ""))

    @property
    def options(self) -> dict[str, Any]:
        return {} if isinstance(self.written, str) else {k: v for k, v in self.written.items() if k != "step"}

    @property
    def words(self) -> str:
        try:
            return describe_steps([self.written])
        except PreprocessingError:
            return self.name


_NUMBER: Column[_Step] = Column("", lambda step: str(step.number), figure=True, width=32, called="Number")
_WHAT: Column[_Step] = Column("Step", lambda step: step.words)
_GIVES: Column[_Step] = Column("Result", lambda step: step.gives)


class StepsDialog(Dialog):
    """Edits the preprocessing steps of a slot; a slot without steps begins with those of its policy.

    Args:
        slot: Description of the slot.
        player: Assignment of the slot.
        checks: Checks with the available workers.
        spawn: Runs background tasks, which load Gymnasium to apply the steps.
        parent: The window.
    """

    chosen = pyqtSignal(list)
    """Emits the slot's steps; an empty list if the steps of the policy apply."""

    def __init__(
        self,
        slot: SlotInfo,
        player: WorkerAssignment,
        checks: ConfigurationChecks,
        spawn: Spawn,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("steps_dialog", "Preprocessing", parent, size=_SIZE)
        self._slot, self._player, self._checks, self._spawn = slot, player, checks, spawn
        worker = checks.worker(player)
        self._own = list(own_steps(player, worker, slot.agent_id)) if worker is not None else []
        self.steps: list[Any] = list(player.preprocess) or list(self._own)
        self._form: SettingsForm | None = None
        column = column_layout(self, margin=theme.PAGE)
        column.addWidget(title_label(f"Preprocessing for {slot.agent_id}"))
        column.addWidget(
            muted_label(
                "Steps from the environment's observation to the policy's input. They change only the input "
                "of this policy, not what people see, texts, pictures or the record.",
                wrap=True,
            )
        )
        seen = label(f"The environment's observation: {space_words(slot.observation_space)}", wrap=True)
        seen.setObjectName("steps_given")
        column.addWidget(seen)
        self.model: RowsModel[_Step] = RowsModel((_NUMBER, _WHAT, _GIVES), lambda step: step.number)
        self.table = RowsTable(self.model, "steps_table", "Steps", _ROW, self)
        self.table.fit_columns()
        column.addLayout(self._tools())
        self._empty = EmptyHint(
            "No steps",
            "The policy gets the environment's observation unchanged. Add a step to change it: "
            "select entries, flatten, scale or stack them.",
        )
        self._empty.setObjectName("steps_empty")
        self._rows = QStackedWidget(self)
        for view in (self.table, self._empty):
            self._rows.addWidget(view)
        column.addWidget(self._rows, 1)
        self._options = column_layout()
        column.addLayout(self._options)
        self._problem, self._unfit = label("", "error", wrap=True), label("", "error", wrap=True)
        for line, name in ((self._problem, "steps_problem"), (self._unfit, "steps_unfit")):
            line.setObjectName(name)
            line.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
            line.hide()
            column.addWidget(line)
        column.addLayout(self._buttons())
        selection = self.table.selectionModel()
        assert selection is not None
        selection.currentRowChanged.connect(self._show_options)
        self._refresh(select=1)

    def _tools(self) -> QHBoxLayout:
        menu = QMenu(self)
        menu.setObjectName("steps_menu")
        menu.setToolTipsVisible(True)
        for name in STEPS:
            schema = step_schema(name)
            action = menu.addAction(f"{name}: {schema['description']}", partial(self._add, name))
            assert action is not None
            action.setObjectName(f"step_{name}")
        row = row_layout()
        self._add_button = QuietButton("Add step", name="steps_add", menu=menu)
        self._remove = QuietButton("Remove", name="steps_remove", on_click=self._on_remove)
        self._up = QuietButton("Up", name="steps_up", on_click=partial(self._move, -1))
        self._down = QuietButton("Down", name="steps_down", on_click=partial(self._move, 1))
        self._reset = QuietButton("Use the policy's steps", name="steps_own", on_click=self._on_own)
        self._reset.setVisible(bool(self._own))
        for button in (self._add_button, self._remove, self._up, self._down):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self._reset)
        return row

    def _buttons(self) -> QHBoxLayout:
        cancel = QuietButton("Cancel", name="steps_cancel", on_click=self.reject)
        self._accept = PrimaryButton("Use these steps", name="steps_accept", on_click=self.accept)
        return right_row(cancel, self._accept)

    @property
    def settled(self) -> bool:
        """Whether the shown spaces and errors are those of the current steps."""
        return not self.working

    # -- editing -----------------------------------------------------------------------

    def _add(self, name: str) -> None:
        place = self._row + 1
        self.steps.insert(place, {"step": name})
        self._refresh(select=place + 1)

    def _on_remove(self) -> None:
        place = self._row
        if place >= 0:
            del self.steps[place]
            self._refresh(select=min(place + 1, len(self.steps)))

    def _move(self, by: int) -> None:
        place = self._row
        if place >= 0 and 0 <= place + by < len(self.steps):
            self.steps.insert(place + by, self.steps.pop(place))
            self._refresh(select=place + by + 1)

    def _on_own(self) -> None:
        self.steps = list(self._own)
        self._refresh(select=1)

    def _on_options(self, values: dict[str, Any]) -> None:
        place = self._row
        if place >= 0:
            self.steps[place] = {"step": self.model.rows[place].name, **values}
            self._refresh()

    @property
    def _row(self) -> int:
        return self.table.currentIndex().row()

    # -- display -----------------------------------------------------------------------

    def _refresh(self, select: int = 0) -> None:
        """Fill the table and check the steps.

        Args:
          select: Number of the step to select, from 1; 0 keeps the selection.
        """
        self._show_rows([row.gives for row in self.model.rows])
        if select:
            self.table.select(select)
            self._show_options()
        self._accept.setEnabled(False)
        self.set_task(self._spawn(self._check(list(self.steps)), "Checking the steps"))

    def _show_rows(self, gives: Sequence[str]) -> None:
        spaces = [*gives, *[""] * len(self.steps)]
        self.model.set_rows([_Step(i + 1, step, spaces[i]) for i, step in enumerate(self.steps)])
        self._rows.setCurrentWidget(self.table if self.steps else self._empty)

    async def _check(self, steps: list[Any]) -> None:
        spaces, problem, unfit = await asyncio.to_thread(self._results, steps)
        self._show_rows(spaces)
        for line, text in ((self._problem, problem), (self._unfit, unfit)):
            line.setText(text)
            line.setVisible(bool(text))
        self._accept.setEnabled(not problem)

    def _results(self, steps: list[Any]) -> tuple[list[str], str, str]:
        """Return the space after each step, why a step cannot be applied, and why the policy does not fit."""
        spaces, problem = seen_after(steps, self._slot.observation_space)
        player = replace(self._player, preprocess=steps)
        worker = self._checks.worker(player)
        return spaces, problem, "" if problem or worker is None else fit(self._slot, worker, player)

    def _show_options(self, *_: object) -> None:
        step = self.table.current
        place = self._row
        self._remove.setEnabled(step is not None)
        self._up.setEnabled(place > 0)
        self._down.setEnabled(0 <= place < len(self.steps) - 1)
        if self._form is not None:
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        if step is None or step.name not in STEPS:
            return
        schema = settings_from_schema(step_schema(step.name))
        self._form = SettingsForm(schema, step.options, parent=self)
        self._form.values_changed.connect(self._on_options)
        self._options.addWidget(self._form)

    def accept(self) -> None:
        """Emit the steps and close the dialog; the policy's own steps are emitted as an empty list."""
        if not self._accept.isEnabled():
            return
        own = check_steps(self.steps) == check_steps(self._own)
        self.chosen.emit([] if own else self.steps)
        super().accept()
