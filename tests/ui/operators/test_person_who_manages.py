"""A person manages: they click a goal in the picture of a card, and skills go for it."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.human_seats import OperatorHumans
from gym_gui.ui.operators.render_container import OperatorRenderContainer
from gym_gui.ui.renderers.frame_view import FrameView
from tests.support.named import named

from .conftest import WAIT

pytest.importorskip("minigrid")
MANAGED = OperatorConfig.multi_agent(
    operator_id="managed",
    display_name="Managed",
    task="MiniGrid-Empty-5x5-v0",
    player_workers={
        "agent_0": WorkerAssignment("operators_worker", "baseline", {"behavior": "minigrid_skills"})
    },
    manager={"agent_0": WorkerAssignment("human_worker", "human")},
)


def test_a_goal_that_is_clicked_in_the_picture_is_what_skills_do(
    context: AppContext, deck: OperatorDeck, qtbot: Any, finish: Any
) -> None:
    operator, catalog = deck.add(MANAGED), CatalogCache(context.store)
    card = OperatorRenderContainer(context.theme, operator)
    qtbot.addWidget(card)
    card.resize(430, 400)
    card.show()
    humans = OperatorHumans(context, operator, catalog, card)
    player = operator.player
    qtbot.waitUntil(lambda: bool(humans.schemes) and player.alive, timeout=WAIT)
    deck.play.set_pace(None, lock_step=False)
    deck.play.run()
    qtbot.waitUntil(lambda: bool(player.questions), timeout=WAIT)
    qtbot.waitUntil(lambda: bool(player.last_view and player.last_view.pointing), timeout=WAIT)
    pointing = player.last_view.pointing
    ((row, column),) = {each.target for each in pointing.moves if each.label == "go to(green goal)"}
    view = named(card, FrameView, "frameView")
    area = view.picture_rect()
    x = area.left() + area.width() * (2 * column + 1) // (2 * pointing.columns)
    y = area.top() + area.height() * (2 * row + 1) // (2 * pointing.rows)
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    qtbot.waitUntil(lambda: bool(player.tally.episodes), timeout=WAIT)
    assert player.tally.episodes_done[0]["success"] is True
    humans.release()
    finish(catalog.close())
