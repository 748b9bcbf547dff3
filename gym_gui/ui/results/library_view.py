"""List of runs with a search field and filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from gym_gui.services.runs.run_filter import RunFilter, offers
from gym_gui.services.runs.run_library import STATUSES, RunEntry
from gym_gui.ui import theme
from gym_gui.ui.commands import COMMAND
from gym_gui.ui.numbers import local
from gym_gui.ui.results.delegates import CellDelegate
from gym_gui.ui.results.library_model import (
    ENVIRONMENT,
    RUN,
    RUN_COLUMNS,
    STARTED,
)
from gym_gui.ui.widgets import Card, EmptyHint, IconButton, PickerButton, PickerItem, muted_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.search_field import search_field
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

_ANY = ""
_ROW = 38
_ENVIRONMENT_SHARE = 7
"""Divisor of the view's width that gives the width of the environment column on wide screens."""
_PLACEHOLDER = "Search, or tag:paper agent:ppo star after:2026-11-01"


class LibraryView(QWidget):
    """View that lists runs, with search and filters; ``SelectedRuns`` has the actions on selected runs."""

    opened = pyqtSignal()
    """Emitted when the user asks to open the selected run."""
    removal_requested = pyqtSignal()
    """Emitted when the user asks to delete the selected runs."""
    labeled = pyqtSignal(object, object)
    """Emits a list of runs and a mapping from label names to new values."""
    another_folder_requested = pyqtSignal()
    """Emitted when the user asks to list the runs of another folder."""
    folder_closed = pyqtSignal(object)
    """Emits a folder whose runs the user asks to remove from the list."""
    selection_changed = pyqtSignal()
    first_run_requested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run-library")
        self.model = RowsModel(RUN_COLUMNS, _path, parent=self)
        self._tasks: list[str] | None = None
        self._runs: Sequence[RunEntry] = ()
        self._filter = RunFilter()
        self._others: tuple[Path, ...] = ()
        self._make_filters()
        self._make_table()
        self._empty = EmptyHint(
            "No runs yet",
            "MOSAIC records a run whenever operators play: on the Operators page, or with "
            "mosaic run FILE. The run then appears here with its verdict.",
            ("Open Operators", self.first_run_requested.emit),
            icon_name="results",
        )
        self._empty.setObjectName("run-library-empty")
        self._nothing = EmptyHint(
            "No matching runs",
            "Search for fewer words, or choose another environment or status.",
            ("Show all runs", self._on_show_all),
            icon_name="filter",
        )
        self._nothing.setObjectName("run-library-nothing")
        self._stack = QStackedWidget(self)
        for widget in (self.table, self._empty, self._nothing):
            self._stack.addWidget(widget)
        card = Card(margin=theme.STEP)
        card.add(self._stack, 1)
        layout = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        layout.addLayout(self._filters)
        layout.addWidget(card, 1)
        self.set_runs([])

    def _make_filters(self) -> None:
        self._search = search_field(
            "run-search",
            _PLACEHOLDER,
            self._on_filter_changed,
            called="Search runs",
            tooltip="Show runs that match every word (Ctrl+F). A word occurs in a run's name, tags, notes, "
            "agents, environments, id or status, or filters one field: agent: env: worker: tag: group: "
            "name: note: status: folder: after: before: on: setting: star. A word with - before it excludes "
            "matching runs",
            parent=self,
        )
        self._search.setMaximumWidth(520)
        self._search.installEventFilter(self)
        self._terms = _menu_button("filter", "Insert a search term", "run-offers", self._fill_offers)
        self.environment = PickerButton(
            placeholder="Any environment", name="run-environment", elide=Qt.TextElideMode.ElideMiddle
        )
        self.environment.setToolTip("Show only the runs of one environment")
        self.environment.setAccessibleName("Filter by environment")
        self.environment.chosen.connect(self._on_filter_changed)
        self.status = PickerButton(name="run-status")
        self.status.setToolTip("Show only runs with one status")
        self.status.setAccessibleName("Filter by status")
        choices = [PickerItem(status, status.capitalize()) for status in STATUSES]
        self.status.set_items([PickerItem(_ANY, "Any status"), *choices])
        self.status.set_value(_ANY)
        self.status.chosen.connect(self._on_filter_changed)
        self._folders = _menu_button(
            "open", "Add or remove the runs of other folders", "run-folders", self._fill_folders
        )
        self._count = muted_label(name="run-count")
        self._filters = row_layout()
        self._filters.addWidget(self._search, 3)
        self._filters.addWidget(self._terms)
        self._filters.addWidget(self.environment)
        self._filters.addWidget(self.status)
        self._filters.addWidget(self._folders)
        self._filters.addStretch(1)
        self._filters.addWidget(self._count)

    def _make_table(self) -> None:
        table = self.table = RowsTable(self.model, "run-table", "Runs", _ROW, self)
        cells = CellDelegate(table)
        cells.star_clicked.connect(self._on_star_clicked)
        table.setItemDelegate(cells)
        self.model.edited.connect(self._on_name_edited)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.fit_columns()
        table.sort_by(STARTED)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.doubleClicked.connect(self.opened)
        table.installEventFilter(self)
        selection = table.selectionModel()
        assert selection is not None
        selection.currentRowChanged.connect(self._on_selection_changed)
        selection.selectionChanged.connect(self._on_selection_changed)

    @property
    def current(self) -> RunEntry | None:
        """Current run; if several runs are selected, the run that the user selected last."""
        return self.table.current

    @property
    def selected(self) -> list[RunEntry]:
        """All selected runs, from top to bottom."""
        return self.table.selected_rows

    def set_runs(self, runs: Sequence[RunEntry]) -> None:
        """Show these runs, newest first."""
        tasks = sorted({task for run in runs for task in run.tasks})
        if tasks != self._tasks:
            self._tasks = tasks
            items = [PickerItem(t, t.rpartition("/")[2], group=t.partition("/")[0]) for t in tasks]
            self.environment.set_items([PickerItem(_ANY, "Any environment"), *items])
            if self.environment.value is None:
                self.environment.set_value(_ANY)
        self._runs = runs
        self.model.set_rows(runs)
        self._show_rows()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Adapt the environment column to the new width."""
        super().resizeEvent(a0)
        environment = self.model.section(ENVIRONMENT)
        self.table.setColumnWidth(
            environment, max(ENVIRONMENT.width or 0, self.width() // _ENVIRONMENT_SHARE)
        )

    def select(self, path: Path) -> None:
        """Select the run with a folder, if it is listed."""
        self.table.select(path)

    def set_reading(self, reading: bool) -> None:
        """Set the text of the empty list, by whether the first read of the folder is still in progress."""
        if reading and not self.model.total:
            self._empty.set_text("Searching for runs…", "")
        else:
            self._empty.set_text(
                "No runs yet",
                "MOSAIC records a run whenever operators play: on the Operators page, or with "
                "mosaic run FILE. The run then appears here with its verdict.",
            )

    def focus_search(self) -> None:
        """Move the focus to the search field."""
        self._search.setFocus()
        self._search.selectAll()

    def find_runs(self, words: str) -> None:
        """Show only runs that match the search words; reset the other filters."""
        self._on_show_all()
        self._search.setText(words)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Handle keys: Enter opens, Delete deletes, F2 renames, Down moves the focus from search field to
        list.
        """
        if isinstance(a1, QKeyEvent) and a1.type() == QEvent.Type.KeyPress and self._on_key(a0, a1.key()):
            return True
        return super().eventFilter(a0, a1)

    def _on_key(self, widget: QObject | None, key: int) -> bool:
        if self.table.editing:
            return False
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.current is None and self.model.rowCount():
                self.table.selectRow(0)
            self.opened.emit()
            return True
        if widget is self._search and key == Qt.Key.Key_Down and self.model.rowCount():
            self.table.setFocus()
            self.table.selectRow(max(self.table.currentIndex().row(), 0))
            return True
        if widget is self.table and key == Qt.Key.Key_F2:
            self.rename_current()
            return True
        if widget is self.table and key == Qt.Key.Key_Delete:
            self.removal_requested.emit()
            return True
        return False

    def rename_current(self) -> None:
        """Open an editor for the name in the row of the selected run."""
        if (run := self.current) is not None:
            self.table.edit(self.model.index(self.model.row_of(run.path), self.model.section(RUN)))

    def _show_rows(self) -> None:
        shown, total = self.model.rowCount(), self.model.total
        words = "1 run" if total == 1 else f"{local(total):,} runs"
        count = words if shown == total else f"{local(shown):,} of {words}"
        self._count.setText(self._filter.problem or count)
        self._count.setVisible(bool(total))
        page = self.table if shown else self._nothing if total else self._empty
        self._stack.setCurrentWidget(page)
        if shown and self.current is None:
            self.table.selectRow(0)  # Enter then opens the newest run.
        self.selection_changed.emit()

    def _on_filter_changed(self, _value: object = None) -> None:
        environment, status = self.environment.value, self.status.value
        self._filter = RunFilter(self._search.text(), str(environment or ""), str(status or ""))
        self.model.set_filter(self._filter.accepts)
        self._show_rows()

    def _fill_offers(self, menu: QMenu) -> None:
        menu.clear()
        for heading, words in offers(self._runs).items():
            place = menu.addMenu(heading) if heading else menu
            assert place is not None
            for word in words:
                action = QAction(word.replace("&", "&&"), place)
                action.setObjectName(f"run-offer-{word}")
                action.triggered.connect(partial(self._on_offer_chosen, word))
                place.addAction(action)

    def set_folders(self, folders: Sequence[Path]) -> None:
        """Set the additional runs folders that the menu can close."""
        self._others = tuple(folders)

    def _fill_folders(self, menu: QMenu) -> None:
        menu.clear()
        add = QAction("Open another runs folder…", menu)
        add.setObjectName("run-folder-open")
        add.setProperty(COMMAND, "results.other_folder")
        add.triggered.connect(self.another_folder_requested)
        menu.addAction(add)
        if self._others:
            menu.addSection("Other open folders")
        for folder in self._others:
            action = QAction(f"Close {folder}".replace("&", "&&"), menu)
            action.setObjectName(f"run-folder-close-{folder.name}")
            action.triggered.connect(partial(self._on_folder_closed, folder))
            menu.addAction(action)

    def _on_folder_closed(self, folder: Path, _checked: bool = False) -> None:
        self.folder_closed.emit(folder)

    def _on_offer_chosen(self, word: str, _checked: bool = False) -> None:
        self._search.setText(f"{self._search.text().strip()} {word}".strip())
        self._search.setFocus()

    def _on_star_clicked(self, index: QModelIndex) -> None:
        if (run := self.model.row(index.row())) is not None:
            self.labeled.emit([run], {"star": not run.labels.star})

    def _on_name_edited(self, run: RunEntry, _column: Column[RunEntry], text: str) -> None:
        if text.strip() != run.labels.name:
            self.labeled.emit([run], {"name": text})

    def _on_show_all(self) -> None:
        self.environment.set_value(_ANY)
        self.status.set_value(_ANY)
        self._search.clear()
        self._on_filter_changed()

    def _on_selection_changed(self, _new: object, _old: object) -> None:
        self.selection_changed.emit()

    def select_at(self, place: QPoint) -> bool:
        """Select the run at a position in the table unless it is selected; return whether a run is there."""
        index = self.table.indexAt(place)
        if index.isValid() and self.model.row(index.row()) not in self.selected:
            self.table.selectRow(index.row())
        return index.isValid()


def _path(run: RunEntry) -> Path:
    return run.path


def _menu_button(icon_name: str, tooltip: str, name: str, fill: Callable[[QMenu], object]) -> IconButton:
    """Return a button whose menu is filled each time it opens."""
    button = IconButton(icon_name, tooltip, name=name)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    menu = QMenu(button)
    menu.setObjectName(f"{name}-menu")
    menu.aboutToShow.connect(partial(fill, menu))
    button.setMenu(menu)
    return button
