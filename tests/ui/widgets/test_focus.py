"""Work that ends in the background does not take the keyboard from the shown page."""

from __future__ import annotations

from PyQt6.QtWidgets import QLineEdit, QStackedWidget
from pytestqt.qtbot import QtBot

from gym_gui.ui import theme
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.renderers.stage_view import StageView
from tests.support.named import named


def test_a_game_on_a_page_that_is_not_shown_leaves_it_and_one_that_comes_back_has_it(qtbot: QtBot) -> None:
    pages = QStackedWidget()
    qtbot.addWidget(pages)
    typed, game = QLineEdit(), StageCard(theme.Theme("light"))
    pages.addWidget(typed)
    pages.addWidget(game)
    pages.show()
    qtbot.waitExposed(pages)
    typed.setFocus()

    game.focus_stage()
    assert pages.focusWidget() is typed
    pages.setCurrentWidget(game)
    game.focus_stage()
    assert pages.focusWidget() is named(game, StageView, "stageView")
