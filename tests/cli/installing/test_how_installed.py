"""``mosaic self``: how it was installed, the desktop's files, the manual page."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gym_gui.cli.installing import how_installed
from tests.support.commands import Mosaic


def test_a_clone_is_updated_by_git(mosaic: Mosaic) -> None:
    done = mosaic("self", "update")
    assert "clone" in done.out
    assert "git -C" in done.out and "run.sh" in done.out


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("pipx_metadata.json", "pipx upgrade mosaic-gym-gui"),
        ("uv-receipt.toml", "uv tool upgrade mosaic-gym-gui"),
        ("archive-v0/xYz/pyvenv.cfg", "uvx --refresh --from mosaic-gym-gui mosaic"),
        ("pyvenv.cfg", "--upgrade mosaic-gym-gui"),
    ],
)
def test_each_installer_has_its_own_command(
    file: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bare:
        def read_text(self, name: str) -> None:
            return None

    left = tmp_path / file
    left.parent.mkdir(parents=True, exist_ok=True)
    left.touch()
    monkeypatch.setattr(how_installed.metadata, "distribution", lambda name: Bare())
    monkeypatch.setattr(sys, "prefix", str(left.parent))
    assert how_installed.how_installed().update.endswith(command)


def test_a_wheel_from_a_file_is_not_updated_by_a_name_of_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FromFile:
        def read_text(self, name: str) -> str:
            return '{"url": "file:///dist/mosaic_gym_gui-0.1.0-py3-none-any.whl", "archive_info": {}}'

    monkeypatch.setattr(how_installed.metadata, "distribution", lambda name: FromFile())
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    how = how_installed.how_installed()
    assert "file:///dist/mosaic_gym_gui" in how.text
    assert "mosaic-gym-gui" not in how.update


def test_desktop_files_come_and_go(mosaic: Mosaic, tmp_path: Path) -> None:
    data = tmp_path / "data home"
    mosaic("self", "desktop", XDG_DATA_HOME=str(data))
    entry = configparser.RawConfigParser()
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(data / "applications/mosaic.desktop")
    told = entry["Desktop Entry"]
    assert Path(told["TryExec"]).is_file()
    assert told["Exec"] == f'"{told["TryExec"]}" gui %f'
    types = ElementTree.parse(data / "mime/packages/mosaic.xml").getroot()
    space = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    assert {g.get("pattern") for g in types.findall(".//m:glob", space)} >= {"*.mosaic.yaml"}
    (kind,) = types.findall("m:mime-type", space)
    assert told["MimeType"] == f"{kind.get('type')};"
    assert (data / "icons/hicolor/256x256/apps/mosaic.png").stat().st_size > 1000
    assert (data / "man/man1/mosaic.1").is_file()
    own = data / "applications/another.desktop"
    own.write_text("")

    mosaic("self", "desktop", "--remove", XDG_DATA_HOME=str(data))
    left = {file.relative_to(data).as_posix() for file in data.rglob("*") if file.is_file()}
    assert not {f for f in left if "mosaic." in f}
    assert own.is_file()
    assert "Nothing" in mosaic("self", "desktop", "--remove", XDG_DATA_HOME=str(data)).out


def test_the_manual_page_names_every_command(mosaic: Mosaic, tmp_path: Path) -> None:
    page = mosaic("self", "man").out
    for command in ("mosaic run", "mosaic envs install", "mosaic self update", "mosaic doctor"):
        assert f".SS {command}\n" in page
    assert "\\-\\-json" in page
    assert "session" not in [line.rpartition(" ")[2] for line in page.splitlines() if line.startswith(".SS")]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_reads_the_manual_page_without_a_warning(mosaic: Mosaic) -> None:
    page = mosaic("self", "man").out
    done = subprocess.run(
        ["groff", "-man", "-Kutf8", "-ww", "-Tutf8", "-z"],
        input=page,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
