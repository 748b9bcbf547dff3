"""The settings of an algorithm as rows: the main ones first, the others on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.train.setting_fields import FieldError, SettingField, field_for
from gym_gui.ui.widgets import LinkButton, all_settings, label, muted_label

LABEL_WIDTH = 92

Check = Callable[[Mapping[str, Any]], Mapping[str, str]]
"""Says what is wrong with values, by the setting's name."""


class SettingsList(QWidget):
    """See the module.

    Args:
        properties: JSON Schema of each setting, by name.
        check: Checks values that are of their kinds.
        parent: Qt owner.
    """

    changed = pyqtSignal()

    def __init__(
        self, properties: Mapping[str, Mapping[str, Any]], check: Check, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("train-settings")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._check = check
        self._fields: dict[str, SettingField] = {}
        self._labels: dict[str, QLabel] = {}
        self._notes: dict[str, QLabel] = {}
        self._unknown: dict[str, Any] = {}
        self._problems: dict[str, str] = {}
        self._all = False
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.ROW)
        grid.setVerticalSpacing(theme.ROW)
        grid.setColumnStretch(1, 1)
        ordered = sorted(properties.items(), key=lambda item: item[1].get("x-group") != "main")
        self._grid = grid
        self._properties = dict(ordered)
        self._places = {name: 2 * row for row, name in enumerate(self._properties)}
        for name, schema in ordered:
            if schema.get("x-group") == "main":
                self._build(name)
        self.strange = label("", "error", wrap=True)
        self.strange.setObjectName("train-settings-unknown")
        grid.addWidget(self.strange, 2 * len(ordered), 0, 1, 2)
        self.more = LinkButton("", name="train-all-settings", on_click=self.toggle_all)
        self.more.setToolTip("Show every setting of this algorithm, or the main ones alone")
        grid.addWidget(self.more, 2 * len(ordered) + 1, 0, 1, 2)
        self._show_rows()
        self.look()

    def _build(self, name: str) -> None:
        """Make a row, once: most settings are never looked at."""
        if name in self._fields:
            return
        grid, row = self._grid, self._places[name]
        field = field_for(name, self._properties[name], self)
        heading = muted_label(field.title, wrap=True, parent=self)
        heading.setFixedWidth(LABEL_WIDTH)
        heading.setToolTip(field.control.toolTip())
        heading.setBuddy(field.control)
        note = label("", "error", wrap=True, parent=self)
        note.setObjectName(f"train-setting-{name}-problem")
        grid.addWidget(heading, row, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(field, row, 1)
        grid.addWidget(note, row + 1, 1)
        field.changed.connect(self._on_changed)
        self._fields[name], self._labels[name], self._notes[name] = field, heading, note

    @property
    def problems(self) -> Mapping[str, str]:
        """What is wrong, by the setting's title."""
        return self._problems

    def values(self) -> dict[str, Any]:
        """What is set and differs from its default; what no field shows is in it as it came."""
        result = dict(self._unknown)
        for name, field in self._fields.items():
            try:
                value = field.value()
            except FieldError:
                continue
            if value != field.default:
                result[name] = value
        return result

    def effective(self, name: str, otherwise: Any = None) -> Any:
        """What will hold for a setting: what is set, else its default."""
        field = self._fields.get(name)
        if field is None:
            return self._unknown.get(name, self._properties.get(name, {}).get("default", otherwise))
        try:
            return field.value()
        except FieldError:
            return otherwise

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show these, and the defaults of all others."""
        self._unknown = {name: value for name, value in values.items() if name not in self._properties}
        for name in values:
            if name in self._properties:
                self._build(name)
        for name, field in self._fields.items():
            field.set_value(values.get(name, field.default))
        self._show_rows()
        self.look()

    def toggle_all(self) -> None:
        """All settings, or the main ones alone."""
        self._all = not self._all
        if self._all:
            for name in self._properties:
                self._build(name)
            self.look()
        self._show_rows()

    def look(self) -> None:
        """Check what stands there, and say beside each field what is wrong with it."""
        found: dict[str, str] = {}
        for name, field in self._fields.items():
            try:
                field.value()
            except FieldError as error:
                found[name] = str(error)
        for name, text in self._check(self.values()).items():
            found.setdefault(name, text)
        for name, note in self._notes.items():
            text = found.get(name, "")
            note.setText(text)
            note.setVisible(bool(text) and self._fields[name].isVisibleTo(self))
            self._fields[name].set_wrong(bool(text))
        strange = [text for name, text in found.items() if name not in self._fields]
        self.strange.setText(" ".join(strange))
        self.strange.setVisible(bool(strange))
        known = {name: field.title for name, field in self._fields.items()}
        self._problems = {known.get(name, name): text for name, text in found.items()}
        self._show_rows()

    def _show_rows(self) -> None:
        """A setting that is wrong, or was changed, is shown also where it is none of the main ones."""
        changed = set(self.values())
        for name, field in self._fields.items():
            wrong = bool(self._notes[name].text())
            shown = self._all or field.main or wrong or (name in changed)
            field.setVisible(shown)
            self._labels[name].setVisible(shown)
            self._notes[name].setVisible(shown and wrong)
        others = any(schema.get("x-group") != "main" for schema in self._properties.values())
        self.more.setVisible(others)
        self.more.set_text("Fewer settings" if self._all else all_settings(len(self._properties)))

    def _on_changed(self) -> None:
        self.look()
        self.changed.emit()
