"""One run among several that cannot be read is named, and the others are reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analysis.conftest import Plan, single, write_run
from tests.support.commands import Mosaic


def _run(home: Path, letter: str, operator: str) -> Path:
    rows = [single(operator, index, float(index)) for index in range(4)]
    return write_run(home, Plan({operator: rows}, run_id=f"01J000000000000000000000{letter}0"))


def _truncate(run: Path) -> None:
    record = run / "run.json"
    record.write_text(record.read_text()[:-40])


def _newer(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"format": 99}))


def _damage(run: Path) -> None:
    steps = next(run.glob("operators/*/steps.jsonl"))
    first, rest = steps.read_bytes().split(b"\n", 1)
    steps.write_bytes(first[:-5] + b"\n" + rest)


@pytest.mark.parametrize(
    ("break_it", "why"),
    [
        (_truncate, "run.json: damaged"),
        (_newer, "99"),
        (_damage, "steps.jsonl:1: the line is damaged"),
        (lambda run: (run / "run.json").unlink(), "no run at"),
    ],
    ids=["truncated", "newer", "damaged", "foreign"],
)
def test_the_rest_is_reported(mosaic: Mosaic, break_it: Callable[[Path], None], why: str) -> None:
    good, bad = _run(mosaic.home, "A", "one"), _run(mosaic.home, "B", "two")
    break_it(bad)
    done = mosaic("report", good, bad, "--no-replays", "-o", mosaic.home / "out")
    assert done.status == 1
    assert bad.name in done.line and why in done.line
    assert "one has a mean return" in done.out
    html = (mosaic.home / "out" / "report.html").read_text()
    first = re.search(r'<section class="verdict">.*?</section>', html, re.DOTALL)
    assert first is not None and bad.name in first[0] and str(mosaic.home) not in first[0]
    (said,) = json.loads((mosaic.home / "out" / "summary.json").read_text())["unread"]
    assert bad.name in said
    table = mosaic("report", bad, good, "--format", "csv")
    assert table.status == 1 and bad.name in table.line and table.out.count("\n") == 2


def test_where_none_can_be_read_there_is_no_report(mosaic: Mosaic) -> None:
    runs = [_run(mosaic.home, letter, "op") for letter in "AB"]
    for run in runs:
        _damage(run)
    assert "steps.jsonl:1" in mosaic.refused("report", *runs, "--no-replays")
    assert "steps.jsonl:1" in mosaic.refused("report", runs[0], "--no-replays")


def test_a_slip_of_the_pen_is_told_before_anything_else(mosaic: Mosaic) -> None:
    good = _run(mosaic.home, "A", "one")
    assert "no run at" in mosaic.refused("report", good, mosaic.home / "nowhere")
