"""Where things are kept on a machine whose home takes nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from gym_gui.core.paths import cache_dir


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of a user in whose home nothing can be made, by root neither."""
    home = tmp_path / "home"
    home.write_text("", encoding="utf-8")
    for variable in ("MOSAIC_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_cache_is_temporary_and_private_where_the_home_takes_none(temporary: Path) -> None:
    folder = cache_dir()
    assert folder.parent == temporary and folder.stat().st_mode & 0o777 == 0o700
    (folder / "kept").write_text("", encoding="utf-8")
    assert cache_dir() == folder


def test_a_cache_that_somebody_else_laid_out_is_not_used(temporary: Path) -> None:
    """Others could put into it what is read as ours."""
    folder = cache_dir()
    folder.chmod(0o777)
    assert cache_dir().parent != temporary
    folder.rmdir()
    folder.symlink_to(temporary)
    assert cache_dir().parent != temporary


def test_a_home_that_takes_files_has_the_cache(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "mosaic"
    assert not (tmp_path / ".cache").exists()
