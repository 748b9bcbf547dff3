"""Implements ``mosaic`` and ``mosaic gui``: opens the window, or prints why it cannot be opened."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from gym_gui.cli.errors import USAGE, print_message, reported

_NEEDED = ("PyQt6", "qasync", "qtawesome")


Opener = Callable[[Sequence[str]], int]
"""Function that takes the window's command line, opens the window, and returns the exit status."""

_opener: Opener | None = None


def open_with(opener: Opener | None) -> Opener | None:
    """Set the function that opens the window, because the command line may not import Qt itself.

    Returns:
        The function that was set before; ``None`` if there was none.
    """
    global _opener
    before, _opener = _opener, opener
    return before


def open_window(argv: Sequence[str] = ()) -> int:
    """Open the window and return when it is closed.

    Args:
        argv: An experiment file or run folder to open, or ``--replay RUN OPERATOR EPISODE``.

    Returns:
        Exit status.
    """
    problem = window_trouble()
    if problem or _opener is None:
        print_message(f"{problem}. Other commands need no window: mosaic --help")
        return USAGE
    with reported():
        return _opener(["mosaic", *argv])


def window_trouble() -> str:
    """Return why this program cannot open a window, with a fix; empty if it can."""
    problem = package_trouble() or display_trouble(os.environ)
    return problem or ("this program cannot open a window. Run: mosaic gui" if _opener is None else "")


def package_trouble() -> str:
    """Return which packages of the window are missing, with the command to install them; empty if none is."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if not missing:
        return ""
    are = "is" if len(missing) == 1 else "are"
    return f"the window needs {' and '.join(missing)}, which {are} not installed. Run: mosaic install gui"


def display_trouble(environment: Mapping[str, str]) -> str:
    """Return why no window can be shown on this machine's display, with a fix; empty if one can.

    Without a display, Qt would end the whole program with a core dump, so this is checked first.
    """
    if not sys.platform.startswith("linux") or environment.get("QT_QPA_PLATFORM"):
        return ""
    wayland, display = environment.get("WAYLAND_DISPLAY"), environment.get("DISPLAY")
    if wayland and _answers(Path(environment.get("XDG_RUNTIME_DIR", "/nowhere"), wayland)):
        return ""
    if not display:
        return (
            "there is no display to show a window on. Log in to a desktop, use ssh -X, or run: "
            "xvfb-run mosaic gui"
        )
    host, _, rest = display.rpartition(":")
    number = rest.partition(".")[0]
    if host in ("", "unix") and number.isdigit() and not _x_answers(number):
        return f"the display {display} does not answer. Set DISPLAY to the one of your desktop"
    try:
        ctypes.CDLL("libxcb-cursor.so.0")
    except OSError:
        return "the system library libxcb-cursor is missing. Run: sudo apt-get install libxcb-cursor0"
    return ""


def _x_answers(number: str) -> bool:
    name = f"/tmp/.X11-unix/X{number}"
    return _answers(Path(name)) or _answers(f"\0{name}")


def _answers(address: Path | str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(str(address))
        except (OSError, ValueError):
            return False
    return True
