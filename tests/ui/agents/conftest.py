"""The tab over real environments; whatever it starts is ended with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui.ui.agents.advanced_config import AdvancedConfigTab
from gym_gui.ui.context import AppContext
from tests.support.no_processes import looks_here
from tests.ui.conftest import PATIENCE_MS

__all__ = ["looks_here"]


@pytest.fixture
def tab(context: AppContext, qtbot: Any, finish: Callable[[object], object]) -> Iterator[AdvancedConfigTab]:
    """A tab without an environment, shown, with its panels beside it as the page has them."""
    host = QWidget()
    row = QHBoxLayout(host)
    result = AdvancedConfigTab(context)
    row.addWidget(result, 1)
    row.addWidget(result.slot)
    row.addWidget(result.operator)
    host.resize(1400, 760)
    host.show()
    yield result
    finish(result.close_down())
    host.close()
    host.deleteLater()


@pytest.fixture
def checked(tab: AdvancedConfigTab, qtbot: Any) -> Callable[[], None]:
    """Waits until the draft, as it is now, has been checked, by the engine too where it is whole."""

    def wait() -> None:
        model = tab.model

        def done() -> bool:
            if model.trouble:
                return True
            if model.is_reading or model.report is None or not model.settled:
                return False
            return model.report.config is None or model.verdict is not None

        qtbot.waitUntil(done, timeout=PATIENCE_MS)

    return wait


@pytest.fixture
def choose(tab: AdvancedConfigTab, checked: Callable[[], None]) -> Callable[[str], None]:
    """Chooses an environment and waits until it is known."""

    def run(task: str) -> None:
        tab.model.choose_environment(task)
        checked()

    return run
