"""The cards, sharing the space evenly; any one of them can take all of it."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRect, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme

_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4}
NARROWEST = 270
"""Three beside each other that would be narrower stand two and one."""
LOWEST, SLIMMEST = 260, 190
"""Four in two rows that would be lower stand beside each other, where each is wide enough."""


def grid_shape(count: int, width: int, height: int) -> tuple[int, int]:
    """Columns and rows of ``count`` cards: 1, 2, 3x1, 2x2, 3x2, 4x2; two above each other in a tall window.

    Args:
        count: Cards.
        width: Room, in pixels.
        height: Room, in pixels.
    """
    if not count:
        return 0, 0
    columns = _COLUMNS.get(count, -(-count // 2))
    if count == 2 and width < height:
        columns = 1
    if count == 3 and width // 3 < NARROWEST and height // 2 >= LOWEST:
        columns = 2
    if count in (3, 4) and height // 2 < LOWEST and width // count >= SLIMMEST:
        columns = count
    return columns, -(-count // columns)


class RenderTabs(QWidget):
    """Lays cards out in a grid, or shows one alone."""

    enlarged_changed = pyqtSignal(object)
    """The card that stands alone, or ``None``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("render-tabs")
        self.setAccessibleName("Operators")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._cards: list[QWidget] = []
        self._enlarged: QWidget | None = None

    @property
    def cards(self) -> Sequence[QWidget]:
        """The cards, in order."""
        return tuple(self._cards)

    @property
    def enlarged(self) -> QWidget | None:
        """The card that stands alone."""
        return self._enlarged

    def insert(self, place: int, card: QWidget) -> None:
        """Add a card; a card that stood alone makes room for all."""
        card.setParent(self)
        self._cards.insert(place, card)
        self.enlarge(None)
        self._arrange()
        for before, after in zip(self._cards, self._cards[1:], strict=False):
            self.setTabOrder(before, after)

    def take(self, card: QWidget) -> None:
        """Take a card out; it is hidden, not deleted."""
        if card in self._cards:
            self._cards.remove(card)
            card.hide()
            if card is self._enlarged:
                self.enlarge(None)
            self._arrange()

    def enlarge(self, card: QWidget | None) -> None:
        """Give a card all of the space; ``None``: all share it again."""
        if card is self._enlarged:
            return
        self._enlarged = card
        self._arrange()
        self.enlarged_changed.emit(card)

    def toggle(self, card: QWidget) -> None:
        """Enlarge a card, or bring the others back."""
        self.enlarge(None if self._enlarged is card else card)

    def minimumSizeHint(self) -> QSize:
        """The window may be as small as it likes; cards leave out what has no room."""
        return QSize(320, 240)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Share the space anew."""
        super().resizeEvent(a0)
        self._arrange()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Escape brings all back."""
        if a0 is not None and a0.key() == Qt.Key.Key_Escape and self._enlarged is not None:
            self.enlarge(None)
            return
        super().keyPressEvent(a0)

    def _arrange(self) -> None:
        if self._enlarged is not None:
            for card in self._cards:
                card.setVisible(card is self._enlarged)
            self._enlarged.setGeometry(self.rect())
            return
        columns, rows = grid_shape(len(self._cards), self.width(), self.height())
        for place, card in enumerate(self._cards):
            card.setGeometry(self._cell(place, columns, rows))
            card.show()

    def _cell(self, place: int, columns: int, rows: int) -> QRect:
        row, column = divmod(place, columns)
        gap = theme.GAP
        width, height = self.width() + gap, self.height() + gap
        left, right = column * width // columns, (column + 1) * width // columns
        top, bottom = row * height // rows, (row + 1) * height // rows
        return QRect(left, top, right - left - gap, bottom - top - gap)
