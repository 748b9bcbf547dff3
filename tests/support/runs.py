"""``mosaic run`` as a process that a test disturbs, and the run folder it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from gym_gui.analysis import Run, open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import Experiment
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.records import EpisodeRecord, StepRecord
from gym_gui.processes.tree import TAG
from tests.support.processes import Offspring
from tests.support.waiting import LONG_S, eventually

_ROOT = Path(__file__).resolve().parents[2]
GATED = "tests.support.faults:gated"
GATED_SPREAD = "tests.support.faults:GatedSpread"


class Gate:
    """Where an environment of :mod:`tests.support.faults` waits for the test.

    Attributes:
        folder: Shared with the environment.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def kwargs(self, at: int, deed: str = "wait", **more: Any) -> dict[str, Any]:
        """``env_kwargs`` for an environment that does ``deed`` in the episode with seed ``at``."""
        return {"folder": str(self.folder), "at": at, "deed": deed, **more}

    def reached(self, times: int = 1) -> int:
        """Wait until the episode has come so far; returns the process it is in."""
        eventually(lambda: len(self.marks()) >= times, f"an episode comes to the gate {times} times")
        return self.marks()[-1]

    def marks(self) -> list[int]:
        """Processes that came to the gate, in order."""
        names = [path.name.split("-") for path in self.folder.glob("reached-*")]
        return [int(pid) for _, pid, _ in sorted(names, key=lambda parts: int(parts[2]))]

    def open(self) -> None:
        """Let the waiting environment pass, and all that come later."""
        (self.folder / "open").touch()


def slot(kind: str = "random", **more: Any) -> dict[str, Any]:
    """``workers`` of a single-agent operator."""
    return {"agent": {"type": kind, **more}}


def operator(name: str, workers: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """An operator on CartPole, or on what ``more`` says."""
    return {"id": name, "task": "CartPole-v1", "workers": dict(workers or slot()), **more}


class Recorded:
    """A run folder, wherever it was written.

    Args:
        out: The folder that holds it and no other.
    """

    def __init__(self, out: Path) -> None:
        self._out = out

    @property
    def folder(self) -> Path:
        """The run folder."""
        (file,) = self._out.glob("*/run.json")
        return file.parent

    def open(self) -> Run:
        """The run folder, read."""
        return open_run(self.folder)

    def header(self) -> dict[str, Any]:
        """``run.json`` as it is."""
        return orjson.loads((self.folder / "run.json").read_bytes())

    def episodes(self, name: str) -> dict[int, EpisodeRecord]:
        """An operator's finished episodes by index."""
        return {e.episode_index: e for e in self.open().operators[name].episodes()}

    def statuses(self, name: str) -> list[str]:
        """How an operator's episodes ended, in their order; each is there once."""
        episodes = self.episodes(name)
        assert sorted(episodes) == list(range(len(episodes)))
        return [str(episodes[i].status) for i in sorted(episodes)]

    def steps(self, name: str) -> list[StepRecord]:
        """An operator's rows."""
        return list(self.open().operators[name].steps())


async def played_here(
    out: Path, experiment: Mapping[str, Any] | Experiment, *, processes: int = 1
) -> Recorded:
    """Play an experiment with this process as the session of every operator; workers have their own.

    What is recorded is what ``mosaic run`` records: processes of sessions add nothing to it.

    Args:
        out: The folder of the run folder.
        experiment: As data, or as it was read.
        processes: Sessions at work at the same time.
    """
    asked = experiment if isinstance(experiment, Experiment) else experiment_from_data(dict(experiment))
    resolved_operators = [resolve_operator(one) for one in asked.operators]
    await OperatorScriptExecutionManager(
        asked, resolved_operators, LocalSession, out, processes=processes
    ).run()
    return Recorded(out)


class MosaicRun(Recorded):
    """A ``mosaic run`` in a process of its own.

    Args:
        home: Where the experiment file and the run folders go.
        offspring: What it starts is found through it.
        experiment: ``operators`` and ``execution``, or the text of a Python file; ``None`` with
            ``--resume`` among the options.
        options: More for the command line.
        environment: More for its environment.
        command: ``tournament``, for a run that is one.
    """

    def __init__(
        self,
        home: Path,
        offspring: Offspring,
        experiment: Mapping[str, Any] | str | None,
        *options: str,
        environment: Mapping[str, str] | None = None,
        command: str = "run",
    ) -> None:
        super().__init__(home / "runs")
        self.offspring = offspring
        arguments = list(options)
        if isinstance(experiment, str):
            (home / "experiment.py").write_text(experiment, encoding="utf-8")
            arguments.insert(0, str(home / "experiment.py"))
        elif experiment is not None:
            (home / "experiment.json").write_bytes(orjson.dumps(experiment))
            arguments.insert(0, str(home / "experiment.json"))
        self._said = (home / "stdout", home / "stderr")
        # Like a program that a user starts: no test process watches over it.
        inherited = {key: value for key, value in os.environ.items() if key != TAG}
        with self._said[0].open("wb") as out, self._said[1].open("wb") as err:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "gym_gui",
                    command,
                    "--trust",
                    *arguments,
                    "--out",
                    str(self._out),
                    "--json",
                ],
                stdout=out,
                stderr=err,
                cwd=home,
                # Before what dependencies install: one of them has a package `tests` as well.
                env={**inherited, "PYTHONPATH": str(_ROOT), **offspring.variables, **(environment or {})},
                start_new_session=True,
            )

    @property
    def out(self) -> str:
        """Standard output so far."""
        return self._said[0].read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        """Standard error so far."""
        return self._said[1].read_text(encoding="utf-8")

    def wait(self, within: float = LONG_S, *, tracebacks: bool = False) -> int:
        """Its exit status; nothing it started is left.

        Args:
            within: Seconds it may take.
            tracebacks: Whether a user's own worker was to raise, which its log shows.
        """
        try:
            status = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"mosaic run did not end within {within:g} s:\n{self.err}") from None
        self.offspring.assert_none()
        assert tracebacks or "Traceback" not in self.err, self.err
        return status

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def host(self, name: str) -> int:
        """The one session host process of an operator."""
        (pid,) = eventually(lambda: self.offspring.hosts(name), f"a session process of {name}")
        return pid

    def worker(self, name: str, worker: str = "operators_worker") -> int:
        """The one worker process of an operator."""
        (pid,) = eventually(lambda: self.offspring.workers(name, worker), f"a worker process of {name}")
        return pid


def kill(pid: int) -> None:
    """``kill -9``."""
    os.kill(pid, signal.SIGKILL)
