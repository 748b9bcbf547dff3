"""Text that others wrote is shown by a terminal, and never obeyed."""

from __future__ import annotations

import io
import json
import logging
import sys

import pytest
from rich.table import Table

from gym_gui.core.printable_text import visible, visible_json, visible_streams
from gym_gui.core.terminal import console

OBEYED = {
    "title": "\x1b]0;owned\x07",
    "color": "\x1b[31m",
    "one character": "\x9b31m",
    "overwriting": "safe\rowned",
    "backspace": "a\b\b\bowned",
    "delete": "\x7f",
    "direction": "\u202egnp.exe",
    "isolate": "\u2066x\u2069",
    "unseen": "pass\u200bword",
    "line": "one\u2028two",
    "half": "\ud800",
    "tags": "\U000e0041",
}


@pytest.mark.parametrize("text", OBEYED.values(), ids=OBEYED)
def test_what_a_terminal_would_obey_is_shown(text: str) -> None:
    shown = visible(text)
    assert not set(shown) & (set(text) - set("]0;owned[31msafeab passwordonetwognp.exx"))
    assert "\N{REPLACEMENT CHARACTER}" in shown


def test_other_text_stays() -> None:
    text = "Zoë\tand 李\u00a0四\nthird line 👩\u200d🚀 émile … (naïve)"
    assert visible(text) == text
    assert visible("a line of a log\r\n") == "a line of a log\n"


@pytest.mark.parametrize("text", OBEYED.values(), ids=OBEYED)
def test_json_says_the_same_and_commands_nothing(text: str) -> None:
    written = visible_json(json.dumps({"name": text}, ensure_ascii=False, indent=2))
    assert json.loads(written) == {"name": text}
    assert visible(written) == written


def test_streams_and_what_logs_to_them(capsys: pytest.CaptureFixture[str]) -> None:
    with visible_streams():
        print("\x1b]0;owned\x07", "printed")
        sys.stderr.writelines(["\x1b[2J", "written\n"])
        handler = logging.StreamHandler()
        handler.emit(logging.LogRecord("w", logging.WARNING, "", 0, "logged \x9b2J", None, None))
    said = capsys.readouterr()
    assert "printed" in said.out and "written" in said.err and "logged" in said.err
    assert visible(said.out + said.err) == said.out + said.err


def test_names_in_a_table_are_no_markup_and_no_commands() -> None:
    file = io.StringIO()
    table = Table("[bold]head[/]", title="[red]title[/red]\x1b[5m")
    table.add_row("[link=file:///etc/passwd]name[/link]\x1b]8;;x\x07 :smile:")
    out = console(file=file, width=100)
    out.print(table)
    out.print("[red]line[/red]\x1b[2J")
    text = file.getvalue()
    assert visible(text) == text
    for word in ("[red]title[/red]", "[link=file:///etc/passwd]name[/link]", ":smile:", "[red]line[/red]"):
        assert word in text


def test_colors_of_our_own_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with visible_streams():
        console().print("fine \x1b[2J", style="bold red")
        sys.stdout.write("\x1b[2J")
    assert "\x1b[1;31m" in screen.getvalue(), "the style is ours"
    assert "\x1b[2J" not in screen.getvalue(), "the rest is not"
