"""A place that is there already counts as sent where this submission has put it there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.submissions.bundle import write_bundle
from gym_gui.services.submissions.executors import backends_of
from gym_gui.services.submissions.own_submissions import (
    confirm,
    remember_submission,
    unconfirmed,
    verified_submission,
)
from gym_gui.services.submissions.submission_record import Submission, open_submission
from gym_gui.version import __version__
from tests.support.commands import experiment

ID = "01M8H83KEBJ7758D9XJK3WVK24"


@pytest.fixture
def submission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Submission:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "mosaic").write_text(f"echo mosaic {__version__}\n")
    runs, profile = tmp_path / "runs", {"shards": 1, "mosaic": f"sh {tmp_path}/mosaic"}
    found = Submission(runs / "submissions" / ID, "local", profile, "run", 2, 4, runs)
    write_bundle(found.bundle, load_experiment(experiment(tmp_path), allow_code=False), [])
    found.save()
    return found


def prepare(submission: Submission) -> None:
    async def prepared() -> None:
        for backend in backends_of(submission):
            await backend.check()
            await backend.prepare()
            await backend.close()

    asyncio.run(prepared())


def test_who_goes_on_with_it_finds_what_was_sent(submission: Submission) -> None:
    remember_submission(submission)
    prepare(submission)
    kept = submission.folder / "played" / ID / "work"
    kept.mkdir()
    prepare(verified_submission(open_submission(submission.folder)))
    assert kept.exists()
    profile = {**submission.profile, "shards": 2}
    prepare(verified_submission(open_submission(submission.folder), profile))
    assert kept.exists(), "places that a person names anew are the same ones"


@pytest.mark.parametrize("token", [None, "", "0" * 32])
def test_what_another_person_put_there_is_not_played(submission: Submission, token: str | None) -> None:
    remember_submission(submission)
    place = submission.folder / "played" / ID
    place.mkdir(parents=True)
    (place / "play.sh").write_text("touch stolen")
    (place / "maze.py").write_text("theirs")
    if token is not None:
        (place / "token").write_text(f"{token}\n")
    with pytest.raises(UsageError, match="did not create it"):
        prepare(verified_submission(open_submission(submission.folder)))


def test_another_bundle_is_sent_anew(submission: Submission) -> None:
    remember_submission(submission)
    prepare(submission)
    (submission.bundle / "maze.py").write_text("import os")
    (submission.folder / "played").rename(submission.folder / "aside")
    seen = unconfirmed(submission.folder)
    assert seen is not None
    confirm(seen)
    (submission.folder / "aside").rename(submission.folder / "played")
    with pytest.raises(UsageError, match="did not create it"):
        prepare(verified_submission(open_submission(submission.folder)))


def test_the_token_lies_in_the_data_folder_alone(submission: Submission, tmp_path: Path) -> None:
    remember_submission(submission)
    entry = json.loads((tmp_path / "data" / "submissions" / f"{ID}.json").read_text())
    files = [file for file in submission.folder.rglob("*") if file.is_file()]
    assert files and not any(entry["token"].encode() in file.read_bytes() for file in files)
