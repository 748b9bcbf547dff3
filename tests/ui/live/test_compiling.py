"""What is compiled before the first match on a machine is said, with how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gym_gui import envs
from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.core.config import OperatorConfig
from gym_gui.envs.families.custom import registered
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.operators.render_container import OperatorRenderContainer
from gym_gui.ui.widgets.badges import StatusDot
from tests.support.compiled import Compiled, CompiledFamily
from tests.support.named import named
from tests.ui.conftest import PATIENCE_MS

from .conftest import baseline

WAIT = PATIENCE_MS


def said(operator: LiveOperator, card: OperatorRenderContainer) -> list[str]:
    """What a card says from now on of its operator's state while it starts."""
    told: list[str] = []

    def look(state: OperatorState) -> None:
        if state is OperatorState.STARTING:
            told.append(named(card, StatusDot, "operator-status").text)

    operator.state_changed.connect(look)
    return told


@pytest.fixture
def fours() -> Iterator[str]:
    """An environment that has to compile, known during one test."""
    yield envs.register("tests/Fours-v0", Compiled, family=CompiledFamily()).id
    registered.remove("tests/Fours-v0")


def test_the_card_says_how_far_the_compiling_is(
    live: Any, context: AppContext, qtbot: Any, fours: str
) -> None:
    operator = live(baseline(task=fours))
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    told = said(operator, card)
    operator.player.start(1, paused=True)
    qtbot.waitUntil(lambda: operator.player.last_view is not None and not operator.player.busy, timeout=WAIT)
    assert list(dict.fromkeys(told))[-3:] == ["Compiling 0 of 2…", "Compiling 1 of 2…", "Compiling 2 of 2…"]
    assert operator.player.state is OperatorState.READY


@pytest.mark.full
def test_the_first_soccer_match_says_it_from_its_own_process(
    live: Any, context: AppContext, qtbot: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    random = baseline().resolved_slots()["agent_0"]
    seats = {f"{team}_0": random for team in ("green", "blue")}
    soccer = OperatorConfig("soccer", "Soccer", "", "MosaicMultiGrid-S-1v1-IndAgObs-v1", seats)
    operator = live(soccer, host=True)
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    told = said(operator, card)
    operator.player.start(1, paused=True)
    qtbot.waitUntil(
        lambda: operator.player.last_view is not None and not operator.player.busy, timeout=4 * WAIT
    )
    assert len({words for words in told if words.startswith("Compiling")}) > 4
