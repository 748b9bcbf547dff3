"""Only regular files are opened in folders that another user may have made."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Callable, Iterator

import pytest

from mosaic_worker.plain_files import (
    UnsafeFileError,
    check_folder,
    lines,
    make_folder,
    open_file,
    read_file,
    replace_file,
    replaced,
    subfolders,
    whole_lines,
)

pytestmark = pytest.mark.timeout(30)  # a pipe that is opened waits for ever


def _link(path: Path) -> None:
    target = path.parent.parent / "elsewhere"
    target.write_bytes(b"mine")
    path.symlink_to(target)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


KINDS = {
    "link": (_link, "is a link"),
    "link to nothing": (lambda path: path.symlink_to("nowhere"), "is a link"),
    "pipe": (os.mkfifo, "is a named pipe"),
    "socket": (_socket, "is a socket"),
    "device": (lambda path: path.symlink_to("/dev/null"), "is a link"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("mode", ["rb", "r+b", "ab", "wb"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_neither_read_nor_written(kind: str, mode: str, folder: Path) -> None:
    make, words = KINDS[kind]
    make(folder / "file")

    with pytest.raises(UnsafeFileError) as refused:
        open_file(folder / "file", mode)

    assert words in str(refused.value.strerror)
    if kind == "link":
        assert (folder.parent / "elsewhere").read_bytes() == b"mine"


@pytest.mark.parametrize("mode", ["rb", "r+b", "ab", "xb"])
def test_a_folder_between_is_no_link_either(mode: str, folder: Path) -> None:
    elsewhere = folder.parent / "home"
    elsewhere.mkdir()
    (elsewhere / "file").write_bytes(b"mine")
    (folder / "operators").symlink_to(elsewhere)

    with pytest.raises(UnsafeFileError, match="operators is a link"):
        open_file(folder / "operators" / "file", mode, inside=folder)
    with pytest.raises(UnsafeFileError):
        make_folder(folder / "operators" / "new", inside=folder)
    with pytest.raises(UnsafeFileError):
        replace_file(folder / "operators" / "file", b"theirs", inside=folder)
    with pytest.raises(UnsafeFileError):
        list(subfolders(folder / "operators", inside=folder))

    assert {path.name for path in elsewhere.iterdir()} == {"file"}
    assert (elsewhere / "file").read_bytes() == b"mine"


def test_the_folder_itself_may_be_a_link(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    seen = folder.parent / "seen"
    seen.symlink_to(folder)

    replace_file(seen / "a" / "b" / "file", b"whole", inside=seen)

    assert read_file(seen / "a" / "b" / "file", inside=seen) == b"whole"
    assert list(subfolders(seen / "a", inside=seen)) == ["b"]


def test_a_path_does_not_lead_out(folder: Path) -> None:
    (folder.parent / "file").write_bytes(b"mine")

    with pytest.raises(UnsafeFileError, match="leads out"):
        open_file(folder / ".." / "file", inside=folder)


def test_a_file_with_a_second_name_is_read_but_not_written(folder: Path) -> None:
    (folder.parent / "key").write_bytes(b"mine")
    os.link(folder.parent / "key", folder / "file")

    assert read_file(folder / "file") == b"mine"
    for mode in ("r+b", "ab", "wb"):
        with pytest.raises(UnsafeFileError, match="second name"):
            open_file(folder / "file", mode)
    replace_file(folder / "file", b"ours")

    assert (folder.parent / "key").read_bytes() == b"mine"
    assert (folder / "file").read_bytes() == b"ours"


def test_what_is_replaced_is_the_link_and_not_its_target(folder: Path) -> None:
    _link(folder / "file")

    replace_file(folder / "file", [b"two ", b"parts"])

    assert (folder / "file").read_bytes() == b"two parts"
    assert (folder.parent / "elsewhere").read_bytes() == b"mine"
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_writers_at_the_same_time_leave_a_whole_file_and_nothing_else(folder: Path) -> None:
    def halves(content: bytes) -> Iterator[bytes]:
        yield content
        replace_file(folder / "file", b"theirs")  # amid ours
        yield content

    replace_file(folder / "file", halves(b"ours "), sync=False)

    assert (folder / "file").read_bytes() == b"ours ours "
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_what_a_library_leaves_half_written_takes_no_place(folder: Path) -> None:
    (folder / "file").write_bytes(b"old")
    with pytest.raises(RuntimeError), replaced(folder / "file") as pending:
        pending.write_bytes(b"ne")
        raise RuntimeError
    assert (folder / "file").read_bytes() == b"old"
    with replaced(folder / "file") as pending:
        pending.write_bytes(b"new")
        assert (folder / "file").read_bytes() == b"old"
    assert (folder / "file").read_bytes() == b"new"
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_link_that_the_person_named_is_followed_but_no_pipe(folder: Path) -> None:
    _link(folder / "mine.yaml")
    os.mkfifo(folder / "pipe")
    (folder / "hidden").symlink_to("pipe")

    assert read_file(folder / "mine.yaml", links=True) == b"mine"
    with pytest.raises(UnsafeFileError, match="pipe"):
        read_file(folder / "hidden", links=True)


def test_a_file_of_holes_is_not_taken_into_memory(folder: Path) -> None:
    with (folder / "large").open("wb") as file:
        file.truncate(2**40)

    with pytest.raises(UnsafeFileError, match="more than 1 MiB"):
        read_file(folder / "large", limit=2**20)
    with open_file(folder / "large") as file, pytest.raises(UnsafeFileError, match="a line has more than"):
        next(lines(file))
    with open_file(folder / "large") as file, pytest.raises(UnsafeFileError, match="a line has more than"):
        next(whole_lines(file))


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize("content", [b"", b"\n", b"one", b"one\ntwo\n", b"\nthree\n\nfour"])
def test_whole_lines_are_all_of_a_file_and_none_is_cut(content: bytes, size: int, folder: Path) -> None:
    (folder / "lines").write_bytes(content)
    with open_file(folder / "lines") as file:
        found = list(whole_lines(file, size))
    assert b"".join(found) == content and b"" not in found
    assert all(part.endswith(b"\n") for part in found[:-1])


def test_what_is_missing_is_missing(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(folder / "no" / "file", inside=folder)
    assert list(subfolders(folder / "no", inside=folder)) == []


@pytest.mark.parametrize("make", [_link, os.mkfifo])
def test_a_folder_is_looked_through(make: Callable[[Path], None], folder: Path) -> None:
    (folder / "state" / "deep").mkdir(parents=True)
    (folder / "state" / "deep" / "file").write_bytes(b"")
    check_folder(folder)
    make(folder / "state" / "x")

    with pytest.raises(UnsafeFileError, match="state/x is a"):
        check_folder(folder)
