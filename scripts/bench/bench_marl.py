"""IPPO of several agents, ours beside XuanCe's and RLlib's: environment steps a second, and what is learnt.

    python scripts/bench/bench_marl.py [--quick] [--rounds 5] [--processes 1] [--only NAME] [--json FILE]
    python scripts/bench/bench_marl.py --learning [--trainings 3] [--steps 102400] [--folder DIR]
        [--json FILE]

Each side is ``mosaic train`` in the foreground, with as many copies of the same environment, the same
rollout, epochs, minibatches, layers and activation, one network for all agents, and one thread of
computation. The sides take turns, another first in each round, so that whatever else the machine does falls
on all of them. Steps per second are those between the first and the last row of ``metrics.jsonl``, which each
side writes behind an update: play and learning, without start-up and evaluation. A step is one of a copy, in
which all its agents act. The ratio is that of a round, ours over the faster of the others; what is told is
its median.

``--processes 1`` plays all copies in the process that learns; with 2, ours and RLlib have two processes that
play, and XuanCe, which knows nothing in between, one for each copy. The others have to be installed
(``mosaic workers install xuance_worker``, ``… ray_worker``).

``--learning`` trains ours and XuanCe's on simple_spread with the same seeds, steps, discount and learning
rate, and plays every policy on the same seeds, which no training saw. The measure is XuanCe's range, from the
mean of its untrained policies to that of its trained ones. A training that is in ``--folder`` already stays
as it is.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench import SOCCER, Figure, Figures

from gym_gui import evaluate
from gym_gui.analysis.compute.algorithms import compare_algorithms
from gym_gui.analysis.statistics.distributions import student_quantile
from gym_gui.services.trainer.training_folder import METRICS
from gym_gui.services.trainings.training_groups import TrainingGroup, group_folder
from gym_gui.services.trainings.training_scores import scores_of

GOAL, MOST_BELOW = 1.5, 10.0
"""Times the faster of the others; percent of XuanCe's range below it, at most."""
CORES, TRIES = 2, 5
WIDTH = 64
PLAYED_SEEDS = range(20_000, 20_100)
OURS, XUANCE, RLLIB = "ours", "XuanCe", "RLlib"
NOT_EQUAL = (
    "who an agent is, XuanCe tells its network behind the first layer, ours and RLlib before it",
    "each side's own: rewards or values normalised, value loss clipped, gradient norm, Adam's epsilon",
    "RLlib has processes of Ray's beside the one that learns",
)


@dataclass(frozen=True)
class Plan:
    """A training that all sides do alike.

    Attributes:
        name: What it is called.
        env: The environment.
        agents: How many act in it.
        copies: Of the environment.
        rollout: Steps of each copy between two updates.
        epochs: Passes over each rollout.
        minibatches: Parts of a rollout, each with rows of all agents.
        gamma: Discount.
        updates: How many are measured.
        shown: More settings, of what agents see.
    """

    name: str
    env: str
    agents: int
    copies: int
    rollout: int
    epochs: int
    minibatches: int
    gamma: float
    updates: int
    shown: Mapping[str, Any]

    @property
    def batch(self) -> int:
        """Steps between two updates."""
        return self.copies * self.rollout

    @property
    def told(self) -> str:
        """As words."""
        rows = f"{self.copies} copies x {self.rollout} steps x {self.agents} agents"
        learnt = f"{self.epochs} epochs of {self.minibatches} minibatches"
        return f"{self.env}: {rows}, {learnt}, tanh {WIDTH}-{WIDTH} (policy, value), discount {self.gamma:g}"


PLANS = (
    Plan("simple_spread", "simple_spread_v3", 3, 32, 50, 10, 4, 0.95, 8, {}),
    Plan("soccer 2v2", SOCCER, 4, 16, 128, 4, 4, 0.99, 4, {"select": "image,direction"}),
)
WORKERS = {OURS: ("cleanrl_worker", "ippo"), XUANCE: ("xuance_worker", "ippo"), RLLIB: ("ray_worker", "ppo")}
RATE, ENTROPY, LAMBDA = 5e-4, 0.01, 0.95


def settings_of(side: str, plan: Plan, processes: int = 1) -> dict[str, Any]:
    """What a side is told, in its own words, for the same training."""
    layers, several = f"{WIDTH},{WIDTH}", processes > 1
    told: dict[str, Any] = {"num_envs": plan.copies, "gamma": plan.gamma, **plan.shown}
    if side == OURS:
        told |= {"num_steps": plan.rollout, "update_epochs": plan.epochs, "num_minibatches": plan.minibatches}
        told |= {"learning_rate": RATE, "anneal_lr": False, "ent_coef": ENTROPY, "gae_lambda": LAMBDA}
        return told | {"hidden": layers, "async_envs": several}
    if side == XUANCE:
        told |= {"n_steps": plan.rollout, "n_epochs": plan.epochs, "n_minibatch": plan.minibatches}
        told |= {"learning_rate": RATE, "ent_coef": ENTROPY, "gae_lambda": LAMBDA, "activation": "tanh"}
        parts = ("representation", "actor", "critic")
        return told | {f"{part}_hidden_size": WIDTH for part in parts} | {"async_envs": several}
    runners = processes if several else 0
    told |= {"num_envs": plan.copies // max(runners, 1), "num_env_runners": runners}
    # RLlib counts the steps of a batch, and of a minibatch the rows of its network.
    told |= {"train_batch_size": plan.batch, "minibatch_size": plan.batch * plan.agents // plan.minibatches}
    told |= {"num_epochs": plan.epochs, "use_kl_loss": False, "lr": RATE, "entropy_coeff": ENTROPY}
    return told | {"lambda_": LAMBDA, "hidden": layers, "activation": "tanh"}


def command_of(side: str, plan: Plan, steps: int, out: Path, processes: int, *more: str) -> list[str]:
    """The training's command."""
    worker, algorithm = WORKERS[side]
    command = [sys.executable, "-m", "gym_gui", "train", "--worker", worker, "--algo", algorithm]
    command += ["--env", plan.env, "--steps", str(steps), "--out", str(out), *more]
    for name, value in settings_of(side, plan, processes).items():
        command += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return command


def trained(command: Sequence[str]) -> None:
    """Train; raises with what was said where that fails.

    Ray gives its own processes 30 s to start, too little where many others want the cores: it is tried again.
    """
    for left in reversed(range(TRIES)):
        done = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True)
        if not done.returncode:
            return
        if not left or "Ray cannot be started" not in done.stderr:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


# -- steps a second ------------------------------------------------------------------------------


def measured_rate(folder: Path) -> tuple[float, float]:
    """Steps per second between the first update and the last, and the seconds between them."""
    rows = [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]
    first, last = rows[0], rows[-1]
    took = last["t"] - first["t"]
    return (last["step"] - first["step"]) / took, took


def throughput(plan: Plan, processes: int, rounds: int, updates: int) -> Figure:
    """All sides in turn."""
    rates: dict[str, list[float]] = {side: [] for side in WORKERS}
    beside: dict[str, list[float]] = {side: [] for side in WORKERS}
    loads: list[float] = []
    sides = list(WORKERS)
    for turn in range(rounds):
        for side in sides[turn % len(sides) :] + sides[: turn % len(sides)]:
            with tempfile.TemporaryDirectory(prefix="bench-marl-") as place:
                begun = time.perf_counter()
                trained(command_of(side, plan, plan.batch * (updates + 1), Path(place) / "t", processes))
                whole = time.perf_counter() - begun
                rate, took = measured_rate(Path(place) / "t")
                if turn == 0:
                    policy = json.loads((Path(place) / "t" / "policy.json").read_text())
                    print(
                        f"  {side}: {', '.join(map(' '.join, policy['versions'].items()))}", file=sys.stderr
                    )
            rates[side].append(rate)
            beside[side].append(whole - took)
            loads.append(os.getloadavg()[0])
            print(f"  round {turn + 1}, {side}: {rate:,.0f} steps/s, load {loads[-1]:.1f}", file=sys.stderr)
    ratios = [one / max(two, three) for one, two, three in zip(*rates.values(), strict=True)]
    ratio = statistics.median(ratios)
    detail = "; ".join(
        f"{side} {statistics.median(found):,.0f} steps/s ({min(found):,.0f} to {max(found):,.0f}), "
        f"{statistics.median(beside[side]):.0f} s beside"
        for side, found in rates.items()
    )
    detail += f"; ratios {min(ratios):.2f} to {max(ratios):.2f}; load {min(loads):.1f} to {max(loads):.1f}"
    name = f"{plan.name}, {'one process' if processes == 1 else f'{processes} processes'}"
    return Figure(name, f">= {GOAL:g}", ratio, "x", ratio >= GOAL, detail)


# -- what is learnt ------------------------------------------------------------------------------


def played(group: TrainingGroup, folder: Path) -> dict[int, float]:
    """Mean return of the team on seeds that no training used, by the seed of the training."""
    found: dict[int, float] = {}
    for member in group.completed:
        kept = folder / f"{group.label}-{member.seed}.json"
        if not kept.exists():
            results = evaluate(group.env_id, str(member.folder), seeds=PLAYED_SEEDS, out=folder / "runs")  # pyright: ignore[reportArgumentType]  # a path plays all of its agents
            totals = [sum(r for r in each.returns.values() if r is not None) for each in results.episodes]
            kept.write_text(json.dumps(totals))
        found[member.seed] = statistics.fmean(json.loads(kept.read_text()))
    return found


def difference_of(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Of two means, with Welch's 95 % interval: trainings are the units, and their scores taken as normal."""
    parts = [statistics.variance(each) / len(each) for each in (first, second)]
    between = statistics.fmean(first) - statistics.fmean(second)
    return interval(between, parts, (len(first), len(second)))


def interval(between: float, parts: Sequence[float], sizes: Sequence[int]) -> tuple[float, float, float]:
    """A difference with its 95 % interval, from the squared standard errors of two sides and their sizes."""
    whole = sum(parts)
    if not whole:
        return between, -math.inf, math.inf  # scores that do not differ say nothing of how they would
    freedom = whole**2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    margin = student_quantile(max(1, math.floor(freedom)), 0.975) * math.sqrt(whole)
    return between, between - margin, between + margin


def sentence(shares: tuple[float, float, float], other: str = XUANCE) -> str:
    """What the data carry of the goal, in percent of the other side's range."""
    mean, low, high = shares
    told = f"{mean:+.0f} % [{low:+.0f}, {high:+.0f}] of {other}'s range"
    if low >= -MOST_BELOW:
        return f"ours is no more than {MOST_BELOW:g} % of the range below {other}: {told}"
    if high < -MOST_BELOW:
        return f"ours is more than {MOST_BELOW:g} % of the range below {other}: {told}"
    return f"whether ours is more than {MOST_BELOW:g} % of the range below {other} is not decided: {told}"


def learning(plan: Plan, folder: Path, steps: int, trainings: int) -> Figure:
    """Train both as often, play all policies on the same seeds, compare."""
    seeds = ",".join(str(seed + 1) for seed in range(trainings))
    asked = {"ours": (OURS, steps), "xuance": (XUANCE, steps), "untrained": (XUANCE, plan.copies)}
    scores: dict[str, list[float]] = {}
    groups: list[Any] = []
    for label, (side, total) in asked.items():
        out = folder / label
        trained(command_of(side, plan, total, out, 1, "--seeds", seeds, "--group", label))
        (group,) = group_folder(out)
        means = played(group, folder)
        scores[label] = [mean for _, mean in sorted(means.items())]
        groups.append(replace(scores_of(group), scores=means))
        print(f"  {label}: {', '.join(f'{mean:.1f}' for mean in scores[label])}", file=sys.stderr)
    for each in compare_algorithms(groups[:2]).comparisons:
        print(f"  mosaic report: {each.claim}{each.detail}", file=sys.stderr)
    span = statistics.fmean(scores["xuance"]) - statistics.fmean(scores["untrained"])
    if span <= 0:
        raise RuntimeError(f"XuanCe learnt nothing in {steps:,} steps (range {span:.1f}): train longer")
    between = difference_of(scores["ours"], scores["xuance"])
    share, low, high = (100 * part / span for part in between)
    print(f"  {sentence((share, low, high))}", file=sys.stderr)
    means = ", ".join(f"{label} {statistics.fmean(found):.1f}" for label, found in scores.items())
    played_on = f"{trainings} trainings each of {steps:,} steps, {len(PLAYED_SEEDS)} seeds"
    detail = (
        f"{between[0]:+.1f} [{between[1]:+.1f}, {between[2]:+.1f}] in mean return, "
        f"[{low:+.0f}, {high:+.0f}] % of the range; {played_on} ({means})"
    )
    return Figure(
        "IPPO on simple_spread, learnt", f">= -{MOST_BELOW:g}", share, "%", low >= -MOST_BELOW, detail
    )


def main() -> int:
    """Measure, print a table; exit status 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round, two updates")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--only", default="", help="environments whose name contains this")
    parser.add_argument("--learning", action="store_true", help="what is learnt, in place of how fast")
    parser.add_argument("--trainings", type=int, default=3, help="of each side")
    parser.add_argument("--steps", type=int, default=102_400, help="of a training that is to learn")
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/bench_marl"), help="where trainings are kept"
    )
    parser.add_argument("--plan", action="store_true", help="only print the commands")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args: Any = parser.parse_args()
    plans = [plan for plan in PLANS if args.only.lower() in plan.name]
    if args.plan:
        for plan in plans:
            for side in WORKERS:
                print(
                    " ".join(command_of(side, plan, plan.batch * plan.updates, Path("OUT"), args.processes))
                )
        return 0
    # Two cores, whatever the machine.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    figures = Figures()
    for note in NOT_EQUAL:
        print(f"not equal: {note}", file=sys.stderr)
    for plan in plans[:1] if args.learning else plans:
        print(plan.told, file=sys.stderr)
        if args.learning:
            args.folder.mkdir(parents=True, exist_ok=True)
            place = args.folder.resolve()
            figures.take(plan.name, partial(learning, plan, place, args.steps, args.trainings))
        else:
            rounds, updates = (1, 2) if args.quick else (args.rounds, plan.updates)
            figures.take(plan.name, partial(throughput, plan, args.processes, rounds, updates))
    return figures.told(args.json)


if __name__ == "__main__":
    raise SystemExit(main())
