"""Adds MOSAIC to the menu of a Linux desktop, with its icon, its file type and its manual page."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, Final

from gym_gui.cli.installing.man_page import man_page
from gym_gui.cli.output import write_line
from gym_gui.core.errors import UsageError
from gym_gui.core.inherited_environment import inherited
from gym_gui.core.paths import PACKAGE
from gym_gui.processes.run_child import run_child_sync
from mosaic_worker.plain_files import replace_file

_ENTRY: Final = """\
[Desktop Entry]
Type=Application
Name=MOSAIC
GenericName=Comparison of agents
Comment=Compare agents of different kinds on the same seeds
Exec={command} gui %f
TryExec={program}
Icon=mosaic
Terminal=false
Categories=Science;Education;
MimeType=application/x-mosaic-experiment;
StartupWMClass=mosaic
"""
_TYPE: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="application/x-mosaic-experiment">
    <comment>MOSAIC experiment</comment>
    <icon name="mosaic"/>
    <glob pattern="*.mosaic.yaml"/>
    <glob pattern="*.mosaic.json"/>
  </mime-type>
</mime-info>
"""
_UPDATES: Final = (("update-mime-database", "mime"), ("update-desktop-database", "applications"))
_UPDATE_S: Final = 60.0


def install_desktop_files(program: Any) -> None:
    """Write the files into the user's data folder, replacing those of an earlier installation.

    Args:
        program: The click command of ``mosaic``, for the manual page.

    Raises:
        UsageError: This is no Linux.
    """
    for path, content in _files(program).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
        write_line(f"Written: {path}")
    _update()


def remove_desktop_files(program: Any) -> None:
    """Delete the files that :func:`install_desktop_files` writes.

    Raises:
        UsageError: This is no Linux.
    """
    removed = [path for path in _files(program) if path.is_file()]
    for path in removed:
        path.unlink()
        write_line(f"Removed: {path}")
    if removed:
        _update()
    else:
        write_line("Nothing was installed.")


def _files(program: Any) -> dict[Path, bytes]:
    """Return the content of each file, by path."""
    if not sys.platform.startswith("linux"):
        raise UsageError(
            f"desktop entries are for Linux, and this is {sys.platform}",
            fix="Run mosaic gui, and pin the window in the task bar or the dock",
        )
    mosaic = Path(sys.executable).parent / "mosaic"
    entry = _ENTRY.format(command=_quoted(str(mosaic)), program=mosaic)
    home = _data_home()
    return {
        home / "applications/mosaic.desktop": entry.encode(),
        home / "icons/hicolor/256x256/apps/mosaic.png": (PACKAGE / "ui/assets/logo.png").read_bytes(),
        home / "mime/packages/mosaic.xml": _TYPE.encode(),
        home / "man/man1/mosaic.1": man_page(program).encode(),
    }


def _data_home() -> Path:
    given = os.environ.get("XDG_DATA_HOME", "")
    return Path(given) if given.startswith("/") else Path.home() / ".local" / "share"


def _quoted(path: str) -> str:
    """Return a path as one argument of the key ``Exec``, whose value is escaped twice."""
    for sign in '\\"`$':
        path = path.replace(sign, f"\\{sign}")
    return f'"{path}"'.replace("\\", "\\\\").replace("%", "%%")


def _update() -> None:
    """Let the desktop read the files now, where its programs are installed."""
    for name, folder in _UPDATES:
        found, place = shutil.which(name), _data_home() / folder
        if found is not None and place.is_dir():
            run_child_sync(found, str(place), name=name, environment=inherited(), within_s=_UPDATE_S)
