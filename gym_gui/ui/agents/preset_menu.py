"""Configurations under a name: save, load, throw away, pass on."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QFileDialog, QInputDialog, QMenu, QWidget

from gym_gui.core.config import ExecutionConfig, OperatorConfig
from gym_gui.core.errors import MosaicError
from gym_gui.services.presets import SUFFIX, Preset, PresetError, PresetStore, export_experiment
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.context import AppContext

EPISODES = 10
"""Episodes of an exported experiment, one per seed from the preview's on."""


class PresetMenu(QMenu):
    """The Presets button's menu; filled anew whenever it opens.

    Args:
        context: ``notify`` and ``go`` are used.
        model: The configuration.
        parent: Whose dialogs these are.
    """

    loaded = pyqtSignal(object)
    """The :class:`OperatorConfig` that was loaded."""

    def __init__(self, context: AppContext, model: ConfigurationModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("presets_menu")
        self.setToolTipsVisible(True)
        self._context, self._model = context, model
        self.store = PresetStore(context.store.data / "presets", _to_trash)
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Show what there is now."""
        for old in self.findChildren(QMenu, "presets_delete"):
            old.deleteLater()
        self.clear()
        presets = self.store.presets()
        for preset in presets:
            self._add_preset(preset)
        if not presets:
            none = self._entry("None saved yet", None, "none")
            none.setEnabled(False)
        self.addSeparator()
        save = self._entry("Save as…", self.ask_name, "save")
        save.setEnabled(bool(self._model.draft.task))
        if presets:
            delete = QMenu("Delete", self)
            delete.setObjectName("presets_delete")
            for preset in presets:
                delete.addAction(preset.name, partial(self.delete, preset.name))
            self.addMenu(delete)
        self.addSeparator()
        self._entry("Import a preset…", self.ask_import, "import")
        share = self._entry("Save as a file to share…", self.ask_share, "share")
        share.setEnabled(bool(self._model.draft.task))

    def _entry(self, text: str, then: object, name: str) -> QAction:
        action = QAction(text, self)
        action.setObjectName(f"preset_{name}")
        if callable(then):
            action.triggered.connect(lambda _checked=False, then=then: then())
        self.addAction(action)
        return action

    def _add_preset(self, preset: Preset) -> None:
        entry = self._entry(preset.name, partial(self.load, preset.name), f"load_{preset.name}")
        entry.setToolTip(preset.problem or preset.task)
        entry.setEnabled(not preset.problem)
        if preset.problem:
            entry.setText(f"{preset.name} (cannot be read)")

    # -- doing -----------------------------------------------------------------------

    def load(self, name: str) -> None:
        """Show a preset."""
        try:
            config = self.store.load(name)
        except MosaicError as error:
            self._context.notify(str(error), "error")
        else:
            self.loaded.emit(config)

    def ask_name(self) -> None:
        """Ask what to call it, then save."""
        dialog = QInputDialog(self.parentWidget())
        dialog.setObjectName("preset_name_dialog")
        dialog.setWindowTitle("Save preset")
        dialog.setLabelText("Name of the preset")
        dialog.setTextValue(self._model.draft.name or self._model.draft.operator_id)
        dialog.setOkButtonText("Save")
        dialog.textValueSelected.connect(self.save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save(self, name: str, *, replace_it: bool = False) -> None:
        """Save what stands in the table; one of that name is replaced only when told to."""
        config = self._config()
        if config is None:
            return
        try:
            if not replace_it and self.store.path_of(name).exists():
                action = ("Replace it", partial(self.save, name, replace_it=True))
                self._context.notify(f"There is a preset {name!r} already", "warning", action)
                return
            saved = self.store.save(name, config, replace_it=replace_it)
        except PresetError as error:
            self._context.notify(str(error), "error")
            return
        self._context.notify(f"Saved as {saved.name}", "ok")

    def delete(self, name: str) -> None:
        """Throw a preset away; it can be had back at once."""
        self._context.spawn(self._delete(name), f"Deleting the preset {name}")

    async def _delete(self, name: str) -> None:
        path = self.store.path_of(name)
        content = await asyncio.to_thread(path.read_bytes)
        await asyncio.to_thread(self.store.delete, name)
        self._context.notify(f"{name} is in the trash", "info", ("Undo", partial(path.write_bytes, content)))

    def ask_import(self) -> None:
        """Ask for a file, then take it over."""
        dialog = self._file_dialog("Import a preset", "preset_import_dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([f"Presets (*{SUFFIX})", "All files (*)"])
        dialog.fileSelected.connect(self.import_file)
        dialog.open()

    def import_file(self, path: str) -> None:
        """Take over a preset somebody else has saved, and show it."""
        try:
            preset = self.store.import_file(Path(path))
        except PresetError as error:
            self._context.notify(str(error), "error")
            return
        self._context.notify(f"Imported as {preset.name}", "ok")
        self.load(preset.name)

    def ask_share(self) -> None:
        """Ask where to, then write the preset there."""
        dialog = self._file_dialog("Save as a file to share", "preset_share_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(f"Presets (*{SUFFIX})")
        dialog.selectFile(f"{self._model.draft.operator_id}{SUFFIX}")
        dialog.fileSelected.connect(self.share)
        dialog.open()

    def share(self, path: str) -> None:
        """Write what stands in the table as a preset file."""
        config = self._config()
        if config is None:
            return
        file = Path(path if path.endswith(SUFFIX) else f"{path}{SUFFIX}")
        try:
            self.store.write(file, config, config.display_name)
        except PresetError as error:
            self._context.notify(str(error), "error")
        else:
            self._context.notify(f"Saved as {file}", "ok")

    # -- experiments -----------------------------------------------------------------

    def ask_export(self, seed: int) -> None:
        """Ask where to, then write an experiment file."""
        dialog = self._file_dialog("Export experiment", "export_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["YAML (*.yaml)", "Python, plain data (*.py)"])
        dialog.selectFile(f"{self._model.draft.operator_id}.yaml")
        dialog.filterSelected.connect(partial(_follow_filter, dialog))
        dialog.fileSelected.connect(partial(self.export, seed=seed))
        dialog.open()

    def export(self, path: str, *, seed: int) -> None:
        """Write an experiment of :data:`EPISODES` episodes from ``seed`` on; offers to open it."""
        config = self._config()
        if config is None:
            return
        file = Path(path if Path(path).suffix in (".yaml", ".yml", ".py") else f"{path}.yaml")
        try:
            export_experiment(file, config, ExecutionConfig(EPISODES, seeds=seed))
        except MosaicError as error:
            self._context.notify(str(error), "error")
            return
        said = f"{file.name}: {EPISODES} episodes, seeds {seed} to {seed + EPISODES - 1}"
        self._context.notify(said, "ok", ("Open it", partial(self._context.go, "operators", script=file)))

    def _config(self) -> OperatorConfig | None:
        """What stands in the table, also where a check says that it cannot be played here."""
        try:
            return self._model.draft.config()
        except MosaicError as error:
            self._context.notify(str(error), "error")
            return None

    def _file_dialog(self, title: str, name: str) -> QFileDialog:
        dialog = QFileDialog(self.parentWidget(), title)
        dialog.setObjectName(name)
        dialog.setDirectory(str(Path.cwd()))
        dialog.finished.connect(dialog.deleteLater)
        return dialog


def _follow_filter(dialog: QFileDialog, chosen: str) -> None:
    """The other format, the other suffix."""
    suffix = ".py" if "*.py" in chosen else ".yaml"
    for name in dialog.selectedFiles()[:1]:
        dialog.selectFile(str(Path(name).with_suffix(suffix)))


def _to_trash(path: Path) -> None:
    from send2trash import send2trash

    send2trash(str(path))
