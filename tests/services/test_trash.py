"""Runs are thrown away into the desktop's trash, and had back."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.runs.recorder import Recorder
from gym_gui.services.trash import TrashError, move_to_trash, put_back


@pytest.fixture(autouse=True)
def own_trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import send2trash.plat_other as other  # it reads the place when it is imported

    home = tmp_path / "share"
    home.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    trash = str(home / "Trash").encode()
    monkeypatch.setattr(other, "HOMETRASH_B", trash)
    monkeypatch.setattr(other, "HOMETRASH", str(home / "Trash"), raising=False)
    return home / "Trash"


def run_folder(tmp_path: Path) -> tuple[Path, Recorder]:
    recorder = Recorder.create(tmp_path / "runs of mine", ["op"], {"experiment": {"operators": []}})
    return recorder.folder, recorder


def test_there_and_back(tmp_path: Path, own_trash: Path) -> None:
    folder, recorder = run_folder(tmp_path)
    recorder.close("completed")
    content = (folder / "run.json").read_bytes()
    trashed = move_to_trash(folder)
    assert not folder.exists()
    assert trashed is not None and trashed.is_relative_to(own_trash)
    put_back(trashed, folder)
    assert (folder / "run.json").read_bytes() == content
    assert not list((own_trash / "info").iterdir()), "the trash does not list it no longer exists"


def test_a_run_that_is_written_stays(tmp_path: Path) -> None:
    folder, recorder = run_folder(tmp_path)
    with pytest.raises(UsageError, match="being written"):
        move_to_trash(folder)
    assert folder.exists()
    recorder.close("completed")


def test_what_is_gone_and_what_is_taken(tmp_path: Path) -> None:
    folder, recorder = run_folder(tmp_path)
    recorder.close("completed")
    trashed = move_to_trash(folder)
    assert trashed is not None
    with pytest.raises(UsageError, match="no longer exists"):
        move_to_trash(folder)
    folder.mkdir(parents=True)
    with pytest.raises(TrashError, match="exists already"):
        put_back(trashed, folder)
