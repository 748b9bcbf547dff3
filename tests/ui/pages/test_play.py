"""The Play page: played by keys and mouse to recorded episodes.

Soccer in real time, what is killed and what cannot be played have session processes, as in the program.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QDoubleSpinBox,
    QLabel,
    QPushButton,
    QTextBrowser,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.store import Store
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.documentation import Documentation
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.environments.install_dialog import InstallDialog
from gym_gui.ui.input.evdev_input import EvdevInput, Keyboard, Keyboards
from gym_gui.ui.input.key_editor import KeyEditor
from gym_gui.ui.input.key_list import KeyList, KeyRowButton
from gym_gui.ui.input.keyboards_panel import KeyboardsPanel
from gym_gui.ui.input.keys_panel import KeysPanel
from gym_gui.ui.pages.play import PlayPage
from gym_gui.ui.play.result_banner import ResultBanner
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.play.suggested_games import FirstGames
from gym_gui.ui.play.who_plays import PlayerList
from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.overlay import Overlay
from gym_gui.ui.renderers.seat_notice import HandoverCover, SeatNotice
from gym_gui.ui.renderers.stage_view import StageView
from gym_gui.ui.widgets import PickerButton
from gym_gui.ui.widgets.badges import StatusDot
from gym_gui.ui.widgets.message_panels import InlineMessage
from gym_gui.ui.widgets.seed import SeedBox
from gym_gui.ui.widgets.segments import SegmentedControl
from tests.support.missing import missing_environment
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

WINNING = [("player_1", 0), ("player_2", 1), ("player_1", 3), ("player_2", 4), ("player_1", 6)]
"""Moves at noughts and crosses with which the first player wins."""
SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
CHASERS = ("green_1", "blue_0", "blue_1")


class Player:
    """A person before the page."""

    def __init__(self, page: PlayPage, qtbot: QtBot) -> None:
        self.page, self.qtbot = page, qtbot

    def wait(self, ready: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(ready()), timeout=PATIENCE_MS)

    def open(self, **request: Any) -> None:
        self.page.opened(**request)
        self.wait(lambda: self.page.people.keys and self.page.game.operator)
        self.wait(lambda: self.page.game.operator.player.last_view)  # type: ignore[union-attr]
        self.wait(lambda: self.page.input.listening)

    def asked(self) -> None:
        self.wait(lambda: self.page.input.questions)

    def key(self, key: Qt.Key) -> None:
        self.qtbot.keyClick(self.focus(), key)

    def focus(self) -> QWidget:
        widget = self.page.window().focusWidget()  # type: ignore[union-attr]
        assert widget is not None
        return widget

    def folder(self) -> Path:
        run = self.page.game.run
        assert run is not None
        self.wait(lambda: run.folder)
        assert run.folder is not None
        return run.folder

    def recorded(self, operator: str = "play") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Episodes and steps as they stand in the run folder."""
        place = self.folder() / "operators" / operator
        lines = [(place / name).read_text("utf-8").splitlines() for name in ("episodes.jsonl", "steps.jsonl")]
        return [json.loads(line) for line in lines[0]], [json.loads(line) for line in lines[1]]


@pytest.fixture(scope="module")
def env_infos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Descriptions of environments are read by a process of their own, and kept: once for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def store(tmp_path: Path, env_infos: Path) -> Store:
    return Store(data=tmp_path / "data", runs=tmp_path / "runs", cache=env_infos)


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, finish: Callable[[object], object]) -> Iterator[PlayPage]:
    result = PlayPage(context)
    result.resize(1208, 740)
    result.show()
    qtbot.waitExposed(result)
    result.activateWindow()
    qtbot.waitUntil(result.isActiveWindow)
    yield result
    finish(result.closed())
    result.close()
    result.deleteLater()


@pytest.fixture
def you(page: PlayPage, qtbot: QtBot) -> Player:
    return Player(page, qtbot)


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_a_game_is_chosen_read_about_and_left(page: PlayPage, you: Player) -> None:
    """The empty page, an environment that there is not, its documentation, a look elsewhere."""
    page.opened()
    assert (
        named(page, FirstGames, "empty-hint").isVisible()
        and "Choose an environment" in named(page, QLabel, "empty-text").text()
    )
    who = named(page, PlayerList, "who-plays")
    assert not named(page, QPushButton, "restart").isVisible() and not who.isVisible()
    picker = named(page, EnvironmentPicker, "environment-picker")
    you.wait(lambda: picker.loaded)
    assert any(item.value == "CartPole-v1" for item in picker.items)

    page.open_task("CartPol-v1")
    you.wait(lambda: "CartPole-v1" in named(page, FrameView, "frameView").hint[1])
    assert not who.isVisible()
    what_is_not_installed_can_be(page, you)
    you.open(task="CartPole-v1", seed=3)
    assert who.isVisible()

    assert named(page, QLabel, "about-text").text()
    you.qtbot.mouseClick(named(page, QPushButton, "read-documentation"), Qt.MouseButton.LeftButton)
    assert (
        named(page, Documentation, "documentation").isVisible()
        and "pole" in named(page, QTextBrowser, "documentation-text").toPlainText()
    )
    you.key(Qt.Key.Key_Escape)
    assert named(page, StageCard, "stage-card").isVisible() and page.input.listening
    looking_elsewhere_pauses_real_time(page, you)


def what_is_not_installed_can_be(page: PlayPage, you: Player) -> None:
    task, family = missing_environment()
    page.open_task(task)
    trouble = named(named(page, StageCard, "stage-card"), InlineMessage, "message-error")
    install = named(trouble, QPushButton, "message-action")
    you.wait(lambda: install.isVisible() and install.text().startswith("Install"))
    you.qtbot.mouseClick(install, Qt.MouseButton.LeftButton)
    dialog = page.window().findChild(InstallDialog)  # type: ignore[union-attr]
    assert dialog is not None
    assert f"mosaic envs install {family}" in named(dialog, QLabel, "install-state").text()
    dialog.installed.emit(family)
    assert not install.isVisible(), "it is opened again"
    you.wait(install.isVisible)
    dialog.reject()
    page.activateWindow()  # no window manager does so here


def looking_elsewhere_pauses_real_time(page: PlayPage, you: Player) -> None:
    you.qtbot.keyPress(you.focus(), Qt.Key.Key_Left)
    you.wait(lambda: page.view is not None and page.view.step >= 1)
    named(page, QPushButton, "edit-keys").setFocus()
    you.wait(lambda: page.game.paused)
    assert "Click the picture to continue" in named(page, StatusDot, "prompt").text
    assert named(page, QPushButton, "pause").text() == "Resume"
    operator = page.game.operator
    assert operator is not None and operator.player.paused
    named(page, StageCard, "stage-card").focus_stage()
    you.wait(lambda: not page.game.paused)
    page.left()
    assert page.game.paused or page.game.is_over


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_cartpole_waits_for_the_first_key_and_is_recorded_when_it_shall_be(
    page: PlayPage, you: Player
) -> None:
    page.game.set_recording(False)
    you.open(task="CartPole-v1", seed=3)
    you.wait(lambda: "to begin" in named(page, StatusDot, "prompt").text)
    record = named(page, QPushButton, "record")
    assert page.game.waits_for_key and record.text() == "Record"
    assert named(page, QLabel, "stage-facts").text() == "step 0 of 500 · 15 steps/s"
    you.key(Qt.Key.Key_Left)
    you.wait(lambda: page.game.is_over)
    detail_label = named(page, QLabel, "result-detail")
    assert "not recorded" in detail_label.text()
    results_button = named(page, QPushButton, "show-in-results")
    assert not results_button.isVisible()
    assert not any(page.context.store.runs_dir().iterdir())

    you.qtbot.mouseClick(record, Qt.MouseButton.LeftButton)
    assert record.text() == "Recording"
    page.controller.play_again()
    you.wait(lambda: page.game.waits_for_key and page.game.state is OperatorState.READY)
    you.qtbot.keyPress(you.focus(), Qt.Key.Key_Right)
    you.wait(lambda: page.game.is_over)
    you.qtbot.keyRelease(you.focus(), Qt.Key.Key_Right)
    episodes, steps = you.recorded()
    assert [(e["status"], e["seed"]) for e in episodes] == [("completed", 4)]
    played = [(s["action"], s["action_source"]) for s in steps]
    # On a busy machine an answer may come too late: that is a fallback, and recorded as one.
    assert set(played) <= {(1, "human"), (0, "noop")} and (1, "human") in played
    result = named(page, ResultBanner, "result-banner")
    assert result.isVisible()
    detail = detail_label.text()
    assert f"{len(steps)} steps · seed 4 · " in detail and detail.endswith(" · recorded")
    shown: list[Any] = []
    page.context.requested.connect(lambda name, request: shown.append((name, request)))
    you.qtbot.mouseClick(results_button, Qt.MouseButton.LeftButton)
    assert shown == [("results", {"run": you.folder()})]
    you.key(Qt.Key.Key_Return)
    assert named(page, SeedBox, "seed-box").seed == 5 and not result.isVisible()
    you.wait(lambda: page.game.waits_for_key and page.game.state is OperatorState.READY)


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_frozenlake_by_keyboard(page: PlayPage, you: Player) -> None:
    """Down and right alternate until it is over; every press is one move."""
    config = OperatorConfig.single_agent(
        operator_id="me",
        task="FrozenLake-v1",
        worker_type="human",
        env_kwargs={"is_slippery": False, "map_name": "4x4"},
    )
    you.open(operator=config, seed=0)
    every_control_can_be_named_and_reached(page)
    keys = {"down": Qt.Key.Key_Down, "right": Qt.Key.Key_Right}
    for n, word in enumerate(["down", "down", "right", "right", "down", "right"], 1):
        you.asked()
        assert named(page, StatusDot, "prompt").text == "Your move."
        you.key(keys[word])
        you.wait(lambda n=n: page.game.is_over or page.view.step == n)  # type: ignore[union-attr]
    you.wait(lambda: page.game.is_over)
    episodes, steps = you.recorded("me")
    assert episodes[0]["success"] is True and episodes[0]["length"] == 6
    assert [s["action"] for s in steps] == [1, 1, 2, 2, 1, 2]
    assert named(page, QLabel, "result-headline").text() == "Solved."
    page.controller.play_again()
    own_keys_are_kept(page, you)


def every_control_can_be_named_and_reached(page: PlayPage) -> None:
    controls = [*page.findChildren(QAbstractButton), *page.findChildren(QAbstractSpinBox)]
    shown = [c for c in controls if c.isVisible()]
    assert shown
    for control in shown:
        words = control.accessibleName() or getattr(control, "text", lambda: "")()
        assert control.objectName() and words, control
        assert control.toolTip() or words, control
        assert control.focusPolicy() != Qt.FocusPolicy.NoFocus, control.objectName()
    assert len({command.id for command in page.commands()}) == len(page.commands())


def own_keys_are_kept(page: PlayPage, you: Player) -> None:
    you.asked()
    panel = named(page, KeysPanel, "keys-panel")
    panel.start_editing()
    editor = named(panel, KeyEditor, "key-editor")
    list_view = named(editor, KeyList, "key-list")
    you.qtbot.mouseClick(list_view.buttons[1], Qt.MouseButton.LeftButton)
    you.qtbot.keyClick(list_view.buttons[1], Qt.Key.Key_J)
    assert page.people.keys["agent_0"].scheme.bindings["J"] == 1
    panel.stop_editing()
    you.key(Qt.Key.Key_J)
    you.wait(lambda: page.view is not None and page.view.step == 1)
    assert page.view is not None and page.view.agents[0].number == 1
    page.open_task("FrozenLake8x8-v1")
    you.wait(
        lambda: page.env_info is not None and page.env_info.env_id == "FrozenLake8x8-v1" and page.people.keys
    )
    assert page.people.keys["agent_0"].own
    page.people.reset("agent_0", realtime=False)
    assert "J" not in page.people.keys["agent_0"].scheme.bindings


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_connect_four_by_mouse_against_a_policy(page: PlayPage, you: Player) -> None:
    you.open(task="classic/connect_four_v3", seed=5)
    board = named(page, BoardView, "boardView")
    assert page.game.config is not None
    assert page.game.config.workers["player_1"].settings == {"behavior": "connect_four_one_ply"}
    named(page, QDoubleSpinBox, "play-rate").setValue(60.0)  # the policy need not be watched
    you.wait(lambda: page.game.clock.rate == 60.0)
    for _ in range(22):
        you.wait(lambda: page.game.is_over or (page.input.questions and board.interactive))
        if page.game.is_over:
            break
        (question,) = page.input.questions
        assert question.legal is not None and page.view is not None and page.view.board is not None
        move = next(m for m in page.view.board.moves if m.action == question.legal[0])
        centre: QPoint = board.square_rect(move.target).center()
        you.qtbot.mouseClick(board, Qt.MouseButton.LeftButton, pos=centre)
        you.wait(lambda q=question: q not in page.input.questions)
    assert page.game.is_over
    episodes, steps = you.recorded()
    assert episodes[0]["status"] == "completed" and set(episodes[0]["outcome"]) == {"player_0", "player_1"}
    sources = {s["agent_id"]: s["action_source"] for s in steps}
    assert sources == {"player_0": "human", "player_1": "policy"}
    won = episodes[0]["outcome"]["player_0"]
    said = {"win": "You won", "loss": "You lost", "draw": "A draw"}[won]
    assert named(page, QLabel, "result-headline").text().startswith(said)


def test_soccer_in_real_time_with_a_mixed_team(page: PlayPage, you: Player) -> None:
    """A person who presses no key does nothing, and the record says ``noop`` of these steps."""
    chaser = WorkerAssignment("", "baseline", {"behavior": "soccer_chaser"})
    players = {
        "green_0": WorkerAssignment("", "human"),
        "green_1": chaser,
        "blue_0": WorkerAssignment("", "random"),
        "blue_1": WorkerAssignment("", "passive"),
    }
    config = OperatorConfig.multi_agent(
        operator_id="mixed", task=SOCCER, player_workers=players, max_steps=24
    )
    page.opened(operator=config, seed=2)
    you.wait(lambda: page.game.operator)
    named(page, SegmentedControl, "time").findChild(QWidget, "time-runs").click()  # type: ignore[union-attr]
    you.open()
    you.wait(lambda: page.game.waits_for_key and page.game.state is OperatorState.READY)

    def held() -> bool:
        """A keyboard repeats a key that is held: on a busy machine, the first press may come too early."""
        you.qtbot.keyPress(you.focus(), Qt.Key.Key_Up)
        return page.view is not None and page.view.step >= 6

    you.wait(held)
    you.qtbot.keyRelease(you.focus(), Qt.Key.Key_Up)
    you.wait(lambda: page.game.is_over)
    episodes, steps = you.recorded("mixed")
    mine = [s for s in steps if s["agent_id"] == "green_0"]
    sources = [s["action_source"] for s in mine]
    # A busy machine may hear of the key only after the first steps.
    assert sources[-1] == "noop" and set(sources) == {"human", "noop"}
    assert "fallback actions" in named(page, QLabel, "result-detail").text()
    assert episodes[0]["agents"]["green_1"]["policy"] == "soccer_chaser"
    assert named(page, QLabel, "stage-headline").text().startswith("Green ")


def test_played_by_buttons_restarted_killed_and_handed_over(page: PlayPage, you: Player) -> None:
    you.open(task="FrozenLake-v1", seed=0)
    you.asked()
    played_by_buttons_and_restarted(page, you)
    assert page.game.operator is not None
    os.kill(page.game.operator.player.link.pid, signal.SIGKILL)
    trouble = named(page, InlineMessage, "message-error")
    you.wait(lambda: trouble.isVisible())
    assert "killed (signal 9)" in trouble.text
    you.qtbot.mouseClick(named(trouble, QPushButton, "message-action"), Qt.MouseButton.LeftButton)
    you.asked()
    assert not trouble.isVisible()
    somebody_else_takes_over(page, you)


def played_by_buttons_and_restarted(page: PlayPage, you: Player) -> None:
    you.qtbot.mouseClick(
        named(named(page, KeyList, "keys-now"), KeyRowButton, "action-down"), Qt.MouseButton.LeftButton
    )
    you.wait(lambda: page.view is not None and page.view.step == 1)
    assert page.view is not None and page.view.agents[0].action == "down"
    you.qtbot.mouseClick(named(page, QPushButton, "restart"), Qt.MouseButton.LeftButton)
    you.wait(lambda: page.view is not None and page.view.step == 0 and page.input.questions)
    assert page.input.listening


def somebody_else_takes_over(page: PlayPage, you: Player) -> None:
    picker = named(page, PickerButton, "who-agent_0")
    assert {"You (arrow keys)", "Random"} <= {item.label for item in picker.items}
    # What a trained policy makes of a Discrete observation is known once its file is.
    assert "" in [item.reason for item in picker.items if item.label == "CleanRL, from a file…"]
    picker.chosen.emit("random")
    you.wait(lambda: page.game.is_over)
    you.wait(lambda: page.game.people == ())
    assert page.game.config is not None and page.game.config.display_name == "Random", "not You any more"
    episodes, steps = you.recorded()
    whole = next(e for e in episodes if e["status"] == "completed")
    own = [s for s in steps if s["episode_index"] == whole["episode_index"]]
    assert {s["action_source"] for s in own} == {"policy"}
    assert whole["rebound"][0]["policy"] == "random"


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_two_people_at_one_keyboard_and_at_one_each(page: PlayPage, you: Player, context: AppContext) -> None:
    """Two people at one keyboard have different keys.

    With a keyboard each, both have the same keys, and those of the window's keyboard play for no person.
    """
    pytest.importorskip("evdev")
    from evdev import ecodes

    from tests.support.keyboards import FakeKeyboard

    devices = {path: FakeKeyboard(path, f"Keyboard {path[-1]}") for path in ("/dev/input/1", "/dev/input/2")}
    found = Keyboards(tuple(Keyboard(path, each.name) for path, each in devices.items()))
    own = PlayPage(context, lambda: found, EvdevInput(devices.__getitem__))
    try:
        play_with_two_keyboards(own, you.qtbot, devices, ecodes)
    finally:
        you.wait(context.spawn(own.closed(), "closing").done)
        own.close()
        own.deleteLater()
    assert all(device.closed for device in devices.values())


def play_with_two_keyboards(page: PlayPage, qtbot: QtBot, devices: dict[str, Any], ecodes: Any) -> None:
    page.resize(1208, 740)
    page.show()
    qtbot.waitExposed(page)
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    you = Player(page, qtbot)
    players = {slot: WorkerAssignment("", "human") for slot in ("player_1", "player_2")}
    config = OperatorConfig.multi_agent(
        operator_id="two", task="classic/tictactoe_v3", player_workers=players
    )
    you.open(operator=config, seed=0)
    at_one_keyboard(page, you)
    page.controller.play_again()
    named(page, QPushButton, "look-for-keyboards").click()
    named(page, KeyboardsPanel, "keyboards-panel")
    you.wait(lambda: len(named(page, PickerButton, "keyboard-player_1").items) == 3)
    for slot, path in zip(players, devices, strict=True):
        named(page, PickerButton, f"keyboard-{slot}").chosen.emit(path)
    assert page.people.keys["player_1"].scheme == page.people.keys["player_2"].scheme
    for slot, action in WINNING:
        you.wait(lambda slot=slot: [q.slot for q in page.input.questions] == [slot])
        bindings = page.people.keys[slot].scheme.bindings
        key = next(k for k, a in bindings.items() if a == action)
        code = getattr(ecodes, f"KEY_{key}")
        qtbot.keyClick(named(page, StageView, "stageView"), getattr(Qt.Key, f"Key_{key}"))
        device = devices[page.people.devices[slot]]
        device.type((code, 1), (code, 0))
    you.wait(lambda: page.game.is_over)
    episodes = you.folder() / "operators" / "two" / "episodes.jsonl"
    you.wait(lambda: episodes.read_text("utf-8").count("\n") == 2)  # written after it is shown
    _, steps = you.recorded("two")
    assert [(s["agent_id"], s["action"]) for s in steps] == [*WINNING, *WINNING]


def at_one_keyboard(page: PlayPage, you: Player) -> None:
    first, second = (page.people.keys[slot].scheme for slot in ("player_1", "player_2"))
    assert not set(first.bindings) & set(second.bindings)
    assert named(page, KeyboardsPanel, "keyboards-panel").isVisible()
    for slot, action in WINNING:
        you.wait(lambda slot=slot: [q.slot for q in page.input.questions] == [slot])
        scheme = page.people.keys[slot].scheme
        key = next(k for k, a in scheme.bindings.items() if a == action)
        you.key(getattr(Qt.Key, f"Key_{key}"))
    you.wait(lambda: page.game.is_over)
    assert named(page, QLabel, "result-headline").text() == "X has three in a row."


def test_a_line_up_that_does_not_fit(page: PlayPage, you: Player) -> None:
    config = OperatorConfig.single_agent(
        operator_id="ppo", task="FrozenLake-v1", worker_type="rl", settings={"checkpoint": "/none/such"}
    )
    page.opened(operator=config)
    trouble = named(page, InlineMessage, "message-error")
    named(page, PlayerList, "who-plays")
    you.wait(lambda: trouble.isVisible() and page.findChild(PickerButton, "who-agent_0"))
    assert "Restart" in trouble.text
    named(page, PickerButton, "who-agent_0").chosen.emit("human")
    you.asked()
    assert not trouble.isVisible()


def did(page: PlayPage) -> tuple[str, str]:
    """What the first agent did last, and who chose it."""
    agent = page.view.agents[0] if page.view is not None else None
    return (agent.action, agent.source) if agent is not None else ("", "")


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_continuous_actions_by_keys(page: PlayPage, you: Player) -> None:
    you.open(task="Pendulum-v1", seed=3)
    you.qtbot.keyPress(you.focus(), Qt.Key.Key_Left)
    you.wait(lambda: did(page) == ("[2.0]", "human"))
    you.qtbot.keyRelease(you.focus(), Qt.Key.Key_Left)
    you.wait(lambda: did(page) == ("[0.0]", "noop"))


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_who_takes_a_seat_in_mid_game_is_credited_with_their_own_moves_alone(
    page: PlayPage, you: Player
) -> None:
    """A decision that the chaser made before a person took its seat is shown and recorded as the chaser's."""
    players = {
        "green_0": WorkerAssignment("", "human"),
        **{slot: WorkerAssignment("", "baseline", {"behavior": "soccer_chaser"}) for slot in CHASERS},
    }
    config = OperatorConfig.multi_agent(operator_id="mixed", task=SOCCER, player_workers=players)
    page.opened(operator=config, seed=2)
    you.wait(lambda: page.game.operator)
    named(page, SegmentedControl, "time").findChild(QWidget, "time-waits").click()  # type: ignore[union-attr]
    you.open()
    you.asked()
    you.key(Qt.Key.Key_Up)
    you.wait(lambda: page.view is not None and page.view.step == 1 and page.input.questions)
    named(page, PickerButton, "who-blue_0").chosen.emit("human")
    you.wait(lambda: set(page.people.keys) == {"green_0", "blue_0"})
    chips, prompt = named(page, Overlay, "overlay").chip_texts, named(page, StatusDot, "prompt")
    taken = "blue_0 · you right (by soccer_chaser)"
    assert taken in chips() and prompt.text == "Your move: green_0."
    you.key(Qt.Key.Key_Up)
    you.wait(lambda: page.view is not None and page.view.step == 2 and len(page.input.questions) == 2)
    assert taken in chips(), "decided before the seat was taken"
    you.key(Qt.Key.Key_Up)
    you.wait(lambda: [q.slot for q in page.input.questions] == ["blue_0"])
    assert prompt.text == "Your move: blue_0."
    keys = page.people.keys["blue_0"].scheme.bindings
    you.key(getattr(Qt.Key, f"Key_{next(key for key in keys if keys[key] == keys_of_green(page))}"))
    you.wait(lambda: page.view is not None and page.view.step == 3)
    assert "blue_0 · you forward" in chips()


def keys_of_green(page: PlayPage) -> int:
    """What the first person's Up means."""
    return page.people.keys["green_0"].scheme.bindings["Up"]


@pytest.mark.usefixtures("plays_here", "looks_here")
def test_people_at_a_card_table_see_their_own_cards_unless_they_want_all(page: PlayPage, you: Player) -> None:
    """One's own view first; everything when asked for; between two people a cover."""
    stage = named(page, StageView, "stageView")
    you.open(task="leduc_holdem_v4")
    person = WorkerAssignment("human_worker", "human")
    you.asked()
    you.wait(lambda: page.view is not None and page.view.seen_from)
    notice = named(stage, SeatNotice, "seat-notice")
    cover = named(stage, HandoverCover, "seat-cover")
    assert notice.isVisible() and "view of" in notice.text and not cover.isVisible()
    frame = named(stage, FrameView, "frameView")
    own = frame.image()
    named(stage, QPushButton, "message-action").click()
    you.wait(lambda: page.view is not None and page.view.kept_from and not page.view.seen_from)
    assert "All information is shown" in notice.text and frame.image() != own
    named(stage, QPushButton, "message-action").click()
    you.wait(lambda: page.view is not None and page.view.seen_from)
    workers = {"player_0": person, "player_1": person}
    page.opened(operator=OperatorConfig("play", task="leduc_holdem_v4", workers=workers), seed=7)
    you.wait(lambda: cover.isVisible())
    assert not frame.isVisible()
    named(stage, QPushButton, "seat-cover-lift").click()
    assert frame.isVisible() and not cover.isVisible()
