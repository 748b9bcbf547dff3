"""Interpreters of their own for families of environments, and for workers that live with them: where they
are, and whether they are whole."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from gym_gui.core.paths import data_dir
from mosaic_worker.plain_files import replace_file

_COMPLETE: Final = "mosaic.json"
"""Written last; without it an environment is one whose installation was cut off."""
_FORMAT = 1


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
