"""``mosaic gui``."""

from __future__ import annotations

from gym_gui.cli.errors import USAGE, tell


def open_window() -> int:
    """Say that there is no window yet.

    Returns:
        Exit status.
    """
    tell("the window is not built yet. Everything can be done from here: mosaic --help lists the commands")
    return USAGE
