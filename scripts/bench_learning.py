"""What ``cleanrl_worker`` learns with its defaults beside Stable-Baselines3 with its own, in as many steps.

    python scripts/bench_learning.py [--only NAME] [--trainings 5] [--most N] [--kept FILE] [--json FILE]
    python scripts/bench_learning.py --full [--sample-seed 1]

Each side is ``mosaic train`` in the foreground with one thread of computation, the same environment, steps
and seeds. The score of a training is the mean return of the policy that it kept, best actions, over the 20
evaluation seeds that no training saw. What is printed is the difference of the means, ours less SB3's, with
Welch's 95 % interval over trainings.

Each training's score is kept as a line of ``--kept`` at once, so that a run that was cut off goes on where
it was, and one with ``--most 1`` trains once. A line counts as long as its settings are those that a
training would have now. ``--full`` trains a sample of the kept lines again, one of each side and task, chosen
by ``--sample-seed``; on the machine and with the versions that they are from, scores are equal to the bit.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench import Figure, Figures
from bench_marl import difference_of, trained

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "training_levels.jsonl"
OURS, SB3 = "ours", "SB3"
WORKERS = {OURS: "cleanrl_worker", SB3: "sb3_worker"}


@dataclass(frozen=True)
class Task:
    """A training that both sides do.

    Attributes:
        algorithm: Of both workers.
        env: The environment.
        steps: Of it, in all.
        sb3: Settings that make ``sb3_worker`` train as the library does by itself.
    """

    algorithm: str
    env: str
    steps: int
    sb3: Mapping[str, int] = field(hash=False)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.algorithm} on {self.env}"


TASKS = (
    # The library's PPO plays one environment; sb3_worker, eight.
    Task("ppo", "Acrobot-v1", 40_960, {"num_envs": 1, "n_steps": 2048, "batch_size": 64}),
    Task("td3", "Pendulum-v1", 5_000, {}),
)


@dataclass(frozen=True)
class Training:
    """One of a side.

    Attributes:
        task: What is learnt.
        side: Who learns.
        seed: Everything random derives from it.
    """

    task: Task
    side: str
    seed: int

    @property
    def given(self) -> dict[str, Any]:
        """Settings that are not the worker's defaults."""
        return {**(self.task.sb3 if self.side == SB3 else {}), "total_steps": self.task.steps}

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, as the worker's schema has them."""
        schema = json.loads((ROOT / "3rd_party" / WORKERS[self.side] / "train_schema.json").read_text())
        own = schema["algorithms"][self.task.algorithm]["properties"]
        own_ones = ("env_id", "seed")
        defaults = {name: each.get("default") for name, each in own.items() if name not in own_ones}
        return defaults | self.given

    def command(self, out: Path) -> list[str]:
        """Of the training."""
        command = [sys.executable, "-m", "gym_gui", "train", "--worker", WORKERS[self.side]]
        command += ["--algo", self.task.algorithm, "--env", self.task.env, "--seed", str(self.seed)]
        command += ["--out", str(out)]
        for name, value in self.given.items():
            command += ["--set", f"{name}={value}"]
        return command

    def run(self) -> dict[str, Any]:
        """Train, and what is kept of it."""
        with tempfile.TemporaryDirectory(prefix="bench-learning-") as place:
            out = Path(place) / "policy"
            trained(self.command(out))
            policy = json.loads((out / "policy.json").read_text())
        row = {"task": self.task.name, "side": self.side, "seed": self.seed}
        row |= {"score": policy["evaluation"]["mean_return"], "settings": self.settings}
        return {**row, "versions": policy["versions"]}

    def kept_in(self, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
        """Its line, if it was made with these settings."""
        own = (self.task.name, self.side, self.seed)
        found = (row for row in rows if (row["task"], row["side"], row["seed"]) == own)
        return next((row for row in found if row["settings"] == self.settings), None)


def trainings(only: str, count: int) -> Iterator[Training]:
    """All, the sides in turn."""
    for task in TASKS:
        if only.lower() in task.name.lower():
            yield from (Training(task, side, seed) for seed in range(1, count + 1) for side in WORKERS)


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


def compared(task: Task, scores: Mapping[str, list[float]]) -> Figure:
    """Both sides of a task; SB3 is ahead where the whole interval is below zero."""
    ours, theirs = scores[OURS], scores[SB3]
    between, low, high = difference_of(ours, theirs)
    detail = f"[{low:+.1f}, {high:+.1f}] in mean return after {task.steps:,} steps"
    for side, found in scores.items():
        detail += f"; {side} {statistics.fmean(found):.1f} ({', '.join(f'{score:.1f}' for score in found)})"
    return Figure(task.name, "level", between, "", high >= 0, detail)


def again(rows: list[dict[str, Any]], wanted: list[Training], seed: int) -> int:
    """Train a sample anew; exit status 1 where a score is another."""
    chance, status = random.Random(seed), 0
    for task in dict.fromkeys(each.task for each in wanted):
        for side in WORKERS:
            known = [
                (t, row) for t in wanted if t.task == task and t.side == side and (row := t.kept_in(rows))
            ]
            if not known:
                continue
            training, row = chance.choice(known)
            now = training.run()
            same = now["score"] == row["score"]
            status |= not same and now["versions"] == row["versions"]
            verdict = "as kept" if same else f"kept as {row['score']:.2f}"
            if now["versions"] != row["versions"]:
                verdict += ", with other versions"
            print(f"{task.name}, {side}, seed {training.seed}: {now['score']:.2f}, {verdict}")
    return status


def main() -> int:
    """Train what is not kept yet, print a table; exit status 1 where SB3 is ahead."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--trainings", type=int, default=5, help="of each side")
    parser.add_argument("--most", type=int, default=1_000_000, metavar="N", help="trainings in this call")
    parser.add_argument("--kept", type=Path, default=KEPT, metavar="FILE")
    parser.add_argument("--full", action="store_true", help="train a sample of what is kept again")
    parser.add_argument("--sample-seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args: Any = parser.parse_args()
    wanted = list(trainings(args.only, args.trainings))
    if args.full:
        return again(lines(args.kept), wanted, args.sample_seed)
    missing = [each for each in wanted if each.kept_in(lines(args.kept)) is None]
    for training in missing[: args.most]:
        row = training.run()
        keep(args.kept, row)
        print(
            f"  {training.task.name}, {training.side}, seed {training.seed}: {row['score']:.1f}",
            file=sys.stderr,
        )
    figures = Figures()
    for task in dict.fromkeys(each.task for each in wanted):
        found = [(each, each.kept_in(lines(args.kept))) for each in wanted if each.task == task]
        scores = {
            side: [row["score"] for each, row in found if row and each.side == side] for side in WORKERS
        }
        if min(map(len, scores.values())) >= 2:
            figures.take(task.name, partial(compared, task, scores))
    return figures.told(args.json)


if __name__ == "__main__":
    raise SystemExit(main())
