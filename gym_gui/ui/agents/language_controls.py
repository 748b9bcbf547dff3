"""Controls for the settings of language workers: server, model, key, prompts and files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Protocol

from PyQt6.QtCore import QSignalBlocker, Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from gym_gui.core.errors import UsageError
from gym_gui.services.api_keys import Provider
from gym_gui.ui import theme
from gym_gui.ui.agents.setting_controls import PathControl, SettingControl, TextControl
from gym_gui.ui.editor.file_request import FileRequest
from gym_gui.ui.language.settings_services import PromptsRequest, ServerLook, ServerRequest, SettingsServices
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import LinkButton, QuietButton, restyle
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.workers.settings.settings_schema import Setting

_PLACES: Final = {
    "keyring": "A key of {} is in the keyring",
    "memory": "A key of {} is kept until the window closes",
    "environment": "{variable} is set",
}


class FormAccess(Protocol):
    """What a control may request from its form."""

    @property
    def services(self) -> SettingsServices:
        """The window's services for settings."""
        ...

    def server(self, module: str) -> ServerRequest:
        """Return the server that the form describes."""
        ...

    def provider(self, setting: Setting) -> Provider:
        """Return the provider whose key a secret holds."""
        ...

    def prompts(self, setting: Setting) -> PromptsRequest:
        """Return the prompts that the form names."""
        ...

    def file(self, setting: Setting) -> FileRequest:
        """Return the file that a setting names."""
        ...

    def heard(self, look: ServerLook) -> None:
        """Pass a server's answer to every control of the form; the model control offers the models in it."""
        ...


class HelpedControl(SettingControl):
    """A control with an action beside its value; without services it is a plain field."""

    access: FormAccess | None = None
    _task: asyncio.Task[None] | None = None
    _said: QLabel
    """Label with a sentence below the field."""

    def _add_help(self, text: str, suffix: str, tooltip: str, on_click: Callable[[], object]) -> LinkButton:
        """Add a hidden button under the field and a sentence below it, and return the button."""
        name = f"setting_{self.setting.name}"
        button = LinkButton(text, name=f"{name}_{suffix}", tooltip=tooltip, on_click=on_click)
        button.hide()
        self._said = QLabel(self)
        self._said.setObjectName(f"{name}_said")
        self._said.setWordWrap(True)
        self._said.setTextFormat(Qt.TextFormat.PlainText)
        self._said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._said.hide()
        self._column = _column_in(self._row)
        self._column.addWidget(button)
        self._column.addWidget(self._said)
        return button

    def _say(self, role: str, sentence: str) -> None:
        if self._said.property("role") != role:
            self._said.setProperty("role", role)
            restyle(self._said)
        self._said.setText(sentence)
        self._said.setVisible(bool(sentence))

    @property
    def _is_asking(self) -> bool:
        return self._task is not None and not self._task.done()

    def _ask(
        self, work: Callable[[FormAccess], Coroutine[Any, Any, None]], button: QWidget, words: str, what: str
    ) -> None:
        """Ask the server, one question at a time; the button is disabled until the answer arrives."""
        if self.access is not None and not self._is_asking:
            button.setEnabled(False)
            self._say("muted", words)
            self._task = self.access.services.spawn(work(self.access), what)

    def attach(self, access: FormAccess) -> None:
        """Store the form, which gives access to the services."""
        self.access = access

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        """React to a change of another setting of the form."""

    def on_heard(self, look: ServerLook) -> None:
        """React to an answer of the form's server."""


class ServerControl(HelpedControl, TextControl):
    """A field for a server's address, with a button that tests the server and shows the result."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        tooltip = "Ask this server for its models; costs nothing"
        self._test = self._add_help("Test", "test", tooltip, self.try_it)
        self.line.textEdited.connect(self._on_text)

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self._test.setVisible(bool(self.setting.module))

    def try_it(self) -> None:
        """Test the server that the form describes now."""
        self._ask(self._try, self._test, "Asking…", "Testing the server")

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        self._forget()

    async def _try(self, access: FormAccess) -> None:
        request = access.server(self.setting.module)
        look = await access.services.look(request)
        try:
            self._test.setEnabled(True)
            if access.server(self.setting.module) == request:
                self._say("ok" if look.ok else "error", f"{_full_stop(look.sentence)} {look.at}")
                access.heard(look)
            else:
                self._forget()
        except RuntimeError:
            return  # The form has been deleted since.

    def _on_text(self, _text: str) -> None:
        self._forget()

    def _forget(self) -> None:
        """Clear a test result that belongs to another server."""
        if not self._is_asking:
            self._say("muted", "")


class ModelControl(HelpedControl):
    """A field for a model's name, which is typed or chosen from the models of the server."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self._box = _ModelBox(self)
        self._box.setEditable(True)
        self._box.setInsertPolicy(SteadyComboBox.InsertPolicy.NoInsert)
        line = self._box.lineEdit()
        assert line is not None
        self.line: QLineEdit = line
        self.line.setAccessibleName(setting.label)
        self.line.setPlaceholderText(str(setting.default or "choose or type"))
        completer = self._box.completer()
        if completer is not None:
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._adopt(self._box)
        # Place the button below, not beside: names of models are long.
        tooltip = "Ask the server which models it has"
        self._fetch_button = self._add_help("Fetch models", "fetch", tooltip, self.fetch)
        self.line.textEdited.connect(self._on_edited)
        self._box.activated.connect(self._on_edited)
        self._box.opening = self._on_opening

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self._fetch_button.setVisible(bool(self.setting.module))
        self._offer(access.services.known_models(access.server(self.setting.module)))

    def value(self) -> Any:
        return self.line.text().strip() or self.setting.default

    def set_value(self, value: Any) -> None:
        text = "" if value is None else str(value)
        if self.line.text() != text:
            with QSignalBlocker(self._box):
                self._box.setEditText(text)
            self.line.setCursorPosition(0)

    @property
    def models(self) -> tuple[str, ...]:
        """Models in the list."""
        return tuple(self._box.itemText(i) for i in range(self._box.count()))

    def fetch(self) -> None:
        """Ask the server for its models."""
        self._ask(self._fetch, self._fetch_button, "Fetching the models…", "Fetching the models")

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        if self.access is not None:
            self._offer(self.access.services.known_models(self.access.server(self.setting.module)))
            if not self._is_asking:
                self._say("muted", "")

    def on_heard(self, look: ServerLook) -> None:
        if look.models:
            self._offer(look.models)

    async def _fetch(self, access: FormAccess) -> None:
        look = await access.services.look(access.server(self.setting.module))
        try:
            self._fetch_button.setEnabled(True)
            if look.models:
                self._offer(look.models)
                self._say("muted", f"{local(len(look.models)):,} models, {look.at}")
                if self._box.isVisible() and self._box.hasFocus():
                    self._box.showPopup()
            elif look.ok:
                self._say("muted", f"The server lists no models: type the name. {look.at}")
            else:
                self._say("error", f"{_full_stop(look.sentence)} {look.at}")
        except RuntimeError:
            return  # The form has been deleted since.

    def _on_opening(self) -> None:
        """Fetch the server's models when the user opens an empty list."""
        if not self._box.count() and self.access is not None and self.setting.module:
            self.fetch()

    def _offer(self, models: tuple[str, ...]) -> None:
        if models == self.models:
            return
        text = self.line.text()
        with QSignalBlocker(self._box):
            self._box.clear()
            self._box.addItems(list(models))
            self._box.setCurrentIndex(self._box.findText(text))
            self._box.setEditText(text)
            if not self.line.hasFocus():
                self.line.setCursorPosition(0)


class _ModelBox(SteadyComboBox):
    """Calls ``opening`` before its list is shown."""

    opening: Any = None

    def showPopup(self) -> None:
        if self.opening is not None:
            self.opening()
        if self.count():
            super().showPopup()


class SecretControl(HelpedControl, TextControl):
    """A field for the reference to a key (``keyring:openai``, ``env:NAME``), and one to store a new key."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self._looked: object = None
        tooltip = "Put a key into the system's keyring; it is never written to a file"
        self.open = self._add_help("Set a key…", "key", tooltip, self._on_open)
        self._use = LinkButton("Use it", name=f"setting_{setting.name}_use", on_click=self._on_use)
        self._use.hide()
        self._column.addWidget(self._use)
        self._field = QLineEdit(self)
        self._field.setObjectName(f"setting_{setting.name}_paste")
        self._field.setEchoMode(QLineEdit.EchoMode.Password)
        self._field.setPlaceholderText("Paste the key")
        self._field.setAccessibleName(f"{setting.label}, to be kept in the keyring")
        self._field.returnPressed.connect(self._on_save)
        self.save = QuietButton("Save", name=f"setting_{setting.name}_save", on_click=self._on_save)
        self._paste = QWidget(self)
        row = row_layout(self._paste, spacing=theme.STEP)
        row.addWidget(self._field, 1)
        row.addWidget(self.save)
        self._paste.hide()
        self._column.addWidget(self._paste)
        self._offered = ""

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self.open.show()
        self._look()

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        self._look()

    def set_value(self, value: Any) -> None:
        super().set_value(value)
        self._look()

    def _look(self) -> None:
        """Look, once for each provider, whether there is a key."""
        if self.access is None:
            return
        provider, empty = self.access.provider(self.setting), self.value() is None
        if (provider, empty) == self._looked:
            return
        self._looked = (provider, empty)
        self._use.hide()
        if empty:
            self.access.services.spawn(self._find(self.access, provider), "Looking for a key")
        else:
            self._say("muted", "")

    async def _find(self, access: FormAccess, provider: Provider) -> None:
        where = await asyncio.to_thread(access.services.keys.where, provider)
        reference = await asyncio.to_thread(access.services.keys.reference, provider) if where else ""
        try:
            if self._looked == (provider, True):
                words = _PLACES[where].format(provider.title, variable=provider.variable) if where else ""
                self._say("muted", words)
                self._offered = reference
                self._use.setVisible(bool(reference))
        except RuntimeError:
            return  # The form has been deleted since.

    def _on_use(self) -> None:
        if self._offered:
            self.set_value(self._offered)
            self.changed.emit()

    def _on_open(self) -> None:
        self._paste.setVisible(not self._paste.isVisibleTo(self))
        if self._paste.isVisibleTo(self):
            self._field.setFocus()

    def _on_save(self) -> None:
        key = self._field.text()
        self._field.clear()  # The key is shown no longer than needed.
        if key.strip() and self.access is not None:
            provider = self.access.provider(self.setting)
            self.access.services.spawn(self._save(self.access, provider, key), "Saving the key")

    async def _save(self, access: FormAccess, provider: Provider, key: str) -> None:
        keys = access.services.keys
        try:
            where = await asyncio.to_thread(keys.save, provider, key)
            trouble = await asyncio.to_thread(keys.trouble) if where == "memory" else ""
        except UsageError as error:
            self._tell("error", _full_stop(error.sentence))
            return
        reference = f"keyring:{provider.id}" if where == "keyring" else f"env:{provider.variable}"
        try:
            self.set_value(reference)
            self._paste.hide()
            self.changed.emit()
        except RuntimeError:
            return  # The form has been deleted since.
        if where == "keyring":
            self._tell("ok", f"The key of {provider.title} is in the keyring.")
        else:
            self._tell(
                "muted",
                f"{_full_stop(trouble)} The key is kept until the window closes. To keep it longer, "
                f"set {provider.variable} before the window is started.",
            )

    def _tell(self, role: str, sentence: str) -> None:
        try:
            self._say(role, sentence)
        except RuntimeError:
            return  # The form has been deleted since.


class PromptsControl(HelpedControl, PathControl):
    """A field for the folder of a worker's prompts, with a button that edits them."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self.line.setPlaceholderText("the worker's own")
        tooltip = "Edit a copy of the prompts, with what becomes of them beside it"
        self._edit = self._add_help("Edit the prompts…", "edit", tooltip, self._on_edit)

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self._edit.setVisible(bool(self.setting.module) and access.services.on_prompts is not None)

    def _on_edit(self) -> None:
        if self.access is not None:
            self.access.services.edit_prompts(self.access.prompts(self.setting))


class FileControl(HelpedControl, PathControl):
    """A field for a file that the worker can check, with a button that edits it."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        tooltip = f"Write {setting.label.lower()} here; mistakes are shown by line"
        self._edit = self._add_help("Edit…", "edit", tooltip, self._on_edit)

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self._edit.show()

    def _on_edit(self) -> None:
        if self.access is not None:
            self.access.services.edit_file(self.access.file(self.setting))


def _column_in(row: QHBoxLayout) -> QVBoxLayout:
    """Move the widgets of a row into the first line of a new column in the row, and return the column."""
    items = [item for i in range(row.count()) if (item := row.itemAt(i)) is not None]
    widgets = [widget for item in items if (widget := item.widget()) is not None]
    for widget in widgets:
        row.removeWidget(widget)
    column = column_layout(spacing=theme.STEP)
    line = row_layout(spacing=theme.STEP)
    for i, widget in enumerate(widgets):
        line.addWidget(widget, 0 if i else 1)
    column.addLayout(line)
    row.addLayout(column, 1)
    return column


def _full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) or not sentence else f"{sentence}."
