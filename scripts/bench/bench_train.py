"""What the trainer daemon costs and bears: both sides in one run.

    python scripts/bench/bench_train.py [--quick] [--only NAME] [--json FILE]

* Environment steps per second of a training in the daemon, while a client watches all of its
  telemetry, over those of the same script run bare, measured in turn within the same minutes
  (the training's own clock, without its start and its evaluation), the median of the pairs.
* Metric points per second from a training's files to a watcher, none lost.
* Steps per second of 64 episodes at once over one at a time, decided by a trained policy.
* Steps per second of a joint policy of four agents, played by one process over four: one episode at
  a time, and 64 at once. Beside that the processor time of each run, of its session and workers,
  start-up included.
* Twenty trainings queued on two cores: how many ran at once, and that all of them did.

Machines differ and are shared, so absolute figures are printed for orientation only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench import CARTPOLE, MINIGRID, Figure, Figures, engine_rate, ppo_player

from gym_gui.core.config import LinkGroup, WorkerAssignment
from gym_gui.services.store import Store
from gym_gui.services.trainer.file_follower import Follower
from gym_gui.services.trainer.starting import stop_daemon
from gym_gui.services.trainer.trainer_client import TrainerClient
from gym_gui.services.trainer.training_folder import EPISODES, EVENTS, METRICS
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from gym_gui.workers.discovery import discover
from gym_gui.workers.environment_variables import worker_environment
from gym_gui.workers.registry import WorkerTypeRegistry

WORKER = "cleanrl_worker"
SPREAD, TAG = "simple_spread_v3", "simple_tag_v3"
QUEUED = 20
LOOK_S = 0.1
"""Between two looks of a watcher, as in the window."""

_REPORT = """
import sys, time
from functools import partial
from pathlib import Path
from mosaic_worker.training import TrainingRun
folder, rows, width = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
run = TrainingRun(folder)
run.start("report", "none", 0, rows)
begun = time.time()
for step in range(rows):
    run.metrics(step, {f"losses/{k}": step + k / 7 for k in range(width)})
    if step % 50 == 0:
        run.advance(step, lambda: None)
run.done("completed", rows, None)
run.close()
print(begun, time.time())
"""


@asynccontextmanager
async def daemon() -> AsyncGenerator[tuple[TrainerClient, Store]]:
    """A daemon of its own, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        store = Store(data=place / "data", cache=place / "cache", runtime=place / "r")
        client = await TrainerClient.connect(store)
        try:
            yield client, store
        finally:
            await client.close()
            await asyncio.to_thread(stop_daemon, store)


# -- a training, bare and in the daemon ----------------------------------------------------------


def own_rate(folder: Path) -> float:
    """Steps per second as the training itself tells them, from its first to its last progress."""
    rows = [row for row in Follower(folder / EVENTS).read(1 << 30) if row.get("event") == "progress"]
    rows = [row for row in rows if row["step"] < row["total_steps"]]
    first, last = rows[1], rows[-1]  # the first update warms up
    return (last["step"] - first["step"]) / (last["elapsed_s"] - first["elapsed_s"])


def bare_rate(env: str, settings: dict[str, Any], algorithm: str) -> float:
    """Steps per second of the script by itself; no program reads what it writes."""
    definition = WorkerTypeRegistry.require(WORKER)
    assert definition.train is not None
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", definition.train.entry, "--algo", algorithm, "--env-id", env]
        command += ["--seed", "1", "--out", out]
        for name, value in settings.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        environment = worker_environment(definition)
        # In a session of its own, as in the daemon: Linux shares busy cores out by session.
        how: dict[str, Any] = {"stdout": subprocess.DEVNULL, "start_new_session": True}
        subprocess.run(command, env=environment, check=True, **how)
        return own_rate(Path(out))


async def daemon_rate(env: str, settings: dict[str, Any], algorithm: str) -> float:
    """The same in the daemon, while a client watches all telemetry."""
    async with daemon() as (client, store):
        config = UnifiedRunConfig(env, worker_type=WORKER, algorithm=algorithm, seed=1, settings=settings)
        run_id = await client.submit(config)

        followers = [Follower(store.data / "training" / run_id / name) for name in (METRICS, EPISODES)]
        watching = asyncio.ensure_future(_watch(followers))
        async for told in client.watch_runs():
            if told.has_ended:
                break
        watching.cancel()
        (run,) = await client.runs()
        if run.state != "completed":
            raise RuntimeError(f"the training in {env} ended as {run.state}: {run.reason}")
        return own_rate(run.folder)


async def _watch(followers: list[Follower]) -> None:
    """Read all that comes, as the window does."""
    while True:
        for follower in followers:
            await asyncio.to_thread(follower.read)
        await asyncio.sleep(LOOK_S)


def training(env: str, steps: int, pairs: int, algorithm: str = "ppo") -> tuple[float, str]:
    """Median ratio of the pairs, and what was measured; whichever is first takes turns."""
    settings = {"total_steps": steps}
    rows: list[tuple[float, float]] = []
    for turn in range(pairs):
        if turn % 2:
            bare = bare_rate(env, settings, algorithm)
            rows.append((asyncio.run(daemon_rate(env, settings, algorithm)), bare))
        else:
            ours = asyncio.run(daemon_rate(env, settings, algorithm))
            rows.append((ours, bare_rate(env, settings, algorithm)))
    ratios = [ours / bare for ours, bare in rows]
    ours_median = statistics.median(ours for ours, _ in rows)
    bare_median = statistics.median(bare for _, bare in rows)
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    return statistics.median(ratios), f"{ours_median:,.0f} against {bare_median:,.0f} steps/s ({spread})"


# -- telemetry -----------------------------------------------------------------------------------


def telemetry(rows: int, width: int) -> tuple[float, str]:
    """Points per second from the first that is reported to the last that is read."""
    with tempfile.TemporaryDirectory() as folder:
        writer = subprocess.Popen(
            [sys.executable, "-c", _REPORT, folder, str(rows), str(width)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        follower, steps = Follower(Path(folder) / METRICS), list[int]()
        read, over = list[dict[str, Any]](), False
        while read or not over:
            over = writer.poll() is not None  # before the look: nothing is written after the end
            read = follower.read()
            steps += [row["step"] for row in read if len(row["m"]) == width]
            if not read:
                time.sleep(0.01)
        received = time.time()
        said, _ = writer.communicate()
        begun, written = map(float, said.split())
    if steps != list(range(rows)):
        raise RuntimeError(f"{rows} rows were reported and {len(steps)} received, or not in their order")
    detail = f"{rows * width:,} points in {written - begun:.1f} s, received by {received - begun:.1f} s"
    return rows * width / (received - begun), f"{detail}, none lost"


# -- the others ----------------------------------------------------------------------------------


def batching(episodes: int, tries: int) -> tuple[float, str]:
    """64 at once over the best of one at a time."""
    players = {"agent": ppo_player()}
    single = max(engine_rate(CARTPOLE, players, max(episodes // 32, 2), 1, 1) for _ in range(tries))
    batched = statistics.median(engine_rate(CARTPOLE, players, episodes, 64, 1) for _ in range(tries))
    return batched / single, f"{batched:,.0f} against {single:,.0f} steps/s"


def joint(episodes: int, at_once: int, pairs: int) -> tuple[float, str]:
    """Four agents of a joint policy, in one process over each in its own; both take turns to be first."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "joint"
        definition = WorkerTypeRegistry.require(WORKER)
        assert definition.train is not None
        command = [sys.executable, "-m", definition.train.entry, "--algo", "ippo", "--env-id", TAG]
        command += ["--out", str(out), "--total-steps", "512", "--num-envs", "4", "--num-steps", "32"]
        subprocess.run(command, env=worker_environment(definition), check=True, stdout=subprocess.DEVNULL)
        agents = json.loads((out / "policy.json").read_text())["parts"]
        names = [part["agents"][0] for part in agents]
        player = WorkerAssignment(WORKER, "rl", {"checkpoint": str(out)})
        group = LinkGroup(names[0], names[1:], str(out))

        def one() -> tuple[float, float]:
            return with_cost(lambda: engine_rate(TAG, {names[0]: player}, episodes, at_once, 1, [group]))

        def four() -> tuple[float, float]:
            return with_cost(lambda: engine_rate(TAG, dict.fromkeys(names, player), episodes, at_once, 1))

        rows: list[tuple[tuple[float, float], tuple[float, float]]] = []
        for turn in range(pairs):
            second = four() if turn % 2 else None
            first = one()
            rows.append((first, second or four()))
    ratios = [ours[0] / theirs[0] for ours, theirs in rows]
    ours, theirs = (
        tuple(statistics.median(column) for column in zip(*side, strict=True))
        for side in zip(*rows, strict=True)
    )
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    detail = f"{ours[0]:,.0f} against {theirs[0]:,.0f} steps/s ({spread}); processor time of all of it "
    return statistics.median(ratios), f"{detail}{ours[1]:.1f} s against {theirs[1]:.1f} s"


def with_cost(measure: Callable[[], float]) -> tuple[float, float]:
    """What a measurement gives, and the processor seconds of all processes that it started and ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    rate = measure()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return rate, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


async def twenty() -> tuple[float, str]:
    """The most that ran at once; raises where one did not come to its end."""
    async with daemon() as (client, _):
        settings = {"total_steps": 1024, "num_envs": 2, "num_steps": 64}
        begun = time.monotonic()
        for number in range(QUEUED):
            config = UnifiedRunConfig(
                CARTPOLE, worker_type=WORKER, algorithm="ppo", seed=number, settings=settings
            )
            await client.submit(config, priority=number % 3)
        most, done = 0, 0
        async for _ in client.watch_runs():
            runs = await client.runs()
            most = max(most, sum(run.started_at is not None and not run.has_ended for run in runs))
            done = sum(run.has_ended for run in runs)
            if done == QUEUED:
                break
        failed = [run for run in await client.runs() if run.state != "completed"]
        if failed:
            raise RuntimeError(f"{len(failed)} of {QUEUED} failed, the first: {failed[0].reason}")
        waits = [(run.started_at or 0.0) - run.submitted_at for run in await client.runs()]
    took = time.monotonic() - begun
    detail = f"all of {QUEUED} done in {took:.0f} s; the longest wait {max(waits):.0f} s"
    return float(most), detail


def measurements(quick: bool) -> list[tuple[str, float, str, Callable[[], tuple[float, str]]]]:
    """(name, goal, unit, measurement) of every figure."""
    pairs = 3 if quick else 7
    cartpole, minigrid, spread = (40_000, 20_000, 20_000) if quick else (150_000, 80_000, 80_000)
    rows = 40_000 if quick else 200_000
    return [
        ("PPO CartPole, in the daemon and watched", 0.97, "x", lambda: training(CARTPOLE, cartpole, pairs)),
        ("PPO MiniGrid, in the daemon and watched", 0.97, "x", lambda: training(MINIGRID, minigrid, pairs)),
        ("metric points", 50_000, "points/s", lambda: telemetry(rows, 10)),
        ("64 episodes at once over one", 8.0, "x", lambda: batching(256, 2 if quick else 3)),
        ("IPPO simple_spread, in the daemon", 0.97, "x", lambda: training(SPREAD, spread, pairs, "ippo")),
        ("joint policy of four, one process, 1 at a time", 2.0, "x", lambda: joint(64, 1, pairs)),
        ("joint policy of four, one process, 64 at once", 2.0, "x", lambda: joint(256, 64, pairs)),
        (f"{QUEUED} queued on 2 cores: most at once", 2.0, "runs", lambda: asyncio.run(twenty())),
    ]


def held(name: str, goal: float, unit: str, measure: Callable[[], tuple[float, str]]) -> Figure:
    """A measurement beside its goal."""
    measured, detail = measure()
    exact = unit == "runs"
    met = measured == goal if exact else measured >= goal
    return Figure(name, f"{'=' if exact else '>='} {goal:,g}", measured, unit, met, detail)


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
    # Two cores, whatever the machine: the daemon hands out what it may use itself.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    figures = Figures()
    for name, goal, unit, measure in measurements(args.quick):
        if args.only.lower() not in name.lower():
            continue
        figures.take(name, partial(held, name, goal, unit, measure))
    return figures.told(args.json)


if __name__ == "__main__":
    sys.exit(main())
