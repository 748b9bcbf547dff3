"""Breaks runs on purpose, one way after the other, and looks at what is left: the figures of docs/faults.md.

    python scripts/faults/faults.py [--quick] [--only WORDS] [--seed N] [--jobs N] [--json FILE]

A fault is who is hit, with what, when, and a moment's delay drawn from the seed. Each is a real
``mosaic run`` (or a training under a daemon of its own) in folders of its own. After it every episode
must be on record once and equal to that of an undisturbed run, whatever was recorded before a
``--resume`` likewise; no process, socket or shared memory may be left. ``--only 17`` repeats a fault.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gym_gui.core.terminal import print_rows  # noqa: E402
from gym_gui.processes.tree import TAG, members  # noqa: E402

EPISODES, SEED, STEPS = 8, 100, 30
MODEL_EPISODES = 16
"""Of a model: enough for ten calls in a row to fail before the last."""
MARK = "MOSAIC_FAULT"
LONG_S = 240.0
WORKER = "brittle_worker"
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "pause")
"""``pause``: SIGSTOP, and SIGCONT a second later."""


@dataclass(frozen=True)
class Fault:
    """Something that is done to one run.

    Attributes:
        number: Its place in the campaign; repeats it.
        target: Who is hit.
        kind: With what.
        when: At what point.
        delay_s: How long after that point.
        settings: Of the worker, where it does it to itself.
    """

    number: int
    target: str
    kind: str
    when: str
    delay_s: float
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.number}: {self.target}, {self.kind}, {self.when}"


class Broken(Exception):
    """What must not be was found."""


# -- the table -----------------------------------------------------------------------------------

WORKER_PLACES = {"loading": {"when": "load"}, "first step": {"at": 0}, "mid-episode": {"at": 40}}
LATER = {"between episodes": {"when": "end"}, "finishing": {"when": "close"}}
DEEDS: dict[str, dict[str, Any]] = {
    "SIGKILL": {"fault": "signal", "signal": "SIGKILL"},
    "SIGSEGV": {"fault": "signal", "signal": "SIGSEGV"},
    "SIGTERM": {"fault": "signal", "signal": "SIGTERM"},
    "SIGSTOP": {"fault": "freeze"},
    "exit": {"fault": "exit"},
    "raise": {"fault": "raise"},
    "chatter": {"fault": "log_flood", "count": 20_000},
    "prints": {"fault": "stderr_flood", "count": 50_000},
    "children": {"fault": "grandchildren", "count": 2},
    "slow": {"fault": "late", "seconds": 1.0},
}
MESSAGES = ["garbage", "bad_message", "empty_message", "huge_header", "half_message", "wrong_shape"]
ANSWERS = ["wrong_dtype", "missing_leaf", "duplicate", "unknown_id", "unknown_slot", "split", "reversed"]
TRAINING = {"daemon": ("gym_gui", "daemon"), "runner": ("runner",), "training": ("search_trainer.train",)}
OUTSIDE = ("starting", "loading", "first step", "mid-episode", "finishing")
MODEL_SERVER = "model server"
MODEL_FAULTS = ("SIGKILL", "pause", "errors")
"""``errors``: from then on every call is refused (502), until the server is well again."""


def campaign(seed: int) -> list[Fault]:
    """All faults, in an order that spreads what takes long."""
    chance = random.Random(seed)
    rows: list[tuple[str, str, str, dict[str, Any]]] = []
    for (kind, deed), (when, place) in product(DEEDS.items(), {**WORKER_PLACES, **LATER}.items()):
        rows.append(("worker", kind, when, {**deed, **place}))
    for kind, at in product([*MESSAGES, *ANSWERS], (0, 40)):
        when = "mid-episode" if at else "first step"
        rows.append(("worker", kind.replace("_", " "), when, {"fault": kind, "at": at}))
    for _ in range(2):
        for target, kind, when in product(("mosaic", "session host", "worker"), SIGNALS, OUTSIDE):
            rows.append((target, f"{kind} from outside" if target == "worker" else kind, when, {}))
    for when in OUTSIDE:
        rows.append(("reaper", "SIGKILL", when, {}))
        rows.append(("reaper and mosaic", "SIGKILL", when, {}))
        rows.append(("mosaic and session host", "SIGKILL", when, {}))
    for when in OUTSIDE[2:]:
        rows += [("mosaic", "folder deleted", when, {}), ("mosaic", "disk full", when, {})]
    for target, kind, when in product(TRAINING, ("SIGKILL", "SIGTERM"), ("starting", "mid-run")):
        rows.append((target, kind, when, {}))
    for kind, when in product(MODEL_FAULTS, ("first step", "mid-episode", "finishing")):
        rows.append((MODEL_SERVER, kind, when, {}))
    return [
        Fault(number, target, kind, when, chance.uniform(0.0, 0.4), settings)
        for number, (target, kind, when, settings) in enumerate(rows, 1)
    ]


# -- one experiment ------------------------------------------------------------------------------


class Stage:
    """Folders and processes of one fault; no other fault and no user shares them."""

    def __init__(self, home: Path, fault: Fault) -> None:
        self.home, self.fault = home, fault
        self.mark = f"{home.name}-{os.urandom(6).hex()}"
        self.runs, self.sockets = home / "runs", home / "s"
        self.data = home / "data"
        self.server: asyncio.subprocess.Process | None = None
        self.port = 0
        for folder in (self.runs, self.data / "workers"):
            folder.mkdir(parents=True)
        manifest = (ROOT / "3rd_party/test_worker/worker.toml").read_text()
        manifest = manifest.replace('id = "test_worker"', f'id = "{WORKER}"')
        manifest = manifest.replace("[launch]", "[launch]\nheartbeat_s = 2")
        place = self.data / "workers" / WORKER
        shutil.copytree(ROOT / "3rd_party/test_worker/test_worker", place / "test_worker")
        (place / "worker.toml").write_text(manifest)
        inherited = {k: v for k, v in os.environ.items() if k != TAG}
        self.environment = {
            **inherited,
            MARK: self.mark,
            "PYTHONPATH": str(ROOT),
            "MOSAIC_DATA_DIR": str(self.data),
            "MOSAIC_RUNS_DIR": str(self.runs),
            "MOSAIC_CACHE_DIR": str(home.parent / "cache"),
            "MOSAIC_RUNTIME_DIR": str(self.sockets),
        }

    async def serve(self) -> None:
        """Start the model server, again on the port that it had."""
        environment = {**self.environment, MARK: "", TAG: ""}  # it is no part of the run
        self.server = await asyncio.create_subprocess_exec(
            *(sys.executable, str(ROOT / "scripts" / "faults" / "fault_model_server.py"), str(self.port)),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
        )
        assert self.server.stdout is not None
        self.port = int(await self.server.stdout.readline())

    async def end_server(self) -> None:
        """End the model server, if there is one."""
        if self.server is not None and self.server.returncode is None:
            self.server.kill()
            await self.server.wait()

    def _write_model_experiment(self) -> Path:
        """On the ice, a model decides."""
        settings = {
            "client_name": "vllm",
            "base_url": f"http://127.0.0.1:{self.port}/v1",
            "model_id": "tiny",
            "strategy": "naive",
            "retries": 0,
        }
        player = {"type": "llm", "worker_id": "mosaic_llm_worker", "settings": settings}
        player["on_invalid"] = {"retry": 1, "then": "random_legal"}
        operator = {"id": "op", "task": "FrozenLake-v1", "workers": {"agent": player}, "max_steps": 12}
        execution = {"num_episodes": MODEL_EPISODES, "seeds": SEED, "concurrency": 2, "processes": 1}
        path = self.home / "experiment.json"
        path.write_text(json.dumps({"operators": [operator], "execution": execution}))
        return path

    def write_experiment(self) -> Path:
        """The one experiment; only the worker's settings differ, which do not change what it plays."""
        if self.port:
            return self._write_model_experiment()
        settings = {"fault": "late", "times": 0, "seconds": 0.02, **self.fault.settings}
        if self.fault.settings:
            settings |= {"times": 1, "once": str(self.home / "once"), **self.fault.settings}
        player = {"type": "baseline", "worker_id": WORKER, "settings": settings}
        operator = {"id": "op", "task": "CartPole-v1", "workers": {"agent": player}, "max_steps": STEPS}
        execution = {"num_episodes": EPISODES, "seeds": SEED, "concurrency": 3, "processes": 1}
        path = self.home / "experiment.json"
        path.write_text(json.dumps({"operators": [operator], "execution": execution}))
        return path

    async def mosaic(self, *arguments: str) -> asyncio.subprocess.Process:
        """Start ``mosaic``."""
        with (self.home / "said").open("ab") as said:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "gym_gui", *arguments),
                env=self.environment,
                cwd=self.home,
                stdout=said,
                stderr=said,
                stdin=asyncio.subprocess.DEVNULL,
            )

    def processes(self, *words: str) -> list[int]:
        """Living processes of this stage whose command line has all the words."""
        found: list[int] = []
        for pid in members(self.mark):
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if all(any(word.encode() in part for part in line) for word in words):
                    found.append(pid)
        return found

    @property
    def episodes(self) -> int:
        """How many are to be on record."""
        return MODEL_EPISODES if self.port else EPISODES

    def run_folder(self) -> Path | None:
        """The run folder, once there is one."""
        return next((file.parent for file in self.runs.glob("*/run.json")), None)

    def recorded(self) -> dict[int, dict[str, Any]]:
        """Finished episodes by index.

        Raises:
            Broken: One is there twice.
        """
        rows: dict[int, dict[str, Any]] = {}
        folder = self.run_folder()
        path = folder / "operators/op/episodes.jsonl" if folder is not None else None
        if path is None or not path.exists():
            return rows
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                row = json.loads(line)
                if row["episode_index"] in rows:
                    raise Broken(f"episode {row['episode_index']} is on record twice")
                rows[row["episode_index"]] = row
        return rows

    async def nothing_left(self) -> None:
        """Wait until every process has ended.

        Raises:
            Broken: One has not.
        """
        deadline = time.monotonic() + 15
        while left := self.processes():
            if time.monotonic() > deadline:
                lines = [
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode() for pid in left
                ]
                raise Broken(f"processes are left: {lines}")
            await asyncio.sleep(0.05)

    def kill_all(self) -> None:
        """End whatever a broken scenario leaves."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


async def when(condition: Callable[[], Any], process: asyncio.subprocess.Process) -> Any:
    """Wait for something to become true; ``None`` where the process ends before it does."""
    deadline = time.monotonic() + LONG_S
    while not (found := condition()):
        if process.returncode is not None:
            return None
        if time.monotonic() > deadline:
            raise Broken("it does not come to the point at which it is to be hit")
        await asyncio.sleep(0.01)
    return found


PROGRAMS = {
    "session host": ("gym_gui.host",),
    "worker": ("mosaic_worker", WORKER),
    "reaper": ("gym_gui.processes.reaper",),
}


async def point_of(stage: Stage, process: asyncio.subprocess.Process) -> None:
    """Wait until the run has come to the fault's point."""
    fault = stage.fault
    targets = [t for t in fault.target.split(" and ") if t in PROGRAMS]
    if fault.when == "starting":
        for target in targets:
            await when(lambda target=target: stage.processes(*PROGRAMS[target]), process)
    elif fault.when == "loading":
        await when(lambda: stage.processes(*PROGRAMS["worker"]), process)
    elif fault.when == "first step":
        await when(stage.run_folder, process)
    else:
        least = stage.episodes - 2 if fault.when == "finishing" else 1
        await when(lambda: len(stage.recorded()) >= least, process)
    await asyncio.sleep(fault.delay_s)


async def hit(stage: Stage, process: asyncio.subprocess.Process) -> None:
    """Do it."""
    fault = stage.fault
    if fault.kind == "folder deleted":
        folder = stage.run_folder()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return
    if fault.kind == "disk full":
        fill_disk(stage, process)
        return
    if fault.target == MODEL_SERVER:
        await hit_server(stage)
        return
    pids: list[int] = []
    for target in fault.target.split(" and "):
        pids += [process.pid] if target == "mosaic" else stage.processes(*PROGRAMS[target])
    word = fault.kind.removesuffix(" from outside")
    numbers = (signal.SIGSTOP, signal.SIGCONT) if word == "pause" else (signal.Signals[word],)
    for k, number in enumerate(numbers):
        await asyncio.sleep(float(k))
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                if pid != process.pid or process.returncode is None:
                    os.kill(pid, number)


async def hit_server(stage: Stage) -> None:
    """The model server is killed, is paused for a second, or refuses whatever it is asked."""
    assert stage.server is not None
    if stage.fault.kind == "SIGKILL":
        await stage.end_server()
    elif stage.fault.kind == "errors":
        stage.server.send_signal(signal.SIGUSR1)
    else:
        stage.server.send_signal(signal.SIGSTOP)
        await asyncio.sleep(1.0)
        stage.server.send_signal(signal.SIGCONT)


async def make_server_well(stage: Stage) -> None:
    """As its owner does: started again, or mended."""
    assert stage.server is not None
    if stage.server.returncode is not None:
        await stage.serve()
    stage.server.send_signal(signal.SIGUSR2)


def fill_disk(stage: Stage, process: asyncio.subprocess.Process) -> None:
    """From now on no file of the run grows much: what a full disk says, for root as well."""
    folder = stage.run_folder()
    if folder is not None and process.returncode is None:
        size = (folder / "operators/op/steps.jsonl").stat().st_size
        most = max(12_288, size + 300)
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))


async def ended(process: asyncio.subprocess.Process) -> int:
    """Its exit status."""
    try:
        return await asyncio.wait_for(process.wait(), LONG_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise Broken(f"it did not end within {LONG_S:g} s") from None


def compare(stage: Stage, truth: dict[int, str], *, whole: bool) -> None:
    """Hold what is recorded against the undisturbed run."""
    rows = stage.recorded()
    for index, row in rows.items():
        own = stage.fault.kind == "raise" or "unusable action" in (row["error"] or "")
        if row["status"] == "failed" and (own or row.get("lost")):
            continue
        # Before the run stops, an episode may end with what is played where no reply came.
        if (
            stage.fault.target == MODEL_SERVER
            and "unusable_decisions" in row
            and any(row["unusable_decisions"].values())
        ):
            continue
        if row["status"] != "completed" or row["trajectory_sha256"] != truth[index]:
            raise Broken(f"episode {index} is recorded otherwise, as {row['status']}: {row['error']}")
    if whole and sorted(rows) != list(range(stage.episodes)):
        raise Broken(f"only episodes {sorted(rows)} are on record")


async def play(stage: Stage, truth: dict[int, str]) -> str:
    """Play, hit, look; go on where it was cut off. Returns what it came to."""
    fault = stage.fault
    process = await stage.mosaic("run", "--trust", str(stage.write_experiment()), "--out", str(stage.runs))
    if not fault.settings:
        await point_of(stage, process)
        await hit(stage, process)
    status = await ended(process)
    await stage.nothing_left()
    compare(stage, truth, whole=status == 0)
    said = (stage.home / "said").read_text(errors="replace")
    killed = "mosaic" in fault.target and fault.kind == "SIGKILL"
    # Before Python has come to the program itself a signal ends it, and nothing has been started.
    early = fault.target == "mosaic" and fault.when == "starting" and not said.strip()
    if status < 0 and not killed and not early:
        raise Broken(f"it ended with signal {-status}")
    if status > 0 and not said.strip():
        raise Broken(f"it ended with status {status} and without a word")
    asked = fault.target == "mosaic" and fault.kind in ("SIGTERM", "SIGINT")
    if asked and status not in (0, 130) and not early:
        raise Broken(f"interrupted, it ended with status {status}")
    if status == 0:
        return "played on"
    return await go_on(stage, truth)


async def go_on(stage: Stage, truth: dict[int, str]) -> str:
    """What a person would do next, until everything is on record."""
    if stage.server is not None:
        await make_server_well(stage)
    folder = stage.run_folder()
    deleted = stage.fault.kind == "folder deleted"
    arguments = ("--resume", str(folder)) if folder else (str(stage.home / "experiment.json"),)
    process = await stage.mosaic("run", "--trust", *arguments, "--out", str(stage.runs))
    status = await ended(process)
    await stage.nothing_left()
    compare(stage, truth, whole=True)
    failed = any(row["status"] == "failed" for row in stage.recorded().values())
    if status != (1 if failed else 0):
        raise Broken(f"gone on with, it ended with status {status}")
    if deleted:
        return "said, played anew"
    return "failed, said" if failed else "gone on with" if folder else "played anew"


# -- trainings -----------------------------------------------------------------------------------


async def train(stage: Stage) -> str:
    """A training under a daemon, one of which is hit."""
    from tests.support.training import search_trainer

    fault = stage.fault
    folder = stage.data / "workers/search_trainer"
    folder.mkdir()
    search_trainer(folder)
    options = ("--algo", "search", "--background", "--json", "--set", "step_s=0.01")
    try:
        first = await stage.mosaic("train", "--env", "CartPole-v1", *options, "--set", "total_steps=200")
        if await ended(first):
            raise Broken("the training could not be queued")
        target = TRAINING[fault.target]
        found: list[int] = await when(lambda: stage.processes(*target), first) or stage.processes(*target)
        deadline = time.monotonic() + 30
        while not found and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
            found = stage.processes(*target)
        await asyncio.sleep(fault.delay_s + (0.6 if fault.when == "mid-run" else 0))
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.Signals[fault.kind])
        # Train again: this starts a daemon that has gone, and it finds the earlier trainings.
        if await ended(
            await stage.mosaic("train", "--env", "CartPole-v1", *options, "--set", "total_steps=20")
        ):
            raise Broken("after it nothing can be trained")
        return await trained(stage)
    finally:
        await ended(await stage.mosaic("daemon", "--stop"))
        deadline = time.monotonic() + 20
        while stage.processes() and time.monotonic() < deadline:
            await asyncio.sleep(0.1)


async def trained(stage: Stage) -> str:
    """Wait until both trainings have ended, and say how."""
    deadline = time.monotonic() + LONG_S
    states: list[str] = []
    while time.monotonic() < deadline:
        (stage.home / "said").write_text("")
        await ended(await stage.mosaic("daemon", "--status", "--json"))
        text = (stage.home / "said").read_text()
        states = re.findall(r'"state": ?"(\w+)"', text)
        if len(states) == 2 and not set(states) & {"queued", "starting", "running", "stopping", "paused"}:
            expected = {"done", "finished", "completed"}
            if stage.fault.target == "daemon" and not set(states) <= expected:
                raise Broken(f"the daemon was hit, and the trainings ended as {states}")
            return f"training {', '.join(sorted(set(states)))}"
        await asyncio.sleep(0.5)
    raise Broken(f"the trainings are still {states}")


# -- the campaign --------------------------------------------------------------------------------


async def reference(home: Path, *, models: bool = False) -> dict[int, str]:
    """Digests of the undisturbed run; ``models``: of the one that a model plays."""
    home.mkdir()
    stage = Stage(home, Fault(0, "none", "nothing", "never", 0.0))
    try:
        if models:
            await stage.serve()
        process = await stage.mosaic(
            "run", "--trust", str(stage.write_experiment()), "--out", str(stage.runs)
        )
        if await ended(process):
            raise SystemExit((home / "said").read_text())
        await stage.nothing_left()
    finally:
        await stage.end_server()
    return {index: row["trajectory_sha256"] for index, row in stage.recorded().items()}


async def carried_out(home: Path, fault: Fault, truth: dict[int, str]) -> tuple[bool, str]:
    """One fault: whether all was well, and what it came to."""
    home.mkdir()
    stage = Stage(home, fault)
    try:
        if fault.target == MODEL_SERVER:
            await stage.serve()
        came = await (train(stage) if fault.target in TRAINING else play(stage, truth))
        if sockets := [p.name for p in stage.sockets.glob("*") if p.name.startswith("h")]:
            raise Broken(f"sockets are left: {sockets}")
        await stage.nothing_left()
    except Broken as exc:
        stage.kill_all()
        said = stage.home / "said"
        last = said.read_text(errors="replace").strip().splitlines()[-1:] if said.exists() else []
        return False, f"{exc}; last it said: {last[0]}" if last else str(exc)
    finally:
        await stage.end_server()
    return True, came


async def all_of(faults: Sequence[Fault], jobs: int, tell: Callable[[Fault, bool, str], None]) -> None:
    """Carry faults out, several at once."""
    # Short: paths of sockets have to fit.
    with tempfile.TemporaryDirectory(prefix="mf-") as folder:
        home = Path(folder)
        truth = await reference(home / "0")
        by_model = {}
        if any(fault.target == MODEL_SERVER for fault in faults):
            by_model = await reference(home / "0m", models=True)
        shared = set(Path("/dev/shm").glob("*"))
        waiting: Iterator[Fault] = iter(faults)

        async def work() -> None:
            for fault in waiting:
                equal_to = by_model if fault.target == MODEL_SERVER else truth
                tell(fault, *await carried_out(home / str(fault.number), fault, equal_to))

        await asyncio.gather(*(work() for _ in range(jobs)))
        mine = [p for p in set(Path("/dev/shm").glob("*")) - shared if "mosaic" in p.name]
        if mine:
            raise SystemExit(f"shared memory is left: {mine}")


def chosen(faults: list[Fault], only: str, *, quick: bool) -> list[Fault]:
    """Those that are asked for; ``quick``: one of each target and point."""
    if only:
        numbers = {int(n) for n in only.split(",")} if re.fullmatch(r"[\d,]+", only) else set[int]()
        return [f for f in faults if f.number in numbers or (not numbers and only in f.name)]
    if quick:
        firsts = {(f.target, f.when): f for f in reversed(faults)}
        return sorted(firsts.values(), key=lambda f: f.number)
    return faults


def arguments(doc: str) -> argparse.ArgumentParser:
    """What every campaign of faults is asked."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--only", default="", help="numbers, or words of the fault's name")
    parser.add_argument("--seed", type=int, default=20261122, help="of the moments")
    parser.add_argument("--json", type=Path, help="write results there")
    return parser


def told_of(fault: Fault, well: bool, came: str) -> dict[str, Any]:
    """Say what one fault came to; returns its row."""
    print(f"{'ok  ' if well else 'BAD '} {fault.name}: {came}", flush=True)
    return {"name": fault.name, "target": fault.target, "kind": fault.kind, "well": well, "came": came}


def written(rows: Sequence[dict[str, Any]], seconds: float, file: Path | None) -> int:
    """Show what all came to, and write it where that is asked for; returns the exit status."""
    show(rows, seconds)
    if file is not None:
        file.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["well"] for row in rows) else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Carry a campaign out; returns 1 where something was not well."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--quick", action="store_true", help="one fault of each target and point")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="runs at once")
    args = parser.parse_args(argv)
    faults = chosen(campaign(args.seed), args.only, quick=args.quick)
    rows: list[dict[str, Any]] = []
    begun = time.monotonic()

    def tell(fault: Fault, well: bool, came: str) -> None:
        rows.append(told_of(fault, well, came))

    asyncio.run(all_of(faults, max(1, args.jobs), tell))
    return written(rows, time.monotonic() - begun, args.json)


def show(rows: Sequence[dict[str, Any]], seconds: float) -> None:
    """The table by target and by what it came to."""
    cells: list[Sequence[str]] = []
    for target in dict.fromkeys(row["target"] for row in rows):
        mine = [row for row in rows if row["target"] == target]
        came = Counter(row["came"] for row in mine if row["well"])
        words = ", ".join(f"{n} {what}" for what, n in came.most_common())
        cells.append((target, str(len(mine)), str(sum(row["well"] for row in mine)), words))
    print_rows(("Hit", "Faults", "As it should be", "Came to"), cells, words=("Came to",))
    well = sum(row["well"] for row in rows)
    print(f"{well} of {len(rows)} faults in {seconds:.0f} s left everything as it should be.")


if __name__ == "__main__":
    sys.exit(main())
