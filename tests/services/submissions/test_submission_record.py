"""What is on disk of a submission reads back, and says what is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.submission_record import (
    COLLECTED,
    FAILED,
    NAME,
    SENT,
    WAITING,
    ShardState,
    Submission,
    open_submission,
)


def test_a_record_reads_back(tmp_path: Path) -> None:
    states = {
        2: ShardState(SENT, "one", 1),
        3: ShardState(COLLECTED, "two", 2, done=5, failed=1),
        4: ShardState(FAILED, "two", 3, 3, 2, "two: its process was lost"),
    }
    submission = Submission(tmp_path, "ssh", {"hosts": ["one"]}, "run", 5, 40, tmp_path / "runs", states)
    submission.save()
    again = open_submission(tmp_path)
    assert again == submission
    assert (again.numbers(WAITING), again.numbers(SENT, FAILED)) == ([1, 5], [2, 4])
    assert (tmp_path / NAME).stat().st_mode & 0o077 == 0, "hosts and set-up are private"


def test_what_has_not_changed_is_not_written(tmp_path: Path) -> None:
    submission = Submission(tmp_path, "ssh", {}, "run", 2, 8, tmp_path, {1: ShardState(SENT, "one", 1)})
    submission.save()
    before = (tmp_path / NAME).stat()
    submission.save()
    assert (tmp_path / NAME).stat() == before
    submission.states[1].done = 1
    submission.save()
    assert (tmp_path / NAME).stat().st_ino != before.st_ino and open_submission(tmp_path).states[1].done == 1


@pytest.mark.parametrize(
    "written",
    ["", "[]", "{}", '{"format": 1, "of": 0}', '{"format": 1, "executor": "ssh", "shards": {"x": 1}}'],
)
def test_a_damaged_record_is_one_line(tmp_path: Path, written: str) -> None:
    (tmp_path / NAME).write_text(written)
    with pytest.raises(UsageError, match=r"submission\.json"):
        open_submission(tmp_path)
