"""The runs as a table's rows, and how they are painted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from gym_gui.services.recorder import COMPLETED, FAILED, RUNNING, STOPPED
from gym_gui.services.run_library import CUT_OFF, DAMAGED, RunEntry, RunFilter

STATE_TOKENS: Final = {
    RUNNING: "accent",
    COMPLETED: "ok",
    FAILED: "error",
    STOPPED: "warning",
    CUT_OFF: "warning",
    DAMAGED: "error",
}
"""The colour of a status; its word stands beside it."""

KINDS_ROLE: Final = Qt.ItemDataRole.UserRole + 1
STATE_ROLE: Final = Qt.ItemDataRole.UserRole + 2


class Column(IntEnum):
    """Columns of the list."""

    NAME = 0
    KINDS = 1
    ENVIRONMENT = 2
    EPISODES = 3
    STATUS = 4
    STARTED = 5


_HEADINGS: Final = ("Run", "Agents", "Environment", "Episodes", "Status", "Started")
_RIGHT: Final = (Column.EPISODES,)


class RunListModel(QAbstractTableModel):
    """Runs as rows; kept rows keep their place when runs are added, removed or grow."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[RunEntry] = []
        self._shown: list[RunEntry] = []
        self._filter = RunFilter()
        self._sort: tuple[Column, bool] = (Column.STARTED, True)

    @property
    def shown(self) -> Sequence[RunEntry]:
        """The rows."""
        return self._shown

    @property
    def total(self) -> int:
        """Runs there are, shown or not."""
        return len(self._all)

    def set_runs(self, runs: Sequence[RunEntry]) -> None:
        """Show these, newest first."""
        self._all = list(runs)
        self._arrange()

    def set_filter(self, wanted: RunFilter) -> None:
        """Show those that pass."""
        self._filter = wanted
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column."""
        self._sort = (Column(column), order == Qt.SortOrder.DescendingOrder)
        self._arrange()

    def run(self, row: int) -> RunEntry | None:
        """The run of a row."""
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def row_of(self, path: Path) -> int:
        """Where a run stands, -1 where it does not."""
        return next((row for row, run in enumerate(self._shown) if run.path == path), -1)

    def _arrange(self) -> None:
        column, down = self._sort
        wanted = sorted((r for r in self._all if self._filter.accepts(r)), key=_KEYS[column], reverse=down)
        if [run.path for run in wanted] == [run.path for run in self._shown]:
            changed = [row for row, run in enumerate(wanted) if run != self._shown[row]]
            self._shown = wanted
            if changed:
                corner = self.index(changed[-1], len(Column) - 1)
                self.dataChanged.emit(self.index(changed[0], 0), corner)
            return
        self.layoutAboutToBeChanged.emit()
        held = [(index, self._shown[index.row()].path) for index in self.persistentIndexList()]
        self._shown = wanted
        rows = {run.path: row for row, run in enumerate(wanted)}
        for index, path in held:
            row = rows.get(path, -1)
            self.changePersistentIndex(index, self.index(row, index.column()) if row >= 0 else QModelIndex())
        self.layoutChanged.emit()

    # -- what Qt asks ------------------------------------------------------------------

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Rows."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Columns."""
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _HEADINGS[section]
        return _alignment(Column(section)) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What stands in a cell."""
        run = self.run(index.row())
        if run is None:
            return None
        column = Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(run, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(run, column)
        if role == KINDS_ROLE and column is Column.KINDS:
            return run.kinds
        if role == STATE_ROLE and column is Column.STATUS:
            return STATE_TOKENS.get(run.status, "muted")
        return None


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _text(run: RunEntry, column: Column) -> str:
    if column is Column.NAME:
        return run.title
    if column is Column.ENVIRONMENT:
        return run.environment
    if column is Column.EPISODES:
        return episodes_in_words(run)
    if column is Column.STATUS:
        return run.status.capitalize()
    if column is Column.STARTED:
        return moment_in_words(run.started_at)
    return ""


def _tip(run: RunEntry, column: Column) -> str | None:
    if column is Column.NAME:
        return f"{', '.join(o.name for o in run.operators) or run.title}\n{run.path}"
    if column is Column.ENVIRONMENT:
        return "\n".join(run.tasks) or None
    if column is Column.STATUS:
        return run.problem or _STATUS_TIPS.get(run.status)
    return None


_STATUS_TIPS: Final = {
    RUNNING: "It is being written now",
    CUT_OFF: "Its process ended before it was done. Go on with it: mosaic run --resume",
    STOPPED: "Somebody stopped it. Go on with it: mosaic run --resume",
}


def episodes_in_words(run: RunEntry) -> str:
    """``40``, or ``12 of 40`` while it is not done."""
    if run.planned is None or run.done == run.planned:
        return f"{run.done:,}"
    return f"{run.done:,} of {run.planned:,}"


def moment_in_words(moment: datetime | None) -> str:
    """``today 14:03``, ``yesterday 9:12``, ``12 Jul 14:03``, ``12 Jul 2024``."""
    if moment is None:
        return ""
    local, now = moment.astimezone(), datetime.now().astimezone()
    days = (now.date() - local.date()).days
    if days == 0:
        return f"today {local:%H:%M}"
    if days == 1:
        return f"yesterday {local:%H:%M}"
    return f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y}"


def _by_name(run: RunEntry) -> str:
    return run.title.casefold()


def _by_kinds(run: RunEntry) -> tuple[str, ...]:
    return run.kinds


def _by_environment(run: RunEntry) -> str:
    return run.environment.casefold()


def _by_episodes(run: RunEntry) -> int:
    return run.done


def _by_status(run: RunEntry) -> str:
    return run.status


def _by_time(run: RunEntry) -> str:
    return run.run_id  # a ULID sorts by time


_KEYS: Final = {
    Column.NAME: _by_name,
    Column.KINDS: _by_kinds,
    Column.ENVIRONMENT: _by_environment,
    Column.EPISODES: _by_episodes,
    Column.STATUS: _by_status,
    Column.STARTED: _by_time,
}
