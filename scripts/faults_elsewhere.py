"""Kills at random moments while an experiment is played on other machines: figures of docs/faults.md.

    python scripts/faults_elsewhere.py [--kills 20] [--seed N] [--only WORDS] [--json FILE]

Two hosts behind an sshd each, and a Slurm of one node, for real (installed where they are missing, as root).
Each kill hits a shard, its session process, the script that plays it, a whole node, the coordinator or the
controller of Slurm with SIGKILL, at a moment drawn from the seed. What was killed is started again, or stays
away; the submission goes on by itself or by ``--resume``. Then the run must be equal to one that was played
here, episode by episode, each of them once; nothing may be left on a node.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from faults import MARK, Broken, Fault, chosen, show  # noqa: E402

from gym_gui.analysis import compare_runs  # noqa: E402
from gym_gui.processes.tree import TAG  # noqa: E402
from tests.support.slurm import Cluster, slurm  # noqa: E402
from tests.support.sshd import Sshd, sshd  # noqa: E402

EPISODES, SHARDS = 150, 4
"""Of each of two operators; and in how many parts they are played."""
LONG_S = 420.0
ATTEMPTS, TOO_LATE = 4, "it had ended"
RESUMED = 3
"""How often a person goes on with what has ended unfinished."""
HOSTS = ("one", "two")
OF_ALL = ("shard", "session process", "script", "node", "coordinator")
TARGETS = (
    *(f"{each} (ssh)" for each in (*OF_ALL, "node that stays away")),
    *(f"{each} (slurm)" for each in (*OF_ALL, "controller")),
)


def campaign(kills: int, seed: int) -> list[Fault]:
    """Each target in turn, at random moments: ``delay_s`` is a share of the time that it all takes."""
    chance = random.Random(seed)
    rows: list[str] = []
    while len(rows) < kills:
        rows += chance.sample(TARGETS, len(TARGETS))
    return [Fault(i, name, "SIGKILL", "", chance.random()) for i, name in enumerate(rows[:kills], 1)]


@dataclass
class Nodes:
    """What experiments are played on.

    Attributes:
        home: Folder of everything.
        servers: By host, its sshd.
        cluster: The Slurm.
        takes_s: By executor, how long an undisturbed submission takes.
    """

    home: Path
    servers: dict[str, Sshd]
    cluster: Cluster
    takes_s: dict[str, float]

    def environment(self, mark: str) -> dict[str, str]:
        """Of commands, and of what they start."""
        own = {k: v for k, v in os.environ.items() if k != TAG}
        folders = {
            "MOSAIC_DATA_DIR": str(self.home / "data"),
            "MOSAIC_CACHE_DIR": str(self.home / "cache"),
            "MOSAIC_RUNTIME_DIR": str(self.home / "s"),
        }
        return {**own, **self.cluster, **folders, "PYTHONPATH": str(ROOT), MARK: mark}

    def profile(self, executor: str, mark: str) -> Path:
        """A profile for one submission."""
        kept = self.environment(mark)
        names = ("PATH", "PYTHONPATH", "MOSAIC_DATA_DIR", "MOSAIC_CACHE_DIR", "MOSAIC_RUNTIME_DIR")

        def lines(place: str) -> list[str]:
            return [*(f"export {key}='{kept[key]}'" for key in names), f"export {MARK}={mark}-{place}"]

        data: dict[str, Any] = {"mosaic": f"{sys.executable} -m gym_gui", "processes": 1}
        if executor == "ssh":
            data |= {"ssh_config": str(self.home / "ssh_config"), "shards": 2, "patience": 5}
            data["hosts"] = [{"host": h, "folder": str(self.home / h), "setup": lines(h)} for h in HOSTS]
        else:
            data |= {"setup": lines("slurm"), "time": "10"}
        file = self.home / f"{mark}.json"
        file.write_text(json.dumps(data))
        return file


class Played:
    """One submission, which is hit once."""

    def __init__(self, nodes: Nodes, executor: str, mark: str) -> None:
        self.nodes, self.executor, self.mark = nodes, executor, mark
        self.runs = nodes.home / f"runs-{mark}"
        self.said = nodes.home / f"said-{mark}"
        profile = nodes.profile(executor, mark)
        options = ("--executor", executor, "--profile", str(profile), "--shards", str(SHARDS))
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
        """Its folder, once there is one that can be gone on with."""
        return next((f.parent for f in self.runs.glob("submissions/*/submission.json")), None)

    def places(self) -> list[Path]:
        """Folders of tries on nodes."""
        if self.executor == "slurm":
            return list(self.runs.glob("submissions/*/cluster/work/*/[0-9]*"))
        return [place for host in HOSTS for place in (self.nodes.home / host).glob("*/work/*/[0-9]*")]

    def ids(self, name: str) -> list[int]:
        """Living processes whose number stands in a file of a try."""
        return [pid for place in self.places() if (pid := number_in(place / name)) and is_alive(pid)]

    def on(self, place: str) -> list[int]:
        """All living processes of a place."""
        return marked(f"{MARK}={self.mark}-{place}".encode())

    def _status(self) -> int:
        deadline = time.monotonic() + LONG_S
        while time.monotonic() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.process.wait(2.0)
            if self.executor == "slurm":
                self.nodes.cluster.resume()
        raise Broken(f"it has not ended within {LONG_S:g} s")

    def end(self) -> str:
        """Wait until it has ended, and go on with it as a person would; returns how it came to that."""
        resumed = 0
        while True:
            status = self._status()
            if status == 0:
                return (
                    "went on by itself"
                    if not resumed
                    else f"gone on with, {resumed} times".replace(", 1 times", "")
                )
            if resumed == RESUMED:
                raise Broken(f"gone on with {resumed} times, it ended with status {status}")
            resumed += 1
            folder = self.submission
            begun = ("run", "--resume", str(folder)) if folder else self._asked
            self.process = self._start(*begun)


def number_in(file: Path) -> int:
    """The number in a file; 0 where there is none yet."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def marked(mark: bytes) -> list[int]:
    """Processes that have a line in their environment."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
    return found


def line_of(pid: int) -> bytes:
    """A process's command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def hit(played: Played, target: str, chance: random.Random) -> Callable[[], None] | None:
    """Kill what is meant; returns what starts it again, ``None`` where nothing of it is there now."""
    nodes = played.nodes
    nothing: Callable[[], None] = lambda: None  # noqa: E731
    name = target.partition(" (")[0]
    if name == "coordinator":
        found = [played.process.pid]
    elif name == "controller":
        nodes.cluster.kill("slurmctld")
        return lambda: nodes.cluster.start("slurmctld")
    elif name.startswith("node") and played.executor == "slurm":
        nodes.cluster.kill("slurmd")
        return lambda: nodes.cluster.start("slurmd")
    elif name.startswith("node"):
        host = chance.choice(HOSTS)
        pids = {number_in(p / "pid") for p in played.places() if p.parents[3].name == host} - {0}
        nodes.servers[host].end()
        kill([*pids, *played.on(host)])
        return nodes.servers[host].start
    elif name == "session process":
        found = [
            pid for place in (*HOSTS, "slurm") for pid in played.on(place) if b"gym_gui.host" in line_of(pid)
        ]
    else:
        found = played.ids("run" if name == "shard" else "pid")
    if not found:
        return None
    kill([chance.choice(found)])
    return nothing


def kill(pids: Sequence[int]) -> None:
    """End processes at once."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def carried_out(nodes: Nodes, fault: Fault, whole: Path) -> tuple[bool, str]:
    """One kill: whether all was well, and what it came to; earlier where it came too late."""
    well, came = False, TOO_LATE
    for attempt in range(ATTEMPTS):
        sooner = replace(fault, delay_s=fault.delay_s * 0.6**attempt)
        well, came = once(nodes, sooner, whole, f"k{fault.number}-{attempt}")
        if not well or came != TOO_LATE:
            break
    return well, came


def once(nodes: Nodes, fault: Fault, whole: Path, mark: str) -> tuple[bool, str]:
    """One submission, killed in at a moment of it."""
    executor = "slurm" if "(slurm)" in fault.target else "ssh"
    chance = random.Random(fault.delay_s)
    played = Played(nodes, executor, mark)
    try:
        moment = time.monotonic() + fault.delay_s * nodes.takes_s[executor]
        again: Callable[[], None] | None = None
        while again is None and played.process.poll() is None:
            if time.monotonic() >= moment:
                again = hit(played, fault.target, chance)
            time.sleep(0.02)
        if again is None:
            came = TOO_LATE
            again = lambda: None  # noqa: E731
        else:
            came = ""
        if "stays away" in fault.target:
            came = came or played.end()
            again()
        else:
            timer = threading.Timer(chance.uniform(0.0, 5.0), again)
            timer.start()
            came = came or played.end()
            timer.join()
        look_at(played, whole)
    except Broken as error:
        played.process.kill()
        last = played.said.read_text(errors="replace").strip().splitlines()[-3:]
        queue = nodes.cluster.ask("squeue", "-h", "-r", "-o", "%i %t %r").replace("\n", ", ")
        return False, f"{error}; last it said: {' | '.join(last)}; in the queue: {queue}"
    return True, came


def look_at(played: Played, whole: Path) -> None:
    """Hold the run against the one that was played here.

    Raises:
        Broken: It is another, or something is left.
    """
    runs = [file.parent for file in played.runs.glob("*/run.json")]
    if len(runs) != 1:
        raise Broken(f"there are {len(runs)} runs")
    for operator in ("chance", "turns"):
        lines = (runs[0] / "operators" / operator / "episodes.jsonl").read_text().splitlines()
        indices = [json.loads(line)["episode_index"] for line in lines]
        if indices != list(range(EPISODES)):
            raise Broken(f"episodes of {operator} are not there once each")
    if (differs := compare_runs(whole, runs[0])) is not None:
        raise Broken(f"it is not the run that was played here: {differs}")
    verify = [sys.executable, "-m", "gym_gui", "verify", str(runs[0])]
    if subprocess.run(verify, env=played.nodes.environment("v"), capture_output=True, check=False).returncode:
        raise Broken("mosaic verify finds something")
    deadline = time.monotonic() + 30
    while left := [line_of(pid) for place in (*HOSTS, "slurm") for pid in played.on(place)]:
        if time.monotonic() > deadline:
            raise Broken(f"processes are left: {left}")
        time.sleep(0.1)


@contextlib.contextmanager
def nodes_in(home: Path) -> Generator[Nodes]:
    """Hosts and a cluster, and an experiment."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(sshd(home / f"sshd-{name}", name)) for name in HOSTS}
        # A node that is lost, and jobs that are lost with it, are noticed soon.
        soon = {"SlurmdTimeout": 6, "BatchStartTimeout": 1}
        cluster = stack.enter_context(slurm(home / "slurm", **soon))
        (home / "ssh_config").write_text("\n".join(s.config.read_text() for s in servers.values()))
        rows = [("chance", {"type": "random"}), ("turns", {"type": "baseline", "behavior": "cycle"})]
        operators = [{"id": n, "task": "CartPole-v1", "workers": {"agent": w}} for n, w in rows]
        how = {"num_episodes": EPISODES, "seeds": 1, "processes": 1}
        (home / "experiment.json").write_text(json.dumps({"operators": operators, "execution": how}))
        yield Nodes(home, servers, cluster, {})


def undisturbed(nodes: Nodes) -> Path:
    """Play it here, and once by each executor, to know how long that takes; returns the run."""
    here = nodes.home / "here"
    line = [sys.executable, "-m", "gym_gui", "run", str(nodes.home / "experiment.json"), "--out", str(here)]
    subprocess.run(line, env=nodes.environment("here"), cwd=nodes.home, check=True, capture_output=True)
    whole = next(file.parent for file in here.glob("*/run.json"))
    for executor in ("ssh", "slurm"):
        begun = time.monotonic()
        played = Played(nodes, executor, f"first-{executor}")
        played.end()
        nodes.takes_s[executor] = time.monotonic() - begun
        look_at(played, whole)
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Carry the kills out; returns 1 where something was not well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="how many")
    parser.add_argument(
        "--seed", type=int, default=random.SystemRandom().randrange(10**6), help="of the moments"
    )
    parser.add_argument("--only", default="", help="numbers, or words of the fault's name")
    parser.add_argument("--json", type=Path, help="write results there")
    args = parser.parse_args(argv)
    print(f"Seed {args.seed}", flush=True)
    faults = chosen(campaign(args.kills, args.seed), args.only, quick=False)
    rows: list[dict[str, Any]] = []
    begun = time.monotonic()
    try:
        carry_out(faults, rows)
    except pytest.skip.Exception as error:
        print(f"Left out: {error}")
        return 0
    show(rows, time.monotonic() - begun)
    if args.json is not None:
        args.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["well"] for row in rows) else 1


def carry_out(faults: Sequence[Fault], rows: list[dict[str, Any]]) -> None:
    """One kill after the other."""
    # Short: paths of sockets have to fit.
    with tempfile.TemporaryDirectory(prefix="mf-") as folder, nodes_in(Path(folder)) as nodes:
        whole = undisturbed(nodes)
        print(f"Undisturbed: {', '.join(f'{k} {v:.0f} s' for k, v in nodes.takes_s.items())}", flush=True)
        for fault in faults:
            well, came = carried_out(nodes, fault, whole)
            moment = f"{fault.delay_s:.0%} of the time"
            print(
                f"{'ok  ' if well else 'BAD '} {fault.number}: {fault.target}, {moment}: {came}", flush=True
            )
            rows.append(
                {"name": f"{fault.target}, {moment}", "target": fault.target, "well": well, "came": came}
            )


if __name__ == "__main__":
    sys.exit(main())
