"""What ``faults_elsewhere.py`` beside it kills in: hosts behind an sshd each, a Slurm, a Ray of two nodes.

All of it is real, on one machine; each has its own marks on what is played there, by which it is found.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil
from faults import MARK, Broken

from gym_gui.processes.tree import TAG, members
from tests.support.ray import Ray, ray_cluster, ray_folder, second_node
from tests.support.slurm import Cluster, slurm
from tests.support.sshd import Sshd, sshd

ROOT: Final = Path(__file__).resolve().parents[2]
EPISODES: Final = 150
"""Of each of two operators."""
SHARDS, OF_HANDS = 4, 12
"""In how many parts they are played; and where one process is to play several of them."""
LONG_S: Final = 420.0
RESUMED: Final = 3
"""How often a person resumes a submission that has ended unfinished."""
HOSTS: Final = ("one", "two")
Again = Callable[[], None]
"""Starts what was killed again."""


class Place(ABC):
    """Where shards are played by one executor.

    Attributes:
        name: The executor's.
        marks: Of what is played there; one for each part of it that can be lost by itself.
        home: Folder of everything.
        takes_s: How long an undisturbed submission takes.
    """

    name: str
    marks: tuple[str, ...]

    def __init__(self, home: Path) -> None:
        self.home, self.takes_s = home, 0.0

    @abstractmethod
    def profile(self, lines: Callable[[str], list[str]]) -> dict[str, Any]:
        """A profile; ``lines`` gives the lines of shell for what has a mark."""

    @abstractmethod
    def tries(self, runs: Path) -> Iterable[Path]:
        """Folders of tries, where a submission's runs go to ``runs``."""

    @abstractmethod
    def lose(self, what: str, played: Played, chance: random.Random) -> Again | None:
        """Kill a part of it; ``None`` where nothing of it is there now."""

    def tend(self) -> None:
        """Do what an administrator does meanwhile."""
        return

    def told(self) -> str:
        """What it says of itself, where something was wrong."""
        return ""


class Hosts(Place):
    """Two hosts behind an sshd each, which play two shards at once."""

    name, marks = "ssh", HOSTS

    def __init__(self, home: Path, servers: dict[str, Sshd]) -> None:
        super().__init__(home)
        self._servers = servers
        (home / "ssh_config").write_text("\n".join(each.config.read_text() for each in servers.values()))

    def profile(self, lines: Callable[[str], list[str]]) -> dict[str, Any]:
        hosts = [{"host": h, "folder": str(self.home / h), "setup": lines(h)} for h in HOSTS]
        return {
            "ssh_config": str(self.home / "ssh_config"),
            "processes": 1,
            "shards": 2,
            "patience": 5,
            "hosts": hosts,
        }

    def tries(self, runs: Path) -> Iterable[Path]:
        return [place for host in HOSTS for place in (self.home / host).glob("*/work/*/[0-9]*")]

    def lose(self, what: str, played: Played, chance: random.Random) -> Again | None:
        host = chance.choice(HOSTS)
        pids = {number_in(p / "pid") for p in self.tries(played.runs) if p.parents[3].name == host} - {0}
        self._servers[host].end()
        kill([*pids, *played.on(host)])
        return self._servers[host].start


class Slurm(Place):
    """A Slurm of one node."""

    name, marks = "slurm", ("slurm",)

    def __init__(self, home: Path, cluster: Cluster) -> None:
        super().__init__(home)
        self._cluster = cluster

    def profile(self, lines: Callable[[str], list[str]]) -> dict[str, Any]:
        return {"processes": 1, "shards": 2, "time": "10", "setup": lines("slurm")}

    def tries(self, runs: Path) -> Iterable[Path]:
        return runs.glob("submissions/*/cluster/work/*/[0-9]*")

    def lose(self, what: str, played: Played, chance: random.Random) -> Again | None:
        daemon = "slurmctld" if what == "controller" else "slurmd"
        self._cluster.kill(daemon)
        return lambda: self._cluster.start(daemon)

    def tend(self) -> None:
        self._cluster.resume()

    def told(self) -> str:
        queue = self._cluster.ask("squeue", "-h", "-r", "-o", "%i %t %r").replace("\n", ", ")
        return f"; in the queue: {queue}"


class Tasks(Place):
    """A Ray of a head and a second node, each with a core."""

    name, marks = "ray", ("ray",)

    def __init__(self, home: Path, cluster: Ray, stack: ExitStack) -> None:
        super().__init__(home)
        self._cluster, self._stack = cluster, stack

    def profile(self, lines: Callable[[str], list[str]]) -> dict[str, Any]:
        return {"address": self._cluster.address, "folder": str(self.home / "ray"), "setup": lines("ray")}

    def tries(self, runs: Path) -> Iterable[Path]:
        return (self.home / "ray").glob("*/*/work/*/[0-9]*")

    def lose(self, what: str, played: Played, chance: random.Random) -> Again | None:
        if what == "node":
            self._cluster.lose_second(with_tasks=True)
            return lambda: self._stack.enter_context(second_node(self._cluster))
        if what == "keeper":
            found = [each for each in self._cluster.workers() if _is_keeper(each)]
        else:
            playing = set(played.ids("pid"))
            found = [
                each
                for each in self._cluster.workers()
                if playing & {child.pid for child in _started_by(each)}
            ]
        if not found:
            return None
        worker = chance.choice(found)
        tree = [worker] if what == "keeper" else [worker, *_started_by(worker)]
        kill([each.pid for each in tree])
        return nothing


def _is_keeper(process: psutil.Process) -> bool:
    """Whether a process of Ray keeps tasks; one that has just ended does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return "Keeper" in " ".join(process.cmdline())
    return False


def _started_by(process: psutil.Process) -> list[psutil.Process]:
    """All that a process has started; nothing where it has just ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


@dataclass
class Nodes:
    """What experiments are played on.

    Attributes:
        home: Folder of everything.
        places: By executor.
        variables: By which all of it is found.
    """

    home: Path
    places: dict[str, Place]
    variables: dict[str, str] = field(default_factory=dict[str, str])

    def environment(self, mark: str) -> dict[str, str]:
        """Of commands, and of what they start."""
        own = {k: v for k, v in os.environ.items() if k != TAG}
        folders = {
            "MOSAIC_DATA_DIR": str(self.home / "data"),
            "MOSAIC_CACHE_DIR": str(self.home / "cache"),
            "MOSAIC_RUNTIME_DIR": str(self.home / "s"),
        }
        path = os.pathsep.join([str(ROOT), *filter(None, [self.variables.get("PYTHONPATH")])])
        return {**own, **self.variables, **folders, "PYTHONPATH": path, MARK: mark}

    def profile(self, executor: str, mark: str) -> Path:
        """A profile for one submission."""
        kept = self.environment(mark)
        names = ("PATH", "PYTHONPATH", "MOSAIC_DATA_DIR", "MOSAIC_CACHE_DIR", "MOSAIC_RUNTIME_DIR")

        def lines(place: str) -> list[str]:
            return [*(f"export {key}='{kept[key]}'" for key in names), f"export {MARK}={mark}-{place}"]

        file = self.home / f"{mark}.json"
        place = self.places[executor].profile(lines)
        file.write_text(json.dumps({"mosaic": f"{sys.executable} -m gym_gui", **place}))
        return file


class Played:
    """One submission, which is hit once."""

    def __init__(self, nodes: Nodes, executor: str, mark: str, shards: int = SHARDS) -> None:
        self.nodes, self.place, self.mark = nodes, nodes.places[executor], mark
        self.runs = nodes.home / f"runs-{mark}"
        self.said = nodes.home / f"said-{mark}"
        profile = nodes.profile(executor, mark)
        options = ("--executor", executor, "--profile", str(profile), "--shards", str(shards))
        self._asked = ("run", str(nodes.home / "experiment.json"), *options, "--out", str(self.runs))
        self.process = self._start(*self._asked)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self.said.open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "gym_gui", *arguments],
                env=self.nodes.environment(self.mark),
                cwd=self.nodes.home,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    @property
    def submission(self) -> Path | None:
        """The folder of the submission, once it has one that can be resumed."""
        return next((f.parent for f in self.runs.glob("submissions/*/submission.json")), None)

    def ids(self, name: str) -> list[int]:
        """Living processes whose number stands in a file of a try."""
        numbers = {number_in(place / name) for place in self.place.tries(self.runs)} - {0}
        return sorted(filter(psutil.pid_exists, numbers))

    def on(self, *marks: str) -> list[int]:
        """All living processes of parts of the place."""
        return [pid for each in marks for pid in members(f"{MARK}={self.mark}-{each}")]

    def _status(self) -> int:
        deadline = time.monotonic() + LONG_S
        while time.monotonic() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.process.wait(2.0)
            self.place.tend()
        raise Broken(f"it has not ended within {LONG_S:g} s")

    def end(self) -> str:
        """Wait until it has ended, and go on with it as a person would; returns how it came to that."""
        resumed = 0
        while status := self._status():
            if resumed == RESUMED:
                raise Broken(f"gone on with {resumed} times, it ended with status {status}")
            resumed += 1
            folder = self.submission
            self.process = self._start(*(("run", "--resume", str(folder)) if folder else self._asked))
        if not resumed:
            return "went on by itself"
        return "gone on with" if resumed == 1 else f"gone on with, {resumed} times"


def nothing() -> None:
    """What was killed is not started again by us."""


def number_in(file: Path) -> int:
    """The number in a file; 0 where there is none yet."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0


def line_of(pid: int) -> bytes:
    """A process's command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def kill(pids: Sequence[int]) -> None:
    """End processes at once."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def nodes_in(home: Path) -> Generator[Nodes]:
    """Hosts and clusters, and an experiment."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(sshd(home / f"sshd-{name}", name)) for name in HOSTS}
        # A node that is lost, and jobs that are lost with it, are noticed soon.
        soon: dict[str, Any] = {"SlurmdTimeout": 6, "BatchStartTimeout": 1}
        cluster = stack.enter_context(slurm(home / "slurm", **soon))
        ray = stack.enter_context(ray_cluster(ray_folder(home / "installed")))
        stack.enter_context(second_node(ray))
        rows = [("chance", {"type": "random"}), ("turns", {"type": "baseline", "behavior": "cycle"})]
        operators = [{"id": n, "task": "CartPole-v1", "workers": {"agent": w}} for n, w in rows]
        how = {"num_episodes": EPISODES, "seeds": 1, "processes": 1}
        (home / "experiment.json").write_text(json.dumps({"operators": operators, "execution": how}))
        places = (Hosts(home, servers), Slurm(home, cluster), Tasks(home, ray, stack))
        yield Nodes(home, {each.name: each for each in places}, {**cluster, **ray.variables})
