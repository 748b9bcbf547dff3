"""The files of a run folder: whole or said to be damaged, and taken away without touching others."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.errors import RunFormatError
from gym_gui.services.trainer.training_folder import (
    LOCK,
    LOG,
    POLICY,
    REQUEST,
    VIDEOS,
    RunFolder,
)
from mosaic_worker.training import CALLS, LEAGUE


def test_its_json_files_are_whole_or_said_to_be_damaged(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.read(REQUEST) is None
    folder.write(REQUEST, {"title": "Größe"})
    assert folder.read(REQUEST) == {"title": "Größe"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [REQUEST]
    whole = (folder / REQUEST).read_bytes()
    for cut in (whole[:-4], b"", b"[]", b"\xff\xfe"):
        (folder / REQUEST).write_bytes(cut)
        with pytest.raises(
            RunFormatError, match=r"train\.json: (is damaged or was cut off|does not contain)"
        ):
            folder.read(REQUEST)


def test_the_last_line_that_was_printed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.last_log_line() == ""
    (folder / LOG).write_bytes(b"x" * 10_000 + b"\nlast words \xff\n\n")
    assert folder.last_log_line() == "last words �"


def test_what_a_training_wrote_can_be_taken_away_and_nothing_else(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    (folder / VIDEOS).mkdir()
    for name in (POLICY, LOCK, f"{VIDEOS}/step-000000010.gif", "notes.txt"):
        (folder / name).touch()
    assert folder.holds_policy
    folder.discard()
    assert [path.name for path in folder.path.iterdir()] == ["notes.txt"]
    (folder / "notes.txt").unlink()
    folder.discard()
    assert not folder.path.exists()


def test_a_training_begun_anew_leaves_nothing_of_the_league_before_it(tmp_path: Path) -> None:
    """Else its past selves stand in the library, and calls of the first are taken for the second's."""
    for name in ("past_000000000", "past_000025000", "past_papers", "past_000000001"):
        (tmp_path / name).mkdir()
    for name in ("past_000000000", "past_000025000", "past_papers"):
        (tmp_path / name / POLICY).touch()
    for name in (POLICY, LEAGUE, CALLS):
        (tmp_path / name).touch()
    RunFolder(tmp_path).clear()
    # What no training writes stays.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["past_000000001", "past_papers"]
