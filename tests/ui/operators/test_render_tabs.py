"""Cards share the space; one may take all of it."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import QRect, Qt
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.operators.render_tabs import RenderTabs, grid_shape


@pytest.mark.parametrize(
    ("count", "shape"),
    [(0, (0, 0)), (1, (1, 1)), (2, (2, 1)), (3, (3, 1)), (4, (2, 2)), (5, (3, 2)), (6, (3, 2)), (8, (4, 2))],
)
def test_shapes_of_a_wide_window(count: int, shape: tuple[int, int]):
    assert grid_shape(count, 1280, 700) == shape


def test_shapes_of_narrow_windows():
    assert grid_shape(2, 500, 900) == (1, 2)
    assert grid_shape(3, 700, 700) == (2, 2)


def test_low_rows_become_one_row():
    assert grid_shape(4, 876, 412) == (4, 1)  # plots stand below
    assert grid_shape(4, 700, 412) == (2, 2)  # there each would be too slim


def test_cards_fill_the_space_without_overlapping(qtbot: Any):
    tabs = RenderTabs()
    qtbot.addWidget(tabs)
    tabs.resize(900, 660)
    tabs.show()
    cards = [QWidget() for _ in range(8)]
    for place, card in enumerate(cards):
        tabs.insert(place, card)
        rects = [c.geometry() for c in cards[: place + 1]]
        for i, one in enumerate(rects):
            assert tabs.rect().contains(one)
            assert not any(one.intersects(other) for other in rects[i + 1 :])
        sizes = {(r.width() // 4, r.height() // 4) for r in rects}
        assert len(sizes) == 1  # evenly, give or take a pixel
    right = max(card.geometry().right() for card in cards)
    bottom = max(card.geometry().bottom() for card in cards)
    assert (right, bottom) == (tabs.rect().right(), tabs.rect().bottom())


def test_one_is_enlarged_and_escape_brings_all_back(qtbot: Any):
    tabs = RenderTabs()
    qtbot.addWidget(tabs)
    tabs.resize(600, 400)
    cards = [QWidget(), QWidget()]
    for card in cards:
        tabs.insert(0, card)
    tabs.show()
    tabs.toggle(cards[0])
    assert tabs.enlarged is cards[0] and cards[0].geometry() == QRect(0, 0, 600, 400)
    assert not cards[1].isVisible()
    qtbot.keyClick(tabs, Qt.Key.Key_Escape)
    assert tabs.enlarged is None and cards[1].isVisible()
    tabs.enlarge(cards[1])
    tabs.remove_card(cards[1])
    assert tabs.enlarged is None and cards[0].isVisible()
    cards[1].deleteLater()
