"""Policies view of the Train page: a list of trained policies to search, import, use and remove."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QEvent, QModelIndex, QObject, Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QDesktopServices, QKeyEvent
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QStackedWidget,
    QWidget,
)

from gym_gui.core.asyncio_tasks import end_task
from gym_gui.services.store import Store
from gym_gui.services.subprocess_job import SubprocessJobError, run_subprocess_job
from gym_gui.services.trainings.training_presets import TrainingPreset
from gym_gui.services.trash import put_back
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.drag_and_drop import PathDropTarget
from gym_gui.ui.policies.import_panel import ImportPanel
from gym_gui.ui.policies.policies_model import POLICY_COLUMNS, TRAINED, PolicyRow, has_words
from gym_gui.ui.policies.policy_panel import PolicyPanel
from gym_gui.ui.save_dialog import save_dialog
from gym_gui.ui.widgets import Card, EmptyHint, muted_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.search_field import search_field
from gym_gui.ui.widgets.tables import RowsModel, RowsTable

if TYPE_CHECKING:
    from gym_gui.services.policies.policy_library import PolicyEntry

_ROW: Final = 36


class PoliciesView(PathDropTarget, QWidget):
    """List of trained policies with search and import; its :attr:`panel` belongs in the inspector.

    Args:
        context: Provides data folders and background tasks.
        parent: Qt owner.
    """

    selection_changed = pyqtSignal()
    training_requested = pyqtSignal(object, int)
    """Emits a :class:`TrainingPreset` and a seed with which the selected policy was trained."""
    import_shown = pyqtSignal()

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-policies-view")
        self.setAcceptDrops(True)
        self._context = context
        self._wanted = ""
        self._reading: asyncio.Task[None] | None = None
        self.model = RowsModel(POLICY_COLUMNS, _path, parent=self)
        self._facts = PolicyPanel(context)
        self._facts.action_requested.connect(self._on_action_requested)
        self._importing: ImportPanel | None = None
        self.panel = QWidget()
        self._column = column_layout(self.panel, spacing=theme.PAGE)
        self._column.addWidget(self._facts)
        self._make_table()
        self._search = search_field(
            "train-policy-search",
            "Search policies by name, algorithm, environment",
            self._on_searched,
            called="Search policies",
            tooltip="Every word must occur in a policy's name, algorithm, environment or worker",
        )
        self._search.setMaximumWidth(420)
        self._count = muted_label(name="train-policies-count")
        top = QHBoxLayout()
        top.addWidget(self._search, 1)
        top.addStretch(1)
        top.addWidget(self._count)
        self._empty = EmptyHint(
            "No policies yet",
            "Trained policies appear here. To import a policy, drop its file here.",
            ("Import…", self.ask_import),
            icon_name="robot",
        )
        self._empty.setObjectName("train-policies-empty")
        self._nothing = EmptyHint("No matching policies", "Search for fewer words.", icon_name="filter")
        self._nothing.setObjectName("train-policies-nothing")
        self._stack = QStackedWidget()
        for view in (self.table, self._empty, self._nothing):
            self._stack.addWidget(view)
        card = Card(margin=theme.STEP)
        card.add(self._stack, 1)
        layout = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        layout.addLayout(top)
        layout.addWidget(card, 1)
        self._show_count()

    def _make_table(self) -> None:
        table = self.table = RowsTable(self.model, "train-policies", "Policies", _ROW)
        table.fit_columns()
        table.sort_by(TRAINED)
        table.installEventFilter(self)
        chosen = table.selectionModel()
        assert chosen is not None
        chosen.currentRowChanged.connect(self._on_current_changed)

    @property
    def importing(self) -> ImportPanel:
        """Form that imports a policy; created at the first access."""
        if self._importing is None:
            form = self._importing = ImportPanel(self._context)
            form.imported.connect(self._on_imported)
            form.closed_by_user.connect(self._on_import_closed)
            form.hide()
            self._column.insertWidget(0, form)
        return self._importing

    # -- content -------------------------------------------------------------------------

    @property
    def current(self) -> PolicyEntry | None:
        """Selected policy, or ``None``."""
        row = self.table.current
        return None if row is None else row.entry

    def refresh(self) -> None:
        """Read the list of policies again in the background."""
        if self._reading is None:
            self._reading = self._context.spawn(self._read_policies(), "Reading the list of policies")
            self._reading.add_done_callback(self._on_read)

    async def closed(self) -> None:
        """Wait for an import in progress and cancel the reading of the list."""
        if self._importing is not None:
            await self._importing.closed()
        await end_task(self._reading)

    async def _read_policies(self) -> None:
        entries = await asyncio.to_thread(_find, self._context.store)
        self.model.set_rows([PolicyRow(entry) for entry in entries])
        self._show_count()
        wanted, self._wanted = self._wanted, ""
        path = next((entry.file.path for entry in entries if entry.name == wanted), None)
        if path is not None:
            self.table.select(path)
        self._show_current()

    def _on_read(self, _task: object) -> None:
        self._reading = None

    def _show_count(self) -> None:
        shown, total = self.model.rowCount(), self.model.total
        view: QWidget = self.table if shown else self._nothing if total else self._empty
        self._stack.setCurrentWidget(view)
        of = "" if shown == total else f"{shown} of "
        self._count.setText(f"{of}{total} policies" if total != 1 else "1 policy")
        self._count.setVisible(bool(total))

    def _show_current(self) -> None:
        row = self.table.current
        self._facts.show_policy(row.entry if row else None)

    def _on_searched(self, text: str) -> None:
        words = tuple(text.casefold().split())
        self.model.set_filter(partial(has_words, words))
        self._show_count()

    def _on_current_changed(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._show_current()
        self.selection_changed.emit()

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Remove the selected policy on the Delete key."""
        pressed = isinstance(a1, QKeyEvent) and a1.type() == QEvent.Type.KeyPress
        if pressed and a1.key() == Qt.Key.Key_Delete and self.current is not None:  # type: ignore[union-attr]
            self._on_action_requested("remove")
            return True
        return super().eventFilter(a0, a1)

    # -- actions -------------------------------------------------------------------------

    def _on_action_requested(self, action: str) -> None:
        row = self.table.current
        if row is None:
            return
        policy = row.entry
        if action == "folder":
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(policy.file.path)))
        elif action == "train":
            about = policy.file.description
            own = ("env_id", "seed")
            settings = {name: value for name, value in about.config.items() if name not in own}
            preset = TrainingPreset(about.worker, about.algorithm, about.env_id, settings)
            self.training_requested.emit(preset, about.seed)
        elif action == "score":
            self._context.spawn(self._measure(row), "Measuring the policy")
        elif action == "export":
            self._ask_export(row)
        elif policy.fixed:
            self._context.notify(policy.fixed, "warning")
        else:
            self._context.spawn(self._remove(policy), "Moving the policy to the trash")

    async def _remove(self, policy: PolicyEntry) -> None:

        library = self._context.services.policies
        trashed = await asyncio.to_thread(library.remove, policy.name)
        undo = None
        if trashed is not None:
            undo = ("Undo", partial(self._put_back, trashed, policy.file.path))
        self._context.notify(f"“{policy.file.title}” is in the trash", "info", undo)
        self.refresh()

    async def _measure(self, row: PolicyRow) -> None:
        policy = row.entry
        self._facts.set_measuring(True)
        try:
            await asyncio.to_thread(_see_allowed, policy)
            done = await run_subprocess_job("gym_gui", "policies", "score", policy.name, "--json")
        finally:
            self._facts.set_measuring(False)
        if done.status:
            problem = f"the score of {policy.file.title} could not be measured"
            raise SubprocessJobError(done.complaint or problem)
        self._context.notify(f"“{row.title}” was measured on {len(done.json()['returns'])} seeds", "ok")
        self.refresh()

    def _ask_export(self, row: PolicyRow) -> None:
        file, export = f"{row.title.replace('/', '_')}.zip", partial(self.export, row.entry)
        title, name = "Export the policy", "train-export-dialog"
        save_dialog(self.window(), title, name, "Policies", file, export).open()

    def export(self, policy: PolicyEntry, path: str) -> None:
        """Write a policy to a .zip file in the background."""
        self._context.spawn(self._export(policy, Path(path)), "Exporting the policy")

    async def _export(self, policy: PolicyEntry, path: Path) -> None:
        from gym_gui.services.policies.policy_exchange import export_policy

        # The save dialog has already asked whether to replace an existing file.
        await asyncio.to_thread(path.unlink, missing_ok=True)
        await asyncio.to_thread(export_policy, policy, path)
        self._context.notify(f"Written to {path}", "ok")

    def _put_back(self, trashed: Path, folder: Path) -> None:
        self._context.spawn(self._restore(trashed, folder), "Restoring the policy")

    async def _restore(self, trashed: Path, folder: Path) -> None:
        await asyncio.to_thread(put_back, trashed, folder)
        self.refresh()

    # -- importing -----------------------------------------------------------------------

    def ask_import(self) -> None:
        """Show the import form and ask the user for a file."""
        self._show_import()
        self.importing.ask_file()

    def open_dropped(self, path: Path) -> None:
        """Show the import form with a file, for example one that was dropped on the view."""
        self._show_import()
        self.importing.set_file(path)

    def _show_import(self) -> None:
        self.importing.open()
        self.importing.show()
        self._facts.hide()
        self.import_shown.emit()

    def _on_imported(self, name: str) -> None:
        self._on_import_closed()
        self._wanted = name
        self.refresh()

    def _on_import_closed(self) -> None:
        self.importing.hide()
        self._facts.show()


def _path(row: PolicyRow) -> Path:
    return row.path


def _find(store: Store) -> list[PolicyEntry]:
    from gym_gui.services.policies.policy_library import PolicyLibrary

    return PolicyLibrary(store).entries()


def _see_allowed(policy: PolicyEntry) -> None:
    """Ask the user for permission to load a policy's code.

    The process that plays the policy could not ask and would refuse.
    """
    from gym_gui.evaluation import require_allowed

    require_allowed(policy.file)
