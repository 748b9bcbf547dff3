"""How often intervals hold the truth and verdicts are wrong: the simulation behind docs/statistics.md.

    python scripts/calibration.py [--studies N] [--samples N] [--only intervals|verdicts] [--json FILE]

Returns are drawn from distributions whose mean is known, and given to the functions that reports are
made with; for verdicts whole runs are made up in memory and summarised. ``calibration_pairs.py`` beside it
says how often equal operators are told apart, ``calibration_looks.py`` the same where they play until it is
decided, ``calibration_trainings.py`` and ``calibration_ratings.py`` how algorithms and ratings do.
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
from gym_gui.analysis.distributions import student_quantile
from gym_gui.analysis.jsonl import Line
from gym_gui.analysis.reader import OperatorRun, Run
from gym_gui.core.records import EpisodeRecord, RunRecord, parse_episode

Rng = np.random.Generator
Floats = NDArray[np.float64]
Row = dict[str, Any]

STUDIES = 5_000
SAMPLES = 400
RESAMPLES = 999
SIZES = (5, 10, 20, 50)


@dataclass(frozen=True)
class Held:
    """What intervals of something were like.

    Attributes:
        share: Per cent that held the truth, of those that there were.
        width: Their mean width.
        number: How many there were.
        known: Per cent that the best known method's held where returns are normal: Student's t of a mean or
            of a difference, Tukey and McLaughlin's of an IQM.
        ratio: The width as a multiple of theirs.
    """

    share: float
    width: float
    number: int
    known: float
    ratio: float

    @property
    def error(self) -> float:
        """Twice the binomial standard error, in per cent."""
        return 2 * math.sqrt(self.share * (100 - self.share) / self.number) if self.number else math.nan


@dataclass(frozen=True)
class Coverage:
    """Intervals of returns of one kind, by what they are of; below ten values none of them is ever shown."""

    what: str
    n: int
    mean: Held
    iqm: Held
    difference: Held


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


def _heavy(rng: Rng, n: int) -> Floats:
    return rng.standard_t(3, n)


def _whole(rng: Rng, n: int) -> Floats:
    return np.rint(rng.normal(0, 1, n))


def _disaster(rng: Rng, n: int) -> Floats:
    return np.where(rng.random(n) < 0.03, -1000.0, 100.0) + rng.normal(0, 10, n)


def _scores(p: float) -> Callable[[Rng, int], Floats]:
    def draw(rng: Rng, n: int) -> Floats:
        return (rng.random(n) < p).astype(np.float64)

    return draw


RETURNS: Mapping[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "normal": (_normal, 10.0),
    "Student's t, 3 degrees": (_heavy, 0.0),
    "exponential": (_exponential, 1.0),
    "lognormal": (_lognormal, math.exp(0.5)),
    "two modes": (_two_modes, 220.0),
    "500, but less on 10 %": (_capped, 480.0),
    "ties: whole numbers about 0": (_whole, 0.0),
    "0 or 1, half ones": (_scores(0.5), 0.5),
    "0 or 1, 80 % ones": (_scores(0.8), 0.8),
    "0 or 1, 95 % ones": (_scores(0.95), 0.95),
    "disaster on 3 %": (_disaster, 67.0),
}


def _seeded(*words: object) -> Rng:
    return np.random.default_rng(zlib.crc32(repr(words).encode()))


def coverage(
    studies: int, names: Iterable[str] = RETURNS, sizes: Sequence[int] = SIZES
) -> Iterator[Coverage]:
    """Intervals of means, IQMs and paired differences of single episodes."""
    for what in names:
        draw, mean = RETURNS[what]
        iqm = stats.iqm(draw(_seeded(what), 1_000_000))
        for n in sizes:
            rng = _seeded(what, n)
            x, other = (np.stack([draw(rng, n) for _ in range(studies)]) for _ in "ab")
            d = x - other
            yield Coverage(
                what,
                n,
                _held(
                    [intervals.mean_interval(each, resamples=RESAMPLES, least=n) for each in x],
                    _student(x),
                    mean,
                ),
                _held(
                    [intervals.iqm_interval(each, resamples=RESAMPLES, least=n) for each in x],
                    _trimmed(x),
                    iqm,
                ),
                _held(
                    [intervals.paired_interval(each, resamples=RESAMPLES, least=n) for each in d],
                    _student(d),
                    0.0,
                ),
            )


def _student(x: Floats) -> Floats:
    """Student's interval of the mean of each row: (rows, 2)."""
    n = x.shape[1]
    half = student_quantile(n - 1, 0.975) * x.std(axis=1, ddof=1) / math.sqrt(n)
    return np.stack([x.mean(axis=1) - half, x.mean(axis=1) + half], axis=1)


def _trimmed(x: Floats) -> Floats:
    """Tukey and McLaughlin's interval of the IQM of each row, from the winsorised spread: (rows, 2).

    Source:
        Tukey & McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location Based on a
        Single Sample", Sankhya A 25 (1963).
    """
    n = x.shape[1]
    cut = n // 4
    ordered = np.sort(x, axis=1)
    kept = ordered[:, cut : n - cut]
    spread = np.clip(ordered, kept[:, :1], kept[:, -1:]).std(axis=1, ddof=1)
    half = student_quantile(n - 2 * cut - 1, 0.975) * spread * math.sqrt(n) / (n - 2 * cut)
    return np.stack([kept.mean(axis=1) - half, kept.mean(axis=1) + half], axis=1)


def shares(samples: int) -> Iterator[tuple[str, int, float]]:
    """Intervals of the share of games won, two on each seed: how many in a hundred hold it."""
    for what, alike in (("the seed decides", 0.95), ("chance decides", 0.0), ("the seat decides", -1.0)):
        for n in SIZES:
            rng = _seeded(what, n)
            found = [_share_of_wins(rng, n, alike) for _ in range(samples)]
            held = sum(each is not None and each.low <= 0.5 <= each.high for each in found)
            yield f"share won, seats swapped: {what}", n, 100 * held / samples


def _held(found: Sequence[intervals.Interval | None], known: Floats, truth: float) -> Held:
    """Both methods on the samples of which ours gives an interval."""
    given = np.array([i is not None for i in found])
    if not given.any():
        return Held(math.nan, math.nan, 0, math.nan, math.nan)
    ours = np.array([i[:2] for i in found if i is not None])
    margin = 1e-9 * max(1.0, abs(truth))

    def share(ends: Floats) -> float:
        return 100 * float(np.mean((ends[:, 0] - margin <= truth) & (truth <= ends[:, 1] + margin)))

    def width(ends: Floats) -> float:
        return float(np.mean(ends[:, 1] - ends[:, 0]))

    theirs = known[given]
    return Held(share(ours), width(ours), len(ours), share(theirs), width(ours) / (width(theirs) or math.nan))


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


def show(
    held: Sequence[Coverage],
    won: Sequence[tuple[str, int, float]],
    said: Sequence[Verdicts],
    console: Console,
) -> None:
    """Print the tables."""
    headings = ("returns", "n", "mean", "IQM", "difference")
    title = "95 % intervals that hold the truth, in % (width to the best known method's, which holds)"
    table = Table(*headings, title=title)
    for c in held:
        table.add_row(c.what, f"{c.n}", *map(_cell, (c.mean, c.iqm, c.difference)))
    console.print(table)
    for what, n, share in won:
        console.print(f"{what}, {n} seeds: {share:.1f}")
    table = Table(
        "two sides", "seeds", "wrong verdict", "wrong sentence", "right verdict", title="Verdicts, in %"
    )
    for v in said:
        table.add_row(v.what, f"{v.n}", f"{v.wrong:.1f}", f"{v.sentence:.1f}", f"{v.right:.0f}")
    console.print(table)


def _cell(held: Held) -> str:
    return f"{held.share:.1f} ± {held.error:.1f} ({held.ratio:.2f}, {held.known:.0f})" if held.number else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--samples", type=int, default=SAMPLES, help="runs of each kind (default: %(default)s)"
    )
    parser.add_argument(
        "--studies",
        type=int,
        default=STUDIES,
        help="samples for intervals, of each kind (default: %(default)s)",
    )
    parser.add_argument("--only", choices=("intervals", "verdicts"), help="one of the tables")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    held = [] if options.only == "verdicts" else list(coverage(options.studies))
    won = [] if options.only == "verdicts" else list(shares(options.studies))
    said = [] if options.only == "intervals" else list(verdicts(options.samples))
    show(held, won, said, Console(width=130))
    if options.json is not None:
        figures = {"coverage": [asdict(c) for c in held], "verdicts": [asdict(v) for v in said], "won": won}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
