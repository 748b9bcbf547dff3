"""``mosaic gui`` where there is no window to show."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.cli import window
from gym_gui.cli.errors import USAGE


@pytest.fixture(autouse=True)
def nobody_opens() -> Iterator[None]:
    before = window.open_with(None)
    yield
    window.open_with(before)


def test_without_qt_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(window, "find_spec", lambda name: None)
    assert window.open_window() == USAGE
    said = capsys.readouterr().err
    assert "PyQt6" in said
    assert "mosaic install gui" in said
    assert said.count("\n") == 1


class TestDisplay:
    def test_there_is_none(self) -> None:
        assert "no display" in window.display_trouble({})

    def test_it_does_not_answer(self) -> None:
        assert ":731 does not answer" in window.display_trouble({"DISPLAY": ":731"})

    def test_another_platform_is_not_asked(self) -> None:
        assert window.display_trouble({"QT_QPA_PLATFORM": "offscreen"}) == ""

    def test_wayland_answers(self, tmp_path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(tmp_path / "wayland-0"))
            server.listen()
            environment = {"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)}
            assert window.display_trouble(environment) == ""
        assert "no display" in window.display_trouble({"WAYLAND_DISPLAY": "wayland-0"})


def test_the_opener_gets_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    got: list[list[str]] = []
    window.open_with(lambda argv: got.append(list(argv)) or 0)
    assert window.open_window(["file.yaml"]) == 0
    assert got == [["mosaic", "file.yaml"]]


@pytest.mark.parametrize("arguments", [[], ["gui"]])
def test_the_program_says_it_in_one_line(arguments: list[str]) -> None:
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == USAGE
    assert done.stderr.startswith("mosaic: there is no display")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
