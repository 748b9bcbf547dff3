"""Where a board lies in the room that it has."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QFontMetricsF
from PyQt6.QtWidgets import QApplication

from gym_gui.core.live import Board
from gym_gui.ui import theme
from gym_gui.ui.renderers.board_geometry import BoardGeometry


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("high", [90, 96, 140, 400])
def test_coordinates_are_read_whole_beside_the_smallest_board(high: int, qapp: QApplication) -> None:
    board = Board("connect_four", 6, 7, ("",) * 42)
    place = BoardGeometry.fitted(board, QRectF(0, 0, 600, high), flipped=False)
    letters = QFontMetricsF(theme.font(8)).tightBoundingRect("17").height()
    assert place.edge - place.side * 0.09 >= letters + 2 or place.edge == 26
    assert place.board().top() >= 0 and place.board().bottom() <= high
