"""Pictures and the transcript in windows of their own: the same widget, its keys, its place, its way back."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import QRect, QSize, Qt
from PyQt6.QtWidgets import QApplication, QPushButton, QWidget

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.services.store import Store
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.detached.detached_window import DetachedWindow
from gym_gui.ui.detached.window_positions import SavedPosition, Screen, fitted
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.operators.transcript_dock import TranscriptDock
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.renderers import FrameView, StageView
from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named
from tests.support.restart import restarted

LEFT, RIGHT = Screen("A", QRect(0, 0, 1280, 800)), Screen("B", QRect(1280, 0, 1920, 1080))


@pytest.mark.parametrize(
    ("kept", "screens", "where"),
    [
        (SavedPosition(True, (1500, 100, 600, 400), "B"), [LEFT, RIGHT], (RIGHT, QRect(1500, 100, 600, 400))),
        (SavedPosition(True, (1500, 100, 600, 400), "B"), [LEFT], (LEFT, QRect(339, 199, 600, 400))),
        (SavedPosition(True, (3000, 900, 600, 400), "B"), [LEFT, RIGHT], (RIGHT, QRect(2600, 680, 600, 400))),
        (SavedPosition(True, (0, 0, 4000, 4000), "A"), [LEFT], (LEFT, QRect(0, 0, 1280, 800))),
        (SavedPosition(), [LEFT, RIGHT], (LEFT, QRect(279, 119, 720, 560))),
    ],
)
def test_no_window_lies_off_the_screens(
    kept: SavedPosition, screens: list[Screen], where: tuple[Screen, QRect]
) -> None:
    screen, rect = fitted(kept, screens, QSize(720, 560))
    assert (screen.name, rect) == (where[0].name, where[1])
    assert screen.room.contains(rect)


def operator(name: str, task: str = "CartPole-v1", kind: str = "baseline") -> OperatorConfig:
    worker = "human_worker" if kind == "human" else "operators_worker"
    settings = {} if kind == "human" else {"behavior": "random"}
    return OperatorConfig(name, "", "", task, {"agent_0": WorkerAssignment(worker, kind, settings)})


def page_of(window: MainWindow) -> OperatorsTab:
    page = window.findChild(OperatorsTab)
    assert page is not None
    return page


def ready(page: OperatorsTab) -> bool:
    return all(o.player.alive and o.player.last_view is not None for o in page.deck.operators)


def detached_windows() -> list[DetachedWindow]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, DetachedWindow) and w.isVisible()]


def stage(page: OperatorsTab, which: int = 0) -> StageView:
    manual = named(page, ManualOperators, "manual-operators")
    return manual.card(page.deck.operators[which]).stage


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_a_card_s_picture_goes_and_comes_back(window: MainWindow, qtbot: Any) -> None:
    window.context.go("operators", operators=[operator("a"), operator("b")], seed=3)
    page = page_of(window)
    qtbot.waitUntil(lambda: ready(page))
    manual = named(page, ManualOperators, "manual-operators")
    manual.select(page.deck.operators[0])
    picture = stage(page)
    assert window.context.commands.run("operators.apart")
    (own,) = detached_windows()
    assert picture.window() is own and "a, CartPole-v1" in own.windowTitle()
    assert stage(page, 1).window() is window
    card = manual.card(page.deck.operators[0])
    assert "in its own window" in named(card, QWidget, "elsewhere").accessibleName()

    manual.select(page.deck.operators[1])
    qtbot.keyClick(own, Qt.Key.Key_Space)  # the page's keys work there: all take a step
    qtbot.waitUntil(lambda: [o.player.last_view.step for o in page.deck.operators] == [1, 1])
    qtbot.waitUntil(lambda: picture.findChild(FrameView, "frameView").filled)
    qtbot.keyClick(own, Qt.Key.Key_F11)
    assert own.isFullScreen()
    qtbot.keyClick(own, Qt.Key.Key_Escape)
    assert not own.isFullScreen()

    # Removed and had back: it is in its window again. Brought back, it is in its place.
    page.deck.remove("a")
    assert not detached_windows()
    page.deck.undo_stack.undo()
    (own,) = detached_windows()
    assert picture.window() is own
    qtbot.mouseClick(named(card, QPushButton, "elsewhere-back"), Qt.MouseButton.LeftButton)
    assert not detached_windows() and picture.window() is window and card.isAncestorOf(picture)
    assert picture.isVisible()


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_what_was_in_windows_is_there_again_and_closes_with_the_main_one(
    window: MainWindow, store: Store, qtbot: Any, finish: Any
) -> None:
    window.context.go("operators", operators=[operator("a")], seed=3)
    page = page_of(window)
    qtbot.waitUntil(lambda: ready(page))
    window.context.commands.run("operators.apart")
    window.context.commands.run("operators.transcript_apart")
    assert len(detached_windows()) == 2
    dock = next(d for w in detached_windows() for d in w.findChildren(TranscriptDock))
    window.context.commands.run("operators.transcript")
    assert len(detached_windows()) == 1 and not dock.isVisible()
    window.context.commands.run("operators.transcript")
    assert len(detached_windows()) == 2 and dock.window() is not window
    with restarted(window, store, finish) as again:
        again.go("operators")
        assert {own.windowTitle().partition(" · ")[0] for own in detached_windows()} == {
            "a, CartPole-v1",
            "Transcript of a",
        }
    assert not detached_windows()


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_people_play_in_the_window(window: MainWindow, qtbot: Any) -> None:
    players = {
        "player_0": WorkerAssignment("human_worker", "human"),
        "player_1": WorkerAssignment("operators_worker", "baseline", {"behavior": "random"}),
    }
    window.context.go("play", operator=OperatorConfig("a", "", "", "connect_four_v3", players), seed=1)
    page = window.page
    assert page is not None
    picture = next(s for s in page.findChildren(StageView) if s.parentWidget())
    board = named(page, BoardView, "boardView")
    qtbot.waitUntil(lambda: board.interactive)
    window.context.commands.run("play.apart")
    (own,) = detached_windows()
    assert board.window() is own and board.interactive
    at = board.square_rect((5, 3)).center()
    qtbot.mouseClick(board, Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: sum(bool(cell) for cell in board.board.cells) == 2)
    qtbot.waitUntil(lambda: board.interactive)
    board.setFocus()
    qtbot.keyClick(board, Qt.Key.Key_1)  # a key of the game, pressed there
    qtbot.waitUntil(lambda: sum(bool(cell) for cell in board.board.cells) == 4)
    own.close()
    assert board.window() is window and picture.isVisible()
    assert page.findChild(DockSlot) is not None
