"""A game while it is being opened: nothing moves once it is drawn, and the first key is played."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PyQt6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PyQt6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.pages.play import PlayPage
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.widgets.badges import StatusDot
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
CONNECT_FOUR = OperatorConfig(
    "me",
    "Me",
    "pettingzoo",
    "classic/connect_four_v3",
    {"player_0": WorkerAssignment("human_worker", "human"), "player_1": RANDOM},
)


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, finish: Callable[[object], object]) -> Iterator[PlayPage]:
    result = PlayPage(context)
    result.resize(1208, 740)
    result.show()
    yield result
    finish(result.closed())
    result.close()
    result.deleteLater()


@pytest.fixture
def held(page: PlayPage) -> asyncio.Event:
    """What is known of the environment comes when a test lets it come, as where it takes long to read."""
    gate, sheet = asyncio.Event(), page.catalog.env_info

    async def late(request: Any) -> Any:
        await gate.wait()
        return await sheet(request)

    page.catalog.sheet = late  # type: ignore[method-assign]
    return gate


class Painted(QObject):
    """Where a widget's drawing was in its window, each time it was painted."""

    def __init__(self, widget: QWidget, place: Callable[[], QRect]) -> None:
        super().__init__(widget)
        self.places: list[tuple[QPoint, QRect]] = []
        self._place = place
        widget.installEventFilter(self)

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        if isinstance(a0, QWidget) and a1 is not None and a1.type() == QEvent.Type.Paint:
            place = self._place()
            if not place.isEmpty():
                self.places.append((a0.mapTo(a0.window(), QPoint(0, 0)), place))  # type: ignore[arg-type]
        return False


@pytest.mark.usefixtures("plays_here")
def test_the_board_stays_where_it_was_drawn(page: PlayPage, held: asyncio.Event, qtbot: QtBot) -> None:
    board = named(page, BoardView, "boardView")
    painted = Painted(board, lambda: board.square_rect((5, 3)))
    page.opened(operator=CONNECT_FOUR, seed=3)
    qtbot.waitUntil(lambda: bool(painted.places), timeout=PATIENCE_MS)
    qtbot.wait(100)
    held.set()
    qtbot.waitUntil(lambda: page.env_info is not None and bool(page.input.questions), timeout=PATIENCE_MS)
    qtbot.wait(200)
    assert len(set(map(str, painted.places))) == 1, painted.places
    assert page.steady, "messages lie over it"


@pytest.mark.usefixtures("plays_here")
def test_the_first_key_is_played_though_nobody_was_seated_yet(
    page: PlayPage, held: asyncio.Event, qtbot: QtBot
) -> None:
    prompt, said = named(page, StatusDot, "prompt"), list[str]()
    page.game.changed.connect(lambda: said.append(prompt.text))
    page.game.viewed.connect(lambda _view: said.append(prompt.text))
    page.opened(task="FrozenLake-v1", seed=3)
    frame = named(page, FrameView, "frameView")
    qtbot.waitUntil(lambda: frame.isVisible() and page.view is not None, timeout=PATIENCE_MS)
    qtbot.keyClick(named(page, StageCard, "stage-card"), Qt.Key.Key_Right)
    qtbot.wait(100)
    assert page.view is not None and page.view.step == 0
    held.set()
    qtbot.waitUntil(lambda: page.view is not None and page.view.step == 1, timeout=PATIENCE_MS)
    assert page.env_info is not None
    assert not [words for words in said if "you watch" in words]


@pytest.mark.usefixtures("plays_here")
def test_the_keyboard_is_the_games_as_soon_as_one_is_chosen(page: PlayPage, held: asyncio.Event) -> None:
    """An arrow key would open the list of environments again."""
    picker, card = named(page, EnvironmentPicker, "environment-picker"), named(page, StageCard, "stage-card")
    picker.setFocus()
    assert page.focusWidget() is picker
    picker.chosen.emit("FrozenLake-v1")
    assert card.isAncestorOf(page.focusWidget())
    held.set()
