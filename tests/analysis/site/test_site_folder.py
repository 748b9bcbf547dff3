"""A site takes the place of a site, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.analysis.site import new_site, require_replaceable
from gym_gui.analysis.site.site_folder import write_mark
from gym_gui.core.errors import UsageError


def put(folder: Path, words: str) -> None:
    with new_site(folder) as workshop:
        (workshop.site / "index.html").write_text(words)
        write_mark(workshop.site, {})


def test_a_site_replaces_a_site_whole(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "site"
    put(folder, "one")
    (folder / "runs").mkdir()
    (folder / "runs" / "old.html").touch()
    put(folder, "two")
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "site.json"]
    assert (folder / "index.html").read_text() == "two"
    assert [path.name for path in folder.parent.iterdir()] == ["site"], "nothing is left beside it"
    (tmp_path / "link").symlink_to(folder)
    put(tmp_path / "link", "three")
    assert (folder / "index.html").read_text() == "three" and (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_is_broken_off_changes_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    put(tmp_path / "site", "one")
    with pytest.raises(error), new_site(tmp_path / "site") as workshop:
        (workshop.site / "index.html").write_text("half")
        raise error
    assert (tmp_path / "site" / "index.html").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_of_somebody_elses_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    require_replaceable(theirs)
    (theirs / "index.html").touch()
    with pytest.raises(UsageError, match="other files than a site of a report"):
        put(theirs, "x")
    with pytest.raises(UsageError, match="is a file"):
        put(theirs / "index.html", "x")
    assert [path.name for path in theirs.iterdir()] == ["index.html"]


@pytest.mark.parametrize("name", ["CNAME", ".git/config", "runs/notes.txt", "agents/a/data.json"])
def test_a_site_with_somebody_elses_file_is_refused(tmp_path: Path, name: str) -> None:
    put(tmp_path / "site", "one")
    file = tmp_path / "site" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    with pytest.raises(UsageError, match="none of its pages"):
        put(tmp_path / "site", "two")
    assert file.exists()
