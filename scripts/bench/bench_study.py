"""How long a report takes beside the run it is of; both sides in one run.

    python scripts/bench/bench_study.py [--quick] [--json FILE]

A run of CartPole at random is played by ``mosaic run``, and its report (summary, transcript's index, page;
without replays) is made in a fresh process. Both are CPU seconds, the run's with its processes: a machine
that is shared has others' work in its wall time. The start of the interpreter is in the run's, and in
no report's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench import Figure, Figures

EPISODES = (1_000, 10_000, 40_000)
MOST_SHARE = 10.0
"""Per cent of the run's time that its report may take."""
MOST_STUDY_S = 5.0
_REPORT = """
import sys, time
from gym_gui.analysis import open_run, summarize, write_report
begun = time.process_time()
run = open_run(sys.argv[1])
write_report(summarize([run]), run.path, [run])
print(time.process_time() - begun)
"""


def _cpu_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def played(folder: Path, operators: int, episodes: int) -> tuple[Path, float]:
    """A run folder, and the CPU seconds that playing it took, the report at its end left out."""
    experiment = {
        "operators": [
            {
                "id": f"o{i}",
                "task": "CartPole-v1",
                "workers": {"agent": {"type": "baseline", "behavior": ("random", "cycle")[i % 2]}},
            }
            for i in range(operators)
        ],
        "execution": {"num_episodes": episodes, "seeds": 0},
    }
    folder.mkdir()
    (folder / "study.json").write_text(json.dumps(experiment))
    command = [sys.executable, "-m", "gym_gui", "run", "study.json", "--json"]
    before = _cpu_s()
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, env=_environment())
    spent = _cpu_s() - before
    return folder / json.loads(done.stdout.splitlines()[-1])["run"], spent


def told_apart(run: Path) -> None:
    """Give every operator returns of its own, so that nothing is computed once for two of them."""
    for number, file in enumerate(sorted(run.glob("operators/*/episodes.jsonl"))):
        draw = random.Random(number)
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        for row in rows:
            row["total_reward"] += draw.gauss(number, 5)
            row["returns"] = dict.fromkeys(row["returns"], row["total_reward"])
            for team in row["teams"].values():
                team["return"] = row["total_reward"]
            row["trajectory_sha256"] = str(draw.random())
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def reported(run: Path) -> float:
    """CPU seconds that the run's report takes."""
    command = [sys.executable, "-c", _REPORT, str(run)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=_environment())
    return float(done.stdout)


def _environment() -> dict[str, str]:
    return {**os.environ, "SDL_VIDEODRIVER": "dummy"}


def one_report(place: Path, episodes: int) -> Figure:
    """What the report of one operator's episodes takes, beside its run."""
    run, spent = played(place, 1, episodes)
    report = reported(run)
    share = 100 * report / max(spent - report, 1e-9)
    each = 1e6 * report / episodes
    detail = f"{report:.2f} s of {spent - report:.1f} s of CPU, {each:.0f} us an episode"
    name, goal = f"report of {episodes:,} episodes", f"<= {MOST_SHARE:.0f}"
    return Figure(name, goal, share, "% of the run", share <= MOST_SHARE, detail)


def study_report(place: Path, seeds: int) -> Figure:
    """What the report of ten operators takes."""
    run, spent = played(place, 10, seeds)
    told_apart(run)
    report = reported(run)
    detail = f"45 comparisons; the run took {spent - report:.1f} s of CPU"
    name = f"report of 10 operators, {seeds:,} seeds"
    return Figure(name, f"<= {MOST_STUDY_S:.0f}", report, "s", report <= MOST_STUDY_S, detail)


def main() -> int:
    """Measure; returns 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 episodes, and a tenth of the study")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="bench-study-") as place:
        for episodes in EPISODES[:1] if args.quick else EPISODES:
            here = Path(place, f"one-{episodes}")
            figures.take(f"report of {episodes:,} episodes", partial(one_report, here, episodes))
        seeds = 100 if args.quick else 1_000
        figures.take("report of 10 operators", lambda: study_report(Path(place, "study"), seeds))
    return figures.told(args.json)


if __name__ == "__main__":
    raise SystemExit(main())
