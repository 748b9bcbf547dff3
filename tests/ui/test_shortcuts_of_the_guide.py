"""The shortcuts in the guide are those of the window."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PyQt6.QtGui import QKeySequence

from gym_gui.ui.pages import places
from gym_gui.ui.window.main_window import MainWindow
from tests.support.no_processes import looks_here

__all__ = ["looks_here"]

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide/settings_and_keys.md"
_ROW = re.compile(r"^\| (.+?) \| (.*?) \|(?: (.*?) \|)?$", re.MULTILINE)


def told(heading: str) -> dict[str, str]:
    """Keys and command of a table of shortcuts."""
    section = GUIDE.read_text("utf-8").partition("## Shortcuts")[2]
    rows = section.partition(f"| {heading} | |\n")[2].partition("\n\n")[0]
    return {keys: title for keys, title, _ in _ROW.findall(rows) if keys != "---"}


@pytest.mark.usefixtures("looks_here")
def test_shortcuts_are_those_of_the_window(window: MainWindow) -> None:
    found: dict[str, dict[str, str]] = {}
    registry = window.context.commands
    for place in places():
        window.go(place.name)
        for command in registry.all():
            if keys := QKeySequence(registry.shortcut(command)).toString():
                own = command.id.partition(".")[0] in ("file", "go", "view", "help")
                found.setdefault("everywhere" if own else place.name, {})[keys] = command.title
    # Desktops differ in this one; the window asks Qt.
    found["agents"] = {"Ctrl+Shift+Z" if k == "Ctrl+Y" else k: v for k, v in found["agents"].items()}
    names = {"everywhere": "everywhere", **{n: n.capitalize() for n in found if n != "everywhere"}}
    assert {name: told(heading) for name, heading in names.items()} == found
