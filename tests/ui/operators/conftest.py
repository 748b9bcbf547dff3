"""The parts of the Operators page over real sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gym_gui.controllers.casting import cast
from gym_gui.controllers.local_session import LocalSession
from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.deck import OperatorDeck

WAIT = 40_000


def local_session(config: OperatorConfig, settings: Any, listener: Any, _store: object) -> LocalSession:
    """The engine in this process, its workers in processes of their own."""
    return LocalSession(cast(config), settings, listener)


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
