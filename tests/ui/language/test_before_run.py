"""No model is asked, and nothing is paid for, before a person says Step, Run or Start."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QPushButton, QSpinBox

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.ui.config_panels.single_agent_panel import SingleAgentPanel
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.pages.operators import OperatorsTab
from gym_gui.ui.pages.play import PlayPage
from gym_gui.ui.widgets.badges import StatusDot
from gym_gui.ui.window.main_window import MainWindow
from tests.support.fake_model_server import FakeModelServer
from tests.support.named import named
from tests.support.seldom import some_of

from .conftest import WAIT, player

LEFT = Qt.MouseButton.LeftButton

pytestmark = pytest.mark.usefixtures("looks_here", "plays_here")


def thinkers(server: FakeModelServer) -> list[OperatorConfig]:
    """One of each worker that asks a model, told apart by the model's name."""
    reader = player(server, model_id="reader")
    eyes = replace(player(server, model_id="eyes"), worker_id="vlm_worker", worker_type="vlm")
    board = replace(player(server, model_id="board"), worker_id="chess_worker")
    board = replace(board, on_invalid=OnInvalid(0, "random_legal"))
    return [
        OperatorConfig("reader", "", "", "FrozenLake-v1", {"agent_0": reader}),
        OperatorConfig("eyes", "", "", "FrozenLake-v1", {"agent_0": eyes}),
        OperatorConfig("chess", "", "", "classic/chess_v6", {"player_0": board, "player_1": board}),
    ]


def asked(server: FakeModelServer) -> Counter[str]:
    return Counter(str(request.json["model"]) for request in server.requests)


def test_neither_preparing_nor_configuring_nor_resetting_asks_a_model(window: MainWindow, qtbot: Any):
    with FakeModelServer(lambda request: "<action>down</action>") as server:
        window.context.go("operators", operators=thinkers(server), seed=3)
        page = window.findChild(OperatorsTab)
        assert page is not None
        deck = page.deck

        def shown(seed: int) -> bool:
            looks = [o.player.last_view for o in deck.operators]
            return all(look is not None and look.seed == seed and look.step == 0 for look in looks) and all(
                o.player.alive and not o.player.busy for o in deck.operators
            )

        qtbot.waitUntil(lambda: shown(3), timeout=WAIT)
        qtbot.mouseClick(named(page, QPushButton, "operators-reset"), LEFT)
        named(page, QSpinBox, "seed").setValue(5)
        qtbot.waitUntil(lambda: shown(5), timeout=WAIT)
        named(page, ManualOperators, "manual-operators").select(deck.operators[0])
        qtbot.waitUntil(
            lambda: page.findChild(SingleAgentPanel, "single-agent-panel") is not None, timeout=WAIT
        )
        named(page, QSpinBox, "operator-max-steps").setValue(7)
        qtbot.waitUntil(lambda: deck.operators[0].player.config.max_steps == 7 and shown(5), timeout=WAIT)
        assert not server.requests

        # What is asked for is asked for once: had a model been asked before, its call would be counted too.
        for steps in (1, 2):
            qtbot.mouseClick(named(page, QPushButton, "operators-step"), LEFT)
            qtbot.waitUntil(
                lambda steps=steps: all(o.player.last_view.step == steps for o in deck.operators),
                timeout=WAIT,
            )
            assert asked(server)["reader"] == asked(server)["eyes"] == steps
            assert asked(server)["board"] > 0


def test_a_model_that_is_put_beside_running_operators_waits_for_run(window: MainWindow, qtbot: Any):
    with FakeModelServer(lambda request: "<action>down</action>") as server:
        reader = thinkers(server)[0]
        noop = replace(reader.workers["agent_0"], worker_id="operators_worker", worker_type="baseline")
        noop = replace(noop, settings={"behavior": "noop"})
        still = OperatorConfig("still", "", "", "FrozenLake-v1", {"agent_0": noop}, max_steps=5)
        window.context.go("operators", operators=[still], seed=3, run=True)
        page = window.findChild(OperatorsTab)
        assert page is not None
        qtbot.waitUntil(lambda: bool(page.deck.operators[0].player.tally.episodes_done), timeout=WAIT)
        operator = page.deck.add(reader)
        qtbot.waitUntil(
            lambda: operator.player.last_view is not None and not operator.player.busy, timeout=WAIT
        )
        assert not page.deck.play.running and not server.requests
        qtbot.mouseClick(named(page, QPushButton, "operators-run"), LEFT)
        qtbot.waitUntil(lambda: operator.player.last_view.step > 0, timeout=WAIT)
        assert server.requests


def noughts(server: FakeModelServer, **players: WorkerAssignment) -> OperatorConfig:
    """Noughts and crosses: a language model in every seat for which no other player is given."""
    model = replace(player(server, model_id="reader"), on_invalid=OnInvalid(0, "random_legal"))
    seats = {"player_1": model, "player_2": model, **players}
    return OperatorConfig("play", "", "", "classic/tictactoe_v3", seats)


@pytest.fixture
def play(window: MainWindow, qtbot: Any) -> PlayPage:
    window.context.go("play")
    page = window.findChild(PlayPage)
    assert page is not None
    return page


def is_shown(page: PlayPage) -> bool:
    view = page.view
    return page.env_info is not None and view is not None and view.step == 0 and page.input.listening


@pytest.mark.parametrize("seats", some_of([{"player_2": WorkerAssignment("human_worker", "human")}, {}], {}))
def test_a_game_whose_first_move_is_a_models_waits_for_start(
    seats: dict[str, WorkerAssignment], window: MainWindow, play: PlayPage, qtbot: Any
):
    with FakeModelServer(lambda request: "<action>top left</action>") as server:
        window.context.go("play", operator=noughts(server, **seats), seed=3)
        qtbot.waitUntil(lambda: is_shown(play) and play.game.state is OperatorState.READY, timeout=WAIT)
        assert "Press Start" in named(play, StatusDot, "prompt").text and not server.requests
        play.controller.restart()
        qtbot.waitUntil(lambda: play.game.operator.player.busy is False and is_shown(play), timeout=WAIT)
        assert not server.requests
        pause = named(play, QPushButton, "pause")
        assert pause.text() == "Start"
        qtbot.mouseClick(pause, LEFT)
        qtbot.waitUntil(lambda: play.view.step > 0, timeout=WAIT)
        assert server.requests and pause.text() == "Pause"


def test_who_moves_first_says_go_with_that_move(window: MainWindow, play: PlayPage, qtbot: Any):
    you = WorkerAssignment("human_worker", "human")
    with FakeModelServer(lambda request: "<action>top left</action>") as server:
        config = noughts(server, player_1=you)
        window.context.go("play", operator=config, seed=3)
        qtbot.waitUntil(lambda: is_shown(play) and bool(play.input.questions), timeout=WAIT)
        assert "Your move" in named(play, StatusDot, "prompt").text and not server.requests
        # A language model gets the seat that is to move: it is not asked before the user presses Start.
        play.game.seat("player_1", config.workers["player_2"])
        qtbot.waitUntil(lambda: play.game.waits_for_go and not play.game.people, timeout=WAIT)
        play.game.seat("player_1", you)
        qtbot.waitUntil(lambda: bool(play.input.questions), timeout=WAIT)
        assert not server.requests
        play.input.choose("player_1", 4)
        qtbot.waitUntil(lambda: play.view.step > 1, timeout=WAIT)
        assert server.requests
