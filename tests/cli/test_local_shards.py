"""Shards that this machine plays by itself, followed by a process of its own, and stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.analysis import compare_runs
from gym_gui.core.run_labels import change_labels, name_of
from gym_gui.services.submissions.follower import follower_of
from gym_gui.services.submissions.submission_record import open_submission
from tests.support.commands import Mosaic, experiment
from tests.support.processes import Offspring
from tests.support.waiting import eventually

pytestmark = pytest.mark.usefixtures("all_sessions_here")

LONG = 100_000
"""Episodes that are not over before they are stopped."""
TWO = ({"id": "chance"}, {"id": "turns", "workers": {"agent": {"type": "baseline", "behavior": "cycle"}}})


@pytest.fixture(autouse=True)
def ended(offspring: Offspring) -> Iterator[None]:
    """What goes on without the command ends with the test."""
    yield
    offspring.kill()


def begun(mosaic: Mosaic, file: Path, *more: str) -> Path:
    asked = ("--executor", "local", "--shards", "2", "--detach", "--json")
    done = mosaic("run", file, *asked, *more)
    assert done.status == 0, done.err
    return Path(done.json()["submission"])


@pytest.mark.full
def test_it_goes_on_without_the_command_and_is_the_experiment(mosaic: Mosaic) -> None:
    file = experiment(mosaic.home, *TWO)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    folder = begun(mosaic, file)
    change_labels(folder, {"name": "Pilot"})
    eventually(lambda: open_submission(folder).cleared and not follower_of(folder), "the run is there")
    run = Path(open_submission(folder).run)
    assert compare_runs(whole, run) is None
    assert name_of(run) == "Pilot", "it is called what its submission was"
    assert not list((folder / "played").iterdir()), "nothing is left of what was played"
    assert open_submission(folder).run in (folder / "follow.log").read_text()


def test_stop_ends_what_is_played_whoever_follows_it(mosaic: Mosaic, offspring: Offspring) -> None:
    folder = begun(mosaic, experiment(mosaic.home, *TWO, num_episodes=LONG))
    eventually(lambda: open_submission(folder).numbers("sent"), "something is sent")
    said = mosaic("runs", "stop", folder, "--json")
    assert (said.status, said.json()["may_go_on"]) == (0, 0), said.err
    offspring.assert_none()
    state = json.loads((folder / "submission.json").read_text())
    assert {row["status"] for row in state["shards"].values()} <= {"waiting"}
    assert mosaic("runs", "stop", folder).status == 0, "again: nothing is left to be stopped"
    assert "is no submission" in mosaic.refused("runs", "stop", mosaic.home)
