"""Table widgets: declared columns, a model that updates rows, and a view."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from PyQt6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QObject, QRect, Qt, pyqtSignal
from PyQt6.QtGui import QHelpEvent, QPainter, QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyleOptionHeader,
    QTableView,
    QToolTip,
    QWidget,
)

from gym_gui.ui.icons import icon

Row = TypeVar("Row")
_PADDING = 12
"""Horizontal padding of text in a cell, in pixels: the style sheet's padding plus the 3 px that Qt adds."""
_ROUNDING = 2
_ARROW = 10
"""Size of the sort arrow in a heading, in pixels; it fits into the padding of the heading."""


NOTHING = "nothing"
"""Word that screen readers read for an empty cell."""


def no_text(_row: Any) -> str:
    """Return an empty text, for a cell that a delegate draws."""
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class Column(Generic[Row]):
    """Declaration of one table column.

    Attributes:
        heading: Text of the heading.
        text: Returns the text of a row's cell.
        key: Returns the value by which rows are sorted; by default the text, ignoring case.
        tip: Returns the tooltip of a cell.
        about: Tooltip of the heading.
        figure: Whether the column holds numbers, which are aligned right.
        width: Width in pixels; 0 if the column shares the remaining space.
        usual: For a column that shares the space: a text that should fit; other columns are hidden to
            fit it.
        widest: A text that fits the column; replaces ``width``.
        gives: Order in which columns are hidden if space is short, the highest number first;
            0 is never hidden.
        roles: Functions that return values for further item roles, by role; delegates use the values.
        edit: Returns the text to edit in a cell; ``None`` if cells cannot be edited.
        called: Name for screen readers of a column without a heading.
        spoken: Returns what screen readers read for a cell that a delegate draws; by default its text.
    """

    heading: str
    text: Callable[[Row], str] = no_text
    key: Callable[[Row], Any] | None = None
    tip: Callable[[Row], str | None] | None = None
    about: str = ""
    figure: bool = False
    width: int = 0
    usual: str = ""
    widest: str = ""
    gives: int = 0
    roles: Mapping[int, Callable[[Row], object]] = field(default_factory=dict)
    edit: Callable[[Row], str] | None = None
    called: str = ""
    spoken: Callable[[Row], str] | None = None

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        """Alignment of heading and cells: right for numbers, left for text."""
        side = Qt.AlignmentFlag.AlignRight if self.figure else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter

    def sort_key(self, row: Row) -> Any:
        """Return the value by which a row is sorted."""
        return self.text(row).casefold() if self.key is None else self.key(row)


class RowsModel(QAbstractTableModel, Generic[Row]):
    """Table model of Python objects as rows, filtered and sorted; updated rows keep their selection.

    Args:
        columns: Columns from left to right.
        identity: Returns the key by which an updated row is recognized as the same row.
        roles: Functions that return values for further item roles in every column, by role.
        parent: Qt owner.
    """

    edited = pyqtSignal(object, object, str)
    """Emits row, column and new text of a cell that the user has edited; the model does not change the
    row.
    """

    def __init__(
        self,
        columns: Sequence[Column[Row]] = (),
        identity: Callable[[Row], Hashable] = id,
        roles: Mapping[int, Callable[[Row], object]] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._identity = identity
        self._roles = dict(roles or {})
        self._all: list[Row] = []
        self._rows: list[Row] = []
        self._accepts: Callable[[Row], bool] | None = None
        self._sorted: tuple[Column[Row], bool] | None = None

    @property
    def columns(self) -> Sequence[Column[Row]]:
        """Columns from left to right."""
        return self._columns

    @property
    def rows(self) -> Sequence[Row]:
        """Visible rows after filtering and sorting, from top to bottom."""
        return self._rows

    @property
    def total(self) -> int:
        """Number of rows before filtering."""
        return len(self._all)

    def row(self, number: int) -> Row | None:
        """Return the visible row with a row number; ``None`` if there is none."""
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def row_of(self, identity: Hashable) -> int:
        """Return the row number of the row with a key; -1 if it is not visible."""
        return next((i for i, row in enumerate(self._rows) if self._identity(row) == identity), -1)

    def section(self, column: Column[Row]) -> int:
        """Return the number of a column, counted from the left."""
        return self._columns.index(column)

    # -- contents ----------------------------------------------------------------------

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Replace all rows."""
        self._all = list(rows)
        self._arrange()

    def append(self, row: Row) -> None:
        """Append one row at the end; only for tables that are not sorted."""
        self._all.append(row)
        if self._accepts is None or self._accepts(row):
            place = len(self._rows)
            self.beginInsertRows(QModelIndex(), place, place)
            self._rows.append(row)
            self.endInsertRows()

    def set_filter(self, accepts: Callable[[Row], bool] | None) -> None:
        """Show only rows that a filter accepts; ``None`` shows all rows."""
        self._accepts = accepts
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by a column."""
        self._sorted = self._columns[column], order == Qt.SortOrder.DescendingOrder
        self._arrange()

    def show_table(self, columns: Sequence[Column[Row]], rows: Sequence[Row]) -> None:
        """Replace the columns and the rows, and remove filter and sorting."""
        self.beginResetModel()
        self._columns = tuple(columns)
        self._all, self._rows = list(rows), list(rows)
        self._accepts = self._sorted = None
        self.endResetModel()

    def rows_changed(self, first: int = 0, last: int = -1) -> None:
        """Signal that cells of the rows ``first`` to ``last`` have changed, by default of all rows."""
        last = last if last >= 0 else len(self._rows) - 1
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self._columns) - 1))

    def _arrange(self) -> None:
        wanted = [row for row in self._all if self._accepts is None or self._accepts(row)]
        if self._sorted is not None:
            column, down = self._sorted
            wanted.sort(key=column.sort_key, reverse=down)
        before = self._rows
        places = {self._identity(row): i for i, row in enumerate(wanted)}
        if list(places) == [self._identity(row) for row in before]:
            self._rows = wanted
            changed = [i for i, row in enumerate(wanted) if row is not before[i] and row != before[i]]
            if changed:
                self.rows_changed(changed[0], changed[-1])
            return
        self.layoutAboutToBeChanged.emit()
        self._rows = wanted
        for index in self.persistentIndexList():
            place = places.get(self._identity(before[index.row()]), -1)
            new = self.index(place, index.column()) if place >= 0 else QModelIndex()
            self.changePersistentIndex(index, new)
        self.layoutChanged.emit()

    # -- Qt's model interface ----------------------------------------------------------

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows that are shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return text, tooltip, accessible text or alignment of a heading."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.heading
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.about or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return column.heading or column.called
        return column.alignment if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the value of a cell for an item role."""
        row = self.row(index.row())
        if row is None:
            return None
        column = self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return (column.text if column.spoken is None else column.spoken)(row) or NOTHING
        if role == Qt.ItemDataRole.EditRole and column.edit is not None:
            return column.edit(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return column.alignment
        if role == Qt.ItemDataRole.ToolTipRole:
            return None if column.tip is None else column.tip(row)
        asked = column.roles.get(role) or self._roles.get(role)
        return None if asked is None else asked(row)

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        """Return the flags of a cell, which is editable if its column has ``edit``."""
        flags = super().flags(index)
        editable = index.isValid() and self._columns[index.column()].edit is not None
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags

    def setData(self, index: QModelIndex, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit :attr:`edited` with the text that the user has typed into a cell."""
        row = self.row(index.row())
        column = self._columns[index.column()]
        if row is None or role != Qt.ItemDataRole.EditRole or column.edit is None:
            return False
        self.edited.emit(row, column, str(value))
        return True


class Headings(QHeaderView):
    """Header of a table, which draws the sort arrow right after the heading's text.

    Qt would draw the arrow over the end of right-aligned headings.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader | None, logicalIndex: int) -> None:  # noqa: N803
        """Set Qt's style option of a heading without Qt's own sort arrow."""
        super().initStyleOptionForIndex(option, logicalIndex)
        if option is not None:
            option.sortIndicator = QStyleOptionHeader.SortIndicator.None_

    def paintSection(self, painter: QPainter | None, rect: QRect, logicalIndex: int) -> None:  # noqa: N803
        """Draw a heading, with an arrow if rows are sorted by its column."""
        super().paintSection(painter, rect, logicalIndex)
        if painter is None or not self.isSortIndicatorShown() or self.sortIndicatorSection() != logicalIndex:
            return
        model = self.model()
        place = QRect(rect.right() - _ARROW, rect.center().y() - _ARROW // 2, _ARROW, _ARROW)
        if model is not None:
            turn = Qt.Orientation.Horizontal
            side = model.headerData(logicalIndex, turn, Qt.ItemDataRole.TextAlignmentRole)
            if isinstance(side, Qt.AlignmentFlag) and side & Qt.AlignmentFlag.AlignLeft:
                words = str(model.headerData(logicalIndex, turn) or "")
                behind = rect.left() + 2 * _PADDING + self.fontMetrics().horizontalAdvance(words) - _ARROW
                place.moveLeft(min(place.left(), behind))
        up = self.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
        icon("caret-up" if up else "caret-down", "muted").paint(painter, place)


class RowsTable(QTableView, Generic[Row]):
    """View of a :class:`RowsModel` as a table without grid lines, in which the user selects whole rows.

    Cells are edited only through :meth:`edit`.

    Args:
        model: The rows.
        name: ``objectName`` of the table.
        spoken: Name of the table for screen readers.
        height: Height of a row, in pixels.
        parent: Qt owner.
    """

    def __init__(
        self, model: RowsModel[Row], name: str, spoken: str, height: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(spoken)
        self.rows = model
        self._fitted = False
        self._wanted: list[int] = []
        self._names: tuple[int, ...] = ()
        self._narrowest = 0
        self.setHorizontalHeader(Headings(self))
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        side = self.verticalHeader()
        assert side is not None
        side.hide()
        side.setDefaultSectionSize(height)

    @property
    def head(self) -> QHeaderView:
        """Headings of the table."""
        return cast("QHeaderView", self.horizontalHeader())

    def viewportEvent(self, e: QEvent | None) -> bool:
        """Show the whole text of a cut cell as its tooltip, unless the cell has a tooltip."""
        if isinstance(e, QHelpEvent) and e.type() == QEvent.Type.ToolTip:
            index = self.indexAt(e.pos())
            if index.isValid() and not index.data(Qt.ItemDataRole.ToolTipRole):
                text, room = str(index.data() or ""), self.visualRect(index).width() - 2 * _PADDING
                cut = self.fontMetrics().horizontalAdvance(text) > room
                if cut:
                    QToolTip.showText(e.globalPos(), text.strip(), self.viewport())
                    return True
        return super().viewportEvent(e)

    @property
    def current(self) -> Row | None:
        """Current row, or ``None``."""
        index = self.currentIndex()
        return self.rows.row(index.row()) if index.isValid() else None

    @property
    def editing(self) -> bool:
        """Whether an editor is open in a row.

        Keys that the editor does not use arrive here, but must not trigger actions of the table.
        """
        return self.state() == QAbstractItemView.State.EditingState

    @property
    def selected_rows(self) -> list[Row]:
        """All selected rows, from top to bottom."""
        selection = self.selectionModel()
        numbers = sorted(index.row() for index in selection.selectedRows()) if selection is not None else []
        return [row for number in numbers if (row := self.rows.row(number)) is not None]

    def select(self, identity: Hashable) -> None:
        """Select only the row with the given key, if it is visible."""
        row = self.rows.row_of(identity)
        if row >= 0:
            self.selectRow(row)

    def fit_columns(self, mode: QHeaderView.ResizeMode = QHeaderView.ResizeMode.Interactive) -> None:
        """Set the column widths; columns without a width share the remaining space."""
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for section, column in enumerate(self.rows.columns):
            if width := self._width_of(column):
                self.head.setSectionResizeMode(section, mode)
                self.head.resizeSection(section, width)
            else:
                self.head.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
        self._fitted = True
        self._make_room()

    def resizeEvent(self, e: QResizeEvent | None) -> None:
        """Hide columns for which the space is too small, and distribute the width again."""
        super().resizeEvent(e)
        if self._fitted:
            self._make_room()
        self._share_width()

    def share_columns(self, names: Sequence[int], narrowest: int) -> None:
        """Set each column to the width of its cells and heading, and distribute the rest of the space.

        The columns after the first one in ``names`` share the rest: a number column gets twice the share of a
        text column. If space is short, the columns in ``names`` are cut.

        Args:
            names: Numbers of the columns that may be cut.
            narrowest: Width that each of them keeps, in pixels.
        """
        self._names, self._narrowest = tuple(names), narrowest
        self.head.setStretchLastSection(False)
        self.head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._wanted = [
            max(self.sizeHintForColumn(section), self.head.sectionSizeHint(section))
            + _ROUNDING * (section in self._names)
            for section in range(len(self.rows.columns))
        ]
        self._share_width()

    def _share_width(self) -> None:
        port = self.viewport()
        if port is None or not self._wanted:
            return
        widths = list(self._wanted)
        spare = port.width() - sum(widths)
        for section in self._names:
            cut = min(max(-spare, 0), max(widths[section] - self._narrowest, 0))
            widths[section] -= cut
            spare += cut
        behind = range(min(self._names, default=-1) + 1, len(widths))
        parts = {s: 1 + self.rows.columns[s].figure for s in behind if s not in self._names}
        if spare > 0 and parts:
            part, left = divmod(spare, sum(parts.values()))
            for section, share in parts.items():
                widths[section] += share * part
            widths[next(iter(parts))] += left
        for section, width in enumerate(widths):
            self.head.resizeSection(section, width)

    def cell_width(self, text: str) -> int:
        """Return the width of a cell that fits the given text, in pixels."""
        return self.fontMetrics().horizontalAdvance(text) + 2 * _PADDING + _ROUNDING

    def _width_of(self, column: Column[Row]) -> int:
        return self.cell_width(column.widest) if column.widest else column.width

    def _make_room(self) -> None:
        """Hide columns that do not fit, and show them again when there is space."""
        viewport, columns = self.viewport(), self.rows.columns
        needs = [
            self._width_of(each) or (self.cell_width(each.usual) if each.usual else 0) for each in columns
        ]
        short = sum(needs) - (viewport.width() if viewport is not None else 0)
        order = [section for section, column in enumerate(columns) if column.gives]
        for section in sorted(order, key=lambda section: -columns[section].gives):
            self.setColumnHidden(section, short > 0)
            short -= needs[section] if short > 0 else 0

    def sort_by(self, column: Column[Row], order: Qt.SortOrder = Qt.SortOrder.DescendingOrder) -> None:
        """Sort by a column, and sort by another column when the user clicks on its heading."""
        self.setSortingEnabled(True)
        self.sortByColumn(self.rows.section(column), order)
