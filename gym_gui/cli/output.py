"""Prints results of commands: tables that fit the terminal, JSON, and lines that can be copied."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from gym_gui.core.printable_text import visible, visible_json
from gym_gui.core.terminal import Heading, console, print_table

__all__ = ["Heading", "cell", "console", "entries", "print_table", "write_json", "write_line"]


def cell(*lines: str, style: str = "") -> Text:
    """Return a table cell with one or more lines, in which rich's markup has no effect."""
    whole = (" ".join(line.splitlines()) for line in lines)  # a line break in a name becomes a space
    return Text(visible("\n".join(line for line in whole if line)), style=style)


def entries(headings: Sequence[str], rows: Sequence[tuple[Sequence[Text], Sequence[str]]]) -> None:
    """Print rows of short cells, each row followed by its details on indented, wrapped lines.

    Use this where a table would be too wide for a terminal of 60 columns.
    """
    out = console()
    heads = [Text(heading, style="bold") for heading in headings]
    widths = [max(cells[i].cell_len for cells in [heads, *(c for c, _ in rows)]) for i in range(len(heads))]
    for cells, details in [(heads, ()), *rows]:
        line = Text()
        for text, width in zip(cells, widths, strict=True):
            line.append_text(text).append(" " * (width - text.cell_len + 2))
        line.rstrip()
        out.print(line, soft_wrap=True)
        for detail in details:
            # A command is not broken at its hyphens.
            for part in textwrap.wrap(detail, max(out.width - 3, 20), break_on_hyphens=False):
                out.print(Text(f"  {part}"), soft_wrap=True)


def write_json(value: Any) -> None:
    """Write one JSON value to stdout, indented by two spaces."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write(visible_json(text) + "\n")


def write_line(text: str = "") -> None:
    """Write a line to stdout without wrapping it, so that commands and paths in it can be copied."""
    sys.stdout.write(text + "\n")
