"""The inspector edits an operator whose agent is a language model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.config_panels.player_panel import PlayerPicker
from gym_gui.ui.config_panels.single_agent_panel import SingleAgentPanel
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.config_widget import OperatorConfigWidget
from tests.support.fake_model_server import FakeModelServer
from tests.support.named import named
from tests.support.no_processes import local_session, looks_here
from tests.ui.conftest import messages

from .conftest import WAIT, lake

__all__ = ["looks_here"]


@pytest.fixture
def config(context: AppContext, finish: Any, qtbot: Any) -> Iterator[OperatorConfigWidget]:
    catalog = CatalogCache(context.store)
    result = OperatorConfigWidget(context, catalog)
    result.resize(268, 700)
    result.show()
    qtbot.waitExposed(result)
    yield result
    result.forget()
    finish(catalog.close())
    result.close()
    result.deleteLater()


@pytest.mark.usefixtures("looks_here")
def test_a_language_model_fits_where_there_are_words_and_is_edited(
    context: AppContext, config: OperatorConfigWidget, server: FakeModelServer, qtbot: Any, finish: Any
) -> None:
    deck = OperatorDeck(context, seed=1, open_session=local_session)
    try:
        config.show_operator(deck.add(lake(server), start=False), 1, 1)
        qtbot.waitUntil(
            lambda: config.findChild(SingleAgentPanel, "single-agent-panel") is not None, timeout=WAIT
        )
        panel = named(config, SingleAgentPanel, "single-agent-panel")
        assert isinstance(panel, SingleAgentPanel)
        said = " ".join(messages(config))
        assert "describes its observation" not in said and "Error" not in said
        offered = {
            item.label: item.reason
            for item in named(panel, PlayerPicker, "player-agent_0").items
            if item.group == "LLM"
        }
        assert offered["Language model…"] == ""
        form = named(panel, SettingsForm, "settings_form")
        temperature = form.control("temperature")
        with qtbot.waitSignal(config.changed, timeout=WAIT) as changed:
            temperature.set_value(0.7)
            temperature.changed.emit()
        assert changed.args[0].workers["agent_0"].settings["temperature"] == 0.7
        assert config.minimumSizeHint().width() <= 268  # everything fits the inspector
    finally:
        finish(deck.close())
        deck.deleteLater()
