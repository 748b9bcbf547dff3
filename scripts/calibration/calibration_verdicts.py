"""How often verdicts of reports are wrong: runs are made up whole and summarised, for docs/measurements.

    python scripts/calibration/calibration_verdicts.py [--samples N] [--json FILE]

``calibration.py`` beside this file draws returns; here reports are made of them, with failures, swapped seats
and disasters. Every number is drawn with a fixed seed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from calibration import (  # beside this file
    Floats,
    Rng,
    disaster,
    exponential,
    lognormal,
    normal,
    scores,
    seeded,
)

from gym_gui.analysis import summarize
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.records.jsonl import Line
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.core.records import EpisodeRecord, RunRecord, parse_episode
from gym_gui.core.terminal import print_rows

Row = dict[str, Any]

SAMPLES = 400


@dataclass(frozen=True)
class Verdicts:
    """What was said of two sides, in per cent.

    Attributes:
        what: Who plays.
        n: Seeds.
        wrong: A worse or an equal one was called better.
        sentence: The same, and what was left open ("cannot rule out something rarer than …") covers it not.
        right: The better one was called better.
    """

    what: str
    n: int
    wrong: float
    sentence: float
    right: float


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
    "the same policy: normal": Scene(_iid(normal)),
    "the same policy: lognormal": Scene(_iid(lognormal)),
    "the same policy: 0 or 1, 95 % ones": Scene(_iid(scores(0.95))),
    "the same policy: 0 or 1, half ones": Scene(_iid(scores(0.5))),
    "equal means: exponential against always 1": Scene(lambda rng, n: _two(exponential(rng, n), np.ones(n))),
    "equal means: lognormal against always the same": Scene(
        lambda rng, n: _two(lognormal(rng, n), np.full(n, math.exp(0.5)))
    ),
    "the same policy, one crashes on 30 % hard seeds": Scene(_crashes),
    "equal teams, a seat worth 4, seats swapped": Scene(_seats(0.0)),
    "the same, half of the second games failed": Scene(_seats(0.5)),
    "disaster on 3 % (67) against a sure 90": Scene(
        lambda rng, n: _two(disaster(rng, n), rng.normal(90, 3, n)), "b", (12, 40, 120), 0.03
    ),
    "better by one standard deviation": Scene(
        lambda rng, n: _two(rng.normal(1, 1, n), rng.normal(0, 1, n)), "a", (12, 20)
    ),
    "0 or 1, 95 % ones against 75 %": Scene(
        lambda rng, n: _two(scores(0.95)(rng, n), scores(0.75)(rng, n)), "a", (20, 50)
    ),
}


def verdicts(samples: int, names: Iterable[str] = SCENES, sizes: Sequence[int] = ()) -> Iterator[Verdicts]:
    """What reports say of runs that were made up, of the sizes given or of the scene's own."""
    for what in names:
        scene = SCENES[what]
        for n in sizes or scene.sizes:
            rng = seeded(what, n)
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


def show(said: Sequence[Verdicts]) -> None:
    """Print the table."""
    headings = ("two sides", "seeds", "wrong verdict", "wrong sentence", "right verdict")
    rows = [(v.what, f"{v.n}", f"{v.wrong:.1f}", f"{v.sentence:.1f}", f"{v.right:.0f}") for v in said]
    print_rows(headings, rows, title="Verdicts, in %")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--samples", type=int, default=SAMPLES, help="runs of each kind (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    said = list(verdicts(options.samples))
    show(said)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(v) for v in said], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
