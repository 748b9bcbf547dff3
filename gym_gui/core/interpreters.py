"""Python environments of families and their workers: paths, completeness and installed versions."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, Final

from gym_gui.core.paths import PACKAGE, data_dir
from mosaic_worker.plain_files import replace_file

_COMPLETE: Final = "mosaic.json"
"""File that is written last; if it is missing, the installation was not finished."""
_FORMAT = 1


def into_this_python() -> str:
    """Return the ``pip install`` command for this Python, also if uv made the environment without pip."""
    python = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is not None:
        return f"{python} -m pip install"
    on_path = shutil.which("uv")
    found = "uv" if on_path else next((str(place) for place in uv_places() if os.access(place, os.X_OK)), "")
    # If there is neither pip nor uv, Python can install its own pip.
    return (
        f"{shlex.quote(found)} pip install --python {python}"
        if found
        else (f"{python} -m ensurepip && {python} -m pip install")
    )


def uv_places() -> list[Path]:
    """Return where uv may be outside the search path: beside this Python, and where ``run.sh`` puts it."""
    return [Path(sys.executable).parent / "uv", PACKAGE.parent / ".tools" / "uv" / "bin" / "uv"]


def environment_folder(name: str) -> Path:
    """Return the folder of a family's virtual environment."""
    return data_dir() / "environments" / name


def interpreter_of(name: str) -> Path:
    """Return the Python interpreter of a family's virtual environment."""
    return environment_folder(name) / "bin" / "python"


def is_complete(name: str) -> bool:
    """Return whether everything that the family needs is installed."""
    return (environment_folder(name) / _COMPLETE).is_file() and interpreter_of(name).exists()


def installed_versions(name: str) -> dict[str, str]:
    """Return the installed version of each package; empty if the installation is missing or incomplete."""
    try:
        found: Any = json.loads((environment_folder(name) / _COMPLETE).read_text("utf-8"))
        return {str(package): str(version) for package, version in found["versions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def note_complete(name: str, versions: dict[str, str]) -> None:
    """Record that the installation is complete.

    Args:
        name: The family.
        versions: Version by package.
    """
    row = {"format": _FORMAT, "python": sys.version.split()[0], "versions": versions}
    replace_file(environment_folder(name) / _COMPLETE, json.dumps(row, indent=1).encode())


def note_incomplete(name: str) -> None:
    """Record that the installation is incomplete until :func:`note_complete` is called."""
    (environment_folder(name) / _COMPLETE).unlink(missing_ok=True)
