"""Form that imports a policy trained elsewhere: file, environment, worker and name."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_picker import catalog
from gym_gui.ui.widgets import (
    FormRows,
    InlineMessage,
    PickerButton,
    PickerItem,
    PrimaryButton,
    QuietButton,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, panel_head
from gym_gui.workers.registry import WorkerTypeDefinition

_AUTOMATIC = ""


class ImportPanel(QWidget):
    """Form for the import of a policy; a worker reads the file in a separate process.

    Args:
        context: Provides data folders, workers and background tasks.
        parent: Qt owner.
    """

    imported = pyqtSignal(str)
    """Emits the name of the imported policy."""
    closed_by_user = pyqtSignal()

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-import-panel")
        self._context = context
        self._file: Path | None = None
        self._own = False
        self._task: asyncio.Task[None] | None = None
        column = column_layout(self)
        title, closed = section_label("Import a policy"), self.closed_by_user.emit
        column.addLayout(panel_head(title, "Cancel the import", "train-import-close", closed))
        self._about = muted_label(wrap=True)
        column.addWidget(self._about)
        self._make_rows(column)
        self._problem = InlineMessage("error", "", name="train-import-problem")
        column.addWidget(self._problem)
        row = QHBoxLayout()
        row.addStretch(1)
        self.go = PrimaryButton("Import", name="train-import-go", on_click=self.submit)
        row.addWidget(self.go)
        column.addLayout(row)
        self._update_state()

    def _make_rows(self, column: QVBoxLayout) -> None:
        rows = self.rows = FormRows()
        self.file = QuietButton("Choose…", name="train-import-file", on_click=self.ask_file)
        rows.add_row(
            "File", self.file, tooltip="A .zip, .cleanrl_model, .pt or .pth file, or a policy's folder"
        )
        self._environment = PickerButton(
            name="train-import-environment",
            search_hint="Search environments",
            searchable=True,
            elide=Qt.TextElideMode.ElideMiddle,
        )
        self._environment.chosen.connect(self._on_changed)
        rows.add_row(
            "Environment",
            self._environment,
            tooltip="Environment in which the policy was trained; the file does not contain it",
        )
        self.worker = PickerButton(
            [PickerItem(_AUTOMATIC, "by file suffix")],
            name="train-import-worker",
            search_hint="Search workers",
        )
        self.worker.set_value(_AUTOMATIC)
        rows.add_row("Worker", self.worker, tooltip="Worker that reads the file and runs the policy")
        self.architecture = QuietButton("none", name="train-import-describe", on_click=self._ask_architecture)
        tip = "For bare weights (a state_dict): a JSON file that describes the network"
        rows.add_row("Network", self.architecture, tooltip=tip)
        self._architecture: Path | None = None
        self.name = QLineEdit()
        self.name.setObjectName("train-import-name")
        self.name.textEdited.connect(self._on_changed)
        rows.add_row("Name", self.name, tooltip="Name of the policy in the library")
        self._licence = QLineEdit()
        self._licence.setObjectName("train-import-licence")
        self._licence.setPlaceholderText("optional, e.g. MIT")
        rows.add_row("License", self._licence, tooltip="License of the policy, if it has one")
        column.addWidget(rows)

    # -- choice of the file --------------------------------------------------------------

    def open(self) -> None:
        """Fill the pickers of workers and environments in a background task."""
        self._context.spawn(self._load(), "Searching for workers and environments")

    async def _load(self) -> None:
        able = await asyncio.to_thread(_importers)
        items = [PickerItem(worker.type_id, worker.display_name, _formats(worker)) for worker in able]
        self.worker.set_items([PickerItem(_AUTOMATIC, "by file suffix"), *items])
        self._environment.set_items(await asyncio.to_thread(catalog))

    def ask_file(self) -> None:
        """Ask the user for the file to import."""
        dialog = self._dialog("Import a policy", "train-import-dialog")
        dialog.setNameFilters(
            ["Policies (*.zip *.cleanrl_model *.pt *.pth *.safetensors policy.json)", "All files (*)"]
        )
        dialog.fileSelected.connect(self._on_file_selected)
        dialog.open()

    def set_file(self, path: Path) -> None:
        """Set the file to import; a file in MOSAIC's own format needs no further details."""
        self._file = path
        self._problem.hide()
        self.file.set_text(path.name)
        self.file.setToolTip(str(path))
        self._context.spawn(self._look(path), "Inspecting the file")

    async def _look(self, path: Path) -> None:
        from gym_gui.services.policies.policy_exchange import is_own_form

        own = await asyncio.to_thread(is_own_form, path)
        if path != self._file:
            return
        self._own = own
        named = path.parent.name if path.name in ("policy.json", "model.safetensors") else path.stem
        self.name.setText(named)
        for control in (self._environment, self.worker, self.architecture):
            self.rows.set_row_visible(control, not own)
        self._update_state()

    def _ask_architecture(self) -> None:
        dialog = self._dialog("Description of the network", "train-import-describe-dialog")
        dialog.setNameFilters(["JSON (*.json)", "All files (*)"])
        dialog.fileSelected.connect(self._on_architecture_selected)
        dialog.open()

    def _dialog(self, title: str, name: str) -> QFileDialog:
        dialog = QFileDialog(self.window(), title)
        dialog.setObjectName(name)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        start = self._file.parent if self._file is not None else Path.cwd()
        dialog.setDirectory(str(start))
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def _on_file_selected(self, path: str) -> None:
        self.set_file(Path(path))

    def _on_architecture_selected(self, path: str) -> None:
        self._architecture = Path(path)
        self.architecture.set_text(self._architecture.name)

    def _on_changed(self, *_: object) -> None:
        self._update_state()

    # -- importing -----------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether an import is in progress."""
        return self._task is not None

    def submit(self) -> None:
        """Start the import of the chosen file."""
        if self.go.isEnabled():
            self._problem.hide()
            self._task = self._context.spawn(self._import(), "Importing the policy")
            self._task.add_done_callback(self._on_done)
            self._update_state()

    async def closed(self) -> None:
        """Wait until an import in progress has ended, so that no half-written policy remains."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _import(self) -> None:
        from gym_gui.services.policies.policy_import import ImportRequest, add_policy

        assert self._file is not None
        described = () if self._own or self._architecture is None else ("--describe", str(self._architecture))
        request = ImportRequest(
            self._file,
            env_id="" if self._own else str(self._environment.value or ""),
            worker="" if self._own else str(self.worker.value or ""),
            name=self.name.text().strip(),
            licence=self._licence.text().strip(),
            extra=described,
        )
        library = self._context.services.policies
        try:
            entry = await asyncio.to_thread(add_policy, library, request)
        except MosaicError as error:
            self._problem.set_text(error.sentence)
            self._problem.show()
            return
        self._context.notify(f"“{entry.name}” is in the library", "ok")
        self.imported.emit(entry.name)

    def _on_done(self, _task: object) -> None:
        self._task = None
        self._update_state()

    def _update_state(self) -> None:
        reason = ""
        if self._file is None:
            reason = "Choose a file first"
        elif not self._own and self._environment.value is None:
            reason = "Choose the environment in which the policy was trained"
        elif not self.name.text().strip():
            reason = "Enter a name"
        elif self.busy:
            reason = "The file is being read"
        self.go.setEnabled(not reason)
        self.go.set_text("Importing…" if self.busy else "Import")
        self.go.setToolTip(reason or "Check the file and add the policy to the library")
        self._problem.setVisible(
            bool(self._problem.text) and not self.busy and self._problem.isVisibleTo(self)
        )
        self._about.setText(
            "A policy in MOSAIC's own format, which needs no further details."
            if self._own
            else (
                "The import reads only weights and runs no code from the file. "
                "A file that does not fit is rejected with the reason."
            )
        )


def _importers() -> list[WorkerTypeDefinition]:
    from gym_gui.services.policies.policy_import import importers  # imported in the thread

    return importers()


def _formats(worker: WorkerTypeDefinition) -> str:
    return ", ".join(worker.imports.formats) if worker.imports is not None else ""
