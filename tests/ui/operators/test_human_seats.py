"""A person plays a slot of an operator: keys on its card, buttons in the inspector."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from PyQt6 import sip
from PyQt6.QtCore import Qt

from gym_gui import envs
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
from gym_gui.services.store import Store
from gym_gui.ui.context import AppContext
from gym_gui.ui.input.key_list import KeyList, KeyRowButton
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.human_controls import HumanControls
from gym_gui.ui.operators.human_seats import OperatorHumans, people_of
from gym_gui.ui.operators.render_container import OperatorRenderContainer
from tests.support.named import named

from .conftest import WAIT, baseline, person


@pytest.fixture
def seated(
    context: AppContext, deck: OperatorDeck, qtbot: Any, finish: Any
) -> Iterator[tuple[OperatorRenderContainer, OperatorHumans]]:
    operator = deck.add(person())
    catalog = CatalogCache(context.store)
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    card.resize(430, 340)
    card.show()
    humans = OperatorHumans(context, operator, catalog, card)
    qtbot.waitUntil(lambda: bool(humans.schemes) and operator.player.alive, timeout=WAIT)
    yield card, humans
    humans.release()
    finish(catalog.close())


def test_keys_on_the_card_answer(
    seated: tuple[OperatorRenderContainer, OperatorHumans], deck: OperatorDeck, qtbot: Any
):
    card, humans = seated
    operator = card.operator
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(lambda: operator.player.questions != (), timeout=WAIT)
    card.setFocus()
    key, action = next((k, a) for k, a in humans.schemes["agent_0"].bindings.items() if k == "Right")
    assert key == "Right"
    qtbot.keyClick(card, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: operator.player.last_view.step == 1, timeout=WAIT)
    assert operator.player.last_view.agents[0].number == action
    assert operator.player.last_view.agents[0].source == "human"


def test_rows_in_the_inspector_are_buttons(
    seated: tuple[OperatorRenderContainer, OperatorHumans], deck: OperatorDeck, qtbot: Any
):
    card, humans = seated
    controls = HumanControls()
    qtbot.addWidget(controls)
    controls.show_humans(humans)
    rows = named(controls, KeyList, "key-list").findChildren(KeyRowButton)
    assert len(rows) == 4 and not any(each.isEnabled() for each in rows)
    down = named(controls, KeyRowButton, "action-down")
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(lambda: down.isEnabled(), timeout=WAIT)
    qtbot.mouseClick(down, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: card.operator.player.last_view.step == 1, timeout=WAIT)
    assert card.operator.player.last_view.agents[0].number == 1
    controls.show_humans(None)
    assert not controls.isVisible()
    qtbot.waitUntil(lambda: not controls.findChildren(KeyList))


def test_nobody_is_listened_to_once_a_policy_plays(
    seated: tuple[OperatorRenderContainer, OperatorHumans], deck: OperatorDeck
):
    card, humans = seated
    deck.change(baseline("you"))
    assert people_of(card.operator.player.config) == () and humans.schemes == {}


class _Late(CatalogCache):
    """Knows an environment only when it is told to."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.may = asyncio.Event()
        self.told = False

    async def env_info(self, request: EnvironmentRequest) -> EnvironmentInfo:
        await self.may.wait()
        environment = envs.make(request.task)
        self.told = True
        try:
            return EnvironmentInfo.of(environment)
        finally:
            environment.close()


def test_keys_that_come_after_the_card_is_gone_are_for_nobody(
    context: AppContext, deck: OperatorDeck, qtbot: Any, finish: Any
):
    operator, late = deck.add(person(), start=False), _Late(context.store)
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    humans, noticed = OperatorHumans(context, operator, late, card), []
    context.noticed.connect(noticed.append)
    humans.release()
    sip.delete(humans.input)
    late.may.set()
    qtbot.waitUntil(lambda: late.told, timeout=WAIT)
    finish(late.close())
    qtbot.wait(1)
    assert humans.schemes == {} and noticed == []
