"""Who understands whom: listeners, and speakers, by whom they met in a tournament of ``strangers.yaml``.

python docs/examples/zero_shot/talk/who_listens.py RUN
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gym_gui.analysis import Run, open_run
from gym_gui.analysis.statistics.intervals import mean_interval
from gym_gui.analysis.statistics.stats import holm, paired_test

TEAMS = ("seed1", "seed2", "seed3", "seed4")
STRANGERS = ("seed11", "seed12", "seed13")
Pairs = Sequence[tuple[str, str]]
"""Who speaks, and who listens."""


def crossed(speakers: Sequence[str], listeners: Sequence[str]) -> Pairs:
    """Each speaker with each listener, but not with its own."""
    return [(speaks, listens) for speaks in speakers for listens in listeners if speaks != listens]


GROUPS: dict[str, Pairs] = {
    "teams with themselves": [(team, team) for team in TEAMS],
    "a team's listener, another team speaks": crossed(TEAMS, TEAMS),
    "a team's listener, a stranger speaks": crossed(STRANGERS, TEAMS),
    "partnered listener, a team speaks": crossed(TEAMS, ["partnered"]),
    "partnered listener, a stranger speaks": crossed(STRANGERS, ["partnered"]),
    "deaf listener, a team speaks": crossed(TEAMS, ["deaf"]),
    "deaf listener, a stranger speaks": crossed(STRANGERS, ["deaf"]),
    "a team speaks, a stranger listens": crossed(TEAMS, STRANGERS),
    "partnered speaks, a team listens": crossed(["partnered"], TEAMS),
    "partnered speaks, a stranger listens": crossed(["partnered"], STRANGERS),
    "partnered with itself": [("partnered", "partnered")],
}
COMPARED = [
    ("teams with themselves", "a team's listener, another team speaks"),
    ("deaf listener, a team speaks", "a team's listener, another team speaks"),
    ("deaf listener, a stranger speaks", "a team's listener, a stranger speaks"),
    ("partnered listener, a team speaks", "deaf listener, a team speaks"),
    ("partnered listener, a stranger speaks", "a team's listener, a stranger speaks"),
    ("partnered listener, a stranger speaks", "deaf listener, a stranger speaks"),
    ("partnered speaks, a team listens", "a team's listener, another team speaks"),
    ("partnered speaks, a stranger listens", "a team speaks, a stranger listens"),
]


def returns(run: Run, pairs: Pairs) -> NDArray[np.float64]:
    """Mean return of these teams on each seed."""
    rows: list[list[float]] = []
    for speaks, listens in pairs:
        episodes = run.operators[f"{speaks}_with_{listens}"].episodes()
        told = {each.seed or 0: sum(value or 0.0 for value in each.returns.values()) for each in episodes}
        rows.append([told[seed] for seed in sorted(told)])
    return np.mean(rows, axis=0)


def in_words(values: NDArray[np.float64]) -> str:
    """The mean with its interval."""
    between = mean_interval(values)
    limits = "" if between is None else f" [{between.low:.1f}, {between.high:.1f}]"
    return f"{values.mean():.1f}{limits}"


def main(folder: str) -> None:
    """Print it."""
    run = open_run(folder)
    found = {name: returns(run, pairs) for name, pairs in GROUPS.items()}
    print("Return of a team, mean over seeds")
    for name, values in found.items():
        print(f"  {name:40} {in_words(values)}")
    print("\nDifferences seed by seed, p after Holm's correction")
    differences = [found[one] - found[other] for one, other in COMPARED]
    p_values = holm([paired_test(each).p for each in differences])
    for (one, other), each, p in zip(COMPARED, differences, p_values, strict=True):
        print(f"  {one} - {other}:\n    {in_words(each)}, p = {p:.2g}")


if __name__ == "__main__":
    main(sys.argv[1])
