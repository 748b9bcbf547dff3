"""Whom a person can choose to play with, at the list and the dialog of the Play page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.ui.context import AppContext
from gym_gui.ui.pages.play import PlayPage
from gym_gui.ui.play.player_dialog import PlayerDialog
from gym_gui.ui.widgets import PickerButton
from gym_gui.ui.widgets.picker_list import PickerPopup
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.status import check_installed
from tests.support.fake_model_server import FakeModelServer
from tests.support.named import named

PATIENCE_MS = 60_000
LEFT = Qt.MouseButton.LeftButton

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here")


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, finish: Callable[[object], object]) -> Iterator[PlayPage]:
    result = PlayPage(context)
    result.resize(1208, 740)
    result.show()
    qtbot.waitExposed(result)
    yield result
    finish(result.closed())
    result.close()
    result.deleteLater()


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    with FakeModelServer(lambda request: "<action>e5</action>", models=("tiny-1",)) as running:
        yield running


def opened(page: PlayPage, qtbot: QtBot, task: str) -> PickerButton:
    """Open an environment; the control of its second slot."""
    page.opened(task=task, seed=0)
    qtbot.waitUntil(
        lambda: bool(page.findChild(PickerButton, "who-player_0") and page.input.questions),
        timeout=PATIENCE_MS,
    )
    picker = page.findChild(PickerButton, "who-player_1")
    assert picker is not None
    return picker


def choose(picker: PickerButton, qtbot: QtBot, words: str) -> None:
    """Type the name of a player, and press Return."""
    qtbot.mouseClick(picker, LEFT)
    popup = named(picker, PickerPopup, "picker-popup")
    assert popup is not None
    qtbot.keyClicks(named(popup, QLineEdit, "picker-search"), words)
    qtbot.keyClick(named(popup, QLineEdit, "picker-search"), Qt.Key.Key_Return)


def who_plays(page: PlayPage, slot: str) -> tuple[str, dict[str, Any]]:
    config = page.game.config
    assert config is not None
    player = config.resolved_slots()[slot]
    return player.worker_id, dict(player.settings)


def test_stockfish_and_a_language_model_are_chosen_for_chess(
    page: PlayPage, qtbot: QtBot, server: FakeModelServer, tmp_path: Path
) -> None:
    picker = opened(page, qtbot, "classic/chess_v6")
    reasons = {item.value: item.reason for item in picker.items}
    assert not reasons["llm"] and not reasons["chess_llm"] and not reasons["random"]
    engine = check_installed(WorkerTypeRegistry.require("stockfish_worker"))
    assert (engine.state == "installed") == (not reasons["stockfish"])

    choose(picker, qtbot, "Random")
    qtbot.waitUntil(lambda: who_plays(page, "player_1")[0] == "operators_worker", timeout=PATIENCE_MS)
    if engine.state == "installed":
        choose(picker, qtbot, "Stockfish")
        qtbot.waitUntil(lambda: who_plays(page, "player_1")[0] == "stockfish_worker", timeout=PATIENCE_MS)
        qtbot.waitUntil(picker.isEnabled, timeout=PATIENCE_MS)

    choose(picker, qtbot, "Language model")
    qtbot.waitUntil(lambda: page.window().findChild(PlayerDialog) is not None)  # type: ignore[union-attr]
    dialog = page.window().findChild(PlayerDialog)  # type: ignore[union-attr]
    assert dialog is not None and dialog.isVisible()
    server_and_model(dialog, qtbot, server)
    qtbot.waitUntil(lambda: who_plays(page, "player_1")[0] == "mosaic_llm_worker", timeout=PATIENCE_MS)
    told = who_plays(page, "player_1")[1]
    assert told == {"client_name": "custom", "base_url": server.url, "model_id": "tiny-1"}
    qtbot.waitUntil(lambda: picker.isEnabled() and picker.text() == "tiny-1", timeout=PATIENCE_MS)

    qtbot.waitUntil(lambda: bool(page.input.questions), timeout=PATIENCE_MS)
    (question,) = page.input.questions
    assert question.legal is not None
    page.input.choose(question.slot, question.legal[0])
    qtbot.waitUntil(lambda: bool(server.requests), timeout=PATIENCE_MS)
    assert server.requests[0].json["model"] == "tiny-1"


def server_and_model(dialog: PlayerDialog, qtbot: QtBot, server: FakeModelServer) -> None:
    """Fill in the form as a person does."""
    provider = dialog.findChild(QComboBox, "setting_client_name")
    assert provider is not None
    provider.setCurrentIndex(provider.findData("custom"))
    provider.activated.emit(provider.currentIndex())
    address = dialog.findChild(QLineEdit, "setting_base_url")
    assert address is not None
    play = dialog.findChild(QPushButton, "player-play")
    assert play is not None
    qtbot.keyClicks(address, "nowhere")
    problem = named(dialog, QLabel, "player-problem")
    assert not play.isEnabled() and "Base URL must be an address" in problem.text()
    address.selectAll()
    qtbot.keyClicks(address, server.url)
    model = dialog.findChild(QComboBox, "setting_model_id")
    assert model is not None
    model.setEditText("tiny-1")
    line = model.lineEdit()
    assert line is not None
    line.textEdited.emit("tiny-1")
    assert play.isEnabled() and not problem.isVisible()
    qtbot.mouseClick(play, LEFT)


def test_who_is_not_for_a_game_stands_in_grey_with_the_reason(page: PlayPage, qtbot: QtBot) -> None:
    picker = opened(page, qtbot, "classic/connect_four_v3")
    reasons = {item.value: item.reason for item in picker.items}
    assert reasons["stockfish"] == "Stockfish is made for chess, not for classic/connect_four_v3"
    assert not reasons["llm"] and not reasons["connect_four_one_ply"]
    assert "soccer_chaser" not in reasons

    choose(picker, qtbot, "Language model")
    dialog = page.window().findChild(PlayerDialog)  # type: ignore[union-attr]
    assert dialog is not None
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: picker.value == "connect_four_one_ply")
    assert who_plays(page, "player_1")[0] == "operators_worker"
