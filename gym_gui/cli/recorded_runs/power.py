"""Implements ``mosaic power``: computes how many seeds a comparison needs to detect a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.compute.power import (
    DifferenceSpread,
    differences_in_question,
    seeds_for,
    spread_of,
)
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.records.record_check import check_records
from gym_gui.analysis.statistics.seeds_needed import power_of, seeds_needed
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import console, write_json, write_line
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run


def print_power(
    pilot: Path | None,
    *,
    difference: float | None,
    spread: float | None,
    seeds: int | None,
    power: float,
    comparisons: int | None,
    as_json: bool,
) -> int:
    """Print how many seeds detect a difference, and the power of a given number of seeds.

    Args:
        pilot: A run from which the spread is estimated; ``None`` to use ``spread``.
        difference: True difference to detect; with a pilot, by default the pilot's difference.
        spread: Standard deviation over seeds of the difference between two operators.
        seeds: Number of seeds for which to print the power; ``None`` to leave it out.
        power: Probability of detecting the difference.
        comparisons: Number of comparisons in the family; by default the pilot's, else 1.
        as_json: Whether to print JSON.

    Returns:
        Exit status.

    Raises:
        UsageError: Too little information is given.
    """
    if any(given is not None and not 0 < abs(given) < math.inf for given in (difference, spread)):
        raise UsageError(
            "a difference and a spread are finite numbers other than 0",
            fix="Give the size that matters to you",
        )
    if pilot is None:
        rows = [_from_numbers(difference, spread, seeds, power, comparisons or 1)]
    elif spread is not None:
        raise UsageError("RUN and --spread cannot be combined", fix="Leave one of them out")
    else:
        rows = _from_pilot(find_run(pilot), difference, seeds, power, comparisons)
    if as_json:
        write_json({"power": power, "comparisons": rows})
        return 0
    for row in rows:
        _print_row(console(), row, power)
    write_line(
        "Seeds are shared by both operators; two-sided 5 % level, divided by the number of comparisons."
        + (" In brackets: for the smallest and largest spread that fits the pilot." if pilot else "")
    )
    return 0


def _from_numbers(
    difference: float | None, spread: float | None, seeds: int | None, power: float, comparisons: int
) -> dict[str, Any]:
    if difference is None or spread is None:
        raise UsageError(
            "RUN, or --difference and --spread, are needed",
            fix="For example: mosaic power RUN, or mosaic power --difference 10 --spread 25",
        )
    spread = abs(spread)
    needed = seeds_needed(difference, spread, power=power, comparisons=comparisons)
    size = {"what": "asked for", "difference": abs(difference), "seeds": needed}
    if seeds is not None:
        size["power"] = power_of(seeds, difference, spread, comparisons=comparisons)
    return {
        "first": None,
        "second": None,
        "family": comparisons,
        "spread": {"value": spread},
        "sizes": [size],
        "at": seeds,
    }


def _from_pilot(
    folder: Path, difference: float | None, seeds: int | None, power: float, family: int | None
) -> list[dict[str, Any]]:
    pilot = open_run(folder)
    if sentence := check_records(pilot).sentence:
        print_message(sentence)
    summary = summarize(pilot, steps=False)
    if not summary.comparisons:
        raise UsageError(
            f"{folder} contains no comparison",
            fix="Give a run of at least two operators, or of teams that compete",
        )
    names = {operator.key: operator.name for operator in summary.operators}
    rows = [_row_of_comparison(c, names, difference, seeds, power, family) for c in summary.comparisons]
    found = [row for row in rows if row is not None]
    if not found:
        raise UsageError(
            f"the seeds of {folder} are too few to estimate a spread, or their differences are all equal",
            fix="Play at least 6 seeds whose results differ, or give --difference and --spread",
        )
    return found


def _row_of_comparison(
    c: Comparison,
    names: dict[str, str],
    difference: float | None,
    seeds: int | None,
    power: float,
    family: int | None,
) -> dict[str, Any] | None:
    spread, many = spread_of(c), family or max(c.family, 1)
    if spread is None or spread.value == 0:
        return None
    sizes: list[dict[str, Any]] = []
    for what, size in differences_in_question(c, difference):
        needed, low, high = seeds_for(size, spread, power=power, comparisons=many)
        row: dict[str, Any] = {"what": what, "difference": size, "seeds": needed, "low": low, "high": high}
        if seeds is not None:
            row["power"] = power_of(seeds, size, spread.value, comparisons=many)
        sizes.append(row)
    where = f"{names[c.operator]}: " if c.operator in names else ""
    return {
        "first": f"{where}{names.get(c.first, c.first)}",
        "second": names.get(c.second, c.second),
        "family": many,
        "spread": _spread_record(spread),
        "sizes": sizes,
        "at": seeds,
    }


def _spread_record(spread: DifferenceSpread) -> dict[str, Any]:
    return {"value": spread.value, "low": spread.low, "high": spread.high, "seeds": spread.seeds}


def _print_row(out: Console, row: dict[str, Any], power: float) -> None:
    spread = row["spread"]
    if row["first"] is None:
        head = f"Spread {wording.number(spread['value'])} over seeds"
    else:
        ends = wording.interval(spread["low"], spread["high"])
        sides = f"{row['first']} against {row['second']}"
        head = f"{sides}: spread {wording.number(spread['value'])} {ends} on {spread['seeds']:,} seeds"
    if row["family"] > 1:
        head += f", {row['family']} comparisons"
    out.print(Text(f"{clean(head)}."), soft_wrap=True)
    if not row["sizes"]:
        out.print(Text("  The pilot shows no difference: give one with --difference."), soft_wrap=True)
    for size in row["sizes"]:
        out.print(Text(f"  {_size_in_words(size, row['at'], power)}"), soft_wrap=True)


def _size_in_words(size: dict[str, Any], at: int | None, power: float) -> str:
    ends: Sequence[int] = [size["low"], size["high"]] if "low" in size else []
    needed = f"{size['seeds']:,}" + (f" [{ends[0]:,}, {ends[1]:,}]" if ends else "")
    difference = f"{wording.number(size['difference'])} ({size['what']})"
    sentence = (
        f"A difference of {difference} is detected {wording.percent(power)} of the time on {needed} seeds"
    )
    if at is not None:
        sentence += f", {wording.percent(size['power'])} on {at:,}"
    return f"{sentence}."
