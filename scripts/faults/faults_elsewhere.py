"""Kills at random moments while an experiment is played on other machines: figures of docs/faults.md.

    python scripts/faults/faults_elsewhere.py [--kills 20] [--seed N] [--only WORDS] [--json FILE]

Two hosts behind an sshd each, a Slurm of one node, and a Ray of two, for real (installed where they are
missing, as root). Each kill hits a shard, its session process, the script or the task that plays it, a whole
node, the coordinator, the controller of Slurm or what keeps a submission on Ray with SIGKILL, at a moment
drawn from the seed. What was killed is started again, or stays away; the submission goes on by itself or by
``--resume``. Then the run must be equal to one that was played here, episode by episode, each of them once;
nothing may be left on a node. Twelve kills hit each of the first targets, twenty all.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import SkipTest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from faults import Broken, Fault, arguments, chosen, told_of, written  # noqa: E402
from faults_nodes import (  # noqa: E402
    EPISODES,
    OF_HANDS,
    SHARDS,
    Again,
    Nodes,
    Played,
    kill,
    line_of,
    nodes_in,
    nothing,
)

from gym_gui.analysis import compare_runs  # noqa: E402

ATTEMPTS, TOO_LATE = 4, "it had ended"


def _on(place: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{name} ({place})" for name in names)


TARGETS = (
    *_on("ssh", "shard of a hand", "script", "node", "node that stays away", "coordinator"),
    *_on("slurm", "shard of a hand", "node", "controller", "coordinator"),
    *_on("ray", "task", "node", "coordinator"),
)
FURTHER = (
    *_on("ssh", "shard", "session process"),
    *_on("slurm", "script", "session process"),
    *_on("ray", "shard", "session process", "script", "keeper"),
)


def campaign(kills: int, seed: int) -> list[Fault]:
    """Each target in turn, at random moments: ``delay_s`` is a share of the time that it all takes."""
    chance = random.Random(seed)
    rows: list[str] = []
    while len(rows) < kills:
        rows += chance.sample(TARGETS, len(TARGETS)) + chance.sample(FURTHER, len(FURTHER))
    moments = [chance.random() for _ in range(kills)]
    return [
        Fault(i, name, "SIGKILL", f"{moment:.0%} of the time", moment)
        for i, (name, moment) in enumerate(zip(rows, moments, strict=False), 1)
    ]


def hit(played: Played, name: str, chance: random.Random) -> Again | None:
    """Kill what is meant; returns what starts it again, ``None`` where nothing of it is there now."""
    if name == "coordinator":
        found = [played.process.pid]
    elif name == "session process":
        found = [pid for pid in played.on(*played.place.marks) if b"gym_gui.host" in line_of(pid)]
    elif name == "script":
        found = played.ids("pid")
    elif name.startswith("shard"):
        found = played.ids("run")
    else:
        return played.place.lose(name, played, chance)
    if not found:
        return None
    kill([chance.choice(found)])
    return nothing


class Later(threading.Thread):
    """Does something in a while."""

    def __init__(self, seconds: float, deed: Again) -> None:
        super().__init__()
        self._seconds, self._deed, self._failed = seconds, deed, ""
        self.start()

    def run(self) -> None:
        """Do it."""
        time.sleep(self._seconds)
        try:
            self._deed()
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            self._failed = f"what was killed could not be started again: {error}"

    def done(self) -> None:
        """Wait for that.

        Raises:
            Broken: It has failed.
        """
        self.join()
        if self._failed:
            raise Broken(self._failed)


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
    name, executor = fault.target.removesuffix(")").split(" (")
    chance = random.Random(fault.delay_s)
    played = Played(nodes, executor, mark, OF_HANDS if "hand" in name else SHARDS)
    try:
        moment = time.monotonic() + fault.delay_s * played.place.takes_s
        again: Again | None = None
        while again is None and played.process.poll() is None:
            if time.monotonic() >= moment:
                again = hit(played, name, chance)
            time.sleep(0.02)
        away = "stays away" in name
        back = Later(chance.uniform(0.0, 5.0), again) if again and not away else None
        came = played.end()
        if back is not None:
            back.done()
        elif again is not None:
            again()
        look_at(played, whole)
    except Broken as error:
        played.process.kill()
        last = played.said.read_text(errors="replace").strip().splitlines()[-3:]
        return False, f"{error}; last it said: {' | '.join(last)}{played.place.told()}"
    return True, came if again is not None else TOO_LATE


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
    while left := [*played.on(*played.place.marks), *played.ids("pid")]:
        if time.monotonic() > deadline:
            raise Broken(f"processes are left: {[line_of(pid) for pid in left]}")
        time.sleep(0.1)


def undisturbed(nodes: Nodes) -> Path:
    """Play it here, and once by each executor, to know how long that takes; returns the run."""
    here = nodes.home / "here"
    line = [sys.executable, "-m", "gym_gui", "run", str(nodes.home / "experiment.json"), "--out", str(here)]
    subprocess.run(line, env=nodes.environment("here"), cwd=nodes.home, check=True, capture_output=True)
    whole = next(file.parent for file in here.glob("*/run.json"))
    for executor, place in nodes.places.items():
        begun = time.monotonic()
        played = Played(nodes, executor, f"first-{executor}")
        played.end()
        place.takes_s = time.monotonic() - begun
        look_at(played, whole)
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Carry the kills out; returns 1 where something was not well."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--kills", type=int, default=20, help="how many")
    parser.set_defaults(seed=random.SystemRandom().randrange(10**6))
    args = parser.parse_args(argv)
    print(f"Seed {args.seed}", flush=True)
    faults = chosen(campaign(args.kills, args.seed), args.only, quick=False)
    rows: list[dict[str, Any]] = []
    begun = time.monotonic()
    try:
        carry_out(faults, rows)
    except SkipTest as error:
        print(f"Left out: {error}")
        return 0
    return written(rows, time.monotonic() - begun, args.json)


def carry_out(faults: Sequence[Fault], rows: list[dict[str, Any]]) -> None:
    """One kill after the other."""
    # Short: paths of sockets have to fit.
    with tempfile.TemporaryDirectory(prefix="mf-") as folder, nodes_in(Path(folder)) as nodes:
        whole = undisturbed(nodes)
        took = ", ".join(f"{name} {place.takes_s:.0f} s" for name, place in nodes.places.items())
        print(f"Undisturbed: {took}", flush=True)
        for fault in faults:
            rows.append(told_of(fault, *carried_out(nodes, fault, whole)))


if __name__ == "__main__":
    sys.exit(main())
