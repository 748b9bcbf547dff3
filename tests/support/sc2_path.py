"""A folder as StarCraft II is installed in, whose binary is the server of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_BINARY = """#!/bin/sh
touch "$(dirname "$0")/started-$$"
exec {python} {server} "$@"
"""


def lay(folder: Path, python: Path, builds: Sequence[int]) -> Path:
    """Make it.

    Args:
        folder: Where.
        python: Interpreter that has the messages.
        builds: Versions that are installed.
    """
    server = Path(__file__).with_name("sc2_server.py")
    for build in builds:
        binary = folder / "Versions" / f"Base{build}" / "SC2_x64"
        binary.parent.mkdir(parents=True)
        binary.write_text(_BINARY.format(python=python, server=server))
        binary.chmod(0o755)
    return folder
