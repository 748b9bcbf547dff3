"""Folders can be moved, are private where they must be, and errors name the way out."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.paths import user_workers_dir
from gym_gui.services.store import Store


@pytest.fixture(autouse=True)
def no_overrides(monkeypatch: pytest.MonkeyPatch):
    for name in ("DATA", "RUNS", "CACHE", "RUNTIME"):
        monkeypatch.delenv(f"MOSAIC_{name}_DIR", raising=False)


def test_variables_move_each_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("DATA", "RUNS", "CACHE"):
        monkeypatch.setenv(f"MOSAIC_{name}_DIR", str(tmp_path / name))
    store = Store()
    assert store.data_dir("policies") == tmp_path / "DATA/policies"
    assert store.runs_dir() == tmp_path / "RUNS"
    assert store.cache_dir("numba") == tmp_path / "CACHE/numba"
    assert (tmp_path / "DATA/policies").is_dir()
    assert (tmp_path / "CACHE/numba").is_dir()


def test_the_data_folder_is_private(tmp_path: Path):
    folder = Store(data=tmp_path / "share" / "mosaic").data_dir("training", "runs")
    made = (folder, folder.parent, folder.parent.parent)
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3


def test_workers_follow_the_data_folder_and_runs_the_working_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    assert user_workers_dir() == tmp_path / "workers"
    assert Store().runs == Path("runs")


def test_platform_folders_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert Store().data == tmp_path / "share/mosaic"
    assert Store().cache == tmp_path / "cache/mosaic"


def test_folder_that_cannot_be_made_names_the_variable(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot be created.*Set MOSAIC_RUNS_DIR"):
        Store(runs=tmp_path / "file/runs").runs_dir()
    with pytest.raises(UsageError, match=r"cannot be created.*Set MOSAIC_RUNTIME_DIR"):
        Store(runtime=Path("/proc/self/nothing")).runtime_dir()


def test_runtime_folder_is_private_even_if_it_was_not(short_tmp: Path):
    folder = short_tmp / "r"
    folder.mkdir(mode=0o755)
    assert Store(runtime=folder).runtime_dir() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def short_tmp():
    """Pytest's own temporary folders are too deep for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="m", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def test_runtime_folder_uses_the_sessions_own_where_there_is_one(
    short_tmp: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_tmp))
    assert Store().runtime_dir() == short_tmp / "mosaic"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_tmp / "absent"))
    monkeypatch.setattr("tempfile.tempdir", str(short_tmp))
    assert Store().runtime_dir() == short_tmp / f"mosaic-{os.getuid()}"


def test_deep_temporary_folder_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("deep" * 30)))
    assert len(os.fsencode(Store().runtime_dir())) <= 66


def test_runtime_folder_that_is_too_long_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="too long a path for sockets"):
        Store(runtime=tmp_path / ("d" * 100)).runtime_dir()


def test_link_in_place_of_the_runtime_folder_is_refused(short_tmp: Path):
    (short_tmp / "theirs").mkdir()
    (short_tmp / "r").symlink_to(short_tmp / "theirs")
    with pytest.raises(UsageError, match="belongs to another user"):
        Store(runtime=short_tmp / "r").runtime_dir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_runtime_folder_of_somebody_else_is_refused(short_tmp: Path):
    folder = short_tmp / "r"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.raises(UsageError, match="belongs to another user"):
        Store(runtime=folder).runtime_dir()
