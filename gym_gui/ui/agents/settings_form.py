"""A form made from a worker's own description of its settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.agents.setting_controls import SettingControl, control_for
from gym_gui.ui.widgets import muted_label
from gym_gui.workers.settings_schema import Setting, problems

LABEL_WIDTH = 92
"""As in the inspector's other forms, so that controls stand in one line."""


class SettingsForm(QWidget):
    """One row per setting: its label, its control, and below it what is wrong.

    Settings that the schema does not know are kept as they are and given back by
    :meth:`values`, so that a form never loses what a file says.

    Args:
        schema: The settings, as :attr:`WorkerTypeDefinition.settings_schema` gives them.
        values: What they are now.
        env_id: Environment of the slot; options made for others are disabled.
        agent: The slot's name.
        without: Names of settings that are edited elsewhere and not shown here.
        parent: Owner.
    """

    values_changed = pyqtSignal(dict)
    """All values, after a person changed one."""

    def __init__(
        self,
        schema: Sequence[Setting],
        values: Mapping[str, Any] | None = None,
        *,
        env_id: str = "",
        agent: str = "",
        without: Collection[str] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("settings_form")
        # In a column that is too short, the column scrolls: rows are not squeezed.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._schema = tuple(s for s in schema if s.name not in without and s.concerns(env_id))
        self._controls: dict[str, SettingControl] = {}
        self._notes: dict[str, QLabel] = {}
        self._kept: dict[str, Any] = {}
        self._filled = False
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.ROW)
        grid.setVerticalSpacing(theme.ROW)
        grid.setColumnStretch(1, 1)
        for row, setting in enumerate(self._schema):
            self._add_row(grid, 2 * row, setting, env_id, agent)
        self.set_values(values or {})

    def _add_row(self, grid: QGridLayout, row: int, setting: Setting, env_id: str, agent: str) -> None:
        label = muted_label(setting.label, wrap=True, parent=self)
        label.setFixedWidth(LABEL_WIDTH)
        label.setToolTip(setting.meaning)
        control = control_for(setting, self)
        control.adapt(env_id, agent)
        control.changed.connect(self._on_changed)
        label.setBuddy(control)
        note = QLabel(self)
        note.setObjectName(f"setting_{setting.name}_problem")
        note.setProperty("role", "error")
        note.setWordWrap(True)
        note.setVisible(False)
        grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(control, row, 1)
        grid.addWidget(note, row + 1, 1)
        self._controls[setting.name], self._notes[setting.name] = control, note

    @property
    def empty(self) -> bool:
        """Whether there is nothing to set."""
        return not self._schema

    def control(self, name: str) -> SettingControl:
        """The control of one setting.

        Raises:
            KeyError: The form does not show it.
        """
        return self._controls[name]

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show ``values``; nobody is told."""
        self._kept = {name: value for name, value in values.items() if name not in self._controls}
        for setting in self._schema:
            control, value = self._controls[setting.name], values.get(setting.name)
            # What stands there already is left alone: the cursor in a field stays where it is.
            if not self._filled or control.value() != (setting.default if value is None else value):
                control.set_value(value)
        self._filled = True
        self.show_problems(problems(self._schema, self.values()))

    def values(self) -> dict[str, Any]:
        """What is set; settings left to the worker, or at their default, are not in it."""
        result = dict(self._kept)
        for setting in self._schema:
            value = self._controls[setting.name].value()
            # What a person wrote out stays, but a default that nobody touched is no setting.
            if value is not None and value != setting.default:
                result[setting.name] = value
        return result

    def show_problems(self, found: Mapping[str, str]) -> None:
        """Say below each row what is wrong with it."""
        for name, note in self._notes.items():
            sentence = found.get(name, "")
            note.setText(sentence)
            note.setVisible(bool(sentence))

    def _on_changed(self) -> None:
        values = self.values()
        self.show_problems(problems(self._schema, values))
        self.values_changed.emit(values)
