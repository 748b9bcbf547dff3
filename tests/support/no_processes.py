"""For tests of windows and commands that are not about processes: what children answer is answered here.

It is the children's own code that answers, called where the program would otherwise start one;
what is true of the processes themselves is shown elsewhere (``tests/controllers``, ``tests/host``,
``tests/window``, and the tests of the window that ask for no fixture from here).
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import runpy
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.controllers.child_jobs import child_job
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.controllers.setup.environment_probe import EnvironmentProbe
from gym_gui.controllers.setup.environment_probe_child import ProbeServer
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.trusted.subjects import Subject
from gym_gui.host.prestart import CommandHosts
from gym_gui.host.replay_server import replayed
from gym_gui.host.session_process import HostOwner
from gym_gui.services import subprocess_job
from gym_gui.services.actor import NoopActor, RandomActor
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.runs import run_analysis
from gym_gui.services.secrets import resolve_secrets
from gym_gui.services.subprocess_job import USAGE, Finished
from mosaic_worker.failures import described

_HERE = {actor.id: actor for actor in (RandomActor, NoopActor)}
_SERVERS: dict[Path, ProbeServer] = {}
"""Of windows, by working directory: a slot that was loaded is not loaded again by the tests that follow."""


async def local_session(
    config: OperatorConfig, settings: Any, on_event: Any, _store: object = None, _take: object = None
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


def _look_here(patch: pytest.MonkeyPatch, servers: dict[Path, ProbeServer]) -> None:
    async def start(_probe: EnvironmentProbe) -> ProbeServer:
        return servers.setdefault(Path.cwd(), ProbeServer())

    async def exchange(_probe: EnvironmentProbe, server: ProbeServer, request: Mapping[str, Any]) -> object:
        return await asyncio.to_thread(server.answer, request)

    patch.setattr(EnvironmentProbe, "start", start)
    patch.setattr(EnvironmentProbe, "exchange", exchange)


@pytest.fixture
def looks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments are looked at in a thread of this process: a child costs more than all the rest."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # as the child does, and for its reason
    _look_here(monkeypatch, _SERVERS)


@pytest.fixture
def plays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators of the window play in this process, as in a notebook; their workers are children."""

    def session(resolved: ResolvedOperator, settings: Any, on_event: Any, **_how: object) -> LocalSession:
        return _local_session(resolved.config, settings, on_event)

    monkeypatch.setattr("gym_gui.ui.live.live_operator.open_host_session", local_session)
    monkeypatch.setattr("gym_gui.host.host_client.HostSession", session)  # of experiment files


class _HostsHere(CommandHosts):
    """No host is started, ahead or when it is wanted."""

    def __init__(self, *, wanted: bool = True) -> None:
        super().__init__(wanted=False)

    def open_session(self, resolved: ResolvedOperator, settings: Any, on_event: Any) -> LocalSession:
        secrets = {agent: resolve_secrets(player) for agent, player in resolved.assignments.items()}
        return LocalSession(resolved, settings, on_event, secrets)


class _Answer(BaseException):
    """Takes the answer of a job out of its module."""


_ONE_JOB = threading.Lock()
"""Jobs that a command has at the same time are carried out one after the other: each has names of its own."""


async def _job_here(
    module: str,
    *,
    question: bytes,
    on_progress: Callable[[Any], None] | None = None,
    subjects: Iterable[Subject] = (),
    longest_s: float = 0.0,
) -> Any:
    """A module of ``child_jobs`` in a thread, run as its process runs it."""
    del subjects, longest_s
    loop = asyncio.get_running_loop()

    def tell(value: Any) -> None:
        if on_progress is not None:
            loop.call_soon_threadsafe(on_progress, value)

    def answer(work: Callable[[], Any]) -> None:
        try:
            raise _Answer(work())
        except UsageError as error:
            raise UsageError(error.message, fix=error.fix) from None
        except MosaicError as error:
            raise MosaicError(error.message, fix=error.fix) from None
        except Exception as error:  # the border to environments
            raise MosaicError(described(error)) from None

    def work() -> Any:
        with _ONE_JOB, pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess_job, "answer_job", answer)
            patch.setattr(subprocess_job, "report_progress", tell)
            patch.setattr(child_job, "report_progress", tell)
            patch.setattr(child_job, "question_of_job", lambda: orjson.loads(question))
            patch.setenv("SDL_VIDEODRIVER", "dummy")
            try:
                runpy.run_module(module, run_name="__main__")
            except _Answer as found:
                return orjson.loads(orjson.dumps(found.args[0]))
        raise AssertionError(f"{module} is no job")

    return await asyncio.to_thread(work)


@contextlib.contextmanager
def _sessions_of_commands() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gym_gui.host.prestart.CommandHosts", _HostsHere)
        patch.setattr(child_job, "run_foreign_job", _job_here)
        _look_here(patch, {})
        yield


@pytest.fixture
def sessions_here() -> Iterator[None]:
    """What a command plays, looks at or plays again, it does in this process; all workers are children."""
    with _sessions_of_commands():
        yield


@pytest.fixture(scope="module")
def all_sessions_here() -> Iterator[None]:
    """As ``sessions_here``, for all tests of a module and for what is played once for all of them."""
    with _sessions_of_commands():
        yield


class _ReplaysHere:
    """Stands where a replay has the process that plays it."""

    pid = 0

    def __init__(self, owner: HostOwner, *_about: object, **_how: object) -> None:
        self._owner = owner
        self._task: asyncio.Task[None] | None = None

    async def start(self, *_allowed: object, **_how: object) -> None:
        """There is nothing to start."""

    def follow(self, _method: str, request: Any, on_looks: Callable[[Any], None]) -> None:
        self._task = asyncio.get_running_loop().create_task(self._play(request, on_looks))

    async def _play(self, request: Any, on_looks: Callable[[Any], None]) -> None:
        try:
            async with contextlib.aclosing(replayed(request)) as looks:
                async for news in looks:
                    on_looks(news)
        except MosaicError as error:
            self._owner.on_failed(error)

    async def close(self, **_how: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


@pytest.fixture
def replays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded episodes are played again in this process."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # as the child does, and for its reason
    monkeypatch.setattr("gym_gui.host.replay_client.HostProcess", _ReplaysHere)


async def _analyzed_here(_module: str, *arguments: str) -> Finished:
    await asyncio.sleep(0)
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_analysis.main(arguments)
    complaint = err.getvalue().strip()
    if status == USAGE:
        raise UsageError(complaint)
    return Finished(status, out.buffer.getvalue(), complaint)  # type: ignore[attr-defined]


@pytest.fixture
def analyzes_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are summarised, and reports and tables of them written, in this process."""
    monkeypatch.setattr(run_analysis, "run_subprocess_job", _analyzed_here)
