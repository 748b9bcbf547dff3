"""The stage: whatever an episode has, and what its agents did."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.core.live import AgentView, LiveView
from gym_gui.envs import make
from gym_gui.ui.renderers import Overlay, SlotPlayer, StageView, outcome_words, score_words
from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.overlay import HEIGHT
from gym_gui.ui.renderers.text_view import TextView
from gym_gui.ui.theme import Theme
from tests.support.named import named

Show = Callable[..., None]
SEATS = {
    "green_0": SlotPlayer("human", "you"),
    "green_1": SlotPlayer("rl", "PPO solo expert"),
    "blue_0": SlotPlayer("llm", "Qwen 2.5"),
    "blue_1": SlotPlayer("baseline", "random"),
}
AGENTS = (
    AgentView("green_0", "green_0", action="forward"),
    AgentView("green_1", "green_1", action="turn left", value=0.82, option="fetch(ball)", option_since=2),
    AgentView("blue_0", "blue_0", action="forward", source="random_legal", unusable=2),
    AgentView("blue_1", "blue_1"),
)
VIEW = LiveView(0, 7, 3, AGENTS, turn=tuple(SEATS), scores={"green": 1.0, "blue": 0.0}, frame=3)


@pytest.fixture
def overlay(theme: Theme, shown: Show) -> Overlay:
    result = Overlay(theme)
    shown(result, 900, 24)
    result.set_seats(SEATS)
    return result


def test_chips_say_who_did_what(overlay: Overlay) -> None:
    overlay.show_view(VIEW)
    assert overlay.chip_texts() == [
        "Green 1 : 0 Blue",
        "green_0 · you forward",
        "green_1 · PPO solo expert turn left → fetch(ball) since step 2 V 0.82",
        "blue_0 · Qwen 2.5 forward (random instead)",
        "blue_1 · random",
    ]
    said = overlay.accessibleDescription()
    assert "blue_0, played by Qwen 2.5: last action forward (random instead)" in said
    assert "2 decisions without a usable reply" in said


def test_names_make_way_before_agents_do(overlay: Overlay) -> None:
    overlay.show_view(VIEW)
    states: list[str] = []
    for width in range(900, 120, -20):
        overlay.resize(width, 60)
        texts = overlay.chip_texts()
        named, counted = "Qwen 2.5" in " ".join(texts), texts[-1].startswith("+")
        state = "all" if named and not counted else "compact" if not counted else "counted"
        assert named is (state == "all")
        if not states or states[-1] != state:
            states.append(state)
    assert states == ["all", "compact", "counted"]


def test_a_row_that_is_no_longer_needed_is_given_back(overlay: Overlay) -> None:
    overlay.show_view(VIEW)
    overlay.resize(300, 60)
    assert overlay.sizeHint().height() > HEIGHT
    overlay.resize(1200, 60)
    assert overlay.sizeHint().height() == HEIGHT


def test_only_the_awaited_agent_is_to_move(overlay: Overlay) -> None:
    overlay.show_view(replace(VIEW, turn=("blue_0",)))
    assert [text for text in overlay.chip_texts() if "to move" in text] == [
        "blue_0 · Qwen 2.5 forward (random instead) to move"
    ]


def test_what_somebody_else_decided_is_theirs(overlay: Overlay) -> None:
    left = replace(AGENTS[0], by="soccer_chaser")
    overlay.show_view(replace(VIEW, agents=(left, *AGENTS[1:])))
    assert overlay.chip_texts()[1] == "green_0 · you forward (by soccer_chaser)"
    assert "last action forward (by soccer_chaser)" in overlay.accessibleDescription()


def test_who_sits_down_after_the_end_has_not_played(overlay: Overlay) -> None:
    overlay.show_view(replace(VIEW, over="completed"))
    overlay.set_seats({**SEATS, "blue_1": SlotPlayer("human", "you")})
    assert overlay.chip_texts()[-1] == "blue_1 · random"
    overlay.show_view(replace(VIEW, episode=1, step=0))
    assert overlay.chip_texts()[-1] == "blue_1 · you"


def test_the_row_does_not_jump_while_words_change(overlay: Overlay) -> None:
    overlay.set_scores_shown(False)
    overlay.show_view(replace(VIEW, agents=AGENTS[:3]))
    height, first = overlay.sizeHint(), overlay.chip_boxes()
    short = tuple(replace(agent, action="no", source="policy") for agent in AGENTS[:3])
    overlay.show_view(replace(VIEW, agents=short, step=4))
    assert "blue_0 · Qwen 2.5 no" in overlay.chip_texts()
    assert (overlay.sizeHint(), overlay.chip_boxes()) == (height, first)
    overlay.show_view(replace(VIEW, agents=short, step=4, over="completed"))
    ended = [box.width() for box in overlay.chip_boxes()]
    assert all(now < before.width() for now, before in zip(ended, first, strict=True)), (
        "no empty room is left"
    )


def test_scores_and_outcomes_in_words() -> None:
    assert score_words(VIEW) == "Green 1 : 0 Blue"
    assert score_words(replace(VIEW, scores={"player_0": 2.5, "player_1": 1, "x": 0})) == (
        "player_0 2.5 · player_1 1 · X 0"
    )
    assert score_words(replace(VIEW, scores=None)) == ""
    over = replace(VIEW, over="completed")
    assert outcome_words(replace(over, outcome={"green": "win", "blue": "loss"})) == "Green wins"
    assert outcome_words(replace(over, outcome={"green": "draw", "blue": "draw"})) == "Draw"
    assert outcome_words(replace(over, outcome=None)) == ""
    assert outcome_words(replace(VIEW, outcome={"green": "win"})) == ""


def test_a_board_is_preferred_and_a_person_may_choose(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    stage = StageView(theme)
    shown(stage, 500, 500)
    environment = make("connect_four_v3", render_mode="rgb_array")
    environment.adapter.reset(seed=0)
    view = LiveView(0, 0, 0, (), board=environment.board(), frame=1)
    picture = environment.picture()
    assert picture is not None
    stage.show_frame(picture, 1)
    assert stage.way == "frame"
    stage.show_view(view)
    assert (stage.ways, stage.way) == (("board", "frame"), "board")
    button = stage.findChild(QPushButton, "stageSwitch-frame")
    assert button is not None and button.isVisible()
    text = stage.findChild(QPushButton, "stageSwitch-text")
    assert text is not None and not text.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert stage.way == "frame"
    stage.show_view(replace(view, step=1))
    assert stage.way == "frame"
    environment.close()


def test_moves_and_paints_are_handed_on(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    stage = StageView(theme)
    shown(stage, 500, 500)
    with qtbot.waitSignal(stage.painted) as painted:
        stage.show_frame(np.zeros((20, 20, 3), np.uint8), 9)
    assert painted.args == [9]
    environment = make("tictactoe_v3")
    environment.adapter.reset(seed=0)
    stage.show_view(LiveView(0, 0, 0, (), board=environment.board()))
    stage.set_interactive(True)
    with qtbot.waitSignal(stage.move_chosen) as chosen:
        board = named(stage, BoardView, "boardView")
        centre = board.square_rect((1, 1)).center()
        QTest.mouseClick(board, Qt.MouseButton.LeftButton, pos=centre)
    assert chosen.args == [4]
    environment.close()


def test_text_alone_is_shown_as_text(theme: Theme, shown: Show) -> None:
    stage = StageView(theme)
    shown(stage)
    stage.show_view(LiveView(0, 0, 0, (), text="SFFF"))
    assert (stage.way, named(stage, TextView, "textView").text()) == ("text", "SFFF")
    stage.clear("Stopped", "Press Run to play on.")
    assert stage.ways == ()
    assert named(stage, FrameView, "frameView").hint == ("Stopped", "Press Run to play on.")


def test_the_overlay_gives_its_room_to_the_picture(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    stage = StageView(theme)
    shown(stage)
    stage.set_seats(SEATS)
    stage.show_view(VIEW)
    view = named(stage, FrameView, "frameView")
    qtbot.waitUntil(lambda: view.height() < stage.height())
    stage.set_overlay_shown(False)
    assert not named(stage, Overlay, "overlay").isVisible()
    qtbot.waitUntil(lambda: view.height() == stage.height())


def test_in_a_small_card_no_players_name_is_cut(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    environment = make("classic/connect_four_v3", render_mode="rgb_array")
    environment.adapter.reset(seed=1)
    board = environment.board()
    environment.close()
    names = enumerate(("Red", "Yellow"))
    players = tuple(AgentView(f"player_{n}", f"player_{n}", name=name) for n, name in names)
    stage = StageView(theme)
    shown(stage, 184, 260)  # one of eight at 1280x800
    stage.show_view(LiveView(0, 1, 0, players, turn=("player_0",), board=board, frame=1))
    stage.show_frame(np.zeros((40, 40, 3), np.uint8), 1)
    stage.setFixedWidth(184)
    assert stage.ways == ("board", "frame")
    qtbot.waitUntil(lambda: stage.overlay.width() == 184)
    boxes = stage.overlay.chip_boxes()
    assert len(boxes) == 2
    assert all(box.width() < stage.overlay.width() for box in boxes), "a cut one is as wide as its place"
