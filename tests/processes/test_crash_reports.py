"""Files about unexpected errors."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from gym_gui.processes.crash_reports import reports_dir, write_crash_report
from tests.support.commands import ROOT


def _raised(text: str, name: str = "") -> Exception:
    """An error of a type of its own, since a process reports a type from one place once."""
    kind = type(name or f"Error{next(_numbers)}", (ValueError,), {})
    try:
        raise kind(text)
    except ValueError as error:
        return error


_numbers = count()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    return tmp_path


def test_it_says_what_happened_where(data: Path) -> None:
    file = write_crash_report(_raised("no such card"), ["mosaic", "run", "a file.yaml"])
    assert file is not None and file.parent == reports_dir()
    assert file.stat().st_mode & 0o077 == 0
    text = file.read_text("utf-8")
    assert ": no such card" in text
    assert "test_crash_reports.py" in text
    assert "mosaic run 'a file.yaml'" in text


def test_keys_of_the_environment_are_not_in_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-verysecret")
    file = write_crash_report(_raised("refused: sk-verysecret"))
    assert file is not None
    assert "sk-verysecret" not in file.read_text("utf-8")
    assert "[SOME_API_KEY]" in file.read_text("utf-8")


def test_a_password_in_an_address_is_not_in_it(data: Path) -> None:
    file = write_crash_report(_raised("no answer from https://me:hunter2@proxy.example:3128/"))
    assert file is not None
    text = file.read_text("utf-8")
    assert "hunter2" not in text and "https://me:[password]@proxy.example" in text


def test_one_place_is_reported_once(data: Path) -> None:
    errors = [_raised(str(number), "OfOnePlace") for number in range(3)]
    files = [write_crash_report(error) for error in errors]
    assert [file is not None for file in files] == [True, False, False]


def test_the_newest_twenty_stay(data: Path) -> None:
    reports_dir().mkdir()
    for number in range(30):
        (reports_dir() / f"20200101-0000{number:02d}-000000-1.txt").write_text("old")
    file = write_crash_report(_raised("new"))
    left = sorted(path.name for path in reports_dir().iterdir())
    assert file is not None and len(left) == 20 and left[-1] == file.name


def test_a_disk_that_fails_does_not_hide_the_error(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "crashes").write_text("in the way")
    assert write_crash_report(_raised("first")) is None


def test_a_command_that_crashes_names_its_report(tmp_path: Path) -> None:
    """One line and no traceback; the file has it."""
    code = (
        "import sys; from gym_gui.cli import app; app.run = lambda arguments: 1 / 0; "
        "sys.argv = ['mosaic', 'runs', 'list']; from gym_gui.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"MOSAIC_DATA_DIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "ZeroDivisionError" in done.stderr
    (file,) = (tmp_path / "crashes").iterdir()
    assert str(file) in done.stderr
    assert "Traceback" in file.read_text("utf-8")
