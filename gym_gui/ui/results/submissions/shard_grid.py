"""Grid that shows each shard as a square, with a color and an icon for its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PyQt6.QtCore import QModelIndex, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QPainter, QPen, QPixmap
from PyQt6.QtWidgets import (
    QFrame,
    QLabel,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gym_gui.services.submissions.overview import LOST, PLAYING, QUEUED, STATES, ShardRow
from gym_gui.services.submissions.submission_record import COLLECTED, FAILED, STOPPED, WAITING
from gym_gui.ui import theme
from gym_gui.ui.icons import icon
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import IconLabel, label
from gym_gui.ui.widgets.layouts import row_layout
from gym_gui.ui.widgets.tables import RowsModel

SIGNS: Final = {
    WAITING: ("more", "muted", "waiting"),
    QUEUED: ("clock", "muted", "queued"),
    PLAYING: ("run", "accent", "running"),
    COLLECTED: ("check", "ok", "finished"),
    LOST: ("restart", "warning", "lost"),
    FAILED: ("close", "error", "failed"),
    STOPPED: ("stop", "warning", "stopped"),
}
"""Icon name, color name and text of each state of a shard."""
SHARD_STATE_ROLE: Final = Qt.ItemDataRole.UserRole + 20
"""Item role of a shard's state; :mod:`gym_gui.ui.results.library_model` defines other roles."""
_CELL, _SQUARE, _SIGN = 26, 22, 14
_HIGHEST: Final = 5
"""Largest number of rows of squares that are visible without scrolling."""


def words_of(row: ShardRow) -> str:
    """Return the text for the state of a shard, such as ``"running"``."""
    return SIGNS[row.state][2]


class ShardGrid(QListView):
    """Grid view of shards as squares that wrap like text; arrow keys move from square to square.

    Args:
        model: Rows of shards; returns the state of a shard for :data:`SHARD_STATE_ROLE`.
        parent: Qt owner.
    """

    def __init__(self, model: RowsModel[ShardRow], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("submission-grid")
        self.setAccessibleName("Grid of shards")
        self.setModel(model)
        self.setItemDelegate(_Squares(self))
        self.setViewMode(QListView.ViewMode.ListMode)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setGridSize(QSize(_CELL, _CELL))
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        port = self.viewport()
        if port is not None:
            port.setAutoFillBackground(False)

    def sizeHint(self) -> QSize:
        """Return a size with the height that the squares need at the current width, up to five rows."""
        return QSize(10 * _CELL, self.heightForWidth(self.width()))

    def minimumSizeHint(self) -> QSize:
        """Return the size of one row of six squares."""
        return QSize(6 * _CELL, _CELL)

    def hasHeightForWidth(self) -> bool:
        """Return ``True``, because a narrower window needs more rows."""
        return True

    def heightForWidth(self, a0: int) -> int:
        """Return the height in pixels that all rows need at the width ``a0``, up to five rows."""
        model = self.model()
        shards = model.rowCount() if model is not None else 0
        each_line = max(1, (a0 - 2) // _CELL)
        return min(_HIGHEST, max(1, -(-shards // each_line))) * _CELL + 2


class _Squares(QStyledItemDelegate):
    """Delegate that draws one shard as a square."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawn: dict[tuple[str, bool, float, bool], QPixmap] = {}

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw a shard as a square with the color and icon of its state; a selected square has a frame."""
        if painter is None:
            return
        square = QRect(0, 0, _SQUARE, _SQUARE)
        square.moveCenter(option.rect.center())
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        painter.drawPixmap(square, self._square(str(index.data(SHARD_STATE_ROLE)), chosen, ratio))

    def _square(self, state: str, chosen: bool, ratio: float) -> QPixmap:
        """Return the pixmap of a state, which is drawn once and then cached."""
        now = theme.current()
        key = state, chosen, ratio, now.dark
        if key not in self._drawn:
            self._drawn[key] = _drawn(state, chosen, ratio)
        return self._drawn[key]

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return the size of a cell, which is the same for all shards."""
        return QSize(_CELL, _CELL)


def _drawn(state: str, chosen: bool, ratio: float) -> QPixmap:
    sign, token, _ = SIGNS[state]
    now = theme.current()
    color = now.color(token)
    wash = QColor(color)
    wash.setAlphaF(0.10 if token == "muted" else 0.22)
    pixmap = QPixmap(round(_SQUARE * ratio), round(_SQUARE * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(now.color("text") if chosen else color, 2 if chosen else 1))
    painter.setBrush(wash)
    inset = 1.0 if chosen else 0.5
    painter.drawRoundedRect(QRectF(inset, inset, _SQUARE - 2 * inset, _SQUARE - 2 * inset), 4, 4)
    room = (_SQUARE - _SIGN) // 2
    icon(sign, token).paint(painter, QRect(room, room, _SIGN, _SIGN))
    painter.end()
    return pixmap


class ShardLegend(QWidget):
    """Legend of the grid: each shard state with its icon and its number of shards."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("submission-legend")
        row = row_layout(self, spacing=theme.STEP)
        self._parts: dict[str, tuple[QWidget, QLabel]] = {}
        for state in STATES:
            sign, token, _ = SIGNS[state]
            part, words = QWidget(self), label("", "small")
            inner = row_layout(part, margin=(0, 0, theme.GAP, 0), spacing=theme.STEP)
            inner.addWidget(IconLabel(sign, token, _SIGN))
            inner.addWidget(words)
            row.addWidget(part)
            self._parts[state] = part, words
        row.addStretch(1)

    def show_states(self, states: Mapping[str, int]) -> None:
        """Show the number of shards in each state; hide states without shards."""
        texts: list[str] = []
        for state, (part, words) in self._parts.items():
            count = states.get(state, 0)
            part.setVisible(bool(count))
            words.setText(f"{local(count):,} {SIGNS[state][2]}")
            texts += [words.text()] if count else []
        self.setAccessibleName(", ".join(texts))
