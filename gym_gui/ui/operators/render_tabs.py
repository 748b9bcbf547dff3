"""The cards, sharing the space evenly; one of them can be large beside the others, or take all of it."""

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
"""Three beside each other that would be narrower stand two and one."""
LOWEST, SLIMMEST = 260, 190
"""Four in two rows that would be lower stand beside each other, where each is wide enough."""
FLATTEST, HEAD = 150, 80
"""Beside a large one, none is lower where that can be helped; what a card has above and below its picture."""


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


@dataclass(frozen=True, slots=True)
class Pinned:
    """How a large card and small ones share the space.

    Attributes:
        large: Where the large one is.
        small: Where all the others are.
        columns: Of the small ones, in ``small``.
        rows: The same.
    """

    large: QRect
    small: QRect
    columns: int
    rows: int


def pinned_shape(count: int, width: int, height: int) -> Pinned:
    """A large card, the small ones to the right of it or below it: where the pictures have most room.

    Args:
        count: Small cards, at least one.
        width: Room, in pixels.
        height: Room, in pixels.
    """
    gap, area = theme.GAP, QRect(0, 0, width, height)
    best: tuple[tuple[float, int], Pinned] | None = None
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
            best = score, Pinned(large, small, columns, rows)
    assert best is not None
    return best[1]


def _picture(card: QSize) -> int:
    """Side of a square picture in a card of this size."""
    return max(0, min(card.width(), card.height() - HEAD))


def _cell(area: QRect, place: int, columns: int, rows: int) -> QRect:
    row, column = divmod(place, columns)
    gap = theme.GAP
    width, height = area.width() + gap, area.height() + gap
    left, right = column * width // columns, (column + 1) * width // columns
    top, bottom = row * height // rows, (row + 1) * height // rows
    return QRect(area.left() + left, area.top() + top, right - left - gap, bottom - top - gap)


class RenderTabs(QWidget):
    """Lays cards out in a grid, one of them large beside the others, or shows one alone."""

    enlarged_changed = pyqtSignal(object)
    """The card that stands alone, or ``None``."""

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
        """The cards, in order."""
        return tuple(self._cards)

    @property
    def enlarged(self) -> QWidget | None:
        """The card that stands alone."""
        return self._enlarged

    @property
    def pinned(self) -> QWidget | None:
        """The card that is large beside the others."""
        return self._pinned

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
            if card is self._pinned:
                self._pinned = None
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

    def pin(self, card: QWidget | None) -> None:
        """Make a card large beside the others, which share what is left; ``None``: all are of one size."""
        self._pinned = card
        self.enlarge(None)
        self._arrange()

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
