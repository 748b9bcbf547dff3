"""``mosaic runs label``: runs are named, tagged and found again, and stay as recorded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Mosaic

pytestmark = pytest.mark.usefixtures("sessions_here")


def test_a_run_is_labeled_and_found_again(mosaic: Mosaic, played: Path) -> None:
    other = Path(shutil.copytree(played, played.with_name("01M7XC2FC3SJDZTP4ZDAN19XJT")))
    recorded = {path: path.read_bytes() for path in played.rglob("*.json*")}
    done = mosaic("runs", "label", played.name, "--name", "The baseline", "--tag", "paper,final", "--star")
    assert done.status == 0 and "★ “The baseline”; tags paper, final" in done.out
    mosaic("runs", "label", played, other, "--group", "sweep", "--notes", "Look\nagain")
    done = mosaic("runs", "label", played, "--untag", "FINAL", "--tag", "seen", "--no-star", "--json")
    (labels,) = done.json()
    assert labels == {
        "run": str(played),
        "name": "The baseline",
        "tags": ["paper", "seen"],
        "group": "sweep",
        "notes": "Look\nagain",
    }
    assert {path: path.read_bytes() for path in recorded} == recorded, "what was recorded stays"
    assert "“The baseline”; group sweep; tags paper, seen" in mosaic("runs", "list").out
    shown = mosaic("runs", "show", played).out
    assert "Name:      The baseline" in shown and "Notes:     Look again" in shown

    def found(words: str) -> list[str]:
        return [Path(row["run"]).name for row in mosaic("runs", "list", "--find", words, "--json").json()]

    assert found("tag:paper") == [played.name] and found('"the base"') == [played.name]
    assert sorted(found("group:sweep")) == sorted([played.name, other.name])
    assert found("group:sweep -tag:paper") == [other.name] and found("star") == []
    assert "None of 2 runs" in mosaic("runs", "list", "--find", "nobody").out
    done = mosaic("runs", "list", "--find", "after:someday")
    assert done.status == 2 and "is not a date" in done.err


def test_reports_and_merged_files_say_the_name_and_nothing_else_notices(mosaic: Mosaic, played: Path) -> None:
    mosaic("runs", "label", played, "--name", "Baseline <b>")
    assert "every one as recorded" in mosaic("verify", played).out
    assert mosaic("report", "--no-replays", played).status == 0
    page = (played / "report.html").read_text()
    assert f"<title>Results of “Baseline &lt;b&gt;” (run {played.name})</title>" in page
    assert json.loads((played / "summary.json").read_text())["runs"][0]["name"] == "Baseline <b>"
    assert mosaic("runs", "compress", played).status == 0
    assert "Baseline <b>" in mosaic("runs", "label", played).out


def test_what_cannot_be_labeled_is_said_and_the_others_are(mosaic: Mosaic, played: Path) -> None:
    other = Path(shutil.copytree(played, played.with_name("01M7XC2FC3SJDZTP4ZDAN19XJT")))
    (other / "labels.json").write_text("{")
    done = mosaic("runs", "label", other, "nowhere", played, "--tag", "a")
    assert (
        done.status == 2
        and "is damaged" in done.err
        and "mv " in done.err
        and "no run at nowhere" in done.err
    )
    assert "tag a" in done.out and (other / "labels.json").read_text() == "{"
    listed = mosaic("runs", "list")
    assert listed.status == 0 and "is damaged" in " ".join(listed.out.split())
    done = mosaic("runs", "label", played, other, "--name", "both")
    assert done.status == 2 and "a name is for one run" in done.err
