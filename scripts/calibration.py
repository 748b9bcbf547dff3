"""How often intervals hold the truth and verdicts are wrong: the simulation behind docs/statistics.md.

    python scripts/calibration.py [--samples N] [--studies N] [--json FILE]

Returns are drawn from distributions whose mean is known, and given to the functions that reports are
made with; for verdicts whole runs are made up in memory and summarised. Playing until it is decided has a
table and a script of its own, ``calibration_looks.py``, which this one runs too where ``--studies`` asks.
Every number is drawn with a fixed seed: the same table, whenever it is made.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from gym_gui.analysis import intervals, stats, summarize
from gym_gui.analysis.comparison import Comparison
from gym_gui.analysis.jsonl import Line
from gym_gui.analysis.reader import OperatorRun, Run
from gym_gui.core.records import EpisodeRecord, RunRecord, parse_episode

Rng = np.random.Generator
Floats = NDArray[np.float64]
Row = dict[str, Any]

SAMPLES = 400
RESAMPLES = 1_999
SIZES = (6, 12, 20, 50)


@dataclass(frozen=True)
class Coverage:
    """How often the interval of something held the truth, in per cent of those that were given."""

    what: str
    n: int
    mean: float
    iqm: float | None
    none_given: float


@dataclass(frozen=True)
class Verdicts:
    """What was said of two sides, in per cent.

    Attributes:
        what: Who plays.
        n: Seeds.
        wrong: A worse or an equal one was called better.
        sentence: The same, and what was left open ("outcomes on under x % may be unseen") does not cover it.
        right: The better one was called better.
    """

    what: str
    n: int
    wrong: float
    sentence: float
    right: float


# ------------------------------------------------------------------------- intervals


def _normal(rng: Rng, n: int) -> Floats:
    return rng.normal(10, 3, n)


def _exponential(rng: Rng, n: int) -> Floats:
    return rng.exponential(1, n)


def _lognormal(rng: Rng, n: int) -> Floats:
    return rng.lognormal(0, 1, n)


def _two_modes(rng: Rng, n: int) -> Floats:
    return np.where(rng.random(n) < 0.3, 500.0, 100.0) + rng.normal(0, 10, n)


def _capped(rng: Rng, n: int) -> Floats:
    return np.where(rng.random(n) < 0.9, 500.0, rng.uniform(100, 500, n))


def _disaster(rng: Rng, n: int) -> Floats:
    return np.where(rng.random(n) < 0.03, -1000.0, 100.0) + rng.normal(0, 10, n)


def _scores(p: float) -> Callable[[Rng, int], Floats]:
    def draw(rng: Rng, n: int) -> Floats:
        return (rng.random(n) < p).astype(np.float64)

    return draw


RETURNS: Mapping[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "normal": (_normal, 10.0),
    "exponential": (_exponential, 1.0),
    "lognormal": (_lognormal, math.exp(0.5)),
    "two modes": (_two_modes, 220.0),
    "500, but less on 10 %": (_capped, 480.0),
    "0 or 1, half ones": (_scores(0.5), 0.5),
    "0 or 1, 80 % ones": (_scores(0.8), 0.8),
    "0 or 1, 95 % ones": (_scores(0.95), 0.95),
    "disaster on 3 %": (_disaster, 67.0),
}


def _seeded(*words: object) -> Rng:
    return np.random.default_rng(zlib.crc32(repr(words).encode()))


def coverage(
    samples: int, names: Iterable[str] = RETURNS, sizes: Sequence[int] = SIZES
) -> Iterator[Coverage]:
    """Intervals of means and IQMs of single episodes."""
    for what in names:
        draw, mean = RETURNS[what]
        iqm = stats.iqm(draw(_seeded(what), 1_000_000))
        for n in sizes:
            rng = _seeded(what, n)
            drawn = [draw(rng, n) for _ in range(samples)]
            means = [intervals.mean_interval(x, resamples=RESAMPLES) for x in drawn]
            iqms = [intervals.iqm_interval(x, resamples=RESAMPLES) for x in drawn]
            none = 100 * sum(found is None for found in means) / samples
            yield Coverage(what, n, _held(means, mean) or 0.0, _held(iqms, iqm), none)


def shares(samples: int) -> Iterator[Coverage]:
    """Intervals of the share of games won, two on each seed."""
    for what, alike in (("the seed decides", 0.95), ("chance decides", 0.0), ("the seat decides", -1.0)):
        for n in SIZES:
            rng = _seeded(what, n)
            found = [_share_of_wins(rng, n, alike) for _ in range(samples)]
            yield Coverage(f"share won, seats swapped: {what}", n, _held(found, 0.5) or 0.0, None, 0.0)


def _held(found: Sequence[intervals.Interval | None], truth: float) -> float | None:
    given = [i for i in found if i is not None]
    if not given:
        return None
    margin = 1e-9 * max(1.0, abs(truth))
    return 100 * sum(i.low - margin <= truth <= i.high + margin for i in given) / len(given)


def _share_of_wins(rng: Rng, n: int, alike: float) -> intervals.Interval | None:
    """Two games on each of ``n`` seeds; their results are the same, the reverse, or independent."""
    first = rng.random(n) < 0.5
    bound = rng.random(n) < abs(alike)
    second = np.where(bound, first if alike > 0 else ~first, rng.random(n) < 0.5)
    return intervals.share_interval(float(first.sum() + second.sum()) / 2, n)


# -------------------------------------------------------------------------- verdicts


class _Drawn(OperatorRun):
    """An operator whose episodes were made up."""

    rows: Sequence[Row]

    def episode_lines(self) -> Iterator[tuple[EpisodeRecord, Line]]:
        for i, row in enumerate(self.rows):
            yield parse_episode(row, self.operator_id), Line(row, self.path, i, 0)


def _run(operators: Mapping[str, Sequence[Row]]) -> Run:
    found: dict[str, OperatorRun] = {}
    for name, rows in operators.items():
        operator = _Drawn(name, Path("nowhere", name), {"operator_id": name, "task": "made up"})
        object.__setattr__(operator, "rows", rows)
        found[name] = operator
    config = [dict(operator.config) for operator in found.values()]
    return Run(Path("nowhere"), RunRecord("made-up", "completed", {"operators": config}), found)


def _episode(operator: str, index: int, seed: int, returns: Mapping[str, float], **more: Any) -> Row:
    agents = {seat: {"worker_id": "w", "worker_type": "rl", "policy": "p", "slot": seat} for seat in returns}
    teams = {seat: {"agents": [seat], "return": value, "score": None} for seat, value in returns.items()}
    return {
        "operator_id": operator,
        "episode_index": index,
        "seed": seed,
        "status": "completed",
        "length": 10,
        "total_reward": sum(returns.values()),
        "returns": dict(returns),
        "teams": teams,
        "agents": agents,
        "terminated": True,
        "truncated": False,
        "invalid_actions": {},
        **more,
    }


def _failed(row: Row) -> Row:
    return {**row, "status": "failed", "error": "worker lost"}


def _two(a: Floats, b: Floats) -> dict[str, list[Row]]:
    sides = {"a": a, "b": b}
    return {k: [_episode(k, i, i, {"agent_0": float(x)}) for i, x in enumerate(v)] for k, v in sides.items()}


def _crashes(rng: Rng, n: int) -> dict[str, list[Row]]:
    """The same policy twice; ``a`` crashes where a seed is hard."""
    hard = rng.random(n) < 0.3
    drawn = [np.where(hard, 20.0, 80.0) + rng.normal(0, 5, n) for _ in "ab"]
    rows = _two(drawn[0], drawn[1])
    rows["a"] = [_failed(row) if hard[i] else row for i, row in enumerate(rows["a"])]
    return rows


def _seats(lost: float) -> Callable[[Rng, int], dict[str, list[Row]]]:
    """Equal teams, swapped seats, one seat worth 4; the second game of a seed fails ``lost`` of the time."""

    def rows(rng: Rng, n: int) -> dict[str, list[Row]]:
        found: list[Row] = []
        for seed in range(n):
            for swapped in (False, True):
                margin = 4 + float(rng.normal(0, 2))
                row = _episode("a", len(found), seed, {"green": margin, "blue": -margin})
                if swapped:
                    row["agents"] = {
                        "green": {**row["agents"]["green"], "slot": "blue"},
                        "blue": {**row["agents"]["blue"], "slot": "green"},
                    }
                found.append(_failed(row) if swapped and rng.random() < lost else row)
        return {"a": found}

    return rows


@dataclass(frozen=True)
class Scene:
    """Two sides, which of them is better ("" where none is), and the share of seeds that decides it."""

    draw: Callable[[Rng, int], dict[str, list[Row]]]
    better: str = ""
    sizes: tuple[int, ...] = (12, 30)
    rare: float = 0.0


def _iid(draw: Callable[[Rng, int], Floats]) -> Callable[[Rng, int], dict[str, list[Row]]]:
    return lambda rng, n: _two(draw(rng, n), draw(rng, n))


SCENES: Mapping[str, Scene] = {
    "the same policy: normal": Scene(_iid(_normal)),
    "the same policy: lognormal": Scene(_iid(_lognormal)),
    "the same policy: 0 or 1, 95 % ones": Scene(_iid(_scores(0.95))),
    "the same policy: 0 or 1, half ones": Scene(_iid(_scores(0.5))),
    "equal means: exponential against always 1": Scene(lambda rng, n: _two(_exponential(rng, n), np.ones(n))),
    "equal means: lognormal against always the same": Scene(
        lambda rng, n: _two(_lognormal(rng, n), np.full(n, math.exp(0.5)))
    ),
    "the same policy, one crashes on 30 % hard seeds": Scene(_crashes),
    "equal teams, a seat worth 4, seats swapped": Scene(_seats(0.0)),
    "the same, half of the second games failed": Scene(_seats(0.5)),
    "disaster on 3 % (67) against a sure 90": Scene(
        lambda rng, n: _two(_disaster(rng, n), rng.normal(90, 3, n)), "b", (12, 40, 120), 0.03
    ),
    "better by one standard deviation": Scene(
        lambda rng, n: _two(rng.normal(1, 1, n), rng.normal(0, 1, n)), "a", (12, 20)
    ),
    "0 or 1, 95 % ones against 75 %": Scene(
        lambda rng, n: _two(_scores(0.95)(rng, n), _scores(0.75)(rng, n)), "a", (20, 50)
    ),
}


def verdicts(samples: int, names: Iterable[str] = SCENES, sizes: Sequence[int] = ()) -> Iterator[Verdicts]:
    """What reports say of runs that were made up, of the sizes given or of the scene's own."""
    for what in names:
        scene = SCENES[what]
        for n in sizes or scene.sizes:
            rng = _seeded(what, n)
            wrong = sentence = right = 0
            for _ in range(samples):
                (c,) = summarize(_run(scene.draw(rng, n)), steps=False).comparisons
                said = _verdict_of(c)
                right += bool(said) and said == scene.better
                if said and said != scene.better:
                    wrong += 1
                    sentence += not (c.difference.unseen or 0.0) > scene.rare > 0
            yield Verdicts(what, n, *(100 * k / samples for k in (wrong, sentence, right)))


def _verdict_of(c: Comparison) -> str:
    return {"first": c.first, "second": c.second, "undecided": ""}[c.verdict]


# ------------------------------------------------------------------------- the tables


def show(held: Sequence[Coverage], said: Sequence[Verdicts], console: Console) -> None:
    """Print both tables."""
    table = Table(
        "returns", "n", "mean", "IQM", "no interval", title="95 % intervals that hold the truth, in %"
    )
    for c in held:
        iqm = "-" if c.iqm is None else f"{c.iqm:.0f}"
        table.add_row(c.what, f"{c.n}", f"{c.mean:.0f}", iqm, f"{c.none_given:.0f}")
    console.print(table)
    table = Table(
        "two sides", "seeds", "wrong verdict", "wrong sentence", "right verdict", title="Verdicts, in %"
    )
    for v in said:
        table.add_row(v.what, f"{v.n}", f"{v.wrong:.1f}", f"{v.sentence:.1f}", f"{v.right:.0f}")
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each kind (default: %(default)s)")
    parser.add_argument(
        "--studies", type=int, default=0, help="also these that are played until it is decided, of each kind"
    )
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    held = [*coverage(options.samples), *shares(10 * options.samples)]
    said = list(verdicts(options.samples))
    console = Console(width=110)
    show(held, said, console)
    studies: list[Any] = []
    if options.studies:
        from calibration_looks import looked, show_looks  # beside this file

        studies = list(looked(options.studies))
        show_looks(studies, console)
    if options.json is not None:
        figures = {"coverage": [asdict(c) for c in held], "verdicts": [asdict(v) for v in said]}
        figures["studies"] = [asdict(each) for each in studies]
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
