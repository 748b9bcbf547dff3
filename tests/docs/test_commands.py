"""Every command that a page shows is one that the program understands, options and all.

Those in the running text too; here nothing is run. test_every_page.py beside this one follows the pages.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from gym_gui.cli.app import app
from tests.docs.pages import DOCS, blocks, commands
from tests.support.commands import ROOT

_PAGES = [ROOT / "README.md", *DOCS]
_INLINE = re.compile(r"`(mosaic [^`\n]+)`")
_PLACEHOLDERS = {"N": "1", "MINUTES": "1", "SEED": "1", "HOST:PORT": "h:1", "HZ": "1"}
_PROGRAM = typer.main.get_command(app)
_NOT_COMMANDS = ("mosaic COMMAND", "mosaic ARGUMENTS")
"""Patterns of commands, which name none."""


def _shown(page: Path) -> set[str]:
    text = page.read_text("utf-8")
    found = {" ".join(m[1].split()) for m in _INLINE.finditer(text)}
    for block in blocks(page):
        found |= {command for command, _ in commands(block)}
    return {command for command in found if command.startswith("mosaic ")}


_COMMANDS = sorted({(page.name, command) for page in _PAGES for command in _shown(page)})


def test_pages_show_commands() -> None:
    assert len(_COMMANDS) > 60 and len({page for page, _ in _COMMANDS}) > 8


@pytest.mark.parametrize(("page", "command"), _COMMANDS)
def test_the_program_understands_it(page: str, command: str) -> None:
    if command.startswith(_NOT_COMMANDS) or "…" in command or "..." in command:
        return
    assert _refusal(command) == "", f"{page}: {command}"


@pytest.mark.parametrize(
    "command", ["mosaic rum FILE", "mosaic envs shake ID", "mosaic verify RUN --nope", "mosaic --nope"]
)
def test_what_the_program_lacks_is_noticed(command: str) -> None:
    assert _refusal(command)


def _refusal(command: str) -> str:
    """What the program has against a command line; nothing is run."""
    words = shlex.split(re.split(r" [|>&#]| 2>", command)[0], comments=True)[1:]
    words = [_PLACEHOLDERS.get(word, word).replace("[", "").replace("]", "") for word in words]
    current: Any = _PROGRAM
    name = "mosaic"
    while hasattr(current, "commands"):
        if not words or words[0].startswith("-"):
            known = {option for parameter in current.params for option in parameter.opts} | {"-h", "--help"}
            return ", ".join(set(words) - known)
        if words[0] not in current.commands:
            return f"there is no {name} {words[0]}"
        current, name, words = current.commands[words[0]], f"{name} {words[0]}", words[1:]
    if not words or "--help" in words:
        return ""
    try:
        current.make_context(name, words).close()
    except Exception as error:
        said = str(getattr(error, "message", error))
        # Prose names a command with only those of its words that matter.
        partly = "Missing" in type(error).__name__ or "requires an argument" in said
        return "" if partly else said or type(error).__name__
    return ""
