"""Takes one interim look: tests the comparisons of a task on the episodes so far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from gym_gui.analysis.compute.interim_analysis import Pair, SequentialFamily
from gym_gui.analysis.compute.pairing import Entry, pair_on_seeds
from gym_gui.analysis.compute.summary_builder import entries_of
from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.statistics.sequential_test import InterimResult


def evaluate_record(
    folder: Path, ids: Sequence[str], seeds: Sequence[int], taken: int, families: dict[str, SequentialFamily]
) -> dict[str, Any]:
    """Test the comparisons of a task's operators on their recorded episodes.

    Args:
        folder: The run folder.
        ids: The operators.
        seeds: Number of seeds at each look.
        taken: Number of earlier looks.
        families: Comparisons by task title; this look is added to them.

    Returns:
        Entry of the look for ``run.json``.
    """
    rows: list[dict[str, Any]] = []
    playing: set[str] = set()
    for title, entries in _by_title(folder, ids).items():
        pairs = {frozenset((a.key, b.key)): (a, b) for a, b in combinations(entries, 2)}
        looks = [seeds[taken]]
        if title not in families:
            families[title] = SequentialFamily(list(pairs), seeds[-1])
            looks = list(seeds[: taken + 1])  # looks of an earlier part of the run are repeated
        rows += _look_at_family(families[title], looks, pairs)
        undecided = pairs.keys() - families[title].decided.keys()
        # Operators that a report does not compare with any other play to the end.
        playing |= frozenset[str]().union(*undecided) if pairs else {entry.key for entry in entries}
    last = taken + 1 == len(seeds)
    return {
        "seeds": seeds[taken],
        "of": seeds[-1],
        "operators": list(ids),
        "comparisons": rows,
        "playing": [] if last else [each for each in ids if each in playing],
    }


def _by_title(folder: Path, ids: Sequence[str]) -> dict[str, list[Entry]]:
    """Return the records of the given operators, grouped by the title of their task in reports."""
    found: dict[str, list[Entry]] = {}
    for entry in entries_of([open_run(folder)]):
        if entry.operator.operator_id in ids:
            found.setdefault(entry.title, []).append(entry)
    return found


def _look_at_family(
    family: SequentialFamily, looks: Sequence[int], pairs: Mapping[Pair, tuple[Entry, Entry]]
) -> list[dict[str, Any]]:
    found: dict[Pair, InterimResult] = {}
    for seeds in looks:
        found = family.evaluate(seeds, [pair_on_seeds(a, b, seeds) for a, b in pairs.values()])
    rows: list[dict[str, Any]] = []
    for pair, seen in found.items():
        a, b = pairs[pair]
        over = family.decided.get(pair)
        rows.append(
            {
                "first": a.operator.operator_id,
                "second": b.operator.operator_id,
                "statistic": seen.statistic,
                "boundary": seen.boundary if math.isfinite(seen.boundary) else None,
                "level": seen.level,
                "p": seen.p,
                "better": None if over is None else over.first if over.verdict == "first" else over.second,
            }
        )
    return rows
