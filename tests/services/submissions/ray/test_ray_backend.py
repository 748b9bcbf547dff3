"""What a Ray cluster is sent is packed from the bundle that was confirmed, and leaves that as it is."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.submissions.bundle import write_bundle
from gym_gui.services.submissions.own_submissions import remember_submission, unconfirmed
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.ray.ray_backend import pack_submission
from gym_gui.services.submissions.submission_record import Submission
from tests.support.commands import experiment


@pytest.fixture
def submission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Submission:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path / "config"))
    runs = tmp_path / "runs"
    found = Submission(
        runs / "submissions" / "01M8H83KEBJ7758D9XJK3WVK24", "ray", {"shards": 1}, "run", 2, 4, runs
    )
    write_bundle(found.bundle, load_experiment(experiment(tmp_path), allow_code=False), [])
    found.save()
    return found


def test_what_is_sent_is_packed_from_the_bundle(submission: Submission, tmp_path: Path) -> None:
    remember_submission(submission)
    (submission.folder / "sent.tar.gz").write_bytes(b"an archive of another person")
    target = tmp_path / "packed"
    digest = pack_submission(submission, Command("mosaic-of-mine"), target)
    with tarfile.open(target) as archive:
        script = archive.extractfile("play.sh")
        assert script is not None and b"mosaic-of-mine run" in script.read()
        assert "experiment.json" in archive.getnames()
    assert digest == pack_submission(submission, Command("mosaic-of-mine"), target)
    assert digest != pack_submission(submission, Command("another"), target)
    assert unconfirmed(submission.folder) is None, "its bundle is as it was handed in"


def test_an_archive_that_came_along_is_refused(submission: Submission) -> None:
    (submission.folder / "sent.tar.gz").write_bytes(b"an archive of another person")
    with pytest.raises(UsageError, match=r"sent\.tar\.gz"):
        unconfirmed(submission.folder)
