"""The Presets button of the new-run form: save, take, throw away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QInputDialog, QMenu, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.presets import TrainingPreset, TrainingPresets


class TrainingPresetMenu(QMenu):
    """Filled anew whenever it opens.

    Args:
        context: The data folder, and what is told.
        current: Says what stands in the form; ``None`` for nothing.
        parent: Whose dialogs these are.
    """

    loaded = pyqtSignal(object)
    """A :class:`TrainingPreset`."""

    def __init__(
        self, context: AppContext, current: Callable[[], TrainingPreset | None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("train-presets-menu")
        self._context, self._current = context, current
        self.store = TrainingPresets(context.store.data / "presets")
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Show what there is now."""
        for old in self.findChildren(QMenu, "train-presets-delete"):
            old.deleteLater()
        self.clear()
        names = self.store.names()
        for name in names:
            self._entry(name, partial(self.load, name), f"load-{name}")
        if not names:
            self._entry("None saved yet", None, "none").setEnabled(False)
        self.addSeparator()
        self._entry("Save as…", self.ask_name, "save").setEnabled(self._current() is not None)
        if names:
            delete = QMenu("Delete", self)
            delete.setObjectName("train-presets-delete")
            for name in names:
                delete.addAction(name, partial(self.delete, name))
            self.addMenu(delete)

    def load(self, name: str) -> None:
        """Take a preset."""
        try:
            preset = self.store.load(name)
        except MosaicError as error:
            self._context.notify(str(error), "error")
        else:
            self.loaded.emit(preset)

    def ask_name(self) -> None:
        """Ask what to call it, then save."""
        dialog = QInputDialog(self.parentWidget())
        dialog.setObjectName("train-preset-name-dialog")
        dialog.setWindowTitle("Save preset")
        dialog.setLabelText("Name of the preset")
        preset = self._current()
        dialog.setTextValue(f"{preset.algorithm} {preset.env_id}".replace("/", " ") if preset else "")
        dialog.setOkButtonText("Save")
        dialog.textValueSelected.connect(self.save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save(self, name: str, *, replace_it: bool = False) -> None:
        """Save what stands in the form; one of that name is replaced only when told to."""
        preset = self._current()
        if preset is None:
            return
        try:
            if not replace_it and self.store.path_of(name).exists():
                action = ("Replace it", partial(self.save, name, replace_it=True))
                self._context.notify(f"There is a preset {name!r} already", "warning", action)
                return
            self.store.save(replace(preset, name=name.strip()))
        except MosaicError as error:
            self._context.notify(str(error), "error")
            return
        self._context.notify(f"Saved as {name.strip()}", "ok")

    def delete(self, name: str) -> None:
        """Throw a preset away; it can be had back at once."""
        try:
            content = self.store.delete(name)
        except MosaicError as error:
            self._context.notify(str(error), "error")
            return
        undo = ("Undo", partial(self.store.restore, name, content))
        self._context.notify(f"The preset {name} is deleted", "info", undo)

    def _entry(self, text: str, then: Callable[[], object] | None, name: str) -> QAction:
        action = QAction(text, self)
        action.setObjectName(f"train-preset-{name}")
        if then is not None:
            action.triggered.connect(_Triggered(then))
        self.addAction(action)
        return action


class _Triggered:
    """Drops the ``checked`` argument of ``triggered``."""

    def __init__(self, then: Callable[[], object]) -> None:
        self._then = then

    def __call__(self, *_: object) -> None:
        self._then()
