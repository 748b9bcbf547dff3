"""What the form of a new run knows of an environment comes from the description that all pages share."""

from __future__ import annotations

from collections.abc import Callable

import psutil
from pytestqt.qtbot import QtBot

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
from gym_gui.services.store import Store
from gym_gui.ui.context import AppContext
from gym_gui.ui.train.space_lookup import SpaceLookup, Spaces
from tests.ui.train.conftest import PATIENCE_MS


def test_an_environment_that_another_page_has_described_is_not_made_again(
    context: AppContext, store: Store, finish: Callable[[object], object], qtbot: QtBot
) -> None:
    catalog = CatalogCache(store)
    finish(catalog.env_info(EnvironmentRequest("CartPole-v1")))
    finish(catalog.close())
    before = psutil.Process().children()
    look = SpaceLookup(context)
    look.look_up("CartPole-v1")
    qtbot.waitUntil(lambda: look.of("CartPole-v1") != Spaces(), timeout=PATIENCE_MS)
    assert look.of("CartPole-v1") == Spaces("CartPole-v1", "discrete", "vector")
    assert psutil.Process().children() == before, "no process was started to make it"
    finish(look.close())
    look.deleteLater()
