"""What comes back from a host is data: taken where it is whole and what was asked for."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from gym_gui.core.experiment.shards import Shard
from gym_gui.services.submissions import collect_parts
from gym_gui.services.submissions.collect_parts import move_run_folders
from gym_gui.services.submissions.submission_errors import HostFailedError, LocalMachineError
from tests.services.shards.test_run_merge import altered, played


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """Where run folders belong that have been collected, with that of shard 1 of 2."""
    folder = tmp_path / "submission" / "shards"
    folder.mkdir(parents=True)
    played(folder, "1/2")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def refused(source: Path, shards: Path, match: str) -> None:
    """That a run folder is not taken, and those that are there stay as they are."""
    before = files(shards)
    with pytest.raises(HostFailedError, match=match):
        move_run_folders(source, shards, Shard(2, 2))
    assert files(shards) == before


def test_a_run_folder_is_taken_once(tmp_path: Path, shards: Path) -> None:
    run = played(tmp_path / "in", "2/2")
    expected = files(run)
    move_run_folders(tmp_path / "in", shards, Shard(2, 2))
    assert files(shards / run.name) == expected
    # Who was killed before that was written down asks again.
    move_run_folders(tmp_path / "in", shards, Shard(2, 2))
    assert files(shards / run.name) == expected


def test_who_was_killed_while_it_was_renamed_has_it(tmp_path: Path, shards: Path) -> None:
    run = played(tmp_path / "in", "2/2")
    shutil.move(run, shards.parent / f".coming-{run.name}")
    move_run_folders(tmp_path / "in", shards, Shard(2, 2))
    assert (shards / run.name / "run.json").exists() and not list(shards.parent.glob(".coming*"))


@pytest.mark.parametrize("late", ["episodes.jsonl", "steps.jsonl", "run.json"])
def test_files_that_appear_late_are_waited_for(tmp_path: Path, shards: Path, late: str) -> None:
    run = played(tmp_path / "in", "2/2")
    place = run / "operators" / "b" / late if late != "run.json" else run / late
    held = place.read_bytes()
    place.unlink()
    refused(tmp_path / "in", shards, "no run folder|is incomplete")
    place.write_bytes(held[: len(held) // 2])
    refused(tmp_path / "in", shards, "is incomplete")
    place.write_bytes(held)
    move_run_folders(tmp_path / "in", shards, Shard(2, 2))
    assert (shards / run.name).is_dir()


def test_another_shard_is_not_taken_for_it(tmp_path: Path, shards: Path) -> None:
    played(tmp_path / "in", "1/2")
    refused(tmp_path / "in", shards, "are those of another shard")


def test_no_shard_takes_the_place_of_another(tmp_path: Path, shards: Path) -> None:
    theirs = next(shards.iterdir()).name
    run = played(tmp_path / "in", "2/2")
    run = run.rename(run.with_name(theirs))
    refused(tmp_path / "in", shards, "are not in a folder named by their run id")
    altered(run, run_id=theirs)
    refused(tmp_path / "in", shards, "have the run id of another shard")


def test_links_lead_nowhere(tmp_path: Path, shards: Path) -> None:
    run = played(tmp_path / "elsewhere", "2/2")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / run.name).symlink_to(run)
    refused(tmp_path / "in", shards, "are not in a folder named by their run id")
    (tmp_path / "in" / run.name).unlink()
    steps = run / "operators" / "b" / "steps.jsonl"
    steps.rename(tmp_path / "secret")
    steps.symlink_to(tmp_path / "secret")
    shutil.move(run, tmp_path / "in")
    refused(tmp_path / "in", shards, "is incomplete")


def test_a_full_disk_here_is_told_from_trouble_there(
    tmp_path: Path, shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    played(tmp_path / "in", "2/2")
    monkeypatch.setattr(collect_parts.shutil, "move", full)
    with pytest.raises(LocalMachineError, match="there is no space left in"):
        move_run_folders(tmp_path / "in", shards, Shard(2, 2))
