"""What a run's own digests are held against is read in passes: rows of any size are not kept."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run
from gym_gui.analysis.records.record_check import check_records
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.record_digest import KEY, episode_digest
from tests.support.runs import operator, played_here

EPISODES = 60
Row = dict[str, Any]


def _run(folder: Path, change: Callable[[list[Row]], object] = lambda rows: None) -> Path:
    """A run that is on, with episodes whose lines are large once they are decoded."""
    place = folder / "operators" / "op"
    place.mkdir(parents=True)
    header = {"format_version": 1, "run_id": "r", "status": "running", "experiment": {"operators": []}}
    (folder / "run.json").write_text(json.dumps(header))
    steps = [{"episode_index": index, "step": 0, "seat": "a"} for index in range(EPISODES)]
    rows: list[Row] = []
    for index, step in enumerate(steps):
        row: Row = {"operator_id": "op", "episode_index": index, "status": "completed", "length": 1}
        row["padding"] = [{"n": 1000 + each} for each in range(8_000)]
        rows.append({**row, KEY: episode_digest(row, [step])})
    change(rows)
    for name, lines in (("steps", steps), ("episodes", rows)):
        (place / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.mark.full
def test_the_lines_of_all_episodes_are_not_held_at_once(tmp_path: Path) -> None:
    run = open_run(_run(tmp_path / "run"))
    tracemalloc.start()
    try:
        assert check_records(run).agrees
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24 * 2**20, f"{peak / 2**20:.1f} MiB for lines of about 2 MiB each"


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[3].update(length=2),
        lambda rows: rows[3].update({KEY: "0" * 64}),
        lambda rows: rows[3].update({KEY: None}),
    ],
)
def test_an_episode_that_was_changed_is_told(tmp_path: Path, change: Callable[[list[Row]], object]) -> None:
    assert check_records(open_run(_run(tmp_path / "run", change))).episodes == {"op": [3]}


async def _played(folder: Path) -> Path:
    """A run of three episodes of the engine."""
    await played_here(folder, experiment_from_data({"operators": [operator("op")], "execution": THREE}))
    (file,) = folder.glob("*/operators/op/steps.jsonl")
    return file


THREE = {"seeds": "range(0, 3)"}
CHANGES: dict[str, Callable[[list[bytes]], object]] = {
    "a row is changed": lambda rows: rows.__setitem__(
        1, rows[1].replace(b'"terminated":false', b'"terminated":true')
    ),
    "a row is missing": lambda rows: rows.pop(1),
    "a row is added": lambda rows: rows.insert(1, rows[1]),
    "a row of another form is added": lambda rows: rows.insert(
        1, b'{"step_index": 0, "episode_index": FIRST}\n'
    ),
    "a row names two episodes": lambda rows: rows.insert(
        1, b'{"episode_index":9,"step_index":0,"episode_index":FIRST}\n'
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_rows_that_were_changed_are_told(
    tmp_path: Path, change: Callable[[list[bytes]], object]
) -> None:
    file = await _played(tmp_path)
    run = open_run(file.parents[2])
    assert check_records(run).agrees
    rows = file.read_bytes().splitlines(keepends=True)
    first = json.loads(rows[0])["episode_index"]
    change(rows)
    file.write_bytes(b"".join(rows).replace(b"FIRST", b"%d" % first))
    assert check_records(run).episodes == {"op": [first]}


async def test_times_and_spaces_may_be_others(tmp_path: Path) -> None:
    file = await _played(tmp_path)
    rows = [json.loads(row) for row in file.read_bytes().splitlines()]
    for row in rows:
        row["latency_ms"] += 1.0
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert check_records(open_run(file.parents[2])).agrees
