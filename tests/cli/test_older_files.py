"""What an earlier MOSAIC wrote opens as before: runs, policies, presets, experiment files, submissions.

``older`` beside this file was written by the commit ``cf05ebae``; paths and the kernel's name are
left out, and digests of ``run.json`` made anew with it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gym_gui.analysis import open_run
from gym_gui.services.preset_store import PresetStore
from gym_gui.services.presets import CONFIGURATIONS
from gym_gui.services.submissions.submission_record import COLLECTED, open_submission
from gym_gui.services.trainings.training_presets import TRAININGS
from tests.support.commands import Mosaic

pytestmark = pytest.mark.usefixtures("sessions_here")

OLDER = Path(__file__).with_name("older")
RUNS = {json.loads((run / "run.json").read_bytes())["status"]: run.name for run in (OLDER / "runs").iterdir()}
STOPPED = RUNS["stopped"]
ENDED = sorted(run.name for run in (OLDER / "runs").iterdir() if run.name != STOPPED)
MADE_ANEW = "made"
"""Digests of the run and of the pages beside the summary."""
REWORDED = "methods"
"""Descriptions of statistical methods, whose wording may change."""


@pytest.fixture
def older(mosaic: Mosaic) -> Path:
    """A copy of everything, where the command line works."""
    return Path(shutil.copytree(OLDER, mosaic.home, dirs_exist_ok=True))


@pytest.mark.parametrize("name", ["experiment.yaml", "experiment.py", "matrix.yaml"])
def test_experiment_files_are_understood(name: str, older: Path, mosaic: Mosaic) -> None:
    done = mosaic("run", str(older / name), "--dry-run")
    assert done.status == 0, done.err


def test_a_tournament_file_is_played(older: Path, mosaic: Mosaic) -> None:
    done = mosaic("tournament", str(older / "tournament.yaml"), "--json")
    assert done.status == 0, done.err


@pytest.mark.parametrize(
    "name", [ENDED[0], *(pytest.param(name, marks=pytest.mark.full) for name in ENDED[1:])]
)
def test_a_run_is_played_again_and_says_what_it_said(name: str, older: Path, mosaic: Mosaic) -> None:
    verified = mosaic("verify", f"runs/{name}", "--json")
    assert verified.status == 0, verified.out + verified.err
    said = json.loads((older / "runs" / name / "summary.json").read_bytes())
    reported = mosaic("report", f"runs/{name}")
    assert reported.status == 0, reported.err
    says = json.loads((older / "runs" / name / "summary.json").read_bytes())
    assert says[REWORDED].keys() == said[REWORDED].keys()
    assert says | {MADE_ANEW: None, REWORDED: None} == said | {MADE_ANEW: None, REWORDED: None}


def test_a_stopped_run_is_resumed(older: Path, mosaic: Mosaic) -> None:
    rows = older / "runs" / STOPPED / "operators" / "chance" / "episodes.jsonl"
    before = rows.read_bytes()
    assert before
    done = mosaic("run", "--resume", f"runs/{STOPPED}", "--json")
    assert done.status == 0, done.err
    assert rows.read_bytes().startswith(before)
    assert len(list(open_run(older / "runs" / STOPPED).operators["chance"].episodes())) == 60


def test_policies_are_listed_and_played(older: Path, mosaic: Mosaic) -> None:
    added = mosaic("policies", "add", str(older / "trained"), "--name", "older", "--json")
    assert added.status == 0, added.err
    player = {"type": "rl", "worker_id": "cleanrl_worker", "checkpoint": "library:older"}
    operator = {"id": "older", "task": "CartPole-v1", "workers": {"agent_0": player}}
    experiment = {"operators": [operator], "execution": {"num_episodes": 1, "seeds": 1, "max_steps": 5}}
    (older / "one.json").write_text(json.dumps(experiment))
    played = mosaic("run", str(older / "one.json"), "--json")
    assert played.status == 0, played.err


def test_a_training_is_resumed(older: Path, mosaic: Mosaic) -> None:
    done = mosaic("train", "--resume", str(older / "trained"), "--steps", "512", "--json")
    assert done.status == 0, done.err


def test_presets_are_read(older: Path) -> None:
    configuration = PresetStore(older / "presets", CONFIGURATIONS).load("Trained")
    assert configuration.task == "CartPole-v1"
    assert configuration.workers["agent_0"].deterministic is False
    training = PresetStore(older / "presets", TRAININGS).load("Short")
    assert (training.algorithm, training.settings["num_steps"]) == ("ppo", 32)


def test_a_submission_is_read(older: Path) -> None:
    submission = open_submission(older / "submission")
    assert submission.executor == "local"
    assert submission.numbers(COLLECTED) == [1, 2]
