"""A form for the settings of a worker or of a training, built from their JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from PyQt6 import sip
from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from gym_gui.services.api_keys import Provider
from gym_gui.ui import theme
from gym_gui.ui.agents.language_controls import (
    FileControl,
    HelpedControl,
    ModelControl,
    PromptsControl,
    SecretControl,
    ServerControl,
)
from gym_gui.ui.agents.setting_controls import (
    ChoiceControl,
    FlagControl,
    NumberControl,
    PathControl,
    SettingControl,
    TextControl,
)
from gym_gui.ui.editor.checks import for_setting
from gym_gui.ui.editor.file_request import FileRequest
from gym_gui.ui.language.settings_services import (
    PromptsRequest,
    ServerRequest,
    ServerTestResult,
    SettingsServices,
    provider_of,
    server_request,
)
from gym_gui.ui.widgets import LinkButton, all_settings, label, muted_label, section_label
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.settings.settings_schema import Setting, grouped, problems

LABEL_WIDTH = 92
"""Width of the labels, in pixels, equal in all forms of the inspector, so that their controls align."""

_NOTHING: Final = object()
"""Marks a setting without a given value."""


class SettingsForm(QWidget):
    """Form with one row per setting: its label, its control and, below, its error.

    Settings without a group come first; those of a group follow below the group's heading.

    Args:
      schema: Settings of a worker or of a training.
      values: Current values of the settings.
      env_id: Environment of the slot; options for other environments are disabled.
      policy: Name of the worker's policy; settings of its other policies are left out.
      agent: Name of the slot.
      without: Names of settings to leave out.
      worker: Worker that has the settings.
      services: Tests servers and stores keys; ``None`` for plain fields.
      unknown: Returns the error for a setting name that the schema lacks; ``None`` accepts every name.
      parent: Qt owner.
    """

    values_changed = pyqtSignal(dict)
    """Emits all values after the user changed one."""

    def __init__(
        self,
        schema: Sequence[Setting],
        values: Mapping[str, Any] | None = None,
        *,
        env_id: str = "",
        policy: str = "",
        agent: str = "",
        without: Collection[str] = (),
        worker: WorkerTypeDefinition | None = None,
        services: SettingsServices | None = None,
        unknown: Callable[[str], str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("settings_form")
        # If the column is too short, the column scrolls: rows are not squeezed.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        mine = [s for s in schema if s.name not in without and s.concerns(env_id, policy)]
        self._schema = grouped(mine)
        self._places = {setting.name: place for place, setting in enumerate(self._schema)}
        self._worker, self._services, self._env_id, self._agent = worker, services, env_id, agent
        self._unknown = unknown
        self.action_words: Sequence[str] = ()
        """Names of the slot's actions, if they are known."""
        self._unfolded = services is not None and services.unfolded
        self._labels: dict[str, QLabel] = {}
        self._controls: dict[str, SettingControl] = {}
        self._notes: dict[str, QLabel] = {}
        self._headings: dict[str, QLabel] = {}
        self._kept: dict[str, Any] = {}
        self._given: dict[str, tuple[Any, Any]] = {}
        """For each row that the user did not change, the value that its control shows and the given value."""
        self._found: dict[str, str] = {}
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.ROW)
        grid.setVerticalSpacing(theme.ROW)
        grid.setColumnStretch(1, 1)
        self._unknown_settings = label("", "error", wrap=True, name="settings_unknown")
        grid.addWidget(self._unknown_settings, 3 * len(self._schema), 0, 1, 2)
        self._more = LinkButton("", name="settings_more")
        self._more.clicked.connect(self.toggle_all)
        self._more.setToolTip("Show all settings, or only the main ones")
        self._more.setVisible(any(setting.advanced for setting in self._schema))
        grid.addWidget(self._more, 3 * len(self._schema) + 1, 0, 1, 2)
        self.set_values(values or {})

    def _build_to(self, place: int) -> None:
        """Build rows up to an index, in the order of the schema, which is also the order of the Tab key."""
        for setting in self._schema[len(self._controls) : place + 1]:
            self._build(setting, 3 * len(self._controls))

    def _build(self, setting: Setting, row: int) -> None:
        grid = self._grid
        if setting.group and setting.group not in self._headings:
            self._headings[setting.group] = heading = section_label(setting.group, self)
            heading.setContentsMargins(0, theme.ROW, 0, 0)
            grid.addWidget(heading, row, 0, 1, 2)
        title = muted_label(setting.label, wrap=True, parent=self)
        title.setFixedWidth(LABEL_WIDTH)
        control = _control_for(setting, self)
        control.adapt(self._env_id, self._agent)
        control.set_value(setting.default)
        control.changed.connect(self._on_changed)
        seen = control.focusProxy()
        title.setToolTip(seen.toolTip() if seen is not None else setting.explanation)
        title.setBuddy(control)
        note = label("", "error", wrap=True, parent=self, name=f"setting_{setting.name}_problem")
        note.setVisible(False)
        # If a control shows text below its field, the label is aligned with the field.
        top = isinstance(control, HelpedControl)
        side = Qt.AlignmentFlag.AlignTop if top else Qt.AlignmentFlag.AlignVCenter
        if top:
            title.setMinimumHeight(control.sizeHint().height())
        grid.addWidget(title, row + 1, 0, Qt.AlignmentFlag.AlignLeft | side)
        grid.addWidget(control, row + 1, 1)
        grid.addWidget(note, row + 2, 1)
        self._controls[setting.name], self._notes[setting.name] = control, note
        self._labels[setting.name] = title

    @property
    def empty(self) -> bool:
        """Whether the form has no settings."""
        return not self._schema

    @property
    def problems(self) -> Mapping[str, str]:
        """Error sentences by the name of the setting."""
        return self._found

    def control(self, name: str) -> SettingControl:
        """Return the control of a setting.

        Raises:
            KeyError: The form has no such setting.
        """
        if name not in self._controls:
            self._build_to(self._places[name])
            self._fold()
        return self._controls[name]

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show values without emitting ``values_changed``."""
        self._kept = {name: value for name, value in values.items() if name not in self._places}
        wanted = [s.name in values or not s.advanced or self._unfolded for s in self._schema]
        self._build_to(max((place for place, here in enumerate(wanted) if here), default=-1))
        for name, control in self._controls.items():
            setting, value = control.setting, values.get(name)
            if value is None and not (name in values and setting.nullable):
                value = setting.default
            # A control that already has the value is not changed, so that its cursor does not move.
            if control.value() != value:
                control.set_value(value)
        self._given = {
            name: (control.value(), values.get(name, _NOTHING)) for name, control in self._controls.items()
        }
        self._check()

    def values(self) -> dict[str, Any]:
        """Return the values that differ from their defaults.

        A value that was given to the form is returned unchanged until the user edits its row, so that showing
        a configuration never changes it.
        """
        values = dict(self._kept)
        for name, control in self._controls.items():
            value = control.value()
            shown, given = self._given.get(name, (_NOTHING, _NOTHING))
            if value != shown:
                given = value if value != control.setting.default else _NOTHING
            if given is not _NOTHING:
                values[name] = given
        return values

    def effective(self, name: str) -> Any:
        """Return the value that applies to a setting: its set value, else its default, else ``None``."""
        place = self._places.get(name)
        return self.values().get(name, None if place is None else self._schema[place].default)

    def show_problems(self, found: Mapping[str, str]) -> None:
        """Show each error below the row of its setting.

        Args:
          found: Error sentences by the name of the setting.
        """
        self._found = dict(found)
        for name in found:
            if name in self._places:
                self._build_to(self._places[name])
        for name, note in self._notes.items():
            sentence = found.get(name, "")
            note.setText(sentence)
            note.setVisible(bool(sentence))
            self._controls[name].set_wrong(bool(sentence))
        strange = [sentence for name, sentence in found.items() if name not in self._places]
        self._unknown_settings.setText(" ".join(strange))
        self._unknown_settings.setVisible(bool(strange))
        self._fold()

    def _check(self) -> None:
        """Check the values and show the errors."""
        found = problems(self._schema, self.values())
        if self._unknown is not None:
            found |= {name: wrong for name in self._kept if (wrong := self._unknown(name))}
        self.show_problems(found)

    # -- all settings, or the main ones ------------------------------------------------

    def toggle_all(self) -> None:
        """Show all settings, or only the main ones."""
        self._unfolded = not self._unfolded
        if self._services is not None:
            self._services.unfolded = self._unfolded
        if self._unfolded:
            self._build_to(len(self._schema))
        self._fold()

    def _fold(self) -> None:
        """Hide advanced settings, except those that have a value or an error."""
        if self._worker is not None and self._services is not None:
            for helped in self._helped():
                if helped.access is None:
                    helped.attach(self)
        values = self.values()
        filled: set[str] = set()
        for name, control in self._controls.items():
            setting = control.setting
            shown = self._unfolded or not setting.advanced or name in self._found or name in values
            control.setVisible(shown)
            self._labels[name].setVisible(shown)
            filled |= {setting.group} if shown else set()
        for group, heading in self._headings.items():
            heading.setVisible(group in filled)
        self._more.set_text("Fewer settings" if self._unfolded else all_settings(len(self._schema)))

    # -- requests of controls (see FormAccess) -----------------------------------------

    @property
    def services(self) -> SettingsServices:
        """Services for settings: tests of servers, keys, editors."""
        assert self._services is not None
        return self._services

    def server(self, module: str) -> ServerRequest:
        """Return the server that the form's settings describe."""
        assert self._worker is not None
        return server_request(self._worker, self._schema, module, self.values())

    def provider(self, setting: Setting) -> Provider:
        """Return the provider for which a secret setting holds the key."""
        return provider_of(setting, self._schema, self.values())

    def prompts(self, setting: Setting) -> PromptsRequest:
        """Return the prompts that the form's settings name."""
        assert self._worker is not None
        settings = {s.name: s.default for s in self._schema if s.default is not None} | self.values()
        return PromptsRequest(self._worker, setting, settings, self._agent, _SetValue(self, setting.name))

    def file(self, setting: Setting) -> FileRequest:
        """Return the file that a setting names."""
        assert self._worker is not None
        path = str(self.effective(setting.name) or "")
        return for_setting(self._worker, setting, path, self.action_words, _SetValue(self, setting.name))

    def offer_models(self, look: ServerTestResult) -> None:
        """Pass a server's answer to all controls, so that the model control offers its models."""
        for helped in self._helped():
            helped.show_server_answer(look)

    def _helped(self) -> list[HelpedControl]:
        return [control for control in self._controls.values() if isinstance(control, HelpedControl)]

    def _on_changed(self) -> None:
        source = self.sender()
        if isinstance(source, SettingControl):
            self._given.pop(source.setting.name, None)
        values = self.values()
        self._check()
        for helped in self._helped():
            if helped is not source and helped.access is not None:
                helped.on_form_changed(values)
        self.values_changed.emit(values)


class _SetValue:
    """Function object that sets one setting of a form as if the user had typed the value."""

    def __init__(self, form: SettingsForm, name: str) -> None:
        self._form, self._name = form, name

    def __call__(self, value: str) -> None:
        if sip.isdeleted(self._form):
            return  # Another form has replaced the form since.
        control = self._form.control(self._name)
        control.set_value(value)
        control.changed.emit()


def _control_for(setting: Setting, parent: QWidget) -> SettingControl:
    """Create the control for a setting, by the setting's kind."""
    kinds: dict[str, type[SettingControl]] = {
        "choice": ChoiceControl,
        "boolean": FlagControl,
        "integer": NumberControl,
        "number": NumberControl,
        "policy": PathControl,
        "file": FileControl if setting.checked else PathControl,
        "program": PathControl,
        "secret": SecretControl,
        "server": ServerControl,
        "model": ModelControl,
        "prompts": PromptsControl,
    }
    return kinds.get(setting.kind, TextControl)(setting, parent)
