"""Layouts with the window's distances, fields for words, timers that begin anew."""

from __future__ import annotations

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui import theme
from gym_gui.ui.timers import single_shot_timer
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.search_field import search_field


def test_a_layout_fills_its_widget_with_the_usual_distance(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = column_layout(page)
    assert page.layout() is layout
    margins = layout.contentsMargins()
    assert (margins.left(), margins.top(), layout.spacing()) == (0, 0, theme.ROW)


def test_a_layout_has_the_distances_that_it_is_given(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    layout = row_layout(page, margin=theme.PAGE, spacing=theme.GAP)
    margins = layout.contentsMargins()
    assert (margins.right(), margins.bottom(), layout.spacing()) == (theme.PAGE, theme.PAGE, theme.GAP)


def test_a_search_field_tells_each_change(qtbot: QtBot) -> None:
    heard: list[str] = []
    field = search_field("search", "Search runs", heard.append)
    qtbot.addWidget(field)
    qtbot.keyClicks(field, "ab")
    assert heard == ["a", "ab"]
    assert (field.objectName(), field.accessibleName()) == ("search", "Search runs")


def test_a_timer_that_is_started_again_fires_once(qtbot: QtBot) -> None:
    owner, heard = QObject(), list[str]()
    timer = single_shot_timer(owner, 20, lambda: heard.append("late"))
    assert not timer.isActive()
    timer.start()
    timer.start()
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == ["late"]
    assert not timer.isActive()
