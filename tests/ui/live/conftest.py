"""Live operators over sessions of this process (quick) or of a host process (real)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from tests.support.no_processes import local_session

Finish = Callable[[object], Any]


def baseline(
    name: str = "random", behavior: str = "random", task: str = "CartPole-v1", **options: Any
) -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": behavior})
    return OperatorConfig(name, "", "", task, {"agent_0": player}, **options)


def person(task: str = "FrozenLake-v1", **rules: Any) -> OperatorConfig:
    player = WorkerAssignment("human_worker", "human", {}, **rules)
    return OperatorConfig("you", "You", "", task, {"agent_0": player})


@pytest.fixture
def live(context: AppContext, finish: Finish) -> Iterator[Callable[..., LiveOperator]]:
    """Makes live operators and closes them at the end; in this process unless ``host=True``."""
    made: list[LiveOperator] = []

    def make(config: OperatorConfig | None = None, *, host: bool = False, **options: Any) -> LiveOperator:
        options.setdefault("open_session", None if host else local_session)
        operator = LiveOperator(context, config or baseline(), **options)
        made.append(operator)
        return operator

    yield make
    for operator in made:
        finish(operator.player.close())
        operator.deleteLater()
        del operator
    made.clear()


@pytest.fixture
def deck(context: AppContext, finish: Finish) -> Iterator[OperatorDeck]:
    """A deck over sessions in this process."""
    result = OperatorDeck(context, seed=42, open_session=local_session)
    yield result
    finish(result.close())
    result.deleteLater()
