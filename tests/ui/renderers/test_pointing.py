"""Options that a person chooses by pointing at the picture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QToolButton, QToolTip

from gym_gui.core.live import LiveView, Move, Pointing
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.stage_view import StageView
from gym_gui.ui.theme import Theme
from tests.support.named import named

POINTING = Pointing(
    4,
    8,
    (
        Move(1, (0, 0), label="go to(yellow key)"),
        Move(4, (0, 0), label="pick up(yellow key)"),
        Move(3, (3, 7), label="go to(green goal)"),
    ),
)


@pytest.fixture
def stage(theme: Theme, shown: Callable[..., None]) -> StageView:
    result = StageView(theme)
    shown(result, 500, 400)
    result.show_view(LiveView(0, 0, 0, (), frame=1, pointing=POINTING))
    result.show_frame(np.zeros((40, 80, 3), np.uint8), 1)
    return result


def click(stage: StageView, row: int, column: int) -> None:
    view = named(stage, FrameView, "frameView")
    area = view.picture_rect()
    x, y = (
        area.left() + area.width() * (2 * column + 1) // 16,
        area.top() + area.height() * (2 * row + 1) // 8,
    )
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(x, y))


def test_a_click_on_a_cell_chooses_what_it_stands_for(stage: StageView) -> None:
    chosen: list[int] = []
    stage.move_chosen.connect(chosen.append)
    click(stage, 3, 7)
    assert chosen == []  # no person is asked
    stage.set_interactive(True)
    click(stage, 3, 7)
    click(stage, 2, 2)
    assert chosen == [3]
    assert "No action here" in QToolTip.text()
    QToolTip.hideText()


def test_a_press_in_the_picture_is_its_own_while_somebody_is_asked(stage: StageView) -> None:
    """Else another widget would get the release, after which the view says that the click was in vain."""
    view = named(stage, FrameView, "frameView")
    place = QPointF(view.picture_rect().center())
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for asked in (False, True):
        stage.set_interactive(asked)
        press = QMouseEvent(QEvent.Type.MouseButtonPress, place, place, left, left, none)
        view.event(press)
        assert press.isAccepted() is asked
        release = QMouseEvent(QEvent.Type.MouseButtonRelease, place, place, left, left, none)
        view.event(release)
        assert release.isAccepted() is asked
    QToolTip.hideText()


def test_cells_may_be_a_part_of_the_picture(stage: StageView) -> None:
    """Of two pictures side by side, the right one."""
    chosen: list[int] = []
    stage.move_chosen.connect(chosen.append)
    stage.set_interactive(True)
    pointing = Pointing(4, 4, (Move(3, (3, 0), label="fetch"),), (0.5, 0.0, 0.5, 1.0))
    stage.show_view(LiveView(0, 0, 1, (), frame=2, pointing=pointing))
    click(stage, 3, 0)
    click(stage, 3, 5)
    assert chosen == []
    click(stage, 3, 4)
    assert chosen == [3]


def test_of_several_options_in_a_cell_one_is_asked_for(stage: StageView) -> None:
    chosen: list[int] = []
    stage.move_chosen.connect(chosen.append)
    stage.set_interactive(True)
    click(stage, 0, 0)
    assert chosen == []
    buttons = [
        each for each in named(stage, FrameView, "frameView").findChildren(QToolButton) if each.isVisible()
    ]
    assert [button.text() for button in buttons] == ["go to(yellow key)", "pick up(yellow key)"]
    buttons[1].click()
    assert chosen == [4]


def test_what_was_pointed_at_before_is_nothing_any_more(stage: StageView) -> None:
    chosen: list[int] = []
    stage.move_chosen.connect(chosen.append)
    stage.set_interactive(True)
    stage.show_view(LiveView(0, 0, 1, (), frame=2))
    click(stage, 3, 7)
    assert chosen == []
