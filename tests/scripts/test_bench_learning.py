"""What is kept of trainings on both sides, what is trained anew, and a sample that is trained again."""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("bench_learning")


def test_what_is_kept_is_of_the_defaults_that_both_sides_have_now(bench: ModuleType) -> None:
    """A default that is changed makes its figures those of another training: they have to be made again."""
    rows = bench.lines(bench.KEPT)
    kept = [row for each in bench.trainings("", 5) if (row := each.kept_in(rows))]
    assert len(kept) == len(rows) == 2 * 2 * 5


def test_neither_side_is_ahead(bench: ModuleType) -> None:
    rows = bench.lines(bench.KEPT)
    for task in bench.TASKS:
        scores: dict[str, list[float]] = {
            side: [row["score"] for row in rows if (row["task"], row["side"]) == (task.name, side)]
            for side in bench.WORKERS
        }
        assert bench.compared(task, scores).met, task.name


def test_a_line_takes_the_place_of_one_with_other_settings(bench: ModuleType, tmp_path: Path) -> None:
    training = next(bench.trainings("acrobot", 1))
    row: dict[str, Any] = {"task": training.task.name, "side": training.side, "seed": 1, "score": -90.0}
    bench.keep(tmp_path / "kept", {**row, "settings": {}})
    assert training.kept_in(bench.lines(tmp_path / "kept")) is None
    bench.keep(tmp_path / "kept", {**row, "settings": training.settings})
    (line,) = (tmp_path / "kept").read_text().splitlines()
    assert training.kept_in([json.loads(line)])["score"] == -90.0


def test_sb3_is_ahead_where_the_whole_interval_is_below_zero(bench: ModuleType) -> None:
    (task, *_) = bench.TASKS
    assert not bench.compared(task, {"ours": [-500.0, -499.0], "SB3": [-80.0, -81.0]}).met
    assert bench.compared(task, {"ours": [-500.0, -80.0], "SB3": [-80.0, -81.0]}).met


@pytest.mark.full
def test_a_sample_of_the_trainings_gives_what_was_kept(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """Chosen by chance, and told: with the versions of the lines, on such a processor, to the bit."""
    seed = random.randrange(1_000_000)
    wanted = list(bench.trainings("acrobot", 5))
    status = bench.again(bench.lines(bench.KEPT), wanted, seed)
    assert status == 0, f"--sample-seed {seed}: {capsys.readouterr().out}"
