"""What ``cleanrl_worker`` learns with its defaults beside Stable-Baselines3 with its own, in as many steps.

    python scripts/bench/bench_learning.py [--only NAME] [--trainings N] [--most N] [--kept FILE]
        [--json FILE]
    python scripts/bench/bench_learning.py --causes [--only NAME] [--trainings N] [--most N] [--kept FILE]
    python scripts/bench/bench_learning.py --full [--sample-seed 1]

Each side is ``mosaic train`` in the foreground with one thread of computation, the same environment, steps
and seeds. The score of a training is the mean return of the policy that it kept, best actions, over the 20
evaluation seeds that no training saw. What is told is the difference of the means, ours less SB3's, with
Welch's 95 % interval over trainings, and that of the interquartile means (the middle half of the trainings),
with Yuen's. The measure is SB3's range, from the mean of random actions on the same seeds to its trainings:
ours is level where the whole interval is above -10 % of it.

``--causes`` trains three kinds: all former defaults; the former ones with one set to its present value; the
present ones with one set to its former value.

Each training's score is kept as a line of ``--kept`` at once, so that a run that was cut off goes on where
it was, and one with ``--most 1`` trains once. A line counts as long as its settings are those that a
training would have now. ``--full`` trains a sample of the kept lines again, one of each side and task, chosen
by ``--sample-seed``: on the kind of processor and with the versions that they are from, scores are equal to
the bit; elsewhere sums are rounded otherwise, and a score is held against the spread of its side.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench import Figure, Figures
from bench_marl import MOST_BELOW, difference_of, interval, sentence, trained

from gym_gui import evaluate
from gym_gui.analysis.statistics.stats import iqm

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "training_levels.jsonl"
OURS, SB3, RANDOM = "ours", "SB3", "random"
BEFORE = "before"
MOST_SPREADS = 4
"""Standard deviations of a side's trainings by which one may differ on another processor."""
CAUSED = 3
"""Trainings of each change."""
EVALUATED = range(10_000, 10_020)
"""Seeds on which both workers play a policy when its training is over."""
_PPO = {
    "num_steps": 128,
    "learning_rate": 1e-3,
    "anneal_lr": True,
    "num_minibatches": 4,
    "update_epochs": 4,
    "clip_vloss": True,
    "ent_coef": 0.01,
    "vf_coef": 0.5,
}
_TD3 = {"learning_rate": 3e-4, "batch_size": 128, "learning_starts": 1000, "hidden": [128, 128]}


@dataclass(frozen=True)
class Task:
    """A training that both sides do.

    Attributes:
        algorithm: Of both workers.
        env: The environment.
        steps: Of it, in all.
        trainings: Of each side.
        sb3: Settings that make ``sb3_worker`` train as the library does by itself.
        before: Defaults of ours that were others before; none where their effects are not measured.
    """

    algorithm: str
    env: str
    steps: int
    trainings: int
    sb3: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    before: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.algorithm} on {self.env}, {self.steps:,} steps"

    @property
    def levels(self) -> dict[str, Mapping[str, Any]]:
        """Settings that are not the defaults, by side."""
        return {OURS: {}, SB3: self.sb3}

    @property
    def causes(self) -> dict[str, Mapping[str, Any]]:
        """Settings of ours that are not the defaults, one of those of before changed at a time."""
        found: dict[str, Mapping[str, Any]] = {BEFORE: self.before} if self.before else {}
        for name in self.before:
            found[f"{BEFORE} but for {name}"] = {k: v for k, v in self.before.items() if k != name}
        for name, value in self.before.items():
            found[f"now but for {name}"] = {name: value}
        return found


TASKS = (
    # The library's PPO plays one environment; sb3_worker, eight.
    Task("ppo", "Acrobot-v1", 40_960, 5, {"num_envs": 1, "n_steps": 2048, "batch_size": 64}, _PPO),
    # Without noise on actions, as the library has it by default, sb3_worker's would not explore.
    Task("td3", "Pendulum-v1", 5_000, 8, before=_TD3),
    Task("td3", "Pendulum-v1", 10_000, 5),
)


@dataclass(frozen=True)
class Training:
    """One of a side.

    Attributes:
        task: What is learnt.
        side: Who learns, and how.
        seed: Everything random derives from it.
    """

    task: Task
    side: str
    seed: int

    @property
    def name(self) -> str:
        """What it is called, with those of other seeds."""
        return f"{self.task.name}, {self.side}"

    @property
    def worker(self) -> str:
        """Who trains."""
        return "sb3_worker" if self.side == SB3 else "cleanrl_worker"

    @property
    def given(self) -> dict[str, Any]:
        """Settings that are not the worker's defaults."""
        return {**(self.task.levels | self.task.causes)[self.side], "total_steps": self.task.steps}

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, as the worker's schema has them."""
        schema = json.loads((ROOT / "3rd_party" / self.worker / "train_schema.json").read_text())
        own = schema["algorithms"][self.task.algorithm]["properties"]
        own_ones = ("env_id", "seed")
        defaults = {name: each.get("default") for name, each in own.items() if name not in own_ones}
        return defaults | self.given

    def command(self, out: Path) -> list[str]:
        """Of the training."""
        command = [sys.executable, "-m", "gym_gui", "train", "--worker", self.worker]
        command += ["--algo", self.task.algorithm, "--env", self.task.env, "--seed", str(self.seed)]
        command += ["--out", str(out)]
        for name, value in self.given.items():
            command += ["--set", f"{name}={_as_typed(value)}"]
        return command

    def run(self) -> dict[str, Any]:
        """Train, and what is kept of it."""
        with tempfile.TemporaryDirectory(prefix="bench-learning-") as place:
            out = Path(place) / "policy"
            trained(self.command(out))
            policy = json.loads((out / "policy.json").read_text())
        row = {"task": self.task.name, "side": self.side, "seed": self.seed}
        row |= {"score": policy["evaluation"]["mean_return"], "settings": self.settings}
        return {**row, "versions": policy["versions"], "processor": processor()}

    def kept_in(self, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Its line, if it was made with these settings."""
        own = (self.task.name, self.side, self.seed)
        found = (row for row in rows if (row["task"], row["side"], row["seed"]) == own)
        return next((row for row in found if row["settings"] == self.settings), None)


def _as_typed(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]  # numbers
    return str(value).lower() if isinstance(value, bool) else str(value)


def trainings(only: str, count: int | None = None, causes: bool = False) -> Iterator[Training]:
    """All whose name contains ``only``, the sides in turn; ``count`` of each in place of the task's own."""
    for task in TASKS:
        sides = task.causes if causes else task.levels
        seeds = range(1, (count or (CAUSED if causes else task.trainings)) + 1)
        every = (Training(task, side, seed) for seed in seeds for side in sides)
        yield from (each for each in every if only.lower() in each.name.lower())


def lines(kept: Path) -> list[dict[str, Any]]:
    """What was kept so far."""
    return [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []


def keep(kept: Path, row: Mapping[str, Any]) -> None:
    """Add a line, in place of one of the same training with other settings."""
    own = [row[key] for key in ("task", "side", "seed")]
    others = [each for each in lines(kept) if [each[key] for key in ("task", "side", "seed")] != own]
    rows = sorted([*others, row], key=lambda each: (each["task"], each["side"], each["seed"]))
    part = kept.with_suffix(".part")
    part.write_text("".join(json.dumps(each) + "\n" for each in rows))
    part.replace(kept)


def played_at_random(env: str) -> float:
    """Mean return of random actions on the seeds of the evaluation."""
    with tempfile.TemporaryDirectory(prefix="bench-learning-") as place:
        return float(
            evaluate(env, {"agent": {"type": "random"}}, seeds=EVALUATED, out=place).returns().mean()
        )


def scores_of(
    task: Task, rows: Sequence[Mapping[str, Any]], count: int | None = None
) -> dict[str, list[float]]:
    """Scores that are kept of each side, by the seeds of the trainings; of ``count`` at most."""
    found: dict[str, list[float]] = {}
    for side in (*task.levels, *task.causes):
        own = (Training(task, side, seed).kept_in(rows) for seed in range(1, (count or task.trainings) + 1))
        found[side] = [row["score"] for row in own if row]
    return found


def compared(task: Task, scores: Mapping[str, Sequence[float]], lowest: float) -> list[Figure]:
    """Both sides of a task, by their means and by the middle half of their trainings.

    Args:
        task: What was learnt.
        scores: Of the trainings of ``ours`` and of ``SB3``.
        lowest: Mean return of random actions.
    """
    each = "; ".join(f"{side} {told(scores[side])}" for side in (OURS, SB3))
    found: list[Figure] = []
    for name, middle, difference in (
        ("mean", statistics.fmean, difference_of),
        ("middle half", iqm, difference_of_middles),
    ):
        span = middle(scores[SB3]) - lowest
        if span <= 0:
            raise RuntimeError(f"SB3 learnt nothing in {task.steps:,} steps (range {span:.1f}): train longer")
        between = difference(scores[OURS], scores[SB3])
        share, low, high = (100 * part / span for part in between)
        detail = f"{sentence((share, low, high), SB3)}; {difference_told(between)} in return"
        detail += (
            f" ({OURS} {middle(scores[OURS]):.1f}, {SB3} {middle(scores[SB3]):.1f}, random {lowest:.1f})"
        )
        met = low >= -MOST_BELOW
        found.append(Figure(f"{task.name}, {name}", f">= -{MOST_BELOW:g}", share, "%", met, detail))
    return [replace(found[0], detail=f"{found[0].detail}; {each}"), *found[1:]]


def measured(task: Task, scores: Mapping[str, Sequence[float]]) -> list[Figure]:
    """As :func:`compared`, with random actions played now."""
    return compared(task, scores, played_at_random(task.env))


def difference_of_middles(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Of two interquartile means, with a 95 % interval.

    A few trainings of TD3 have not begun to learn when the others are done: they widen the interval of a
    difference of means so far that it says nothing of the others. Source: Yuen, "The Two-Sample Trimmed t
    for Unequal Population Variances", Biometrika 61 (1974).
    """
    parts: list[float] = []
    kept: list[int] = []
    for scores in (first, second):
        cut, ordered = len(scores) // 4, sorted(scores)
        middle = ordered[cut : len(ordered) - cut]
        winsorised = [*[middle[0]] * cut, *middle, *[middle[-1]] * cut]
        kept.append(len(middle))
        parts.append(statistics.variance(winsorised) * (len(scores) - 1) / (kept[-1] * (kept[-1] - 1)))
    return interval(iqm(first) - iqm(second), parts, kept)


def told(scores: Sequence[float]) -> str:
    """Mean, and each."""
    return f"{statistics.fmean(scores):.1f} ({', '.join(f'{score:.1f}' for score in scores)})"


def difference_told(difference: tuple[float, float, float]) -> str:
    """With its interval."""
    between, low, high = difference
    return f"{between:+.1f} [{low:+.1f}, {high:+.1f}]"


def print_causes(task: Task, scores: Mapping[str, Sequence[float]]) -> None:
    """A row of a Markdown table for each change that has two trainings at least."""
    print(f"| {task.name} | return | less {BEFORE} |\n| --- | --- | --- |")
    for side in (*task.causes, OURS):
        found, former = scores[side], scores[BEFORE]
        if len(found) < 2 or len(former) < 2:
            continue
        change = "" if side == BEFORE else difference_told(difference_of(found, former))
        print(f"| {'now' if side == OURS else side} | {told(found)} | {change} |")


def processor() -> str:
    """Maker, family and model, by which libraries choose how they add up; empty where that is not known."""
    try:
        about = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor()
    said = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in about)}
    return " ".join(said.get(name, "") for name in ("vendor_id", "cpu family", "model")).strip()


def again(rows: Sequence[Mapping[str, Any]], wanted: Sequence[Training], seed: int) -> int:
    """Train a sample anew; exit status 1 where a score is further off than another processor explains."""
    chance, status = random.Random(seed), 0
    for task in dict.fromkeys(each.task for each in wanted):
        for side in dict.fromkeys(each.side for each in wanted if each.task == task):
            known = [
                (t, row) for t in wanted if t.task == task and t.side == side and (row := t.kept_in(rows))
            ]
            if not known:
                continue
            training, row = chance.choice(known)
            now = training.run()
            same = now["score"] == row["score"]
            alike = all(now[key] == row.get(key) for key in ("versions", "processor"))
            spread = statistics.stdev([each["score"] for _, each in known]) if len(known) > 1 else None
            far = spread is not None and abs(now["score"] - row["score"]) > MOST_SPREADS * spread
            status |= not same and (alike or far)
            verdict = "as kept" if same else f"kept as {row['score']:.2f}"
            if not alike:
                verdict += ", by other versions or another processor"
                told_spread = "no spread is known" if spread is None else f"its side spreads by {spread:.2f}"
                verdict += f"; {told_spread}"
            print(f"{training.name}, seed {training.seed}: {now['score']:.2f}, {verdict}")
    return status


def main() -> int:
    """Train what is not kept yet, print a table; exit status 1 where ours is not shown to be level."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="trainings whose name contains this")
    parser.add_argument("--trainings", type=int, help="of each side, in place of each task's number")
    parser.add_argument("--most", type=int, default=1_000_000, metavar="N", help="train at most so many")
    parser.add_argument("--kept", type=Path, default=KEPT, metavar="FILE")
    parser.add_argument("--causes", action="store_true", help="what each default that was changed does")
    parser.add_argument("--full", action="store_true", help="train a sample of what is kept again")
    parser.add_argument("--sample-seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args: Any = parser.parse_args()
    wanted = list(trainings(args.only, args.trainings, args.causes))
    if args.full:
        return again(lines(args.kept), wanted, args.sample_seed)
    missing = [each for each in wanted if each.kept_in(lines(args.kept)) is None]
    for training in missing[: args.most]:
        row = training.run()
        keep(args.kept, row)
        print(f"  {training.name}, seed {training.seed}: {row['score']:.1f}", file=sys.stderr)
    figures, rows, undecided = Figures(), lines(args.kept), False
    for task in dict.fromkeys(each.task for each in wanted):
        scores = scores_of(task, rows, args.trainings)
        if args.causes:
            print_causes(task, scores)
        else:
            if min(len(scores[side]) for side in task.levels) < 2:
                print(f"{task.name}: fewer than two trainings of a side are kept: not decided")
                undecided = True
                continue
            figures.take(task.name, partial(measured, task, scores))
    return 0 if args.causes else max(figures.told(args.json), undecided)


if __name__ == "__main__":
    raise SystemExit(main())
