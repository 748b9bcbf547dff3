"""The page says what the code does: its worker trains, and what is written is what it describes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gym_gui.services.trainer import training_folder as files
from gym_gui.services.trainer.training_process import STOP_GRACE_S
from mosaic_worker.learning import training_files
from tests.docs.pages import blocks
from tests.support.commands import ROOT, Mosaic
from tests.support.processes import Offspring

PAGE = ROOT / "docs" / "training_protocol.md"
TEXT = PAGE.read_text(encoding="utf-8")
TRAIN = ("train", "--worker", "search_worker", "--algo", "search", "--env", "CartPole-v1", "--out", "run")


@pytest.fixture
def mosaic(tmp_path: Path, offspring: Offspring) -> Mosaic:
    """With the page's worker among the user's own."""
    place = tmp_path / "data" / "workers" / "search_worker"
    (place / "search_worker").mkdir(parents=True)
    (place / "search_worker" / "__init__.py").touch()
    for language, name in (
        ("toml", "worker.toml"),
        ("json", "train_schema.json"),
        ("python", "search_worker/train.py"),
    ):
        (block,) = (block for block in blocks(PAGE) if block.language == language)
        (place / name).write_text(block.text)
    return Mosaic(tmp_path, offspring)


def documented(heading: str) -> dict[str, set[str]]:
    """Fields by event, or whatever a table below a heading names in its first two columns."""
    section = TEXT.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    return {
        name: set(re.findall(r"`(\w+)`", fields))
        for names, fields in rows
        for name in re.findall(r"`(\w+)`", names)
    }


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_worker_of_the_page_trains_and_writes_what_the_page_says(mosaic: Mosaic) -> None:
    done = mosaic(*TRAIN, "--steps", "3000", "--json")
    assert done.status == 0, done.err
    assert done.json()["status"] == "completed"
    more = mosaic("train", "--resume", "run", "--steps", "6000", "--json")
    assert more.json()["steps"] >= 6000
    run = mosaic.home / "run"
    fields = documented("events.jsonl")
    events = rows(run / "events.jsonl")
    for event in events:
        assert event.keys() - {"event", "t"} == fields[event["event"]]
    begun = [event["step"] for event in events if event["event"] == "start"]
    assert begun == [0, done.json()["steps"]]
    assert all(row.keys() == {"step", "t", "m"} for row in rows(run / "metrics.jsonl"))
    assert all(row.keys() == {"step", "t", "return", "length"} for row in rows(run / "episodes.jsonl"))
    for name in ("train.json", "runner.json", "exit.json"):
        said = TEXT.partition(f"| `{name}` |")[2].partition("\n")[0]
        assert json.loads((run / name).read_text()).keys() <= set(re.findall(r"`(\w+)`", said))


def test_what_it_cannot_train_it_says(mosaic: Mosaic) -> None:
    done = mosaic("train", "--worker", "search_worker", "--algo", "search", "--env", "Pendulum-v1")
    assert done.status == 2
    assert done.line == "mosaic: search learns discrete actions, and those of Pendulum-v1 are not"
    wanted = "spread must be a number, more than 0 and at most 100"
    assert f"{wanted}, not 0" in mosaic(*TRAIN, "--spread", "0").err


def test_every_event_file_wish_and_variable_is_there() -> None:
    source = (ROOT / "3rd_party/mosaic_worker_sdk/mosaic_worker/training.py").read_text()
    told = set(re.findall(r'self\.event\(\s*"(\w+)"', source))
    assert told == set(documented("events.jsonl"))
    for module in (files, training_files):
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, str):
                assert f"`{value}" in TEXT, value
    for wish in ("pause", "resume", "checkpoint", "stop"):
        assert f"| `{wish}` |" in TEXT
    assert f"`SIGTERM` after {STOP_GRACE_S * 2 / 3:.0f} s, and is killed after\n{STOP_GRACE_S:.0f} s" in TEXT
