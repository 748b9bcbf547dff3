"""``mosaic export``: a run in the formats of other programs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.support.commands import Mosaic

pytestmark = pytest.mark.usefixtures("sessions_here")


def test_tables_and_curves(mosaic: Mosaic, played: Path) -> None:
    done = mosaic("export", played.name, "--to", "csv")
    folder = mosaic.home / f"{played.name}-csv"
    assert done.status == 0 and "episodes.csv: 2 rows" in done.out
    with (folder / "steps.csv").open(newline="") as file:
        steps = sum(1 for _ in csv.DictReader(file))
    with (folder / "episodes.csv").open(newline="") as file:
        assert sum(int(row["length"]) for row in csv.DictReader(file)) == steps
    told = mosaic("export", played, "--to", "tensorboard", "-o", "curves", "--json").json()
    assert told["rows"] == {"": 2} and list((mosaic.home / "curves" / "a").glob("events.out.tfevents.*"))


def test_what_is_wrong_is_one_line(mosaic: Mosaic, played: Path) -> None:
    (mosaic.home / "file").touch()
    for arguments, said in (
        ([played, "--to", "excel"], "unknown format 'excel'"),
        (["nowhere", "--to", "csv"], "no run at nowhere"),
        ([played, "--to", "csv", "-o", "file"], "file cannot be written"),
    ):
        done = mosaic("export", *arguments)
        assert done.status == 2 and done.err.count("\n") == 1 and said in done.err, done.err
