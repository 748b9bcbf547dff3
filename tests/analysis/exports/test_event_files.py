"""Episodes in TensorBoard's own files, read back by TensorBoard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run
from gym_gui.analysis.exports.event_files import write_events
from gym_gui.core.errors import UsageError

accumulator: Any = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    found = accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    found.Reload()
    return {tag: [(e.step, e.value) for e in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def test_completed_episodes_are_curves(tmp_path: Path, runs: Any) -> None:
    rows = [runs.single("a", i, float(10 - i)) for i in (2, 0, 1)]
    rows.append({**runs.single("a", 3, 9.0), "status": "failed", "error": "broken"})
    games = [runs.match("team", 0, {"green": 2, "blue": 1})]
    run = open_run(runs.write_run(tmp_path, runs.Plan({"a": rows, "team": games, "none": []})))

    assert write_events(run, tmp_path / "out") == 4

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a", "team"]
    alone = curves(tmp_path / "out" / "a")
    assert alone["episode/return"] == [(0, 10.0), (1, 9.0), (2, 8.0)]
    assert set(alone) == {"episode/return", "episode/length"}
    team = curves(tmp_path / "out" / "team")
    assert (team["won/green"], team["won/blue"]) == ([(0, 1.0)], [(0, 0.0)])
    assert team["score/green"] == [(0, 2.0)] and team["return/blue_0"] == [(0, -1.0)]


def test_what_cannot_be_written_is_said(tmp_path: Path, runs: Any) -> None:
    plan = runs.Plan({"a": [{**runs.single("a", 0, 1.0), "status": "failed", "error": "broken"}]})
    empty = open_run(runs.write_run(tmp_path, plan))
    with pytest.raises(UsageError, match="no episode is completed"):
        write_events(empty, tmp_path / "out")
    run = open_run(runs.write_run(tmp_path / "second", runs.Plan({"a": [runs.single("a", 0, 1.0)]})))
    write_events(run, tmp_path / "out")
    with pytest.raises(UsageError, match="it already contains event files"):
        write_events(run, tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        write_events(run, tmp_path / "file")
