"""What it costs to play an experiment in parts, and to make one run of them; both sides in one run.

    python scripts/bench/bench_shards.py [--quick] [--episodes N] [--json FILE]

Two operators play CartPole, by ``mosaic run`` on two processes; in 64 shards by two commands of 32 each, on
one process each; and in 64 shards by a command each, two at a time. Figures are CPU seconds of all processes:
a machine that is shared has others' work in its wall time. What a shard costs before its first step does not
grow with its work: it is told how much work makes it a tenth.

Then 250 and 1,000 shards of 100 episodes are merged; their episodes are some that were played, over and over.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import Figure, Figures

from gym_gui.core.experiment.shards import ScheduledEpisodes, Shard
from gym_gui.services.runs.recorder import COMPLETED, Recorder, read_header

SHARDS = 64
MOST_RATIO = 1.1
EACH = 100
"""Episodes of a shard that is merged."""
MOST_MERGE_S = 10.0
MOST_GROWTH = 1.5
"""How much more a shard of 1,000 may take than one of 250."""


def _cpu_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _mosaic(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "gym_gui", *arguments, "--json"]
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=environment)
    return json.JSONDecoder().raw_decode(done.stdout)[0]["run"]


def _experiment(folder: Path, episodes: int) -> None:
    players = {"chance": {"type": "random"}, "turns": {"type": "baseline", "behavior": "cycle"}}
    operators = [
        {"id": name, "task": "CartPole-v1", "workers": {"agent": who}} for name, who in players.items()
    ]
    data = {"operators": operators, "execution": {"num_episodes": episodes, "seeds": 0}}
    folder.mkdir()
    (folder / "experiment.json").write_text(json.dumps(data))


def in_one(folder: Path) -> tuple[Path, float]:
    """The run, and the CPU seconds that it took."""
    before = _cpu_s()
    run = _mosaic(folder, "run", "experiment.json", "--processes", "2")
    return folder / run, _cpu_s() - before


def in_parts(folder: Path, of: int, each: int) -> tuple[float, float]:
    """CPU seconds of all shards, by commands that play so many each, and of their merge."""
    before = _cpu_s()
    out = f"shards-{each}"
    with ThreadPoolExecutor(2) as pool:
        done = [
            pool.submit(
                _mosaic,
                folder,
                *("run", "experiment.json", "--processes", "1", "--out", out),
                *("--shard", f"{first}-{first + each - 1}/{of}"),
            )
            for first in range(1, of + 1, each)
        ]
    for command in done:
        command.result()
    played = _cpu_s() - before
    before = _cpu_s()
    _mosaic(folder, "runs", "merge", out)
    return played, _cpu_s() - before


def shards_of(run: Path, out: Path, of: int) -> None:
    """Write shards of 100 episodes whose rows are those of a run, again and again.

    Args:
        run: A run of two operators.
        out: Where the shards go.
        of: How many.
    """
    about = read_header(run)
    names = [operator["id"] for operator in about["experiment"]["operators"]]
    episodes = of * EACH // len(names)
    execution = {
        **about["experiment"]["execution"],
        "num_episodes": episodes,
        "seeds": f"range(0, {episodes})",
    }
    experiment = {**about["experiment"], "execution": execution}
    played = {name: _episodes(run / "operators" / name) for name in names}
    scheduled = [ScheduledEpisodes(name, episodes) for name in names]
    kept = {key: about[key] for key in ("machine", "commit", "players", "actions", "versions")}
    for number in range(1, of + 1):
        cut = Shard(number, of).episodes(scheduled)
        shard = {
            "number": number,
            "of": of,
            "experiment_sha256": "0" * 64,
            "episodes": {name: list(indices) for name, indices in cut.items()},
        }
        recorder = Recorder.create(out, list(cut), {**kept, "experiment": experiment, "shard": shard})
        for name, indices in cut.items():
            for index in indices:
                steps, line = played[name][index % len(played[name])]
                recorder.episode(name, _numbered(steps, index), _numbered(line, index))
        recorder.close(COMPLETED, retries=[])


def _episodes(folder: Path) -> list[tuple[bytes, bytes]]:
    rows: dict[int, list[bytes]] = {}
    for step in (folder / "steps.jsonl").read_bytes().splitlines(keepends=True):
        rows.setdefault(json.loads(step)["episode_index"], []).append(step)
    lines = (folder / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    return [(b"".join(rows[json.loads(line)["episode_index"]]), line) for line in lines]


def _numbered(data: bytes, index: int) -> bytes:
    return re.sub(rb'"episode_index":\d+,', b'"episode_index":%d,' % index, data)


def merged(folder: Path, of: int) -> tuple[float, float]:
    """CPU seconds of a merge, and the megabytes of rows that it copied."""
    before = _cpu_s()
    run = folder / _mosaic(folder, "runs", "merge", f"of-{of}", "-o", f"merged-{of}")
    spent = _cpu_s() - before
    return spent, sum(file.stat().st_size for file in run.rglob("*.jsonl")) / 1e6


def _played(folder: Path, episodes: int) -> list[Figure]:
    _experiment(folder, episodes)
    _, one = in_one(folder)
    figures: list[Figure] = []
    for each, goal in ((SHARDS // 2, MOST_RATIO), (1, None)):
        parts, merge = in_parts(folder, SHARDS, each)
        ratio, start = (parts + merge) / one, (parts - one) / SHARDS
        detail = (
            f"{parts:.1f} s of CPU and {merge:.1f} s to merge, {one:.1f} s in one; "
            f"{one / SHARDS:.2f} s a shard"
        )
        name = f"{SHARDS} shards of {2 * episodes:,} episodes, {each} a command"
        wanted = "" if goal is None else f"<= {goal}"
        figures.append(Figure(name, wanted, ratio, "x of one run", goal is None or ratio <= goal, detail))
    enough = max(0.0, (start + merge / SHARDS) / (MOST_RATIO - 1))
    detail = f"a tenth of {enough:.0f} s of work in each"
    return [*figures, Figure("start of a shard by itself", "", start, "s of CPU", True, detail)]


def _merges(folder: Path, counts: Sequence[int]) -> list[Figure]:
    _experiment(folder, 500)
    run, _ = in_one(folder)
    figures: list[Figure] = []
    each: list[float] = []
    for of in counts:
        shards_of(run, folder / f"of-{of}", of)
        spent, size = merged(folder, of)
        each.append(spent / of)
        detail = f"{of * EACH:,} episodes, {size:.0f} MB"
        ok = spent <= MOST_MERGE_S
        figures.append(
            Figure(f"merge of {of:,} shards", f"<= {MOST_MERGE_S:.0f}", spent, "s of CPU", ok, detail)
        )
    growth = each[-1] / each[0]
    detail = f"{1e3 * each[0]:.1f} and {1e3 * each[-1]:.1f} ms a shard"
    name = f"a shard of {counts[-1]:,} beside one of {counts[0]:,}"
    return [*figures, Figure(name, f"<= {MOST_GROWTH}", growth, "x", growth <= MOST_GROWTH, detail)]


def main() -> int:
    """Measure; returns 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few episodes, and 25 and 100 shards to merge")
    parser.add_argument("--episodes", type=int, default=200_000, help="of each operator (default: 200,000)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="bench-shards-") as place:
        shards = (25, 100) if args.quick else (250, 1_000)
        figures.take("merges", lambda: _merges(Path(place, "merges"), shards))
        episodes = 640 if args.quick else args.episodes
        figures.take("played", lambda: _played(Path(place, "played"), episodes))
    return figures.told(args.json)


if __name__ == "__main__":
    raise SystemExit(main())
