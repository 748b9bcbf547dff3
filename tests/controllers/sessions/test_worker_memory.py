"""What the worker processes of an experiment take: with processes of their own, and shared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.sessions.worker_memory import PROCESS_BYTES, with_shared_processes, worker_bytes
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig, WorkerAssignment
from gym_gui.core.experiment.execution import Isolation


def _operator(name: str, isolation: Isolation | None = None) -> ResolvedOperator:
    """Three agents of one team."""
    random = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    players = {f"agent_{i}": random for i in range(3)}
    config = OperatorConfig.multi_agent(operator_id=name, task="simple_spread_v3", player_workers=players)
    return resolve_operator(replace(config, isolation=isolation))


@pytest.mark.parametrize(
    ("sessions", "own", "shared"),
    [(1, 3, 1), (2, 6, 2), (3, 9, 3)],
    ids=["one session", "one each", "more sessions than operators"],
)
def test_each_session_has_the_workers_of_its_operator(sessions: int, own: int, shared: int) -> None:
    operators = [_operator("a"), _operator("b")]
    experiment = Experiment([each.config for each in operators], ExecutionConfig(1, 0))
    assert worker_bytes(experiment, operators, sessions) == own * PROCESS_BYTES
    assert worker_bytes(with_shared_processes(experiment), operators, sessions) == shared * PROCESS_BYTES


def test_an_operator_that_says_so_keeps_processes_of_its_own() -> None:
    operator = _operator("a", "slot")
    experiment = Experiment([operator.config], ExecutionConfig(1, 0))
    assert worker_bytes(with_shared_processes(experiment), [operator], 1) == 3 * PROCESS_BYTES
