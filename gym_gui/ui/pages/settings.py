"""Settings page, generated from the declared settings; each change is saved at once and can be reset."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Final

from PyQt6.QtCore import QEvent, QObject, Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QLineEdit,
    QWidget,
)

from gym_gui.core.errors import UsageError
from gym_gui.core.paths import RUNS_SETTING
from gym_gui.services.api_keys import PROVIDERS, Provider
from gym_gui.ui import theme
from gym_gui.ui import window_settings as declared
from gym_gui.ui.context import AppContext
from gym_gui.ui.hosts.runs_on import open_hosts
from gym_gui.ui.page import Page
from gym_gui.ui.results.exports import ask_folder
from gym_gui.ui.widgets import (
    Card,
    Divider,
    ElidedLabel,
    IconButton,
    InlineMessage,
    QuietButton,
    SegmentedControl,
    StatusDot,
    label,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.number_fields import IntegerField, NumberField
from gym_gui.ui.widgets.scrolling import fill_scrolling

WIDEST: Final = 880
_WHERE: Final = {
    "keyring": ("ok", "In the system's keyring"),
    "memory": ("warning", "In memory, until the window closes"),
    "environment": ("ok", "From the environment variable"),
    "": ("muted", "None"),
}


class SettingRow(QWidget):
    """Row for one setting: name and description at the left, reset button and control at the right."""

    edited = pyqtSignal(str, object)
    reset = pyqtSignal(str)

    def __init__(self, name: str, value: object, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        says = declared.about(name)
        self.setObjectName(f"setting-{name}")
        self._control = _control(name, value)
        self._control.setObjectName(f"setting-{name}-control")
        self._control.setAccessibleName(says.title)
        self._control.setToolTip(says.text)
        self._connect()
        self._back = IconButton("undo", f"Reset {says.title}", name=f"reset-{name}", on_click=self._on_back)
        words = column_layout(spacing=2)
        words.addWidget(label(says.title))
        words.addWidget(label(says.text, "small", wrap=True))
        row = row_layout(self, margin=(0, 8, 0, 8), spacing=theme.GAP)
        row.addLayout(words, 1)
        row.addWidget(self._back)
        row.addWidget(self._control)
        self.show_value(value)

    def show_value(self, value: object) -> None:
        """Show the current value of the setting."""
        blocked = self._control.blockSignals(True)
        if isinstance(self._control, SegmentedControl):
            self._control.set_value(str(value))
        elif isinstance(self._control, FolderChoice):
            self._control.show_path(str(value))
        elif isinstance(self._control, QCheckBox):
            self._control.setChecked(bool(value))
        elif isinstance(self._control, IntegerField) and isinstance(value, int):
            self._control.setValue(value)
        elif isinstance(self._control, NumberField) and isinstance(value, (int, float)):
            self._control.setValue(float(value))
        self._control.blockSignals(blocked)
        self._back.setVisible(value != declared.default(self.name))

    def _connect(self) -> None:
        if isinstance(self._control, SegmentedControl):
            self._control.chosen.connect(self._on_edited)
        elif isinstance(self._control, FolderChoice):
            self._control.edited.connect(self._on_edited)
        elif isinstance(self._control, QCheckBox):
            self._control.toggled.connect(self._on_edited)
        elif isinstance(self._control, (IntegerField, NumberField)):
            self._control.valueChanged.connect(self._on_edited)

    def _on_edited(self, value: object) -> None:
        self.edited.emit(self.name, value)

    def _on_back(self) -> None:
        self.reset.emit(self.name)


def _control(name: str, value: object) -> QWidget:
    says, kind = declared.about(name), type(declared.default(name))
    if says.choices:
        return SegmentedControl(list(says.choices), str(value), name=f"setting-{name}-control")
    if says.folder:
        return FolderChoice(says.title)
    if kind is bool:
        box = QCheckBox()
        box.setProperty("role", "alone")  # Without a text, it is aligned with the other controls.
        return box
    spin: Any = IntegerField() if kind is int else NumberField()
    assert isinstance(spin, QAbstractSpinBox)
    spin.setRange(kind(says.low), kind(says.high))  # type: ignore[attr-defined]
    spin.setSuffix(f" {says.unit}" if says.unit else "")  # type: ignore[attr-defined]
    spin.setKeyboardTracking(False)
    spin.setMinimumWidth(130)
    if kind is float:
        spin.setDecimals(1)  # type: ignore[attr-defined]
        spin.setSingleStep(0.5)  # type: ignore[attr-defined]
    return spin


class FolderChoice(QuietButton):
    """Button that shows the folder of a setting; a click asks for another folder."""

    edited = pyqtSignal(object)

    def __init__(self, title: str) -> None:
        super().__init__("", tooltip=title, on_click=self._on_clicked)
        self._title = title
        self._path = ""

    def show_path(self, path: str) -> None:
        """Show the end of the current folder's path."""
        self._path = path
        short = "/".join(Path(path).parts[-2:])
        self.setText(f"…/{short}" if path and len(short) + 1 < len(path) else path or "Choose a folder…")
        self.setAccessibleDescription(path)

    def _on_clicked(self) -> None:
        ask_folder(self, self._title, self._on_chosen, Path(self._path) if self._path else None)

    def _on_chosen(self, path: Path) -> None:
        self.edited.emit(str(path.absolute()))


class FolderRow(QWidget):
    """Row for a folder of MOSAIC: its purpose, its path and a button that opens it."""

    def __init__(self, title: str, text: str, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = row_layout(self, margin=(0, 8, 0, 8), spacing=theme.GAP)
        words = column_layout(spacing=2)
        words.addWidget(label(title))
        words.addWidget(label(text, "small", wrap=True))
        self._where = ElidedLabel("", "muted", mode=Qt.TextElideMode.ElideMiddle)
        words.addWidget(self._where)
        row.addLayout(words, 1)
        self.open = QuietButton("Open", icon_name="open", on_click=self._on_open)
        self.open.setObjectName(f"open-folder-{title.lower().replace(' ', '-')}")
        self.open.setAccessibleName(f"Open the folder of {title.lower()}")
        row.addWidget(self.open)
        self.show_path(path)

    def show_path(self, path: Path) -> None:
        """Change the path that is shown and opened."""
        self._path = path.absolute()
        self._where.setText(str(self._path))
        self.open.setToolTip(f"Open {self._path}")

    def _on_open(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path)))


class ApiKeyRow(QWidget):
    """Row for a provider's API key: where the key is stored, and a field for a new key.

    The stored key is never shown.
    """

    saved = pyqtSignal(object, str)
    forgotten = pyqtSignal(object)

    def __init__(self, provider: Provider, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.provider = provider
        self.state = StatusDot("muted", "Searching…")
        self.state.setObjectName(f"key-state-{provider.id}")
        self._field = QLineEdit()
        self._field.setObjectName(f"key-{provider.id}")
        self._field.setEchoMode(QLineEdit.EchoMode.Password)
        self._field.setPlaceholderText("Paste a key")
        self._field.setAccessibleName(f"API key of {provider.title}")
        self._field.setFixedWidth(280)
        hint = f"Create a key at {provider.url}" if provider.url else "Key of your own server"
        self._field.setToolTip(f"{hint}. MOSAIC also reads the variable {provider.variable}")
        self._field.returnPressed.connect(self._on_save)
        self.save = QuietButton("Save", name=f"save-key-{provider.id}", on_click=self._on_save)
        self.save.setAccessibleName(f"Save the key of {provider.title}")
        self.save.setEnabled(False)
        self._field.textChanged.connect(self._on_text_changed)
        self._forget = QuietButton("Forget", name=f"forget-key-{provider.id}", on_click=self._on_forget)
        self._forget.setAccessibleName(f"Forget the key of {provider.title}")
        words = column_layout(spacing=2)
        words.addWidget(label(provider.title))
        words.addWidget(self.state)
        row = row_layout(self, margin=(0, 8, 0, 8))
        row.addLayout(words)
        row.addStretch(1)
        for widget in (self._field, self.save, self._forget):
            row.addWidget(widget)
        self._forget.setEnabled(False)

    def show_where(self, where: str) -> None:
        """Show where the key is stored; ``""`` for no key."""
        state, words = _WHERE[where]
        self.state.set_state(state, f"{words} {self.provider.variable}" if where == "environment" else words)
        self._forget.setEnabled(where in ("keyring", "memory"))

    def _on_text_changed(self, text: str) -> None:
        self.save.setEnabled(bool(text.strip()))

    def _on_save(self) -> None:
        key = self._field.text()
        if not key.strip():
            return
        self._field.clear()
        self.saved.emit(self.provider, key)

    def _on_forget(self) -> None:
        self.forgotten.emit(self.provider)


class SettingsPage(Page):
    """Page with the settings, the folders, the hosts and the API keys."""

    name = "settings"
    title = "Settings"
    icon = "settings"

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.rows: dict[str, SettingRow] = {}
        self._keys: dict[str, ApiKeyRow] = {}
        self._keys_unseen = True
        content = QWidget()
        content.setProperty("role", "scrolled")
        content.setMaximumWidth(WIDEST)
        self._column = column_layout(content, margin=(theme.PAGE, 20, theme.PAGE, 24))
        self._add_settings()
        self._add_folders()
        self._add_hosts()
        self._add_keys()
        self._column.addStretch(1)
        fill_scrolling(self.body, content, "settings-scroll")
        self.bar.add_action(
            QuietButton(
                "Reset all", tooltip="Reset every setting to its default", on_click=self._on_reset_all
            )
        )
        context.settings.changed.connect(self._on_setting_changed)

    # ------------------------------------------------------------------ widgets

    def _section(self, title: str) -> Card:
        if self._column.count():
            self._column.addSpacing(theme.GAP)
        self._column.addWidget(section_label(title))
        card = Card(margin=theme.GAP)
        card.body.setContentsMargins(theme.PAGE, 4, theme.GAP, 4)
        card.body.setSpacing(0)
        self._column.addWidget(card)
        return card

    def _add_settings(self) -> None:
        cards: dict[str, Card] = {}
        for name in declared.names():
            section = declared.about(name).section
            if section in cards:
                cards[section].add(Divider())
            else:
                cards[section] = self._section(section)
            row = SettingRow(name, getattr(self.context.settings.values, name))
            row.edited.connect(self._on_edited)
            row.reset.connect(self._on_reset)
            self.rows[name] = row
            cards[section].add(row)

    def _add_folders(self) -> None:
        card, store = self._section("Folders"), self.context.store
        folders = (
            (
                "Runs",
                "Recorded runs. Change this folder with the setting above or with MOSAIC_RUNS_DIR.",
                store.runs,
            ),
            (
                "Data",
                "Your workers, policies, presets and settings. Change this folder with MOSAIC_DATA_DIR.",
                store.data,
            ),
            (
                "Cache",
                "Files that can be deleted at any time. Change this folder with MOSAIC_CACHE_DIR.",
                store.cache,
            ),
        )
        rows = [FolderRow(title, text, path) for title, text, path in folders]
        self._runs_row = rows[0]
        for number, row in enumerate(rows):
            if number:
                card.add(Divider())
            card.add(row)

    def _add_hosts(self) -> None:
        card = self._section("Hosts")
        words = column_layout(spacing=2)
        words.addWidget(label("Other machines"))
        about = "Machines reached by ssh, for operators of the window and for mosaic run --executor ssh."
        words.addWidget(label(about, "small", wrap=True))
        row = row_layout(margin=(0, 8, 0, 8), spacing=theme.GAP)
        row.addLayout(words, 1)
        row.addWidget(
            QuietButton(
                "Hosts…", name="open-hosts", tooltip="Add, edit and test hosts", on_click=self._on_hosts
            )
        )
        card.body.addLayout(row)

    def _on_hosts(self) -> None:
        open_hosts(self.context, self.window())

    def _add_keys(self) -> None:
        card = self._keys_card = self._section("API keys")
        card.installEventFilter(self)
        self._keyring_note = muted_label("", wrap=True, name="keyring-note")
        self._keyring_note.setContentsMargins(0, 10, 0, 6)
        self._keyring_note.setText("Searching for the system's keyring…")
        card.add(self._keyring_note)
        self._trouble = InlineMessage("warning", "", parent=card)
        self._trouble.hide()
        card.body.addSpacing(theme.STEP)
        card.add(self._trouble)
        card.body.addSpacing(theme.STEP)
        for provider in PROVIDERS:
            card.add(Divider())
            row = ApiKeyRow(provider)
            row.saved.connect(self._on_key_saved)
            row.forgotten.connect(self._on_key_forgotten)
            self._keys[provider.id] = row
            card.add(row)

    def opened(self, **request: object) -> None:
        """Look up where the API keys are stored, once their card is visible."""
        self._keys_unseen = True
        self._keys_card.update()

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Look up the API keys at the first paint of their card, since keyrings load slowly."""
        if self._keys_unseen and a0 is self._keys_card and a1 is not None and a1.type() == QEvent.Type.Paint:
            self._keys_unseen = False
            self.context.spawn(self._find_keys(), "Searching for API keys")
        return super().eventFilter(a0, a1)

    # ------------------------------------------------------------------ settings

    def _on_edited(self, name: str, value: object) -> None:
        self._try(name, value)

    def _on_reset(self, name: str) -> None:
        self._try(name, declared.default(name))

    def _on_reset_all(self) -> None:
        before = self.context.settings.values
        changed = [name for name in declared.names() if not self.context.settings.is_default(name)]
        if not changed:
            self.context.notify("All settings already have their defaults")
            return
        for name in changed:
            self._try(name, declared.default(name))
        undo = _Undo(self, {name: getattr(before, name) for name in changed})
        count = f"{len(changed)} setting{'s' if len(changed) > 1 else ''}"
        self.context.notify(f"Reset {count} to the default", "ok", ("Undo", undo))

    def restore(self, values: dict[str, object]) -> None:
        """Set several settings to previous values; called by Undo."""
        for name, value in values.items():
            self._try(name, value)

    def _try(self, name: str, value: object) -> None:
        if name == RUNS_SETTING and value and not os.access(str(value), os.W_OK | os.X_OK):
            self.context.notify(
                f"You have no permission to write in {value}. Choose another folder for runs", "warning"
            )
            return
        try:
            self.context.settings.set(name, value)
        except UsageError as error:
            self.context.notify(error.sentence, "warning")

    def _on_setting_changed(self, name: str) -> None:
        value = getattr(self.context.settings.values, name)
        if name in self.rows:
            self.rows[name].show_value(value)
        if name == RUNS_SETTING:
            self._show_runs_folder()

    def _show_runs_folder(self) -> None:
        self._runs_row.show_path(self.context.store.runs)
        if given := os.environ.get("MOSAIC_RUNS_DIR", "").strip():
            self.context.notify(
                f"MOSAIC_RUNS_DIR overrides this setting: runs are recorded in {given}", "warning"
            )
        else:
            place = self.context.store.runs.absolute()
            self.context.notify(
                f"New runs are recorded in {place}; a run in progress stays in its folder", "ok"
            )

    # ------------------------------------------------------------------ keys

    async def _find_keys(self) -> None:
        keys = self.context.api_keys
        trouble = await asyncio.to_thread(keys.trouble)
        if trouble:
            self._trouble.set_text(
                f"{trouble}: keys are stored in memory only and lost when the window closes."
            )
        self._trouble.setVisible(bool(trouble))
        self._keyring_note.setVisible(not trouble)
        self._keyring_note.setText("Keys are stored in the system's keyring, never in files, runs or logs.")
        for provider in PROVIDERS:
            where = await asyncio.to_thread(keys.where, provider)
            self._keys[provider.id].show_where(where)

    def _on_key_saved(self, provider: Provider, key: str) -> None:
        self.context.spawn(self._save_key(provider, key), f"Saving the key of {provider.title}")

    async def _save_key(self, provider: Provider, key: str) -> None:
        where = await asyncio.to_thread(self.context.api_keys.save, provider, key)
        self._keys[provider.id].show_where(where)

    def _on_key_forgotten(self, provider: Provider) -> None:
        self.context.spawn(self._forget_key(provider), f"Forgetting the key of {provider.title}")

    async def _forget_key(self, provider: Provider) -> None:
        keys = self.context.api_keys
        await asyncio.to_thread(keys.forget, provider)
        self._keys[provider.id].show_where(await asyncio.to_thread(keys.where, provider))


class _Undo:
    """Callback that restores previous values of settings."""

    def __init__(self, page: SettingsPage, values: dict[str, object]) -> None:
        self._page, self._values = page, values

    def __call__(self) -> None:
        self._page.restore(self._values)
