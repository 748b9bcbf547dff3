"""How fast the engine is beside a bare loop in one process; both sides in one run.

    python scripts/bench/bench.py [--quick] [--only NAME] [--json FILE]

Each figure is a ratio: environment steps per second of the engine (every agent decided by
a worker process, every step recorded) over those of ``env.step(env.action_space.sample())``
in one process, measured in turn within the same minute, the median of the pairs. Machines
differ and are shared, so that absolute figures are printed for orientation only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import psutil

from gym_gui import envs
from gym_gui.analysis import open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.core.config import ExecutionConfig, Experiment, LinkGroup, OperatorConfig, WorkerAssignment
from gym_gui.core.terminal import print_rows
from gym_gui.envs.environment_registry import families
from gym_gui.envs.remote_env import close_servers
from gym_gui.host.host_client import HostSession
from gym_gui.workers.discovery import discover
from gym_gui.workers.process import Launch, WorkerProcess
from gym_gui.workers.registry import WorkerTypeRegistry

ROOT = Path(__file__).resolve().parents[2]
CARTPOLE, MINIGRID = "CartPole-v1", "MiniGrid-Empty-8x8-v0"
SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
PPO = str(ROOT / "docs/examples/checkpoints/ppo_cartpole")


@dataclass(frozen=True)
class Figure:
    """One line of the result."""

    name: str
    goal: str
    measured: float
    unit: str
    met: bool
    detail: str


class Figures:
    """What was measured so far. A figure that fails costs itself, and none of the others."""

    def __init__(self) -> None:
        self._kept: list[Figure] = []
        self._failed: list[tuple[str, str]] = []

    def take(self, name: str, measure: Callable[[], Figure | Iterable[Figure]]) -> None:
        """Measure, and say on stderr how it went."""
        try:
            found = measure()
            for figure in [found] if isinstance(found, Figure) else found:
                self._kept.append(figure)
                print(f"{figure.name}: {figure.measured:,.2f} {figure.unit}", file=sys.stderr)
        except Exception as error:  # what else was measured is to be seen
            traceback.print_exc()
            self._failed.append((name, f"{type(error).__name__}: {error}".splitlines()[0]))

    def told(self, file: Path | None) -> int:
        """Print the table, and write it to ``file`` as JSON; 1 where a goal was missed or a figure failed."""
        rows = [
            (f.name, f.goal, f"{f.measured:,.2f} {f.unit}", "yes" if f.met else "NO", f.detail)
            for f in self._kept
        ]
        rows += [(name, "", "FAILED", "NO", reason) for name, reason in self._failed]
        print_rows(("figure", "goal", "measured", "met", "detail"), rows, words=("detail",))
        if file:
            file.write_text(json.dumps([asdict(f) for f in self._kept], indent=2) + "\n")
        return 1 if self._failed or not all(f.met for f in self._kept) else 0


def bare_rate(task: str, seconds: float) -> float:
    """Steps per second of the plain loop, resets included."""
    import gymnasium

    environment: Any = gymnasium.make(envs.resolve(task).id)
    environment.action_space.seed(0)
    environment.reset(seed=0)
    steps, episode, start = 0, 0, time.perf_counter()
    while True:
        for _ in range(200):
            _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
            steps += 1
            if _is_over(terminated) or _is_over(truncated):
                episode += 1
                environment.reset(seed=episode)
        if time.perf_counter() - start > seconds:
            environment.close()
            return steps / (time.perf_counter() - start)


def _is_over(flag: Any) -> bool:
    return all(cast("dict[int, bool]", flag).values()) if isinstance(flag, dict) else bool(flag)


def engine_rate(
    task: str,
    players: dict[str, WorkerAssignment],
    episodes: int,
    concurrency: int,
    processes: int,
    groups: Sequence[LinkGroup] = (),
) -> float:
    """Steps per second of the engine from the first episode's start to the last one's end."""
    operator = OperatorConfig.multi_agent(
        operator_id="bench", task=task, player_workers=players, link_groups=groups
    )
    execution = ExecutionConfig(episodes, 0, concurrency=concurrency)
    with tempfile.TemporaryDirectory() as out:
        clock = _Clock()
        manager = OperatorScriptExecutionManager(
            Experiment([operator], execution),
            [resolve_operator(operator)],
            HostSession,
            Path(out),
            processes=processes,
            on_progress=clock,
        )
        result = asyncio.run(manager.run())
        if result.failed:
            raise RuntimeError(f"{result.failed} episodes of {task} failed")
        run = open_run(result.folder)
        steps = sum(e.length for o in run.operators.values() for e in o.episodes())
        return steps / clock.seconds


class _Clock:
    """Times a run without its start-up and shut-down."""

    def __init__(self) -> None:
        self.begun = self.ended = 0.0

    def __call__(self, states: Sequence[Any]) -> None:
        now = time.perf_counter()
        self.begun = self.begun or now
        self.ended = now

    @property
    def seconds(self) -> float:
        return self.ended - self.begun


def paired(bare: Callable[[], float], engine: Callable[[], float], pairs: int) -> tuple[float, str]:
    """Median ratio of ``pairs`` measurements in turn, and what was measured."""
    rows = [(engine(), bare()) for _ in range(pairs)]
    ratios = [fast / plain for fast, plain in rows]
    engine_median = statistics.median(fast for fast, _ in rows)
    bare_median = statistics.median(plain for _, plain in rows)
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    return statistics.median(ratios), f"{engine_median:,.0f} against {bare_median:,.0f} steps/s ({spread})"


def random_player() -> WorkerAssignment:
    return WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})


def ppo_player() -> WorkerAssignment:
    return WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": PPO, "algorithm": "ppo"})


def throughput(quick: bool) -> list[tuple[str, float, Callable[[], tuple[float, str]]]]:
    """(name, goal, measurement) of every ratio."""
    seconds, pairs, scale = (0.5, 3, 0.3) if quick else (2.0, 5, 1.0)

    def measure(
        task: str, players: dict[str, WorkerAssignment], episodes: int, concurrency: int, processes: int
    ) -> Callable[[], tuple[float, str]]:
        count = max(concurrency * processes, int(episodes * scale))
        return lambda: paired(
            lambda: bare_rate(task, seconds),
            lambda: engine_rate(task, players, count, concurrency, processes),
            pairs,
        )

    one = {"agent": random_player()}
    four = {agent: random_player() for agent in ("green_0", "green_1", "blue_0", "blue_1")}
    return [
        ("CartPole, 1 at a time, 1 process", 0.08, measure(CARTPOLE, one, 800, 1, 1)),
        ("CartPole, 64 at once, 1 process", 0.4, measure(CARTPOLE, one, 8000, 64, 1)),
        ("CartPole, 64 at once, 2 processes", 0.6, measure(CARTPOLE, one, 12000, 64, 2)),
        ("MiniGrid-Empty-8x8, 64 at once, 2 processes", 1.0, measure(MINIGRID, one, 300, 64, 2)),
        ("Soccer 2v2, 4 workers, 64 at once, 2 processes", 0.8, measure(SOCCER, four, 256, 64, 2)),
        (
            "CartPole, trained PPO, 64 at once, 1 process",
            0.2,
            measure(CARTPOLE, {"agent": ppo_player()}, 256, 64, 1),
        ),
    ]


def served(quick: bool) -> list[tuple[str, Callable[[], Figure]]]:
    """(name, measurement) of what an environment in another process costs."""
    pairs = 3 if quick else 7
    one = {"agent": random_player()}

    def steps() -> Figure:
        count = 128 if quick else 512
        ratio, detail = paired(
            lambda: engine_rate(MINIGRID, one, count, 64, 1),
            lambda: engine_rate("bench/MiniGrid", one, count, 64, 1),
            pairs,
        )
        return Figure(_SERVED_STEPS, ">= 0.6", ratio, "x", ratio >= 0.6, detail)

    def pictures() -> Figure:
        here, there = (envs.make(task, render_mode="rgb_array") for task in ("CartPole-v1", "bench/CartPole"))
        rows: list[tuple[float, float]] = []
        for environment in (here, there):
            environment.adapter.reset(seed=0)
            environment.picture()
        for _ in range(30 * pairs):
            rows.append((_drawn(there), _drawn(here)))
            time.sleep(1 / 30)
        added = statistics.median(far - near for far, near in rows)
        far, near = (statistics.median(column) for column in zip(*rows, strict=True))
        detail = f"{far:.1f} ms against {near:.1f} ms, 600 x 400, 30 a second"
        return Figure(_SERVED_PICTURES, "<= 2 ms", added, "ms", added <= 2.0, detail)

    return [(_SERVED_STEPS, steps), (_SERVED_PICTURES, pictures)]


_SERVED_STEPS = "MiniGrid in another process, 64 at once, beside in ours"
_SERVED_PICTURES = "a picture from another process, added"


def _drawn(environment: envs.Environment) -> float:
    start = time.perf_counter()
    if environment.picture() is None:
        raise RuntimeError("there is no picture")
    return 1000 * (time.perf_counter() - start)


@contextmanager
def own_server() -> Generator[None]:
    """Have the family ``bench`` be served by our own interpreter."""
    with tempfile.TemporaryDirectory() as data:
        folder = Path(data) / "environment_servers" / "bench"
        folder.mkdir(parents=True)
        (folder / "server.toml").write_text(
            "[environments]\n"
            f'"MiniGrid" = {{entry = "gymnasium:make", arguments = {{id = "minigrid:{MINIGRID}"}}}}\n'
            f'"CartPole" = {{entry = "gymnasium:make", arguments = {{id = "{CARTPOLE}"}}}}\n'
        )
        before = os.environ.get("MOSAIC_DATA_DIR")
        os.environ["MOSAIC_DATA_DIR"] = data
        # What was listed before knows nothing of this folder, and later nothing must know of it.
        families.cache_clear()
        try:
            yield
        finally:
            close_servers()
            families.cache_clear()
            if before is None:
                del os.environ["MOSAIC_DATA_DIR"]
            else:
                os.environ["MOSAIC_DATA_DIR"] = before


class _Silent:
    """Listens to a worker that is only started."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


async def started(worker: str, settings: dict[str, Any]) -> WorkerProcess:
    """A worker that is ready to play CartPole."""
    from gym_gui.controllers.engine.bound_operator import read_slots
    from gym_gui.workers.supervisor import SlotRequest

    environment = envs.make(CARTPOLE)
    slot = read_slots(environment)["agent_0"]
    environment.close()
    definition = WorkerTypeRegistry.require(worker)
    process = WorkerProcess(Launch(definition), _Silent())  # type: ignore[arg-type]
    await process.start()
    request = SlotRequest("agent_0", CARTPOLE, slot.observation_space, slot.action_space, settings)
    await process.load(request.message(0))
    return process


async def _spawn(worker: str, settings: dict[str, Any]) -> tuple[float, float]:
    """(seconds from spawn to ready, MB of memory as PSS) of a worker that plays CartPole."""
    begun = time.perf_counter()
    process = await started(worker, settings)
    ready = time.perf_counter() - begun
    memory = psutil.Process(process.pid).memory_full_info().pss / 2**20
    await process.stop()
    return ready, memory


def start_up(quick: bool) -> list[tuple[str, Callable[[], list[Figure]]]]:
    """(name, measurement) of absolute figures: start-up times and memory, the median of several."""
    tries = 3 if quick else 7

    def worker(name: str, settings: dict[str, Any], seconds: float, megabytes: float) -> list[Figure]:
        rows = [asyncio.run(_spawn(name, settings)) for _ in range(tries)]
        ready = statistics.median(r for r, _ in rows)
        memory = statistics.median(m for _, m in rows)
        light, goal = memory <= megabytes, f"<= {megabytes:g} MB"
        return [
            Figure(f"{name}: spawn to ready", f"<= {seconds} s", ready, "s", ready <= seconds, ""),
            Figure(f"{name}: memory (PSS)", goal, memory, "MB", light, ""),
        ]

    def helped() -> list[Figure]:
        took = statistics.median(_help_seconds() for _ in range(tries))
        return [Figure("mosaic --help", "<= 0.25 s", took, "s", took <= 0.25, "")]

    return [
        ("operators_worker: start-up", lambda: worker("operators_worker", {"behavior": "random"}, 0.5, 45.0)),
        ("cleanrl_worker: start-up", lambda: worker("cleanrl_worker", {"checkpoint": PPO}, 0.5, 90.0)),
        ("mosaic --help", helped),
    ]


def _help_seconds() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "gym_gui", "--help"], capture_output=True, check=True)
    return time.perf_counter() - begun


def main() -> int:
    """Measure, print a table, optionally write JSON; exit status 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter and rougher")
    parser.add_argument("--only", default="", help="figures whose name contains this")
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    discover()
    figures = Figures()

    def ratio(name: str, goal: float, measurement: Callable[[], tuple[float, str]]) -> Figure:
        measured, detail = measurement()
        return Figure(name, f">= {goal:g}", measured, "x", measured >= goal, detail)

    for name, goal, measurement in throughput(args.quick):
        if args.only.lower() in name.lower():
            figures.take(name, partial(ratio, name, goal, measurement))
    with own_server():
        for name, figure in served(args.quick):
            if args.only.lower() in name.lower():
                figures.take(name, figure)
    for name, start in start_up(args.quick):
        if args.only.lower() in name.lower():
            figures.take(name, start)
    return figures.told(args.json)


if __name__ == "__main__":
    sys.exit(main())
