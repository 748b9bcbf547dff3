"""When an operator alone gets more sessions than one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.runs import session_starts
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.experiment.execution import EpisodePlan
from tests.support.engine import arena


class _Patient(LocalSession):
    """Begins what it is given once ``ready`` is set."""

    ready: asyncio.Event

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        given = list(plans)

        async def later() -> None:
            await self.ready.wait()
            LocalSession.play(self, given)

        self.playing = asyncio.ensure_future(later())


def sessions_of(out: Path, episodes: int, begin_with: int) -> int:
    """How many sessions play so many episodes, where there are cores for two and each has four in flight.

    They begin once ``begin_with`` of them are open.
    """
    operator = OperatorConfig("op", "op", "", arena("Coins"))
    opened: list[_Patient] = []
    ready = asyncio.Event()

    def open_session(which: ResolvedOperator, settings: SessionSettings, on_event: Any) -> LocalSession:
        session = _Patient(which, settings, on_event)
        session.ready = ready
        opened.append(session)
        if len(opened) == begin_with:
            ready.set()
        return session

    manager = OperatorScriptExecutionManager(
        Experiment([operator], ExecutionConfig(episodes, concurrency=4)),
        [resolve_operator(operator, {"agent_0": lambda _: 0})],
        open_session,
        out,
        processes=2,
    )
    result = asyncio.run(manager.run())
    assert (result.episodes, result.failed) == (episodes, 0)
    return len(opened)


@pytest.mark.parametrize(("episodes", "worth_a_start_s", "sessions"), [(4, 3600, 1), (5, 3600, 2), (4, 0, 2)])
def test_episodes_that_one_can_have_in_flight_get_a_second_once_they_take_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, episodes: int, worth_a_start_s: float, sessions: int
) -> None:
    monkeypatch.setattr(session_starts, "WORTH_A_START_S", worth_a_start_s)
    assert sessions_of(tmp_path, episodes, begin_with=sessions) == sessions
