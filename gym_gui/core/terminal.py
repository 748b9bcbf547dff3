"""Consoles and tables for the terminal output of reports and commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from gym_gui.core.printable_text import raw, visible

PLAIN_WIDTH = 100
"""Width in columns if the output is not a terminal and ``COLUMNS`` is not set."""


class _Console(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Replace control characters in the text of segments; rich's own control segments are unchanged."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def render_str(self, text: str, **options: Any) -> Text:
        """Replace control characters before rich measures the text, so that its width is right."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Raise the error again for the caller, because a closed reader of the output is not a failure."""
        raise  # rich calls this method while it handles the error


def console(*, stderr: bool = False, file: TextIO | None = None, width: int | None = None) -> Console:
    """Make a console for people: colors only in a terminal, ``NO_COLOR`` and ``COLUMNS`` respected.

    The console executes no markup and no control characters in the text that it prints.

    Args:
        stderr: Print to standard error.
        file: Print to this file instead, without colors.
        width: Width in columns; used only with ``file``.

    Raises:
        BrokenPipeError: While printing, if the reader of the output is gone.
    """
    if file is not None:
        # In a notebook rich would otherwise display the output at once and ignore the file.
        return _Console(
            file=file,
            width=width or plain_width(),
            highlight=False,
            markup=False,
            emoji=False,
            color_system=None,
            force_jupyter=False,
        )
    stream = sys.stderr if stderr else sys.stdout
    behind = None if raw(stream) is stream else raw(stream)
    made = _Console(file=behind, stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = plain_width()
    return made


def plain_width() -> int:
    """Return the width in columns of output that is not printed to a terminal."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdigit() and int(given) > 0 else PLAIN_WIDTH


class Heading(NamedTuple):
    """The heading of a column.

    Attributes:
        text: Text of the heading.
        words: Whether the cells contain words, which are left-aligned and broken over lines if the space is
            short. Figures are broken only if the terminal is narrower than the first column and one figure.
    """

    text: str
    words: bool = False


_GAP = 2
_WORDS_AT_LEAST = 14


def print_table(
    out: Console,
    headings: Sequence[Heading],
    rows: Sequence[Sequence[Text]],
    *,
    title: str = "",
    total: bool = False,
) -> None:
    """Print a table without cutting off or leaving out anything.

    If the columns do not fit beside each other, the table is printed in parts, one below the other. Each
    part begins with the first column, which identifies the row.

    Args:
        out: Console to print to; its width limits the table.
        headings: Headings of the columns.
        rows: Rows with one cell for each heading.
        title: Title above the table.
        total: Whether to print a line above the last row.
    """
    columns = [[heading.text, *(row[i].plain for row in rows)] for i, heading in enumerate(headings)]
    natural = [max(cell_len(line) for text in column for line in text.split("\n")) for column in columns]
    least = [
        min(wide, _WORDS_AT_LEAST) if heading.words else wide
        for heading, wide in zip(headings, natural, strict=True)
    ]
    for number, part in enumerate(_parts(least, out.width)):
        shown = Table(
            title=Text(title) if title and not number else None,
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        widths = _widths([least[i] for i in part], [natural[i] for i in part], out.width)
        for i, width in zip(part, widths, strict=True):
            justify = "left" if headings[i].words else "right"
            shown.add_column(Text(headings[i].text), justify=justify, overflow="fold", width=width)
        for k, row in enumerate(rows):
            if total and k == len(rows) - 1:
                shown.add_section()
            shown.add_row(*(row[i] for i in part))
        if number:
            out.print()
        out.print(shown)


def print_rows(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", words: Sequence[str] = ()
) -> None:
    """Print a table of plain text to standard output.

    Args:
        headings: Headings of the columns.
        rows: Rows with one cell for each heading.
        title: Title above the table.
        words: Headings of the columns, besides the first, whose cells contain words.
    """
    shown = [Heading(text, not i or text in words) for i, text in enumerate(headings)]
    print_table(console(), shown, [list(map(Text, row)) for row in rows], title=title)


def _parts(least: Sequence[int], width: int) -> list[list[int]]:
    """Divide the columns into parts that fit the width; each part begins with the first column."""
    parts, used = [[0]], least[0]
    for i, wide in enumerate(least[1:], 1):
        if used + _GAP + wide > width and len(parts[-1]) > 1:
            parts.append([0])
            used = least[0]
        parts[-1].append(i)
        used += _GAP + wide
    return parts


def _widths(least: Sequence[int], natural: Sequence[int], width: int) -> list[int]:
    """Return the width of each column; spare space goes to columns that need more, the narrowest first."""
    left = width - sum(least) - _GAP * (len(least) - 1)
    given = list(least)
    while left > 0 and (wanting := [i for i, wide in enumerate(natural) if given[i] < wide]):
        given[min(wanting, key=lambda i: given[i])] += 1
        left -= 1
    while (
        left < 0 and max(given) > 1
    ):  # the terminal is narrower than the first column and a figure, so that cells are broken
        given[max(range(len(given)), key=lambda i: given[i])] -= 1
        left += 1
    return given
