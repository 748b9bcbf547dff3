"""``mosaic query``: answers as text and as files."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Mosaic

pytest.importorskip("duckdb")

SQL = "select operator_id, episode_index, total_reward, success from episodes order by 2"


def test_one_answer_in_every_form(mosaic: Mosaic, played: Path) -> None:
    (first, second) = mosaic("query", SQL, "--json").json()
    assert (first["operator_id"], second["episode_index"], first["success"]) == ("a", 1, None)
    rows = list(csv.reader(io.StringIO(mosaic("query", SQL, played.name, "--format", "csv").out)))
    assert rows[0] == ["operator_id", "episode_index", "total_reward", "success"]
    assert float(rows[1][2]) == first["total_reward"] and rows[1][3] == ""
    shown = mosaic("query", SQL, "runs").out
    assert "operator_id" in shown and f"{first['total_reward']:.6g}" in shown
    assert mosaic("query", SQL, "--format", "markdown").out.splitlines()[1] == "| --- | --- | --- | --- |"
    assert mosaic("query", "from episodes where false", "--json").json() == []
    for name in ("o.csv", "o.json", "o.md", "o.parquet", "o.txt"):
        done = mosaic("query", SQL, "-o", name)
        assert (done.status, done.out) == (0, ""), done.err
        assert (mosaic.home / name).stat().st_size
    assert json.loads((mosaic.home / "o.json").read_text()) == [first, second]


def test_what_is_wrong_is_one_line(mosaic: Mosaic, played: Path) -> None:
    for arguments, said in (
        (["selec"], "syntax error"),
        (["from runs", "--format", "xls"], "unknown format 'xls'"),
        (["from runs", "--format", "parquet"], "Parquet cannot be printed. Name a file"),
        (["from runs", "nowhere"], "no run at nowhere"),
    ):
        done = mosaic("query", *arguments)
        assert done.status == 2 and done.err.count("\n") == 1 and said in done.err, done.err
    (played.parent / "broken").mkdir()
    (played.parent / "broken" / "run.json").write_text("{")
    done = mosaic("query", "select count(*) as n from runs", "--json")
    assert done.json() == [{"n": 1}] and "left out" in done.err and "broken" in done.err


@pytest.mark.parametrize("name", ["*", "v[i]ctim", "pilot [old]", "what?", "a\\b"])
def test_a_folders_name_is_no_pattern(mosaic: Mosaic, played: Path, name: str) -> None:
    for other in ("victim", "pilot o", "whatx", name):
        shutil.copytree(played, mosaic.home / "kept" / other)
    for other in ("victim", "pilot o"):
        (steps,) = (mosaic.home / "kept" / other).glob("operators/*/steps.jsonl")
        steps.write_bytes(b"")
    count = "select count(*) as n from steps"
    usual = mosaic("query", count, played.name, "--json").json()
    own = mosaic("query", count, mosaic.home / "kept" / name, "--json")
    assert own.json() == usual, own.err
    odd = mosaic(
        "query", count, played.name, "--json", MOSAIC_CACHE_DIR=str(mosaic.home / "kept" / name / "cache")
    )
    assert odd.json() == usual, odd.err
