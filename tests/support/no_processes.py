"""For tests of the window that are not about processes: what children answer is answered here.

It is the children's own code that answers, called where the window would otherwise start one;
what is true of the processes themselves is shown elsewhere (``tests/controllers``, ``tests/host``,
``tests/window``, and the tests of the window that ask for no fixture from here).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.environment_probe import EnvironmentProbe
from gym_gui.controllers.environment_probe_child import Bench
from gym_gui.controllers.local_session import LocalSession
from gym_gui.controllers.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.script_execution import OperatorScriptExecutionManager
from gym_gui.core.config import OperatorConfig
from gym_gui.services.actor import NoopActor, RandomActor
from gym_gui.services.experiment_file import load_experiment

_HERE = {actor.id: actor for actor in (RandomActor, NoopActor)}


async def local_session(
    config: OperatorConfig, settings: Any, on_event: Any, _store: object = None
) -> LocalSession:
    """The engine in this process, for operators of the window; see :func:`_local_session`."""
    return _local_session(config, settings, on_event)


def _local_session(config: OperatorConfig, settings: Any, on_event: Any) -> LocalSession:
    """The engine in this process; who plays at random or not at all does so here as well.

    All other workers are processes of their own, as everywhere.
    """
    here: dict[str, object] = {
        agent: _HERE[player.settings["behavior"]]
        for agent, player in config.resolved_slots().items()
        if player.worker_id == "operators_worker" and player.settings.get("behavior") in _HERE
    }
    return LocalSession(resolve_operator(config, here), settings, on_event)


def record_file(experiment_file: Path, out: Path) -> Path:
    """Run an experiment file as ``mosaic run`` does, in this process; returns its run folder."""
    experiment = load_experiment(experiment_file, allow_code=False)
    resolved_operators = [resolve_operator(operator) for operator in experiment.operators]
    manager = OperatorScriptExecutionManager(experiment, resolved_operators, LocalSession, out)
    return asyncio.run(manager.run()).folder


@pytest.fixture
def looks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments are looked at in a thread of this process: a child costs more than all the rest."""
    bench = Bench()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # as the child does, and for its reason

    async def start(_probe: EnvironmentProbe) -> None:
        """There is nothing to start."""

    async def exchange(_probe: EnvironmentProbe, _child: None, request: Mapping[str, Any]) -> object:
        return await asyncio.to_thread(bench.answer, request)

    monkeypatch.setattr(EnvironmentProbe, "_start", start)
    monkeypatch.setattr(EnvironmentProbe, "_exchange", exchange)


@pytest.fixture
def plays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators of the window play in this process, as in a notebook; their workers are children."""

    def session(resolved: ResolvedOperator, settings: Any, on_event: Any, *, store: object) -> LocalSession:
        return _local_session(resolved.config, settings, on_event)

    monkeypatch.setattr("gym_gui.ui.live.operator.open_host_session", local_session)
    monkeypatch.setattr("gym_gui.host.client.HostSession", session)  # of experiment files
