"""Folders that travel: what was packed comes back, and what has no place in them is refused."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from gym_gui.services.submissions.archive import TooMuchError, pack, unpack


def test_a_folder_comes_back_without_links(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "01RUN"
    (run / "operators" / "a").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    (run / "operators" / "a" / "steps.jsonl").write_text("rows")
    (run / "operators" / "a" / "episodes.jsonl").write_text("line")
    (tmp_path / "secret").write_text("not sent")
    (run / "link").symlink_to(tmp_path / "secret")
    pack(tmp_path / "runs", tmp_path / "packed")
    with tarfile.open(tmp_path / "packed") as archive:
        names = archive.getnames()
    assert names[0] == "01RUN/operators/a/episodes.jsonl", "no episode is named whose rows come later"
    unpack(tmp_path / "packed", tmp_path / "back")
    back = {
        str(path.relative_to(tmp_path / "back")): path.read_text()
        for path in (tmp_path / "back").rglob("*")
        if path.is_file()
    }
    assert back == {
        "01RUN/run.json": "{}",
        "01RUN/operators/a/steps.jsonl": "rows",
        "01RUN/operators/a/episodes.jsonl": "line",
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../out", tarfile.REGTYPE),
        ("/etc/out", tarfile.REGTYPE),
        ("a/../../out", tarfile.REGTYPE),
        ("link", tarfile.SYMTYPE),
        ("link", tarfile.LNKTYPE),
        ("device", tarfile.CHRTYPE),
    ],
)
def test_what_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str, kind: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, "/etc/passwd"
    with tarfile.open(tmp_path / "packed", "w:gz") as archive:
        archive.addfile(member, io.BytesIO())
    with pytest.raises(ValueError, match="is not a valid file in an archive"):
        unpack(tmp_path / "packed", tmp_path / "back")
    assert not list((tmp_path / "back").iterdir())


@pytest.mark.parametrize("cut", [0, 20, -20])
def test_a_damaged_archive_is_refused(tmp_path: Path, cut: int) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "rows").write_bytes(bytes(range(256)) * 400)
    pack(tmp_path / "runs", tmp_path / "packed")
    whole = (tmp_path / "packed").read_bytes()
    (tmp_path / "packed").write_bytes(whole[:cut])
    with pytest.raises(ValueError, match="damaged"):
        unpack(tmp_path / "packed", tmp_path / "back")


def test_an_archive_that_grows_in_the_unpacking_is_ended(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for name in ("a", "b"):
        (tmp_path / "runs" / name).write_bytes(bytes(1 << 20))
    pack(tmp_path / "runs", tmp_path / "packed")
    assert (tmp_path / "packed").stat().st_size < 1 << 16
    with pytest.raises(TooMuchError):
        unpack(tmp_path / "packed", tmp_path / "back", 3 << 19)
    assert [path.name for path in (tmp_path / "back").iterdir()] == ["a"], "the second is not begun"
    unpack(tmp_path / "packed", tmp_path / "whole", 2 << 20)


def test_the_same_files_make_the_same_archive(tmp_path: Path) -> None:
    for name, at in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "experiment.json").write_text("{}")
        os.utime(tmp_path / name / "experiment.json", (at, at))
        pack(tmp_path / name, tmp_path / f"{name}.packed", extra={"play.sh": b"true"})
    assert (tmp_path / "one.packed").read_bytes() == (tmp_path / "two.packed").read_bytes()
    unpack(tmp_path / "one.packed", tmp_path / "back")
    assert (tmp_path / "back" / "play.sh").read_bytes() == b"true"
    assert not (tmp_path / "one" / "play.sh").exists()
