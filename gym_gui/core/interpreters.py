"""Interpreters of their own for families of environments, and for workers that live with them: where they
are, and whether they are whole."""

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
"""Written last; without it an environment is one whose installation was cut off."""
_FORMAT = 1


def into_this_python() -> str:
    """``pip install`` as it reaches this very Python; an environment made by uv has no pip of its own."""
    python = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is not None:
        return f"{python} -m pip install"
    on_path = shutil.which("uv")
    found = "uv" if on_path else next((str(place) for place in uv_places() if os.access(place, os.X_OK)), "")
    # Where there is neither, Python brings a pip of its own.
    return (
        f"{shlex.quote(found)} pip install --python {python}"
        if found
        else (f"{python} -m ensurepip && {python} -m pip install")
    )


def uv_places() -> list[Path]:
    """Where uv may lie beside the search path: with this Python, and where ``run.sh`` puts its own."""
    return [Path(sys.executable).parent / "uv", PACKAGE.parent / ".tools" / "uv" / "bin" / "uv"]


def environment_folder(name: str) -> Path:
    """The virtual environment of a family."""
    return data_dir() / "environments" / name


def interpreter_of(name: str) -> Path:
    """Its Python."""
    return environment_folder(name) / "bin" / "python"


def is_complete(name: str) -> bool:
    """Whether all was installed that the family needs."""
    return (environment_folder(name) / _COMPLETE).is_file() and interpreter_of(name).exists()


def installed_versions(name: str) -> dict[str, str]:
    """Version by package, as it was installed; empty where it was not, or not to its end."""
    try:
        found: Any = json.loads((environment_folder(name) / _COMPLETE).read_text("utf-8"))
        return {str(package): str(version) for package, version in found["versions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def note_complete(name: str, versions: dict[str, str]) -> None:
    """Write down that all is there.

    Args:
        name: The family.
        versions: Version by package.
    """
    row = {"format": _FORMAT, "python": sys.version.split()[0], "versions": versions}
    replace_file(environment_folder(name) / _COMPLETE, json.dumps(row, indent=1).encode())


def note_incomplete(name: str) -> None:
    """From now on something is missing, until :func:`note_complete`."""
    (environment_folder(name) / _COMPLETE).unlink(missing_ok=True)
