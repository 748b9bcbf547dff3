"""The pages about the command line name every command and every option."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from gym_gui.cli.app import app
from tests.support.commands import ROOT

_FILES = [ROOT / "docs" / "command_line.md", *sorted((ROOT / "docs" / "command_line").glob("*.md"))]
PAGES = "\n".join(file.read_text("utf-8") for file in _FILES)


def _commands(group: Any, path: str = "mosaic") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        inner = f"{path} {name}"
        found += _commands(command, inner) if hasattr(command, "commands") else [(inner, command)]
    return found


@pytest.mark.parametrize(("path", "command"), _commands(typer.main.get_command(app)))
def test_every_option_is_on_the_pages(path: str, command: Any) -> None:
    assert path in PAGES
    options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
    assert [option for option in options if f"`{option}" not in PAGES] == []
    assert command.help
    first = command.help.splitlines()[0]
    assert len(first) <= 60, "the list of commands would cut it off"
