"""The menu of a Presets button: save, load and delete presets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QInputDialog, QMenu, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.services.preset_store import Preset, PresetKind, PresetStore
from gym_gui.ui.context import AppContext

T = TypeVar("T")


class PresetMenu(QMenu, Generic[T]):
    """Menu of presets, which is filled each time it opens.

    Args:
        context: Names the data folder and shows messages.
        kind: Kind of the presets, such as configurations.
        current: Returns the state to save; ``None`` if there is none, after showing why.
        offered: Returns whether a state can be saved, and a suggested name.
        parent: Parent of the dialogs.
    """

    loaded = pyqtSignal(object)
    """Emits the loaded state, such as a configuration or the settings of a training."""

    def __init__(
        self,
        context: AppContext,
        kind: PresetKind[T],
        current: Callable[[], T | None],
        offered: Callable[[], tuple[bool, str]],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("presets_menu")
        self.setToolTipsVisible(True)
        self._context, self._current, self._suggestion = context, current, offered
        self.store = PresetStore(context.store.data / "presets", kind)
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Fill the menu with the saved presets and its other entries."""
        for old in self.findChildren(QMenu, "presets_delete"):
            old.deleteLater()
        self.clear()
        presets = self.store.presets()
        for preset in presets:
            self._add_preset(preset)
        if not presets:
            self._entry("No presets yet", None, "none").setEnabled(False)
        self.addSeparator()
        self._entry("Save as…", self.ask_name, "save").setEnabled(self._suggestion()[0])
        if presets:
            delete = QMenu("Delete", self)
            delete.setObjectName("presets_delete")
            for preset in presets:
                delete.addAction(preset.name, partial(self.delete, preset.name))
            self.addMenu(delete)

    def _entry(self, text: str, then: Callable[[], object] | None, name: str) -> QAction:
        action = QAction(text, self)
        action.setObjectName(f"preset_{name}")
        if then is not None:
            action.triggered.connect(lambda _checked=False, then=then: then())
        self.addAction(action)
        return action

    def _add_preset(self, preset: Preset) -> None:
        entry = self._entry(preset.name, partial(self.load, preset.name), f"load_{preset.name}")
        entry.setToolTip(preset.problem or preset.environment)
        entry.setEnabled(not preset.problem)
        if preset.problem:
            entry.setText(f"{preset.name} (cannot be read)")

    # -- actions ---------------------------------------------------------------------

    def load(self, name: str) -> None:
        """Load a preset and emit :attr:`loaded`."""
        try:
            value = self.store.load(name)
        except MosaicError as error:
            self._context.notify(error.sentence, "error")
        else:
            self.loaded.emit(value)

    def ask_name(self) -> None:
        """Ask for a name, then save the current state under it."""
        dialog = QInputDialog(self.parentWidget())
        dialog.setObjectName("preset_name_dialog")
        dialog.setWindowTitle("Save preset")
        dialog.setLabelText("Name of the preset")
        dialog.setTextValue(self._suggestion()[1])
        dialog.setOkButtonText("Save")
        dialog.textValueSelected.connect(self.save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save(self, name: str, *, replace_it: bool = False) -> None:
        """Save the current state as a preset.

        Args:
          name: Name of the preset.
          replace_it: Whether to replace an existing preset; otherwise a message offers to.
        """
        value = self._current()
        if value is None:
            return
        try:
            if not replace_it and self.store.path_of(name).exists():
                action = ("Replace the preset", partial(self.save, name, replace_it=True))
                self._context.notify(f"A preset {name!r} exists already", "warning", action)
                return
            saved = self.store.save(name, value, replace_it=replace_it)
        except MosaicError as error:
            self._context.notify(error.sentence, "error")
            return
        self._context.notify(f"Saved as {saved.name}", "ok")

    def delete(self, name: str) -> None:
        """Move a preset to the trash, and show a message with a button that restores it."""
        self._context.spawn(self._delete(name), f"Deleting the preset {name}")

    async def _delete(self, name: str) -> None:
        content = await asyncio.to_thread(self.store.delete, name)
        undo = ("Undo", partial(self._restore, name, content))
        self._context.notify(f"{name} is in the trash", "info", undo)

    def _restore(self, name: str, content: bytes) -> None:
        try:
            self.store.restore(name, content)
        except MosaicError as error:
            self._context.notify(error.sentence, "error")
