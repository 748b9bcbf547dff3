"""A grid of cards of equal size; one card can be large beside the others or fill the grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QRect, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent, QResizeEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gym_gui.ui import theme

_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4}
NARROWEST = 270
"""Card width in pixels below which three cards are not placed in one row, but two above one."""
LOWEST, SLIMMEST = 260, 190
"""Smallest height of cards in two rows, and smallest width of four cards in one row, in pixels."""
FLATTEST, HEAD = 150, 80
"""Preferred smallest height of cards beside a large card, and card height without the picture, in pixels."""


def grid_shape(count: int, width: int, height: int) -> tuple[int, int]:
    """Return the numbers of columns and rows for ``count`` cards.

    In a window that is taller than wide, two cards are placed one above the other.

    Args:
        count: Number of cards.
        width: Available width, in pixels.
        height: Available height, in pixels.
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


@dataclass(frozen=True, slots=True)
class PinnedLayout:
    """Areas of a large card and of the small cards beside it.

    Attributes:
        large: Area of the large card, in pixels.
        small: Area of all small cards, in pixels.
        columns: Columns of small cards in ``small``.
        rows: Rows of small cards in ``small``.
    """

    large: QRect
    small: QRect
    columns: int
    rows: int


def pinned_shape(count: int, width: int, height: int) -> PinnedLayout:
    """Divide the space between a large card and small ones to its right or below it.

    The division gives the pictures the largest area.

    Args:
        count: Number of small cards, at least one.
        width: Available width, in pixels.
        height: Available height, in pixels.
    """
    gap, area = theme.GAP, QRect(0, 0, width, height)
    best: tuple[tuple[float, int], PinnedLayout] | None = None
    for share, columns, beside in itertools.product((2 / 3, 3 / 5), range(1, count + 1), (True, False)):
        rows = -(-count // columns)
        large, small = QRect(area), QRect(area)
        if beside:
            large.setWidth(round((width - gap) * share))
            small.setLeft(large.right() + 1 + gap)
        else:
            large.setHeight(round((height - gap) * share))
            small.setTop(large.bottom() + 1 + gap)
        cell = _cell(small, 0, columns, rows).size()
        readable = min(1.0, cell.width() / SLIMMEST) * min(1.0, cell.height() / FLATTEST)
        score = readable, _picture(large.size()) + _picture(cell)
        if best is None or score > best[0]:
            best = score, PinnedLayout(large, small, columns, rows)
    assert best is not None
    return best[1]


def _picture(card: QSize) -> int:
    """Return the side of a square picture in a card of this size, in pixels."""
    return max(0, min(card.width(), card.height() - HEAD))


def _cell(area: QRect, place: int, columns: int, rows: int) -> QRect:
    row, column = divmod(place, columns)
    gap = theme.GAP
    width, height = area.width() + gap, area.height() + gap
    left, right = column * width // columns, (column + 1) * width // columns
    top, bottom = row * height // rows, (row + 1) * height // rows
    return QRect(area.left() + left, area.top() + top, right - left - gap, bottom - top - gap)


class RenderTabs(QWidget):
    """Lays out cards in a grid, with one card large beside the others, or shows a single card."""

    enlarged_changed = pyqtSignal(object)
    """Emits the card that now fills the grid, or ``None`` when all cards are shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("render-tabs")
        self.setAccessibleName("Operators")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._cards: list[QWidget] = []
        self._enlarged: QWidget | None = None
        self._pinned: QWidget | None = None

    @property
    def cards(self) -> Sequence[QWidget]:
        """All cards, in order."""
        return tuple(self._cards)

    @property
    def enlarged(self) -> QWidget | None:
        """Card that fills the grid, or ``None``."""
        return self._enlarged

    @property
    def pinned(self) -> QWidget | None:
        """Card that is large beside the others, or ``None``."""
        return self._pinned

    def insert(self, place: int, card: QWidget) -> None:
        """Insert a card at an index and show all cards, even if one has filled the grid."""
        card.setParent(self)
        self._cards.insert(place, card)
        self.enlarge(None)
        self._arrange()
        for before, after in zip(self._cards, self._cards[1:], strict=False):
            self.setTabOrder(before, after)

    def remove_card(self, card: QWidget) -> None:
        """Remove a card from the grid; the card is hidden, not deleted."""
        if card in self._cards:
            self._cards.remove(card)
            card.hide()
            if card is self._pinned:
                self._pinned = None
            if card is self._enlarged:
                self.enlarge(None)
            self._arrange()

    def enlarge(self, card: QWidget | None) -> None:
        """Show one card alone in the whole grid; ``None`` shows all cards again."""
        if card is self._enlarged:
            return
        self._enlarged = card
        self._arrange()
        self.enlarged_changed.emit(card)

    def toggle(self, card: QWidget) -> None:
        """Show one card alone in the whole grid, or all cards again if it is alone already."""
        self.enlarge(None if self._enlarged is card else card)

    def pin(self, card: QWidget | None) -> None:
        """Show a card large beside the others; ``None`` gives all cards one size."""
        self._pinned = card
        self.enlarge(None)
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        """Return a small size, so that the window can be small."""
        return QSize(320, 240)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Lay out the cards again."""
        super().resizeEvent(a0)
        self._arrange()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Show all cards again when Escape is pressed."""
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
        small, area = list(self._cards), self.rect()
        if self._pinned is not None and len(small) > 1:
            small.remove(self._pinned)
            shape = pinned_shape(len(small), self.width(), self.height())
            self._pinned.setGeometry(shape.large)
            self._pinned.show()
            area, columns, rows = shape.small, shape.columns, shape.rows
        else:
            columns, rows = grid_shape(len(small), self.width(), self.height())
        for place, card in enumerate(small):
            card.setGeometry(_cell(area, place, columns, rows))
            card.show()
