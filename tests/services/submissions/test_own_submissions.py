"""A record that came along runs, writes and allows nothing before a person has confirmed it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.spending import Amount
from gym_gui.core.trusted.subjects import Subject
from gym_gui.core.trusted.trust_file import TrustFile
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.submissions.budget_leases import BudgetLeases
from gym_gui.services.submissions.bundle import allowed_on, write_bundle
from gym_gui.services.submissions.own_submissions import (
    NotConfirmedError,
    confirm,
    remember_submission,
    unconfirmed,
    verified_submission,
)
from gym_gui.services.submissions.submission_record import NAME, SENT, ShardState, Submission, open_submission
from tests.support.commands import experiment

ID = "01M8H83KEBJ7758D9XJK3WVK24"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path / "config"))


@pytest.fixture
def submission(tmp_path: Path) -> Submission:
    """One of a person's own, on this machine."""
    runs = tmp_path / "runs"
    found = Submission(runs / "submissions" / ID, "local", {"shards": 1}, "run", 2, 4, runs)
    file = experiment(tmp_path)
    write_bundle(found.bundle, load_experiment(file, allow_code=False), [])
    found.states = {1: ShardState(SENT, "this machine", 1)}
    found.save()
    return found


def changed(submission: Submission, **more: Any) -> Path:
    file = submission.folder / NAME
    file.write_text(json.dumps({**json.loads(file.read_text()), **more}))
    return submission.folder


def test_what_was_handed_in_here_is_used_without_a_question(submission: Submission, tmp_path: Path) -> None:
    submission.needs = (Subject("package", "/lib/maze", "ab"),)
    remember_submission(submission)
    (entry,) = (tmp_path / "data" / "submissions").iterdir()
    assert entry.stat().st_mode & 0o077 == 0 and entry.parent.stat().st_mode & 0o077 == 0
    assert unconfirmed(submission.folder) is None
    again = verified_submission(open_submission(submission.folder))
    assert again.needs == submission.needs, "with --trust once: it counts for this one, wherever it goes on"


@pytest.mark.parametrize(
    "forged",
    [
        {"profile": {"shards": 1, "mosaic": "touch stolen; mosaic"}},
        {"profile": {"shards": 1, "setup": ["touch stolen"]}},
        {"executor": "ssh", "profile": {"hosts": ["x"]}},
        {"out": "/home/them"},
        {"command": "tournament"},
    ],
)
def test_a_record_that_says_otherwise_has_to_be_confirmed(
    submission: Submission, forged: dict[str, Any]
) -> None:
    remember_submission(submission)
    folder = changed(submission, **forged)
    with pytest.raises(NotConfirmedError, match="mosaic runs confirm"):
        verified_submission(open_submission(folder))
    seen = unconfirmed(folder)
    assert seen is not None
    shown = "\n".join(line for _, lines in seen.rows for line in lines)
    for value in forged.values():
        for text in [value] if isinstance(value, str) else map(json.dumps, value.values()):
            assert text in shown, "it is shown as a whole"
    confirm(seen)
    assert unconfirmed(folder) is None, "once"


def test_a_person_sees_that_nothing_limits_what_it_spends(submission: Submission) -> None:
    seen = unconfirmed(submission.folder)
    assert seen is not None and "nothing limits it" in str(dict(seen.rows)["It may spend"])
    BudgetLeases(submission.folder, {"run": Amount(1000)}, 1).save()
    seen = unconfirmed(submission.folder)
    assert seen is not None
    (line,) = dict(seen.rows)["It may spend"]
    assert "1000" in line and "nothing limits it" not in line


def test_what_is_sent_is_what_was_handed_in(submission: Submission) -> None:
    remember_submission(submission)
    (submission.bundle / "maze.py").write_text("import os")
    with pytest.raises(NotConfirmedError):
        verified_submission(open_submission(submission.folder))


def test_places_that_the_person_names_now_are_kept(submission: Submission) -> None:
    remember_submission(submission)
    folder = changed(submission, profile={"shards": 1, "mosaic": "touch stolen; mosaic"})
    profile = {"shards": 2}
    assert verified_submission(open_submission(folder), profile).profile == profile
    submission.profile = profile
    submission.save()
    assert unconfirmed(folder) is None


def test_a_configuration_of_openssh_is_named_by_the_person_alone(submission: Submission) -> None:
    folder = changed(
        submission, executor="ssh", profile={"hosts": ["x"], "ssh_config": str(submission.folder / "theirs")}
    )
    with pytest.raises(UsageError, match="--profile FILE"):
        unconfirmed(folder)
    mine = {"hosts": ["x"], "ssh_config": "/home/me/lab"}
    seen = unconfirmed(folder, mine)
    assert seen is not None
    confirm(seen)
    assert verified_submission(open_submission(folder), mine).profile == mine


def test_forged_needs_allow_nothing(submission: Submission) -> None:
    code = submission.bundle / "maze.py"
    code.write_text("import os")
    from gym_gui.core.trusted import user_code

    sha = user_code.digest(user_code.fingerprints(submission.bundle))
    rows = [{"kind": "folder", "name": "/home/them/x", "sha256": sha}]
    (submission.bundle / "needs.json").write_text(json.dumps(rows))
    with pytest.raises(UsageError, match="is not allowed"):
        unconfirmed(submission.folder)
    TrustFile().add([Subject("folder", str(submission.bundle), sha)])
    seen = unconfirmed(submission.folder)
    assert seen is not None
    confirm(seen)
    used = verified_submission(open_submission(submission.folder))
    assert json.loads(allowed_on(used.needs, "/there"))[1:] == [
        {"kind": "folder", "name": "/there", "sha256": sha}
    ]


@pytest.mark.parametrize(
    "forged",
    [
        {"run": "/home/you/.config"},
        {"run": "../../x", "out": ".."},
        {"of": 10**12},
        {
            "command": "train",
            "of": 1,
            "out": "/runs",
            "trainings": {
                "arguments": [],
                "is_group": True,
                "parts": [{"seed": 1, "folder": "/runs/seed1", "run_id": "../../.profile"}],
            },
        },
        {
            "command": "train",
            "of": 1,
            "out": "/home/you/runs",
            "trainings": {
                "arguments": [],
                "is_group": True,
                "parts": [{"seed": 1, "folder": "/home/you", "run_id": "x"}],
            },
        },
    ],
)
def test_nothing_lies_outside_of_where_it_was_to_be(submission: Submission, forged: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is damaged"):
        open_submission(changed(submission, **forged))


def test_no_part_of_it_is_a_link_or_another_ones_process(submission: Submission, tmp_path: Path) -> None:
    remember_submission(submission)
    theirs = tmp_path / "documents"
    theirs.mkdir()
    (submission.folder / "merged").symlink_to(theirs)
    with pytest.raises(UsageError, match="merged is a link"):
        verified_submission(open_submission(submission.folder))
    (submission.folder / "merged").unlink()
    moved = tmp_path / "elsewhere" / ID
    shutil.copytree(submission.folder, moved)
    (moved / "played" / ID).mkdir(parents=True)
    with pytest.raises(UsageError, match="played"):
        unconfirmed(moved)


@pytest.mark.parametrize("name", ["Documents", "..", "x; touch stolen"])
def test_its_name_is_that_of_a_submission(submission: Submission, name: str, tmp_path: Path) -> None:
    folder = submission.folder / ".." / ".." if name == ".." else submission.folder.rename(tmp_path / name)
    submission.folder = folder
    with pytest.raises(UsageError, match="name of a submission"):
        verified_submission(submission)


@pytest.mark.parametrize("command", [("run", "--resume"), ("runs", "stop")])
@pytest.mark.parametrize("trusted", [False, True])
def test_without_a_terminal_it_is_refused(
    submission: Submission, tmp_path: Path, command: tuple[str, ...], trusted: bool
) -> None:
    stolen = tmp_path / "stolen"
    folder = changed(submission, profile={"shards": 1, "mosaic": f"touch {stolen}; false"})
    more = ["--trust"] if trusted and command[0] == "run" else []
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui", *command, str(folder), *more],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2 and f"mosaic runs confirm {folder}" in done.stderr, done.stderr
    assert not stolen.exists(), "its command was run"
