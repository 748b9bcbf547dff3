"""What a decision of a BDI agent costs in both interpreters: both sides in one run.

    python scripts/bench/bench_bdi.py [--decisions 500] [--json FILE]

An agent that believes 100 facts and acts by one of them decides so often, once while five of the facts
change with each decision and once while all do: CPU time of the process that thinks, and how long the
answer takes. Jason's interpreter is measured where ``MOSAIC_JASON_JAR`` names it, with its process's memory.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from bench import Figure, Figures

from gym_gui.workers.discovery import bundled_folders

ROOT = Path(__file__).resolve().parents[2]
BELIEFS = 100
WARM = 200
"""Decisions that are not counted: a virtual machine compiles meanwhile."""
GOAL_MS, MOST_MB = 5.0, 150
KINDS = ("free", "wall", "key", "ball", "box")
PROGRAM = "!go. +!go : key(X, 3) & X > 5 <- left; !go. +!go <- right; !go."
WORDS = ["left", "right", "forward", "pickup"]
Decide = Callable[[int, list[str]], Any]


def facts(step: int, changing: int) -> list[str]:
    """What is seen at a step, of five kinds; ``changing`` of the facts are others than before."""
    return [f"{KINDS[i % 5]}({step + i if i < changing else i}, {i // 5})" for i in range(BELIEFS)]


def in_python() -> Decide:
    """Decides in the interpreter that is written in Python, in this process."""
    for folder in bundled_folders():
        sys.path.append(str(folder / "spade_bdi_worker"))
    agent = importlib.import_module("spade_bdi_worker.agent")
    program = importlib.import_module("spade_bdi_worker.program").parse_program("mind.asl", PROGRAM)
    episode = agent.Episode(program, WORDS, (), "agent", 1)
    return lambda step, seen: episode.decide(step, seen, [], cycles=10_000, until=time.monotonic() + 60)


def cpu_of(pid: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(name: str, pid: int, decide: Decide, decisions: int, changing: int) -> Figure:
    """CPU time of a decision, held against the goal, beside the time that passed."""
    lasted: list[float] = []
    before = 0.0
    for step in range(WARM + decisions):
        seen = facts(step, changing)
        if step == WARM:
            before = cpu_of(pid)
        begun = time.perf_counter()
        decide(step, seen)
        lasted.append((time.perf_counter() - begun) * 1e3)
    cpu = (cpu_of(pid) - before) / decisions * 1e3
    counted = sorted(lasted[WARM:])
    p95 = counted[int(0.95 * len(counted))]
    detail = f"passed: median {statistics.median(counted):.2f} ms, 95th percentile {p95:.2f} ms"
    title = f"{name}, {changing} of {BELIEFS} beliefs change"
    return Figure(title, f"<= {GOAL_MS:g} ms", cpu, "ms CPU", cpu <= GOAL_MS, detail)


def in_jason(jason: Any, talks: Any, decisions: int) -> Generator[Figure]:
    """The same in Jason's interpreter, installed into a folder of its own, and the memory of its process."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MOSAIC_DATA_DIR"] = folder
        jason.install_worker("jason_worker", given=[Path(os.environ[jason.JAR])])
        talk = talks.Talk(Path(folder))
        for changing in (5, BELIEFS):
            agent = talk.agent(PROGRAM)
            decide: Decide = lambda _, seen, agent=agent: agent.decide(seen)  # noqa: E731
            yield measure("Jason", talk.process.pid, decide, decisions, changing)
        status = Path(f"/proc/{talk.process.pid}/status").read_text()
        peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024
        yield Figure("Jason, memory", f"<= {MOST_MB} MB", peak, "MB", peak <= MOST_MB, "at most")
        talk.process.stdin.close()
        talk.process.wait()


def main() -> int:
    """Measure, print a table, optionally write JSON; exit status 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--decisions", type=int, default=500)
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))  # other packages bring a ``tests`` of their own
    jason: Any = importlib.import_module("tests.support.jason")
    talks: Any = importlib.import_module("tests.support.talk")
    figures = Figures()
    here = "AgentSpeak in Python"
    for changing in (5, BELIEFS):
        figures.take(here, lambda n=changing: measure(here, os.getpid(), in_python(), args.decisions, n))
    if reason := jason.why_not():
        print(f"left out: {reason}", file=sys.stderr)
        return figures.told(args.json)
    figures.take("Jason", lambda: in_jason(jason, talks, args.decisions))
    return figures.told(args.json)


if __name__ == "__main__":
    sys.exit(main())
