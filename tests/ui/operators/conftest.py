"""The parts of the Operators page over real sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from tests.support.no_processes import analyzes_here, local_session, looks_here, plays_here
from tests.ui.conftest import PATIENCE_MS

__all__ = ["analyzes_here", "looks_here", "plays_here"]

WAIT = PATIENCE_MS


def baseline(
    name: str = "random", behavior: str = "random", task: str = "CartPole-v1", **options: Any
) -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
    return OperatorConfig(name, "", "", task, {"agent_0": player}, **options)


def person(task: str = "FrozenLake-v1", **rules: Any) -> OperatorConfig:
    player = WorkerAssignment("human_worker", "human", {}, **rules)
    return OperatorConfig("you", "You", "", task, {"agent_0": player})


@pytest.fixture
def deck(context: AppContext, finish: Any) -> Iterator[OperatorDeck]:
    """A deck over sessions in this process."""
    result = OperatorDeck(context, seed=42, open_session=local_session)
    yield result
    finish(result.close())
    result.deleteLater()
