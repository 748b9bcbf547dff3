"""The preset menu for configurations: save, load, delete, import, share and export."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PyQt6.QtWidgets import QFileDialog, QWidget

from gym_gui.core.config import ExecutionConfig, OperatorConfig
from gym_gui.core.errors import MosaicError
from gym_gui.services.preset_store import PresetError
from gym_gui.services.presets import CONFIGURATIONS, export_experiment
from gym_gui.ui.agents.model import ConfigurationModel
from gym_gui.ui.context import AppContext
from gym_gui.ui.preset_menu import PresetMenu

EPISODES = 10
"""Number of episodes of an exported experiment, one per seed, from the preview's seed on."""


class ConfigurationPresetMenu(PresetMenu[OperatorConfig]):
    """Preset menu for configurations, with entries for import and sharing.

    Args:
        context: Shows messages and opens other pages.
        model: The edited configuration.
        parent: Widget that the dialogs belong to.
    """

    def __init__(self, context: AppContext, model: ConfigurationModel, parent: QWidget) -> None:
        super().__init__(context, CONFIGURATIONS, self._config, self._can_save_and_name, parent)
        self._model = model

    def _can_save_and_name(self) -> tuple[bool, str]:
        draft = self._model.draft
        return bool(draft.task), draft.name or draft.operator_id

    def fill(self) -> None:
        """Fill the menu with the saved presets and its other entries."""
        super().fill()
        self.addSeparator()
        self._entry("Import a preset…", self.ask_import, "import")
        share = self._entry("Save as a file to share…", self.ask_share, "share")
        share.setEnabled(bool(self._model.draft.task))

    def ask_import(self) -> None:
        """Ask for a preset file, then import it."""
        dialog = self._file_dialog("Import a preset", "preset_import_dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([f"Presets (*{CONFIGURATIONS.suffix})", "All files (*)"])
        dialog.fileSelected.connect(self.import_file)
        dialog.open()

    def import_file(self, path: str) -> None:
        """Copy a preset file into the presets, and load it."""
        try:
            preset = self.store.import_file(Path(path))
        except PresetError as error:
            self._context.notify(error.sentence, "error")
            return
        self._context.notify(f"Imported as {preset.name}", "ok")
        self.load(preset.name)

    def ask_share(self) -> None:
        """Ask for a file, then write the current configuration to it as a preset."""
        dialog = self._file_dialog("Save as a file to share", "preset_share_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(f"Presets (*{CONFIGURATIONS.suffix})")
        dialog.selectFile(f"{self._model.draft.operator_id}{CONFIGURATIONS.suffix}")
        dialog.fileSelected.connect(self.share)
        dialog.open()

    def share(self, path: str) -> None:
        """Write the current configuration to a preset file."""
        config = self._config()
        if config is None:
            return
        file = Path(path if path.endswith(CONFIGURATIONS.suffix) else f"{path}{CONFIGURATIONS.suffix}")
        try:
            CONFIGURATIONS.write(file, config.display_name, config)
        except PresetError as error:
            self._context.notify(error.sentence, "error")
        else:
            self._context.notify(f"Saved as {file}", "ok")

    # -- experiments -----------------------------------------------------------------

    def ask_export(self, seed: int) -> None:
        """Ask for a file, then write an experiment with the current configuration to it.

        Args:
          seed: First seed of the experiment.
        """
        dialog = self._file_dialog("Export experiment", "export_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["YAML (*.yaml)", "Python, plain data (*.py)"])
        dialog.selectFile(f"{self._model.draft.operator_id}.yaml")
        dialog.filterSelected.connect(partial(_follow_filter, dialog))
        dialog.fileSelected.connect(partial(self.export, seed=seed))
        dialog.open()

    def export(self, path: str, *, seed: int) -> None:
        """Write an experiment file with the current configuration, and offer to open it.

        Args:
          path: Path of the file; ``.yaml`` is added if it has no known suffix.
          seed: First seed of the :data:`EPISODES` episodes.
        """
        config = self._config()
        if config is None:
            return
        file = Path(path if Path(path).suffix in (".yaml", ".yml", ".py") else f"{path}.yaml")
        try:
            export_experiment(file, config, execution=ExecutionConfig(EPISODES, seeds=seed))
        except MosaicError as error:
            self._context.notify(error.sentence, "error")
            return
        message = f"{file.name}: {EPISODES} episodes, seeds {seed} to {seed + EPISODES - 1}"
        self._context.notify(
            message, "ok", ("Open the file", partial(self._context.go, "operators", script=file))
        )

    def _config(self) -> OperatorConfig | None:
        """Return the current configuration, even if a check finds an error; ``None`` if it is incomplete."""
        try:
            return self._model.draft.config()
        except MosaicError as error:
            self._context.notify(error.sentence, "error")
            return None

    def _file_dialog(self, title: str, name: str) -> QFileDialog:
        dialog = QFileDialog(self.parentWidget(), title)
        dialog.setObjectName(name)
        dialog.setDirectory(str(Path.cwd()))
        dialog.finished.connect(dialog.deleteLater)
        return dialog


def _follow_filter(dialog: QFileDialog, chosen: str) -> None:
    """Set the suffix of the chosen file to that of the selected format."""
    suffix = ".py" if "*.py" in chosen else ".yaml"
    for name in dialog.selectedFiles()[:1]:
        dialog.selectFile(str(Path(name).with_suffix(suffix)))
