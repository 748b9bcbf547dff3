"""Episodes of one world, such as a simulator, are played one after the other, also by several operators."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.types import EpisodeSummary
from gym_gui.envs.family import Family
from tests.support.engine import Player, arena


def most_at_once(out: Path) -> int:
    """Episodes that two operators of one environment have open at the same time."""
    begun: list[int] = [0]
    most = [0]

    class Counted(Player):
        made: list[Player] = []  # noqa: RUF012  # a list per class is the point

        def __init__(self, context: Any) -> None:
            super().__init__(context)
            begun[0] += 1
            most[0] = max(most[0], begun[0])

        def on_episode_end(self, summary: EpisodeSummary) -> None:
            begun[0] -= 1

    operators = [OperatorConfig(name, name, "", arena("Coins")) for name in ("one", "two")]
    resolved: list[ResolvedOperator] = [resolve_operator(each, {"agent_0": Counted}) for each in operators]
    manager = OperatorScriptExecutionManager(
        Experiment(operators, ExecutionConfig(5, concurrency=4)), resolved, LocalSession, out, processes=2
    )
    result = asyncio.run(manager.run())
    assert (result.episodes, result.failed, begun[0]) == (10, 0, 0)
    return most[0]


def test_each_has_its_own_world_by_default(tmp_path: Path) -> None:
    assert most_at_once(tmp_path) > 1


def test_one_episode_at_a_time_where_there_is_one_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Family, "world", lambda family, spec, env_kwargs: "the engine")
    assert most_at_once(tmp_path) == 1
