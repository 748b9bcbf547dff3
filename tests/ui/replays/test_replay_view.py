"""A replay is scrubbed by mouse and keyboard, alone and side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import orjson
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from gym_gui.analysis import open_run
from gym_gui.services.runs.recorded_episode import load_episode
from gym_gui.ui.context import AppContext
from gym_gui.ui.renderers.stage_view import StageView
from gym_gui.ui.replays.replay_stage import ReplayStage
from gym_gui.ui.replays.replay_view import ReplayView
from gym_gui.ui.replays.step_table import CURRENT_ROLE, StepTable
from gym_gui.ui.replays.transport import ScrubBar, Transport
from gym_gui.ui.widgets import PickerButton
from gym_gui.ui.widgets.message_panels import InlineMessage
from gym_gui.ui.widgets.segments import SegmentedControl
from gym_gui.ui.window.main_window import MainWindow
from tests.support.named import named


@pytest.fixture
def view(context: AppContext, qtbot: QtBot, finish: Callable[[object], object]) -> Iterator[ReplayView]:
    result = ReplayView(context)
    for picker in result.pickers.buttons:
        picker.setParent(result)  # They belong into the bar of a page.
    result.resize(1200, 740)
    result.show()
    qtbot.waitExposed(result)
    yield result
    finish(result.close_players())
    result.close()
    result.deleteLater()


def open_replay(view: ReplayView, qtbot: QtBot, run: Path, *args: object) -> None:
    view.show_episode(run, *args)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: bool(view.players) and all(p.at_end for p in view.players))


def stages(view: ReplayView) -> list[ReplayStage]:
    """The picture at the left, the one beside it."""
    return view.findChildren(ReplayStage, "replay-stage")


def marked(view: ReplayView) -> list[int]:
    model = named(view, StepTable, "step-table").steps
    return [r for r in range(model.rowCount()) if model.data(model.index(r, 0), CURRENT_ROLE)]


@pytest.mark.usefixtures("replays_here")
def test_keys_go_through_the_episode(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    open_replay(view, qtbot, run, "poor", 1)
    length = load_episode(open_run(run), "poor", 1).episode.length
    transport = named(view, Transport, "replay-transport")
    assert (
        transport.position == 0 and named(transport, QLabel, "replay-where").text() == f"Step 0 of {length}"
    )
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert transport.position == 2 and marked(view) == [1]
    assert "Return 2.00 · step 2" in named(stages(view)[0], QLabel, "replay-facts").text()
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert transport.position == 1
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert transport.position == length and not named(transport, QToolButton, "replay-on").isEnabled()
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert transport.position == 0 and marked(view) == []


@pytest.mark.usefixtures("replays_here")
def test_it_has_the_keyboard_where_it_is_seen_and_nowhere_else(
    window: MainWindow, qtbot: QtBot, run: Path
) -> None:
    window.context.go("results", replay=(run, "poor", 1))
    window.context.go("home")  # before it is read
    view = window.findChild(ReplayView, "replay")
    assert view is not None
    qtbot.waitUntil(lambda: bool(view.players))
    kept = window.focusWidget()
    assert kept is not None and kept.isVisible()
    window.context.go("results")
    assert window.focusWidget() is view


@pytest.mark.usefixtures("replays_here")
def test_the_picture_is_that_of_the_position(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    open_replay(view, qtbot, run, "good", 0)
    player = view.current
    assert player is not None
    for position in (5, 1, 5):
        named(view, Transport, "replay-transport").go(position)
        image, picture = view.image(), player.picture(position)
        assert image is not None and picture is not None
        height, width, _ = picture.shape
        assert (image.height(), image.width()) == (height, width)
        pixels = image.constBits()
        assert pixels is not None
        shown = np.frombuffer(pixels.asarray(image.sizeInBytes()), np.uint8).reshape(height, width, 4)
        assert np.array_equal(shown[:, :, 2::-1], picture)


@pytest.mark.usefixtures("replays_here")
def test_space_plays_to_the_end_and_again_from_the_start(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    open_replay(view, qtbot, run, "poor", 0)
    transport = named(view, Transport, "replay-transport")
    named(transport, SegmentedControl, "replay-speed").set_value("60")
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert transport.playing and named(transport, QPushButton, "replay-play").text() == "Pause"
    qtbot.waitUntil(lambda: not transport.playing)
    assert transport.position == named(transport, ScrubBar, "scrub-bar").maximum() > 0
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert transport.playing and transport.position == 0
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert not transport.playing


@pytest.mark.usefixtures("replays_here")
def test_the_bar_and_the_table_are_clicked(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    open_replay(view, qtbot, run, "poor", 0)
    scrub = named(view, ScrubBar, "scrub-bar")
    middle = QPoint(round(scrub.place_of(6)), scrub.height() // 2)
    qtbot.mouseClick(scrub, Qt.MouseButton.LeftButton, pos=middle)
    transport = named(view, Transport, "replay-transport")
    assert transport.position == 6
    table = named(view, StepTable, "step-table")
    rect = table.visualRect(table.steps.index(2, 1))
    port = table.viewport()
    assert port is not None
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=rect.center())
    assert transport.position == 3 and marked(view) == [2]


@pytest.mark.usefixtures("replays_here")
def test_two_of_one_seed_side_by_side(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    open_replay(view, qtbot, run, "good", 1, "poor")
    first, second = (p.recorded.episode for p in view.players)
    assert first.seed == second.seed == 2
    assert stages(view)[1].isVisible() and named(stages(view)[1], QLabel, "replay-name").text() == "Poor"
    transport = named(view, Transport, "replay-transport")
    transport.to_last()
    assert transport.position == max(first.length, second.length)
    assert f"step {second.length}" in named(stages(view)[1], QLabel, "replay-facts").text(), (
        "the shorter one stays at its end"
    )
    table = named(view, StepTable, "step-table")
    last, port = table.visualRect(table.steps.index(table.steps.rowCount() - 1, 0)), table.viewport()
    assert port is not None and port.rect().contains(last), "the table follows the longer one"
    headings = [table.steps.headerData(i, Qt.Orientation.Horizontal) for i in range(5)]
    assert headings == ["Step", "Good", "Reward", "Poor", "Reward"]
    named(view, PickerButton, "replay-beside").chosen.emit("")
    qtbot.waitUntil(lambda: len(view.players) == 1)
    assert not stages(view)[1].isVisible()


@pytest.mark.usefixtures("replays_here")
def test_what_led_here_stays_in_sight_in_a_smaller_window(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    open_replay(view, qtbot, run, "good", 1)
    named(view, Transport, "replay-transport").to_last()
    table = named(view, StepTable, "step-table")
    table.setFixedHeight(140)
    port = table.viewport()
    assert port is not None
    qtbot.waitUntil(lambda: table.height() == 140)
    (row,) = marked(view)
    assert port.rect().contains(table.visualRect(table.steps.index(row, 0)))


@pytest.mark.usefixtures("replays_here")
def test_boards_are_drawn(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    open_replay(view, qtbot, run, "four", 0)
    named(view, Transport, "replay-transport").to_last()
    assert named(stages(view)[0], StageView, "stageView").way == "board"
    view.resize(920, 640)
    table = named(view, StepTable, "step-table")
    action = [column.heading for column in table.steps.columns].index("Action")
    assert table.columnWidth(action) >= table.sizeHintForColumn(action), "it is read whole"
    where = named(view, QLabel, "replay-where")
    qtbot.waitUntil(lambda: where.text().startswith("Step ") and not where.toolTip())
    assert not any(
        item.reason == "" for item in named(view, PickerButton, "replay-beside").items if item.value
    ), "another environment"


@pytest.mark.usefixtures("replays_here")
def test_who_was_handed_the_state_of_the_simulator_is_marked(
    view: ReplayView, qtbot: QtBot, run: Path
) -> None:
    rows = run / "operators" / "good" / "episodes.jsonl"
    lines = [orjson.loads(line) for line in rows.read_bytes().splitlines()]
    lines[0]["saw_state"] = ["agent_0"]
    rows.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    mark = named(stages(view)[0], QLabel, "replay-state-mark")
    for index, marked in ((0, True), (1, False)):
        view.show_episode(run, "good", index)
        here = lambda at=index: bool(view.players) and view.players[0].recorded.episode.episode_index == at  # noqa: E731
        qtbot.waitUntil(here)
        assert mark.isVisible() is marked and ("full simulator state" in mark.toolTip()) is marked


@pytest.mark.usefixtures("replays_here")
def test_an_episode_that_is_not_there(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    view.show_episode(run, "poor", 77)
    trouble = named(view, InlineMessage, "replay-trouble")
    qtbot.waitUntil(trouble.isVisible)
    assert "Episodes 0 to 2" in trouble.text


@pytest.mark.usefixtures("replays_here")
def test_a_replay_that_departs_says_so(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    steps = run / "operators" / "poor" / "steps.jsonl"
    text = steps.read_text()
    steps.write_text(text.replace('"action":0', '"action":1', 4))
    index = int(text.partition('"episode_index":')[2].partition(",")[0])
    open_replay(view, qtbot, run, "poor", index)
    trouble = named(stages(view)[0], InlineMessage, "message-warning")
    qtbot.waitUntil(trouble.isVisible)
    assert "differs from the record" in trouble.text


def test_another_episode_is_chosen_while_one_is_played(view: ReplayView, qtbot: QtBot, run: Path) -> None:
    view.show_episode(run, "good", 0)
    view.show_episode(run, "good", 1)
    qtbot.waitUntil(lambda: bool(view.players) and view.players[0].loaded > 0)
    named(view, PickerButton, "replay-episode").chosen.emit(2)
    qtbot.waitUntil(lambda: bool(view.players) and view.players[0].recorded.episode.episode_index == 2)
    qtbot.waitUntil(lambda: all(p.at_end for p in view.players))
