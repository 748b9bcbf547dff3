"""No model is asked, and nothing is paid for, before a person says Step or Run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from PyQt6.QtCore import Qt

from gym_gui.core.assignment import OnInvalid
from gym_gui.core.config import OperatorConfig
from gym_gui.ui.main_window import MainWindow
from gym_gui.ui.pages.operators import OperatorsTab
from tests.support.fake_model_server import FakeModelServer

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
            looks = [o.last_view for o in deck.operators]
            return all(look is not None and look.seed == seed and look.step == 0 for look in looks) and all(
                o.alive and not o.busy for o in deck.operators
            )

        qtbot.waitUntil(lambda: shown(3), timeout=WAIT)
        qtbot.mouseClick(page.controls.reset, LEFT)
        page.controls.seed.spin.setValue(5)
        qtbot.waitUntil(lambda: shown(5), timeout=WAIT)
        page.manual.select(deck.operators[0])
        qtbot.waitUntil(lambda: page.config.panel is not None, timeout=WAIT)
        page.config.limit.setValue(7)
        qtbot.waitUntil(lambda: deck.operators[0].config.max_steps == 7 and shown(5), timeout=WAIT)
        assert not server.requests

        # What is asked for is asked for once: had a model been asked before, its call would be counted too.
        for steps in (1, 2):
            qtbot.mouseClick(page.controls.step, LEFT)
            qtbot.waitUntil(
                lambda steps=steps: all(o.last_view.step == steps for o in deck.operators), timeout=WAIT
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
        qtbot.waitUntil(lambda: bool(page.deck.operators[0].episodes_done), timeout=WAIT)
        operator = page.deck.add(reader)
        qtbot.waitUntil(lambda: operator.last_view is not None and not operator.busy, timeout=WAIT)
        assert not page.deck.running and not server.requests
        qtbot.mouseClick(page.controls.run, LEFT)
        qtbot.waitUntil(lambda: operator.last_view.step > 0, timeout=WAIT)
        assert server.requests
