"""The example of docs/everyone.md: all kinds of players in one match, recorded and read in every way."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_gui.analysis import open_run
from gym_gui.processes.tree import TAG
from tests.support.commands import ROOT, Mosaic
from tests.support.model_server import ModelServer
from tests.support.processes import Offspring

pytestmark = pytest.mark.usefixtures("all_sessions_here")

EXAMPLES = ROOT / "docs" / "examples"
KINDS = {
    "green_0": "rl",
    "green_1": "bdi",
    "green_2": "human",
    "blue_0": "baseline",
    "blue_1": "llm",
    "blue_2": "baseline",
}
STEPS = 30


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, model_server: ModelServer) -> Path:
    """The run of the example's file, as far as its model's server and its length allow."""
    home = tmp_path_factory.mktemp("everyone")
    shutil.copytree(EXAMPLES, home / "examples", ignore=shutil.ignore_patterns("*_worker"))
    file = home / "examples/everyone/everyone.yaml"
    experiment = yaml.safe_load(file.read_text())
    model = experiment["operators"][0]["workers"]["blue_1"]["settings"]
    model |= {"client_name": "transformers", "base_url": model_server.url, "model_id": model_server.model}
    model |= {"max_tokens": 4}
    experiment["execution"] |= {"num_episodes": 1, "max_steps": STEPS, "processes": 1}
    file.write_text(yaml.safe_dump(experiment))
    mosaic = Mosaic(home, Offspring(f"everyone-{os.getpid()}-{os.urandom(4).hex()}"))
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as short:
        variables = {TAG: "tests", "MOSAIC_RUNTIME_DIR": short}
        done = mosaic("run", file, "--trust", "--json", **variables)
    assert done.status == 0, done.err
    return home / done.json()["run"]


def test_every_decision_says_who_made_it(room: Path) -> None:
    (operator,) = open_run(room).operators.values()
    (episode,) = operator.episodes()
    assert episode.error is None
    rows: dict[str, list[Any]] = {slot: [] for slot in KINDS}
    for row in operator.steps():
        rows[row.agent_id].append(row)
    assert {slot: len(decided) for slot, decided in rows.items()} == dict.fromkeys(KINDS, episode.length)
    assert all(row.value is not None for row in rows["green_0"])
    assert all(row.extra["bdi"]["plan"] for row in rows["green_1"])
    assert all(row.extra["human"] for row in rows["green_2"])
    assert len(list(operator.calls())) >= len(rows["blue_1"])


def test_it_is_verified_reported_and_replayed(room: Path, mosaic: Mosaic) -> None:
    done = mosaic("verify", room, "--trust")
    assert done.status == 0, done.err
    done = mosaic("report", "--no-replays", room, "--json", "--out", mosaic.home)
    (told,) = done.json()["operators"]
    assert {slot["slot"]: slot["worker_type"] for slot in told["slots"]} == KINDS
    assert told["calls"]["total"] >= 1
    page = (mosaic.home / "report.html").read_text()
    for player in ("ppo_lstm:SingleAgent/", "soccer.asl", "script", "soccer_chaser", "tiny-llama", "random"):
        assert player in page
    assert mosaic("replay", room, "--json").json()["equal"] is True
