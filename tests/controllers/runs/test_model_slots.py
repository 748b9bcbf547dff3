"""Recorded calls of a run are files of that run; a run from elsewhere cannot name others by a link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.model_slots import replayed, settings_of, with_recorded_replies
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.trusted import trust
from gym_gui.core.trusted.subjects import Subject

SETTINGS = {"client_name": "vllm", "model_id": "m"}


@pytest.fixture(autouse=True)
def nothing_allowed() -> None:
    trust.begin()


@pytest.fixture
def asked() -> OperatorConfig:
    model = WorkerAssignment("mosaic_llm_worker", "llm", SETTINGS)
    return OperatorConfig("op", task="FrozenLake-v1", workers={"agent_0": model})


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "operators" / "op").mkdir(parents=True)
    header = {"format_version": 1, "run_id": "r", "status": "stopped", "experiment": {"operators": []}}
    (folder / "run.json").write_text(json.dumps(header))
    return folder


@pytest.fixture(params=["file", "folder"])
def elsewhere(request: pytest.FixtureRequest, run: Path, tmp_path: Path) -> Path:
    """A file that the run's calls lead to."""
    other = tmp_path / "private"
    other.mkdir()
    place, secret = run / "operators" / "op", other / "calls.jsonl"
    secret.write_text("secret\n")
    if request.param == "file":
        (place / "calls.jsonl").symlink_to(secret)
    else:
        place.rmdir()
        place.symlink_to(other)
    return secret


def test_calls_that_are_a_link_are_not_replayed(asked: OperatorConfig, run: Path, elsewhere: Path) -> None:
    with pytest.raises(UsageError):
        replayed(Experiment([asked], ExecutionConfig(1)), open_run(run))
    assert not trust.is_allowed(Subject("file", str(elsewhere)))


def test_calls_that_are_a_link_are_not_gone_on_with(
    asked: OperatorConfig, run: Path, elsewhere: Path
) -> None:
    resolved = resolve_operator(asked)
    with pytest.raises(UsageError):
        with_recorded_replies(resolved, run)
    assert not trust.is_allowed(Subject("file", str(elsewhere)))


def test_the_calls_of_a_run_that_is_reached_through_a_link_are_taken(
    asked: OperatorConfig, run: Path, tmp_path: Path
) -> None:
    calls = run / "operators" / "op" / "calls.jsonl"
    calls.write_text("")
    linked = tmp_path / "linked"
    linked.symlink_to(run)
    (again,) = replayed(Experiment([asked], ExecutionConfig(1)), open_run(linked)).operators
    resumed = with_recorded_replies(resolve_operator(asked), linked)
    for player in (again.workers["agent_0"], resumed.assignments["agent_0"]):
        assert Path(str(settings_of(player)["cassette_file"])).resolve() == calls.resolve()
    assert trust.is_allowed(Subject("file", str(calls.resolve())))
