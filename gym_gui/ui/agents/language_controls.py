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
from gym_gui.ui.language.settings_services import (
    PromptsRequest,
    ServerRequest,
    ServerTestResult,
    SettingsServices,
)
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import LinkButton, QuietButton, restyle
from gym_gui.ui.widgets.combo_box import SteadyComboBox
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.workers.settings.settings_schema import Setting

_KEY_LOCATIONS: Final = {
    "keyring": "The keyring has a key of {}",
    "memory": "A key of {} is stored until the window closes",
    "environment": "The environment variable {variable} is set",
}


class FormAccess(Protocol):
    """Protocol of a settings form, as far as its controls use it."""

    @property
    def services(self) -> SettingsServices:
        """Services for settings: tests of servers, keys, editors."""
        ...

    def server(self, module: str) -> ServerRequest:
        """Return the server that the form's settings describe.

        Args:
          module: Name of the Python module that asks the server.
        """
        ...

    def provider(self, setting: Setting) -> Provider:
        """Return the provider for which a secret setting holds the key."""
        ...

    def prompts(self, setting: Setting) -> PromptsRequest:
        """Return the prompts that the form's settings name."""
        ...

    def file(self, setting: Setting) -> FileRequest:
        """Return the file that a setting names."""
        ...

    def offer_models(self, look: ServerTestResult) -> None:
        """Pass a server's answer to all controls, so that the model control offers its models."""
        ...


class HelpedControl(SettingControl):
    """Control with an action below its value; without access to services it is a plain field."""

    access: FormAccess | None = None
    _task: asyncio.Task[None] | None = None
    _result: QLabel
    """Label below the field that shows the result of the action."""

    def _add_help(self, text: str, suffix: str, tooltip: str, on_click: Callable[[], object]) -> LinkButton:
        """Add a hidden button and a result label below the field, and return the button."""
        name = f"setting_{self.setting.name}"
        button = LinkButton(text, name=f"{name}_{suffix}", tooltip=tooltip, on_click=on_click)
        button.hide()
        self._result = QLabel(self)
        self._result.setObjectName(f"{name}_said")
        self._result.setWordWrap(True)
        self._result.setTextFormat(Qt.TextFormat.PlainText)
        self._result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._result.hide()
        self._column = _column_in(self._row)
        self._column.addWidget(button)
        self._column.addWidget(self._result)
        return button

    def _show_result(self, role: str, sentence: str) -> None:
        if self._result.property("role") != role:
            self._result.setProperty("role", role)
            restyle(self._result)
        self._result.setText(sentence)
        self._result.setVisible(bool(sentence))

    @property
    def _is_asking(self) -> bool:
        return self._task is not None and not self._task.done()

    def _ask(
        self, work: Callable[[FormAccess], Coroutine[Any, Any, None]], button: QWidget, words: str, what: str
    ) -> None:
        """Send a request to the server, one at a time, with the button disabled until the answer arrives."""
        if self.access is not None and not self._is_asking:
            button.setEnabled(False)
            self._show_result("muted", words)
            self._task = self.access.services.spawn(work(self.access), what)

    def attach(self, access: FormAccess) -> None:
        """Store the form that contains the control, for access to its services."""
        self.access = access

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        """React to a change of another setting of the form.

        Args:
          values: All values of the form.
        """

    def show_server_answer(self, look: ServerTestResult) -> None:
        """React to an answer of the server."""


class ServerControl(HelpedControl, TextControl):
    """Field for a server's address, with a button that tests the server and shows the result."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        tooltip = "Test the server: it lists its models, at no cost"
        self._test = self._add_help("Test", "test", tooltip, self.try_it)
        self.line.textEdited.connect(self._on_text)

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self._test.setVisible(bool(self.setting.module))

    def try_it(self) -> None:
        """Test the server that the form describes now."""
        self._ask(self._try, self._test, "Testing…", "Testing the server")

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        self._clear_result()

    async def _try(self, access: FormAccess) -> None:
        request = access.server(self.setting.module)
        look = await access.services.test_server(request)
        try:
            self._test.setEnabled(True)
            if access.server(self.setting.module) == request:
                self._show_result("ok" if look.ok else "error", f"{_full_stop(look.sentence)} {look.at}")
                access.offer_models(look)
            else:
                self._clear_result()
        except RuntimeError:
            return  # The form has been deleted since.

    def _on_text(self, _text: str) -> None:
        self._clear_result()

    def _clear_result(self) -> None:
        """Clear a test result, because the settings have changed."""
        if not self._is_asking:
            self._show_result("muted", "")


class ModelControl(HelpedControl):
    """Field for a model's name, which is typed or chosen from the server's models."""

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
        tooltip = "Read the list of models from the server"
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
        """Names in the list of models."""
        return tuple(self._box.itemText(i) for i in range(self._box.count()))

    def fetch(self) -> None:
        """Request the list of models from the server."""
        self._ask(self._fetch, self._fetch_button, "Fetching the models…", "Fetching the models")

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        if self.access is not None:
            self._offer(self.access.services.known_models(self.access.server(self.setting.module)))
            if not self._is_asking:
                self._show_result("muted", "")

    def show_server_answer(self, look: ServerTestResult) -> None:
        if look.models:
            self._offer(look.models)

    async def _fetch(self, access: FormAccess) -> None:
        look = await access.services.test_server(access.server(self.setting.module))
        try:
            self._fetch_button.setEnabled(True)
            if look.models:
                self._offer(look.models)
                self._show_result("muted", f"{local(len(look.models)):,} models, {look.at}")
                if self._box.isVisible() and self._box.hasFocus():
                    self._box.showPopup()
            elif look.ok:
                self._show_result("muted", f"The server lists no models: type a name. {look.at}")
            else:
                self._show_result("error", f"{_full_stop(look.sentence)} {look.at}")
        except RuntimeError:
            return  # The form has been deleted since.

    def _on_opening(self) -> None:
        """Request the server's models when the user opens an empty list."""
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
    """Editable list that calls ``opening`` before it is shown."""

    opening: Any = None

    def showPopup(self) -> None:
        if self.opening is not None:
            self.opening()
        if self.count():
            super().showPopup()


class SecretControl(HelpedControl, TextControl):
    """Field for a reference to an API key (``keyring:openai``, ``env:NAME``), and one to save a new key."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self._checked_provider: object = None
        tooltip = "Save a key in the system's keyring; MOSAIC never writes it to a file"
        self.open = self._add_help("Set a key…", "key", tooltip, self._on_open)
        self._use = LinkButton("Use this key", name=f"setting_{setting.name}_use", on_click=self._on_use)
        self._use.hide()
        self._column.addWidget(self._use)
        self._field = QLineEdit(self)
        self._field.setObjectName(f"setting_{setting.name}_paste")
        self._field.setEchoMode(QLineEdit.EchoMode.Password)
        self._field.setPlaceholderText("Paste the key")
        self._field.setAccessibleName(f"{setting.label}, to be saved in the keyring")
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
        self._check_key()

    def on_form_changed(self, values: Mapping[str, Any]) -> None:
        self._check_key()

    def set_value(self, value: Any) -> None:
        super().set_value(value)
        self._check_key()

    def _check_key(self) -> None:
        """Find out, once per provider, whether a key is available, and offer to use it."""
        if self.access is None:
            return
        provider, empty = self.access.provider(self.setting), self.value() is None
        if (provider, empty) == self._checked_provider:
            return
        self._checked_provider = (provider, empty)
        self._use.hide()
        if empty:
            self.access.services.spawn(self._find(self.access, provider), "Looking for a key")
        else:
            self._show_result("muted", "")

    async def _find(self, access: FormAccess, provider: Provider) -> None:
        where = await asyncio.to_thread(access.services.keys.where, provider)
        reference = await asyncio.to_thread(access.services.keys.reference, provider) if where else ""
        try:
            if self._checked_provider == (provider, True):
                words = (
                    _KEY_LOCATIONS[where].format(provider.title, variable=provider.variable) if where else ""
                )
                self._show_result("muted", words)
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
        self._field.clear()  # The key does not stay in the field.
        if key.strip() and self.access is not None:
            provider = self.access.provider(self.setting)
            self.access.services.spawn(self._save(self.access, provider, key), "Saving the key")

    async def _save(self, access: FormAccess, provider: Provider, key: str) -> None:
        keys = access.services.keys
        try:
            where = await asyncio.to_thread(keys.save, provider, key)
            trouble = await asyncio.to_thread(keys.trouble) if where == "memory" else ""
        except UsageError as error:
            self._show_result_if_alive("error", _full_stop(error.sentence))
            return
        reference = f"keyring:{provider.id}" if where == "keyring" else f"env:{provider.variable}"
        try:
            self.set_value(reference)
            self._paste.hide()
            self.changed.emit()
        except RuntimeError:
            return  # The form has been deleted since.
        if where == "keyring":
            self._show_result_if_alive("ok", f"The key of {provider.title} is in the keyring.")
        else:
            self._show_result_if_alive(
                "muted",
                f"{_full_stop(trouble)} The key is stored until the window closes. To keep it, "
                f"set {provider.variable} before you start MOSAIC.",
            )

    def _show_result_if_alive(self, role: str, sentence: str) -> None:
        try:
            self._show_result(role, sentence)
        except RuntimeError:
            return  # The form has been deleted since.


class PromptsControl(HelpedControl, PathControl):
    """Field for the folder of a worker's prompts, with a button that edits them."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        self.line.setPlaceholderText("the worker's prompts")
        tooltip = "Edit a copy of the prompts beside a preview of the messages"
        self._edit = self._add_help("Edit the prompts…", "edit", tooltip, self._on_edit)

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self._edit.setVisible(bool(self.setting.module) and access.services.on_prompts is not None)

    def _on_edit(self) -> None:
        if self.access is not None:
            self.access.services.edit_prompts(self.access.prompts(self.setting))


class FileControl(HelpedControl, PathControl):
    """Field for a file that the worker can check, with a button that edits it."""

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(setting, parent)
        tooltip = f"Edit {setting.label.lower()} in the window, which shows errors at their lines"
        self._edit = self._add_help("Edit…", "edit", tooltip, self._on_edit)

    def attach(self, access: FormAccess) -> None:
        super().attach(access)
        self._edit.show()

    def _on_edit(self) -> None:
        if self.access is not None:
            self.access.services.edit_file(self.access.file(self.setting))


def _column_in(row: QHBoxLayout) -> QVBoxLayout:
    """Move a row's widgets into the first line of a new column in that row, and return the column."""
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
