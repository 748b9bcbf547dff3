"""Runs that were edited after they ended: neither verified nor reported as if they had not been."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Mosaic, experiment

pytestmark = pytest.mark.usefixtures("all_sessions_here")
TWO = ({"id": "a"}, {"id": "b", "workers": {"agent": {"type": "baseline", "behavior": "cycle"}}})
SAYS = "does not agree with its digests"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {}


@pytest.fixture
def run(mosaic: Mosaic, made: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a run of two operators, as it ended, with its report."""
    if "run" not in made:
        folder = (
            mosaic.home / mosaic("run", experiment(mosaic.home, *TWO, num_episodes=4), "--json").json()["run"]
        )
        made["run"] = tmp_path_factory.mktemp("kept") / folder.name
        shutil.copytree(folder, made["run"])
    copy = mosaic.home / "copy" / made["run"].name
    shutil.copytree(made["run"], copy)
    return copy


def changed(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change each object of a file of JSON, or of JSON lines."""
    if file.suffix == ".json":
        data = json.loads(file.read_text())
        change(data)
        file.write_text(json.dumps(data))
        return
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        change(row)
    file.write_text("".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in rows))


def win(run: Path) -> None:
    """Let the loser have won: 50 more in each episode."""

    def more(row: dict[str, Any]) -> None:
        row["total_reward"] += 50
        row["returns"] = {agent: value + 50 for agent, value in row["returns"].items()}

    changed(run / "operators" / "b" / "episodes.jsonl", more)


def strip(run: Path) -> None:
    """Take out every digest, and give a policy another name."""
    changed(run / "run.json", lambda data: [data.pop(key) for key in ("record_sha256", "files_sha256")])
    changed(
        run / "run.json", lambda data: [slot.update(policy="mine") for slot in data["players"]["a"].values()]
    )
    for operator in ("a", "b"):
        changed(run / "operators" / operator / "episodes.jsonl", lambda row: row.pop("record_sha256"))


def reward(run: Path) -> None:
    """Change one row."""
    file = run / "operators" / "a" / "steps.jsonl"
    first, _, rest = file.read_text().partition("\n")
    row = json.loads(first)
    row["reward"] = 9.0
    file.write_text(f"{json.dumps(row, separators=(',', ':'))}\n{rest}")


def rename(run: Path) -> None:
    """Give an operator the name of the other."""
    changed(run / "run.json", lambda data: data["experiment"]["operators"][0].update(name="b"))


EDITS = {"win": win, "strip": strip, "reward": reward, "rename": rename}


def test_what_was_recorded_is_verified_and_reported_without_a_note(mosaic: Mosaic, run: Path) -> None:
    assert mosaic("verify", run).out.startswith("Verified: 8 episodes")
    done = mosaic("report", run, "--no-replays", "--json")
    assert done.status == 0 and done.json()["unverified"] == [] and SAYS not in done.err
    again = mosaic("verify", run)
    assert again.status == 0 and "Not checked" not in again.out, again.out


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_run_is_told_by_whatever_reads_its_numbers(mosaic: Mosaic, run: Path, edit: str) -> None:
    EDITS[edit](run)
    assert mosaic("verify", run).status == 1
    done = mosaic("report", run, "--no-replays")
    assert done.status == 1 and SAYS in done.err
    words = " ".join(done.out.split())
    assert SAYS in words
    page = (run / "report.html").read_text()
    assert SAYS in page and page.index(SAYS) < page.index("<table"), "at its top"
    told = json.loads((run / "summary.json").read_text())["unverified"]
    assert len(told) == 1 and SAYS in told[0]
    where = {"win": "episodes 0, 1, 2, 3 of operator 'b'", "reward": "episode 0 of operator 'a'"}
    assert where.get(edit, "run.json") in told[0]
    assert SAYS in mosaic("report", run, "--format", "md").err
    assert SAYS in mosaic("export", run, "--to", "csv", "-o", mosaic.home / "table").err
    assert SAYS in mosaic("power", run, "--difference", "10").err


def test_an_edited_summary_or_page_is_not_verified(mosaic: Mosaic, run: Path) -> None:
    assert mosaic("report", run, "--no-replays").status == 0
    summary, page = run / "summary.json", run / "report.html"
    kept = summary.read_text(), page.read_text()
    changed(summary, lambda data: data["operators"][0]["mean"].update(value=500.0))
    done = mosaic("verify", run)
    assert done.status == 1 and "summary.json does not match the run" in done.out
    summary.write_text(kept[0])
    changed(summary, lambda data: data.pop("made"))
    assert mosaic("verify", run).status == 1, "that of this version says how it was made"
    summary.write_text(kept[0])
    page.write_text(kept[1].replace("</main>", "<p>better</p></main>"))
    done = mosaic("verify", run)
    assert done.status == 1 and "report.html does not match the run" in done.out
    mosaic("report", run, "--no-replays")
    assert mosaic("verify", run).status == 0


def test_a_report_made_before_a_label_was_given_is_still_its_own(mosaic: Mosaic, run: Path) -> None:
    mosaic("report", run, "--no-replays")
    mosaic("runs", "label", run, "--name", "Pilot")
    assert mosaic("verify", run).status == 0


def test_a_run_of_an_earlier_version_opens_and_says_that_it_has_no_digests(mosaic: Mosaic, run: Path) -> None:
    strip(run)
    changed(run / "run.json", lambda data: data.update(format=1))
    for name in ("summary.json", "report.html"):
        (run / name).unlink(missing_ok=True)
    done = mosaic("verify", run)
    assert done.status == 0 and "Not checked" in done.out
    done = mosaic("report", run, "--no-replays")
    assert done.status == 0 and "without digests" in " ".join(done.out.split())
    assert "Not checked" in mosaic("verify", run).out


def test_shards_that_were_stripped_are_not_merged(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=4)
    for number in (1, 2):
        assert mosaic("run", file, "--shard", f"{number}/2", "--out", "parts").status == 0
    for part in (mosaic.home / "parts").glob("*/run.json"):
        changed(part, lambda data: [data.pop(key) for key in ("record_sha256", "files_sha256")])
    done = mosaic("runs", "merge", "parts")
    assert done.status == 2 and "has changed since its end" in done.err
