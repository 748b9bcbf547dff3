"""``MultiOperatorService`` starts and stops the operators of a run, and nothing else does."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_interface import SessionReady
from gym_gui.controllers.runs.experiment_run import ExperimentRun, PlannedExperiment
from gym_gui.controllers.runs.operator_execution import RunResult
from gym_gui.controllers.runs.script_execution import KEPT_WARM, OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.services.runs.recorder import read_header
from tests.support.engine import arena
from tests.support.started import Starts


def operators(*names: str) -> tuple[Experiment, list[ResolvedOperator]]:
    """An experiment of three short episodes for each of these operators."""
    configs = [OperatorConfig(name, name, "", arena("Coins")) for name in names]
    resolved = [resolve_operator(each, {"agent_0": lambda _: 0}) for each in configs]
    return Experiment(configs, ExecutionConfig(3)), resolved


class Plays:
    """Plays experiments in sessions of this process, and notes in ``log`` which are opened and closed."""

    def __init__(self, log: list[str], out: Path, session: type[LocalSession] = LocalSession) -> None:
        self.log, self.out, self.session = log, out, session

    def open(self, resolved: ResolvedOperator, settings: Any, on_event: Any) -> LocalSession:
        log, name = self.log, resolved.config.operator_id

        class Noted(self.session):
            async def close(self, *, in_haste: bool = False) -> None:
                await super().close(in_haste=in_haste)
                log.append(f"closed {name}")

        log.append(f"open {name}")
        return Noted(resolved, settings, on_event)

    def run(self, *names: str, processes: int = 1) -> RunResult:
        planned = PlannedExperiment(*operators(*names))
        return asyncio.run(ExperimentRun(planned, self.open, self.out, processes=processes).run())


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    return Starts(monkeypatch)


def of(log: Sequence[str], name: str) -> list[str]:
    return [line.split()[0] for line in log if line.endswith(f" {name}")]


def test_each_operator_is_started_before_its_session_and_stopped_when_it_has_played(
    tmp_path: Path, starts: Starts
) -> None:
    result = Plays(starts.log, tmp_path).run("one", "two", "three")
    assert (result.status, result.episodes) == ("completed", 9)
    for name in ("one", "two", "three"):
        assert of(starts.log, name) == ["start", "open", "stop", "closed"]
    assert [line for line in starts.log if line.startswith("stop")] == ["stop one", "stop two", "stop three"]
    assert starts.log.index("stop one") < starts.log.index("stop two")


def test_the_first_session_is_opened_while_git_is_asked_for_the_commit(
    tmp_path: Path, starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    plays, opened = Plays(starts.log, tmp_path), threading.Event()

    def commit_of_an_opened_session() -> dict[str, Any]:
        return {"commit": "abc" if opened.wait(30) else "asked before the session was opened"}

    class Noticed(LocalSession):
        async def start(self) -> SessionReady:
            opened.set()
            return await super().start()

    monkeypatch.setattr("gym_gui.controllers.runs.experiment_run.made_here", commit_of_an_opened_session)
    plays.session = Noticed
    assert read_header(plays.run("one").folder)["commit"] == "abc"


def test_further_sessions_are_the_operators_own(tmp_path: Path, starts: Starts) -> None:
    """Four processes, three episodes of which each session has one: one start opens several sessions."""
    planned, resolved = operators("alone")
    planned = Experiment(planned.operators, ExecutionConfig(8, concurrency=1))
    run = ExperimentRun(
        PlannedExperiment(planned, resolved), Plays(starts.log, tmp_path).open, tmp_path, processes=3
    )
    assert asyncio.run(run.run()).episodes == 8
    assert Counter(of(starts.log, "alone")) == {"start": 1, "open": 3, "stop": 1, "closed": 3}


def test_an_operator_that_waits_long_is_started_again_when_its_turn_comes(
    tmp_path: Path, starts: Starts
) -> None:
    names = [f"op{i}" for i in range(KEPT_WARM + 1)]
    result = Plays(starts.log, tmp_path).run(*names)
    assert result.episodes == 3 * len(names)
    assert of(starts.log, names[0]) == ["start", "open", "stop", "closed"]
    assert of(starts.log, names[-1]) == ["start", "open", "closed", "start", "open", "stop", "closed"]


class _Broken(LocalSession):
    async def start(self) -> SessionReady:
        raise UsageError("it has no legs")


def test_operators_are_stopped_where_one_cannot_start(tmp_path: Path, starts: Starts) -> None:
    plays = Plays(starts.log, tmp_path)

    def open_session(resolved: ResolvedOperator, settings: Any, on_event: Any) -> LocalSession:
        plays.session = _Broken if resolved.config.operator_id == "two" else LocalSession
        return plays.open(resolved, settings, on_event)

    run = ExperimentRun(PlannedExperiment(*operators("one", "two")), open_session, tmp_path)
    with pytest.raises(UsageError, match="it has no legs"):
        asyncio.run(run.run())
    assert sorted(starts.log) == sorted(
        f"{what} {name}" for name in ("one", "two") for what in ("start", "open", "stop", "closed")
    )


class _Slow(LocalSession):
    """Its start takes for ever, and its end a while."""

    async def start(self) -> SessionReady:
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self, *, in_haste: bool = False) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        await super().close(in_haste=in_haste)


def test_a_session_that_starts_when_the_run_is_stopped_is_closed(tmp_path: Path, starts: Starts) -> None:
    plays = Plays(starts.log, tmp_path, _Slow)
    experiment, resolved = operators("slow")

    async def stopped() -> RunResult:
        manager = OperatorScriptExecutionManager(experiment, resolved, plays.open, tmp_path, tried=())
        playing = asyncio.create_task(manager.run())
        while "open slow" not in starts.log:
            await asyncio.sleep(0)
        manager.stop()
        return await playing

    assert asyncio.run(stopped()).status == "stopped"
    assert of(starts.log, "slow") == ["start", "open", "stop", "closed"]
