"""One policy of Stable-Baselines3 evaluated by its library, and by ``mosaic run``; both sides in one run.

    python scripts/bench/bench_sb3.py [--quick] [--json FILE]

The policy is PPO's ``MlpPolicy`` with the weights of ``docs/examples/checkpoints/ppo_cartpole``: 500 steps on
every seed. The library's side is ``evaluate_policy`` with 1, 16 and 64 environments in one process and one
thread; ours has the policy in a worker process, one thread, and every step on record. Steps per second are
those of play alone, from the first episode's start to the last one's end, the median of turns; what
``mosaic run`` takes from prompt to verdict beside that is start-up and report.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import CARTPOLE, PPO, Figure, Figures

from gym_gui.analysis import open_run
from gym_gui.core.config import WorkerAssignment

ROOT = Path(__file__).resolve().parents[2]
EPISODES, LENGTH = 200, 500
MOST_BESIDE_S = 3.0
"""Seconds of start-up and report together."""
_MADE = """
import sys
import safetensors.torch
from stable_baselines3 import PPO

kept = safetensors.torch.load_file(sys.argv[1] + "/model.safetensors")
model = PPO("MlpPolicy", "CartPole-v1", device="cpu")
parts = {"actor": ("mlp_extractor.policy_net", "action_net")}
parts["critic"] = ("mlp_extractor.value_net", "value_net")
weights = {}
for name, value in kept.items():
    part, layer, kind = name.split(".")
    hidden, last = parts[part]
    weights[f"{last}.{kind}" if layer == "4" else f"{hidden}.{layer}.{kind}"] = value
model.policy.load_state_dict(weights)
model.save(sys.argv[2])
"""
_EVALUATED = """
import sys, time
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

torch.set_num_threads(1)
model = PPO.load(sys.argv[1], device="cpu")
envs = make_vec_env("CartPole-v1", n_envs=int(sys.argv[2]), seed=0)
begun = time.perf_counter()
returns, lengths = evaluate_policy(model, envs, int(sys.argv[3]), return_episode_rewards=True)
print(sum(lengths) / (time.perf_counter() - begun), min(lengths))
"""


def one_thread() -> dict[str, str]:
    """Variables of a process that computes on one core."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, "1")}


def library_rate(model: Path, copies: int, episodes: int) -> float:
    """Steps per second of ``evaluate_policy``."""
    command = [sys.executable, "-W", "ignore", "-c", _EVALUATED, str(model), str(copies), str(episodes)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=one_thread())
    rate, shortest = done.stdout.split()
    if int(shortest) != LENGTH:
        raise RuntimeError(f"an episode ended after {shortest} steps: the policy is not what it was")
    return float(rate)


def ours(folder: Path, player: WorkerAssignment, episodes: int, processes: int) -> tuple[float, float]:
    """Steps per second of a ``mosaic run``, and the seconds that it takes beside them."""
    worker = {"type": "rl", "worker_id": player.worker_id, "settings": dict(player.settings)}
    operator = {"id": "ppo", "task": CARTPOLE, "workers": {"agent": worker}}
    experiment = {"operators": [operator], "execution": {"num_episodes": episodes, "seeds": 0}}
    (folder / "ppo.json").write_text(json.dumps(experiment))
    out = folder / f"runs-{time.time_ns()}"
    command = [sys.executable, "-m", "gym_gui", "run", "ppo.json", "--out", str(out)]
    begun = time.perf_counter()
    subprocess.run([*command, "--processes", str(processes)], cwd=folder, capture_output=True, check=True)
    whole = time.perf_counter() - begun
    (run,) = out.iterdir()
    rows = [row for operator in open_run(run).operators.values() for row in operator.episodes()]
    starts = [datetime.fromisoformat(row.started_at or "").timestamp() for row in rows]
    ends = [start + (row.wall_s or 0.0) for start, row in zip(starts, rows, strict=True)]
    played = max(ends) - min(starts)
    return sum(row.length for row in rows) / played, whole - played


def taken_in(folder: Path) -> tuple[Path, WorkerAssignment]:
    """The policy as the library saves it, and as it is played here."""
    model, policy = folder / "model.zip", folder / "policy"
    subprocess.run([sys.executable, "-W", "ignore", "-c", _MADE, PPO, str(model)], check=True)
    paths = (ROOT / "3rd_party/sb3_worker", ROOT / "3rd_party/mosaic_worker_sdk")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-m", "sb3_worker.importing", str(model)]
    command += ["--env-id", CARTPOLE, "--out", str(policy)]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return model, WorkerAssignment("sb3_worker", "rl", {"checkpoint": str(policy)})


def measured(folder: Path, episodes: int, turns: int) -> list[Figure]:
    """Measure all sides in turn; the figures."""
    model, player = taken_in(folder)
    library: dict[int, list[float]] = {copies: [] for copies in (1, 16, 64)}
    here: dict[int, list[float]] = {1: [], 2: []}
    beside: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(turns):
        for copies, rates in library.items():
            rates.append(library_rate(model, copies, max(episodes // 10, 1) if copies == 1 else episodes))
        for processes, rates in here.items():
            rate, rest = ours(folder, player, episodes, processes)
            rates.append(rate)
            beside[processes].append(rest)
    medians = {copies: statistics.median(rates) for copies, rates in library.items()}
    best = max(medians.values())
    there = ", ".join(f"{copies}: {rate:,.0f}" for copies, rate in medians.items())
    figures: list[Figure] = []
    for processes, goal in ((1, 1.0), (2, 1.5)):
        rate = statistics.median(here[processes])
        name = f"SB3's PPO on CartPole, {processes} process{'es' * (processes > 1)}"
        detail = f"{rate:,.0f} steps/s; evaluate_policy by environments: {there}"
        figures.append(Figure(name, f">= {goal:g}", rate / best, "x", rate / best >= goal, detail))
    for processes, seconds in beside.items():
        rest = statistics.median(seconds)
        name = f"start-up and report, {processes} process{'es' * (processes > 1)}"
        detail = f"{min(seconds):.2f} to {max(seconds):.2f}"
        figures.append(Figure(name, f"<= {MOST_BESIDE_S:g}", rest, "s", rest <= MOST_BESIDE_S, detail))
    return figures


def main() -> int:
    """Measure; returns 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one turn")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args: Any = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="bench-sb3-") as place:
        figures.take("evaluation", lambda: measured(Path(place), EPISODES, 1 if args.quick else 5))
    return figures.told(args.json)


if __name__ == "__main__":
    raise SystemExit(main())
