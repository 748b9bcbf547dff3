"""Put figures of the calibration scripts into the pages of docs that show them.

    python scripts/calibration/calibration_tables.py FIGURES.json…

Takes what these scripts wrote with ``--json``, of one kind in as many files as one likes, and writes each
table between its marks (``<!-- calibration: NAME -->`` and ``<!-- end -->``) anew as a whole. Figures of
sizes are in the order of the headings. A number of studies that all rows share stands in the first heading.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

DOCS = Path(__file__).resolve().parents[2] / "docs"
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column: its heading, in which ``{sizes}`` stands for those that were made, and a cell of one size."""

    heading: str
    cell: Callable[[Figures], str]


@dataclass(frozen=True)
class Page:
    """A table of a page.

    Attributes:
        page: The file in docs.
        keys: What rows of its figures have; the first names a row.
        size: Which of them is the size that cells of a row differ in.
        studies: Which says how many studies were made up.
        columns: After the names.
    """

    page: str
    keys: tuple[str, ...]
    size: str
    studies: str
    columns: tuple[Column, ...]


def _whole(key: str) -> Callable[[Figures], str]:
    return lambda row: "" if row[key] is None else f"{row[key]:.0f}"


def _tenths(key: str) -> Callable[[Figures], str]:
    return lambda row: "" if row[key] is None else f"{row[key]:.1f}"


def _hundredths(key: str) -> Callable[[Figures], str]:
    return lambda row: f"{row[key]:.2f}"


TABLES: Mapping[str, Page] = {
    "looks": Page(
        "measurements/calibration_verdicts.md",
        ("what", "operators", "played"),
        "seeds",
        "studies",
        (
            Column("wrong, at most {sizes} seeds", _tenths("wrong")),
            Column("right", _whole("right")),
            Column("seeds", _whole("played")),
            Column("holds", _tenths("held")),
        ),
    ),
    "pairs": Page(
        "measurements/calibration_verdicts.md",
        ("what", "operators", "seeds", "wrong"),
        "seeds",
        "studies",
        (Column("wrong, on {sizes} seeds", _tenths("wrong")),),
    ),
    "trainings": Page(
        "measurements/calibration_trainings.md",
        ("scores", "trainings"),
        "trainings",
        "studies",
        (
            Column("mean of {sizes} trainings holds", _tenths("mean")),
            Column("IQM", _tenths("IQM")),
            Column("difference", _tenths("difference")),
            Column("improvement", _tenths("improvement")),
            Column("wrong", _tenths("wrong")),
        ),
    ),
    "ratings": Page(
        "measurements/calibration_ratings.md",
        ("what", "none_given"),
        "n",
        "samples",
        (
            Column("rating holds, {sizes} seeds", _tenths("rating")),
            Column("width in points", _whole("width")),
            Column("wrong ranks", _tenths("ranks")),
            Column("wrong best", _tenths("best")),
            Column("no interval", _whole("none_given")),
        ),
    ),
    "crossed": Page(
        "cross_play.md",
        ("what", "gap", "lift"),
        "n",
        "studies",
        (
            Column("gap holds, {sizes} seeds", _tenths("gap")),
            Column("its width to Student's t's", _hundredths("ratio")),
            Column("Student's t holds", _tenths("student")),
            Column("lift holds", _tenths("lift")),
            Column("wrong gap", _tenths("wrong_gap")),
            Column("wrong lift", _tenths("wrong_lift")),
        ),
    ),
}
"""By name; figures belong to the first one whose keys they have."""


def table_of(name: str, rows: Sequence[Figures]) -> str:
    """A table in Markdown, of rows in any order of sizes; numbers of operators stand side by side."""
    page = TABLES[name]
    sizes = sorted({row[page.size] for row in rows})
    operators = sorted({row["operators"] for row in rows}) if "operators" in page.keys else [None]
    groups: dict[str, dict[tuple[Any, int], Figures]] = {}
    for row in rows:
        groups.setdefault(row[page.keys[0]], {})[row.get("operators"), row[page.size]] = row
    told = ", ".join(map(str, sizes))
    headings = [
        column.heading.replace("{sizes}", told) + (f" ({of})" if of else "")
        for column in page.columns
        for of in operators
    ]
    numbers = {row[page.studies] for row in rows}
    each = f"{min(numbers):,} studies of each" if len(numbers) == 1 else ""
    lines = [[each, *headings, *([] if each else ["studies"])]]
    lines.append(["---"] * len(lines[0]))
    for what, found in groups.items():
        cells = [
            _cell(column, {size: found[of, size] for size in sizes if (of, size) in found}, sizes)
            for column in page.columns
            for of in operators
        ]
        studies = dict.fromkeys(f"{row[page.studies]:,}" for row in found.values())
        lines.append([what, *cells, *([] if each else [", ".join(studies)])])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(column: Column, by_size: Mapping[int, Figures], sizes: Sequence[int]) -> str:
    """Figures by size, "-" where one has none; empty where none has."""
    told = [column.cell(by_size[size]) if size in by_size else "" for size in sizes]
    last = max((i for i, each in enumerate(told) if each), default=-1)
    return ", ".join(each or "-" for each in told[: last + 1])


def kind_of(row: Figures) -> str:
    """The table that a row belongs to."""
    return next(name for name, page in TABLES.items() if all(key in row for key in page.keys))


def put(text: str, name: str, rows: Sequence[Figures]) -> str:
    """A page with its table anew."""
    begin = f"<!-- calibration: {name} -->"
    found = re.compile(f"{re.escape(begin)}.*?<!-- end -->", re.DOTALL)
    table = f"{begin}\n\n{table_of(name, rows)}\n\n<!-- end -->"
    if not found.search(text):
        raise SystemExit(f"{TABLES[name].page} has no mark {begin}")
    return found.sub(lambda _: table, text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figures", nargs="+", type=Path, help="what calibration scripts wrote with --json")
    options = parser.parse_args(arguments)
    rows: dict[str, list[Figures]] = {}
    for path in options.figures:
        read: Any = json.loads(path.read_text("utf-8"))
        for row in cast("list[Figures]", read["two"] if isinstance(read, dict) else read):
            rows.setdefault(kind_of(row), []).append(row)
    for name, of in rows.items():
        page = DOCS / TABLES[name].page
        page.write_text(put(page.read_text("utf-8"), name, of), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
