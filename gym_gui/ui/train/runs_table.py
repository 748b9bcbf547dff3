"""Table of training runs with a dot in each run's color, figures, and clickable actions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from PyQt6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPointF, QRect, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QHelpEvent, QIcon, QKeyEvent, QMouseEvent, QPainter, QPen
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from gym_gui.ui import theme
from gym_gui.ui.icons import icon
from gym_gui.ui.train.run_colors import RunColors
from gym_gui.ui.train.runs_model import (
    ACTIONS,
    ACTIONS_ROLE,
    DRAWN_ROLE,
    RUN_ROLE,
    TOKEN_ROLE,
    RunRow,
    id_of_run,
)
from gym_gui.ui.widgets.tables import RowsModel, RowsTable

ROW: Final = 34
HEAD: Final = 34
_BOX: Final = 28
_INSET: Final = 8
_WORDS: Final = {"pause": "Pause", "resume": "Resume", "stop": "Stop and keep the policy", "use": "Use"}
_ICONS: Final = {"pause": "pause", "resume": "run", "stop": "stop"}


_MOVES = (Qt.Key.Key_Space, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End)


class RunsTable(RowsTable[RunRow]):
    """Table of training runs, which emits the actions that the user requests.

    Args:
        model: The runs.
        colors: Colors of the runs' dots.
        parent: Qt owner.
    """

    action_requested = pyqtSignal(str, str)
    """Emits the id of a run and an action: ``pause``, ``resume``, ``stop``, ``use``, ``draw``."""
    selection_changed = pyqtSignal()
    removal_requested = pyqtSignal()

    def __init__(self, model: RowsModel[RunRow], colors: RunColors, parent: QWidget | None = None) -> None:
        super().__init__(model, "training-runs", "Training runs", ROW, parent)
        self._cells = RunCells(colors, self)
        self._cells.clicked.connect(self.action_requested)
        self.setItemDelegate(self._cells)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        side, chosen = self.verticalHeader(), self.selectionModel()
        assert side is not None and chosen is not None
        side.setMinimumSectionSize(ROW)
        self.head.setMinimumSectionSize(24)
        self.head.setFixedHeight(HEAD)
        self.fit_columns(QHeaderView.ResizeMode.Fixed)
        chosen.selectionChanged.connect(self._on_selection_changed)

    @property
    def selected(self) -> list[str]:
        """Ids of the selected runs, from top to bottom."""
        return [id_of_run(row) for row in self.selected_rows]

    def select(self, identity: Hashable) -> None:
        """Select only the run with the given id, and scroll to its row."""
        super().select(identity)
        self.scrollTo(self.currentIndex())

    def height_for(self, rows: int) -> int:
        """Return the table height in pixels at which ``rows`` rows are fully visible."""
        return HEAD + rows * ROW + 2

    def rows_in(self, height: int) -> int:
        """Return the number of rows that are fully visible at a table height in pixels."""
        return (height - HEAD - 2) // ROW

    def keyPressEvent(self, e: QKeyEvent | None) -> None:
        """Handle keys: Space toggles the curves of the selected runs, Delete removes runs, Esc clears the
        selection.

        If no run is selected, Space and the keys that move the cursor first select the current row.
        """
        if e is not None and e.key() in _MOVES and not self.selected and self.rows.rowCount():
            self.selectRow(max(self.currentIndex().row(), 0))
        elif e is not None and e.key() == Qt.Key.Key_Space:
            for chosen in self.selected:
                self.action_requested.emit(chosen, "draw")
        elif e is not None and e.key() == Qt.Key.Key_Delete and self.selected:
            self.removal_requested.emit()
        elif e is not None and e.key() == Qt.Key.Key_Escape and self.selected:
            self.clearSelection()
        else:
            super().keyPressEvent(e)

    def _on_selection_changed(self) -> None:
        self.selection_changed.emit()


class RunCells(QStyledItemDelegate):
    """Delegate that draws dots and actions, and emits clicks on them."""

    clicked = pyqtSignal(str, str)

    def __init__(self, colors: RunColors, parent: QWidget) -> None:
        super().__init__(parent)
        self._colors = colors

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """Set Qt's style option without focus frame, and with a color for failed and paused runs."""
        super().initStyleOption(option, index)
        if option is not None:
            option.state &= ~QStyle.StateFlag.State_HasFocus
            token = index.data(TOKEN_ROLE)
            if token:
                ground = theme.current().tokens.panel
                color = theme.text_on(ground, theme.current().color(str(token)))
                option.palette.setColor(option.palette.ColorRole.Text, color)
                option.palette.setColor(option.palette.ColorRole.HighlightedText, color)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one table cell."""
        super().paint(painter, option, index)
        if painter is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        drawn = index.data(DRAWN_ROLE)
        if drawn is not None:
            color = self._colors.color(str(index.data(RUN_ROLE)))
            _paint_dot(painter, option.rect, color, filled=bool(drawn))
        for action, box in _boxes(option.rect, index):
            hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
            _paint_action(painter, box, action, hovered)
        painter.restore()

    def editorEvent(
        self,
        event: QEvent | None,
        model: QAbstractItemModel | None,
        option: QStyleOptionViewItem,
        index: QModelIndex,
    ) -> bool:
        """Emit a click on a dot or on an action."""
        if (
            isinstance(event, QMouseEvent)
            and event.type() == QEvent.Type.MouseButtonRelease
            and event.button() == Qt.MouseButton.LeftButton
        ):
            place = event.position().toPoint()
            chosen = str(index.data(RUN_ROLE))
            if index.data(DRAWN_ROLE) is not None:
                self.clicked.emit(chosen, "draw")
                return True
            for action, box in _boxes(option.rect, index):
                if box.contains(place):
                    self.clicked.emit(chosen, action)
                    return True
        return super().editorEvent(event, model, option, index)

    def helpEvent(
        self,
        event: QHelpEvent | None,
        view: QAbstractItemView | None,
        option: QStyleOptionViewItem,
        index: QModelIndex,
    ) -> bool:
        """Show the tooltip of the action under the mouse."""
        if event is not None and view is not None and event.type() == QEvent.Type.ToolTip:
            for action, box in _boxes(option.rect, index):
                if box.contains(event.pos()):
                    QToolTip.showText(event.globalPos(), _WORDS[action], view)
                    return True
        return super().helpEvent(event, view, option, index)


def action_box(table: RunsTable, of: str, action: str) -> QRect:
    """Return the rectangle of an action in the table's viewport; ``of`` is the id of the run."""
    index = table.rows.index(table.rows.row_of(of), table.rows.section(ACTIONS))
    return dict(_boxes(table.visualRect(index), index))[action]


def _boxes(rect: QRect, index: QModelIndex) -> list[tuple[str, QRect]]:
    actions = index.data(ACTIONS_ROLE) or ()
    left, top = rect.left() + _INSET, rect.top() + (rect.height() - _BOX) // 2
    result: list[tuple[str, QRect]] = []
    for action in actions:
        width = _BOX if action in _ICONS else rect.right() - left - _INSET
        result.append((action, QRect(left, top, width, _BOX)))
        left += width
    return result


def _paint_dot(painter: QPainter, rect: QRect, color: QColor, *, filled: bool) -> None:
    centre = QPointF(rect.left() + rect.width() / 2 + 3, rect.top() + rect.height() / 2)
    if filled:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(centre, 4.2, 4.2)
    else:
        painter.setPen(QPen(color, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, 3.6, 3.6)


def _paint_action(painter: QPainter, box: QRect, action: str, hovered: bool) -> None:
    current = theme.current()
    if action not in _ICONS:
        painter.setFont(theme.font(theme.TEXT_PX))
        painter.setPen(current.color("accent_text"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), f"{_WORDS[action]} ▾")
        return
    size = QSize(16, 16)
    square = QRect(box.center() - QRect(0, 0, 16, 16).center(), size)
    color = "text" if hovered else "muted"
    icon(_ICONS[action], color).paint(painter, square, Qt.AlignmentFlag.AlignCenter, QIcon.Mode.Normal)
