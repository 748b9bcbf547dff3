"""The runs as a table's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from gym_gui.ui.train.numbers import NONE, time_in_words
from gym_gui.ui.train.run_words import (
    STATE_WORDS,
    left_in_words,
    progress_in_words,
    return_sentence,
    run_return,
    short_environment,
)

if TYPE_CHECKING:
    from gym_gui.services.trainer.records import TrainingRecord

RUN_ROLE: Final = Qt.ItemDataRole.UserRole + 1
DRAWN_ROLE: Final = Qt.ItemDataRole.UserRole + 2
ACTIONS_ROLE: Final = Qt.ItemDataRole.UserRole + 3
TOKEN_ROLE: Final = Qt.ItemDataRole.UserRole + 4


class Column(IntEnum):
    """Columns of the table."""

    DOT = 0
    RUN = 1
    ENVIRONMENT = 2
    STEPS = 3
    RETURN = 4
    SPEED = 5
    LEFT = 6
    ACTIONS = 7


_HEADINGS: Final = ("", "Run", "Environment", "Steps", "Return", "Steps/s", "Left", "")
_RIGHT: Final = (Column.STEPS, Column.RETURN, Column.SPEED, Column.LEFT)
_TIPS: Final = {
    Column.STEPS: "Environment steps so far, of all",
    Column.RETURN: "Mean return of its evaluation after the training; before that, of its last 100 episodes",
    Column.SPEED: "Environment steps a second just now",
    Column.LEFT: "Time until it is done at this speed",
}


def row_actions(record: TrainingRecord) -> tuple[str, ...]:
    """What can be done with a run in its row, in order: ``pause``, ``resume``, ``stop``, ``use``."""
    if record.state in ("running", "starting"):
        return ("pause", "stop")
    if record.state == "paused":
        return ("resume", "stop")
    if record.state == "queued":
        return ("stop",)
    return ("use",) if record.over and record.policy else ()


class RunsModel(QAbstractTableModel):
    """Runs, newest first; rows keep their place in the selection when others come and go."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[TrainingRecord] = []
        self._titles: Mapping[str, str] = {}
        self._drawn: frozenset[str] = frozenset()

    @property
    def rows(self) -> Sequence[TrainingRecord]:
        """The runs, from top to bottom."""
        return self._rows

    def record(self, row: int) -> TrainingRecord | None:
        """The run of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def title(self, run_id: str) -> str:
        """What a run is called."""
        return self._titles.get(run_id, run_id)

    def row_of(self, run_id: str) -> int:
        """Where a run stands; -1 where it does not."""
        return next((row for row, record in enumerate(self._rows) if record.run_id == run_id), -1)

    def set_runs(
        self, records: Sequence[TrainingRecord], titles: Mapping[str, str], drawn: frozenset[str]
    ) -> None:
        """Show these."""
        same = [r.run_id for r in records] == [r.run_id for r in self._rows]
        if same:
            changed = [
                row
                for row, record in enumerate(records)
                if record != self._rows[row]
                or titles.get(record.run_id) != self._titles.get(record.run_id)
                or (record.run_id in drawn) != (record.run_id in self._drawn)
            ]
            self._rows, self._titles, self._drawn = list(records), titles, drawn
            if changed:
                self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(Column) - 1))
            return
        self.layoutAboutToBeChanged.emit()
        held = [(index, self._rows[index.row()].run_id) for index in self.persistentIndexList()]
        self._rows, self._titles, self._drawn = list(records), titles, drawn
        places = {record.run_id: row for row, record in enumerate(records)}
        for index, run_id in held:
            row = places.get(run_id, -1)
            new = self.index(row, index.column()) if row >= 0 else QModelIndex()
            self.changePersistentIndex(index, new)
        self.layoutChanged.emit()

    # -- what Qt asks ------------------------------------------------------------------

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Rows."""
        return 0 if parent.isValid() else len(self._rows)

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
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS.get(Column(section))
        return _alignment(Column(section)) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What stands in a cell."""
        record = self.record(index.row())
        if record is None:
            return None
        column = Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(record, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(record, column)
        if role == RUN_ROLE:
            return record.run_id
        if role == DRAWN_ROLE and column is Column.DOT:
            return record.run_id in self._drawn
        if role == ACTIONS_ROLE and column is Column.ACTIONS:
            return row_actions(record)
        if role == TOKEN_ROLE and column is Column.LEFT:
            return {"failed": "error", "paused": "warning"}.get(record.state)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(record, column)
        return None

    def _text(self, record: TrainingRecord, column: Column) -> str:
        match column:
            case Column.RUN:
                return self.title(record.run_id)
            case Column.ENVIRONMENT:
                return short_environment(record.env_id)
            case Column.STEPS:
                return progress_in_words(record)
            case Column.RETURN:
                return run_return(record)
            case Column.SPEED:
                return f"{record.steps_per_s:,.0f}" if record.state == "running" else NONE
            case Column.LEFT:
                return left_in_words(record)
            case _:
                return ""

    def _tip(self, record: TrainingRecord, column: Column) -> str | None:
        if column is Column.DOT:
            drawn = record.run_id in self._drawn
            return f"{'Drawn' if drawn else 'Not drawn'} in the curves: click, or press Space, to change it"
        if column is Column.RUN:
            return f"{self.title(record.run_id)}\n{record.worker_id}, seed {record.seed}\n{record.folder}"
        if column is Column.ENVIRONMENT:
            return record.env_id
        if column is Column.RETURN:
            return return_sentence(record) or None
        if column is Column.LEFT:
            took = f" after {time_in_words(record.elapsed_s)}" if record.over and record.elapsed_s else ""
            return record.reason or f"{STATE_WORDS.get(record.state, record.state)}{took}"
        return None

    def _spoken(self, record: TrainingRecord, column: Column) -> str:
        if column is Column.DOT:
            return "drawn" if record.run_id in self._drawn else "not drawn"
        if column is Column.ACTIONS:
            return ", ".join(row_actions(record))
        return self._text(record, column)


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
