"""Sessions that stay from one part of an experiment to the next."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.resolved_operator import (
    ResolvedOperator,
    resolve_operator,
    unchecked_operator,
)
from gym_gui.controllers.engine.session_events import SessionEnded, SessionEvent, StepsTaken
from gym_gui.controllers.engine.session_interface import SessionReady, SessionSettings
from gym_gui.controllers.runs.reusable_sessions import ReusableSession, ReusableSessions, SessionRoute
from gym_gui.controllers.runs.script_execution import OperatorProgress, OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from tests.support.engine import arena


class _Played:
    """Parts of an experiment of two operators, played one after the other."""

    def __init__(self, out: Path, *, keep: bool) -> None:
        operators = [OperatorConfig(name, name, "", arena("Coins")) for name in ("one", "two")]
        self._experiment = Experiment(operators, ExecutionConfig(6, concurrency=2))
        # One choice after the other: what a policy has played before must not show.
        self._resolved = [resolve_operator(each, {"agent_0": lambda _: 0}) for each in operators]
        self._out, self._kept = out, ReusableSessions() if keep else None
        self.opened: list[LocalSession] = []
        self.shown: list[OperatorProgress] = []

    def _open(self, which: ResolvedOperator, settings: SessionSettings, on_event: Any) -> LocalSession:
        self.opened.append(LocalSession(which, settings, on_event))
        return self.opened[-1]

    async def part(self, **only: range) -> list[str]:
        """Play a part; returns each episode and its digest."""
        if self._kept is not None:
            await self._kept.keep_only(only)
        manager = OperatorScriptExecutionManager(
            self._experiment, self._resolved, self._open, self._out, only=only, kept=self._kept
        )
        run = (await manager.run()).folder
        self.shown = manager.progress()
        lines = [line for file in sorted(run.rglob("episodes.jsonl")) for line in file.open()]
        rows = [json.loads(line) for line in lines]
        return [f"{row['operator_id']} {row['episode_index']} {row['trajectory_sha256']}" for row in rows]

    async def parts(self) -> list[list[str]]:
        found = [
            await self.part(one=range(3)),
            await self.part(one=range(3, 6), two=range(2)),
            await self.part(two=range(2, 6)),
        ]
        if self._kept is not None:
            await self._kept.close()
        return found


def test_parts_are_what_they_are_with_sessions_of_their_own(tmp_path: Path) -> None:
    kept, own = _Played(tmp_path / "kept", keep=True), _Played(tmp_path / "own", keep=False)
    assert asyncio.run(kept.parts()) == asyncio.run(own.parts())
    assert (len(kept.opened), len(own.opened)) == (2, 4)
    assert [(each.done, each.steps) for each in kept.shown] == [(each.done, each.steps) for each in own.shown]


def _kept(player: WorkerAssignment, heard: list[SessionEvent]) -> ReusableSession:
    operator = unchecked_operator(OperatorConfig("op", "op", "", arena("Coins"), workers={"agent_0": player}))
    route = SessionRoute(heard.append)
    session = LocalSession(operator, SessionSettings(4), route.on_event)
    return ReusableSession(operator, SessionSettings(4), session, SessionReady(0), route)


def test_who_pays_and_who_has_ended_is_not_kept() -> None:
    heard: list[SessionEvent] = []
    kept, payer = ReusableSessions(), WorkerAssignment(worker_type="llm")
    assert not asyncio.run(kept.give(_kept(payer, heard))), "what a late call costs is its own run's"
    ended = _kept(WorkerAssignment(worker_type="random"), heard)
    ended.route.on_event(SessionEnded("died"))
    assert not asyncio.run(kept.give(ended))
    assert kept.take(ended.resolved, SessionSettings(1), heard.append) is None


def test_one_serves_who_asks_for_no_more_than_it_has() -> None:
    heard: list[SessionEvent] = []
    later: list[SessionEvent] = []
    kept, one = ReusableSessions(), _kept(WorkerAssignment(worker_type="random"), heard)
    assert asyncio.run(kept.give(one))
    one.route.on_event(StepsTaken(7))
    assert kept.take(one.resolved, SessionSettings(5), later.append) is None, "more episodes at once"
    assert kept.take(one.resolved, SessionSettings(4, max_steps=9), later.append) is None
    other = _kept(WorkerAssignment(worker_type="llm"), heard)
    assert kept.take(other.resolved, SessionSettings(4), later.append) is None
    assert kept.take(one.resolved, SessionSettings(3), later.append) is one
    one.route.on_event(StepsTaken(9))
    assert (heard, later, one.route.steps) == ([], [StepsTaken(9)], 9)
    assert kept.take(one.resolved, SessionSettings(3), later.append) is None, "it is taken"
