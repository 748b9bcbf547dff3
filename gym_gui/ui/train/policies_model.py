"""The policies of the library as a table's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PyQt6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from gym_gui.ui.results.library_model import moment_in_words
from gym_gui.ui.train.numbers import NONE, return_in_words, steps_in_words
from gym_gui.ui.train.run_words import algorithm_word, short_environment

if TYPE_CHECKING:
    from gym_gui.services.policy_library import PolicyEntry


class Column(IntEnum):
    """Columns of the table."""

    NAME = 0
    ALGORITHM = 1
    ENVIRONMENT = 2
    STEPS = 3
    SCORE = 4
    TRAINED = 5


_HEADINGS: Final = ("Policy", "Algorithm", "Environment", "Steps", "Return", "Trained")
_RIGHT: Final = (Column.STEPS, Column.SCORE)
_TIPS: Final = {
    Column.SCORE: "Mean return on the standard seeds where that was measured, else after its training"
}


def moment_of(policy: PolicyEntry) -> datetime | None:
    """When it was trained, where it says so."""
    try:
        return datetime.fromisoformat(policy.file.description.trained_at)
    except ValueError:
        return None


class PoliciesModel(QAbstractTableModel):
    """Policies, filtered by words and sorted by a column."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[PolicyEntry] = []
        self._titles: Mapping[str, str] = {}
        self._rows: list[PolicyEntry] = []
        self._words: tuple[str, ...] = ()
        self._sort = (Column.TRAINED, True)

    @property
    def total(self) -> int:
        """Policies there are, shown or not."""
        return len(self._all)

    def policy(self, row: int) -> PolicyEntry | None:
        """The policy of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, path: Path) -> int:
        """Where a policy stands; -1 where it does not."""
        return next((row for row, policy in enumerate(self._rows) if policy.file.path == path), -1)

    def title(self, policy: PolicyEntry) -> str:
        """What it is called: its run's title where a training left it, else its name in the library."""
        return self._titles.get(policy.file.path.name, policy.name)

    def set_policies(self, policies: Sequence[PolicyEntry], titles: Mapping[str, str]) -> None:
        """Show these; ``titles`` are those of runs, by id."""
        self._all, self._titles = list(policies), titles
        self._arrange()

    def set_words(self, text: str) -> None:
        """Show those in which every word occurs."""
        self._words = tuple(text.casefold().split())
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column."""
        self._sort = (Column(column), order == Qt.SortOrder.DescendingOrder)
        self._arrange()

    def _arrange(self) -> None:
        column, down = self._sort
        wanted = [policy for policy in self._all if self._accepts(policy)]
        wanted.sort(key=lambda policy: self._key(policy, column), reverse=down)
        self.layoutAboutToBeChanged.emit()
        held = [(index, self._rows[index.row()].file.path) for index in self.persistentIndexList()]
        self._rows = wanted
        for index, path in held:
            row = self.row_of(path)
            new = self.index(row, index.column()) if row >= 0 else QModelIndex()
            self.changePersistentIndex(index, new)
        self.layoutChanged.emit()

    def _accepts(self, policy: PolicyEntry) -> bool:
        about = policy.file.description
        text = (
            f"{self.title(policy)} {policy.name} {about.algorithm} {about.env_id} {about.worker}".casefold()
        )
        return all(word in text for word in self._words)

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
        policy = self.policy(index.row())
        if policy is None:
            return None
        column = Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(policy, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole and column is Column.SCORE:
            return score_words(policy) if policy.score is not None else evaluated_words(policy) or None
        if role == Qt.ItemDataRole.ToolTipRole:
            return str(policy.file.path) if column is Column.NAME else policy.file.env_id
        return None

    def _text(self, policy: PolicyEntry, column: Column) -> str:
        about = policy.file.description
        match column:
            case Column.NAME:
                return self.title(policy)
            case Column.ALGORITHM:
                return algorithm_word(about.algorithm)
            case Column.ENVIRONMENT:
                return short_environment(about.env_id)
            case Column.STEPS:
                return steps_in_words(about.total_steps) if about.total_steps else NONE
            case Column.SCORE:
                return return_in_words(return_of(policy))
            case Column.TRAINED:
                return moment_in_words(moment_of(policy)) or NONE

    def _key(self, policy: PolicyEntry, column: Column) -> tuple[bool, float | str]:
        moment = moment_of(policy)
        numbers = {
            Column.STEPS: float(policy.file.description.total_steps),
            Column.SCORE: return_of(policy),
            Column.TRAINED: moment.timestamp() if moment is not None else None,
        }
        if column in numbers:
            number = numbers[column]
            return number is not None, number or 0.0
        return True, self._text(policy, column).casefold()


def return_of(policy: PolicyEntry) -> float | None:
    """On the standard seeds where that was measured, else after its training."""
    return policy.score.mean if policy.score is not None else policy.file.description.mean_return


def score_words(policy: PolicyEntry) -> str:
    """What it reached on the standard seeds."""
    score = policy.score
    if score is None:
        return "not measured"
    spread = return_in_words(score.deviation)
    return f"{return_in_words(score.mean)} ± {spread} on {len(score.seeds)} standard seeds"


def evaluated_words(policy: PolicyEntry) -> str:
    """What it reached after its training; empty where nobody looked."""
    about = policy.file.description
    if about.mean_return is None:
        return ""
    seeds = len(about.evaluation_seeds)
    over = f", mean of {seeds} seeds" if seeds > 1 else ""
    return f"{return_in_words(about.mean_return)} after its training{over}"


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
